/*
 * See json_place.h.
 */
#include "cli/json_place.h"

#include <string.h>

static char at(const struct tt_json_text *json, size_t offset)
{
    return offset < json->bytes ? json->text[offset] : 0;
}

static size_t skip_space(const struct tt_json_text *json, size_t offset)
{
    while (offset < json->bytes && strchr(" \t\r\n", json->text[offset]) && at(json, offset) != 0) {
        offset++;
    }
    return offset;
}

/* From the opening quote to behind the closing one. */
static size_t skip_string(const struct tt_json_text *json, size_t offset)
{
    for (offset++; offset < json->bytes && json->text[offset] != '"'; offset++) {
        offset += json->text[offset] == '\\';
    }
    return offset < json->bytes ? offset + 1 : json->bytes;
}

size_t tt_json_token_bytes(const struct tt_json_text *json, size_t offset)
{
    size_t end = offset;

    if (at(json, offset) == '"') {
        return skip_string(json, offset) - offset;
    }
    while (end < json->bytes && json->text[end] != 0 && !strchr(" \t\r\n,:[]{}", json->text[end])) {
        end++;
    }
    return end - offset;
}

/* Behind the value that begins here, whatever is in it. */
static size_t skip_value(const struct tt_json_text *json, size_t offset)
{
    size_t depth = 0;

    while (offset < json->bytes) {
        char c = json->text[offset];

        if (c == '{' || c == '[') {
            depth++;
            offset++;
        } else if (c == '}' || c == ']') {
            depth--;
            offset++;
        } else if (depth > 0 && strchr(" \t\r\n,:", c)) {
            offset++;
        } else {
            size_t bytes = tt_json_token_bytes(json, offset);

            offset += bytes > 0 ? bytes : 1;
        }
        if (depth == 0) {
            break;
        }
    }
    return offset;
}

/* The value behind the key that begins here. */
static size_t skip_key(const struct tt_json_text *json, size_t offset)
{
    offset = skip_space(json, skip_string(json, offset));
    return skip_space(json, offset + (at(json, offset) == ':'));
}

/* The n-th child of the container that begins here: its key in an object, its value in an array. */
static size_t find_child(const struct tt_json_text *json, size_t offset, size_t n)
{
    bool object = at(json, offset) == '{';

    offset = skip_space(json, offset + 1);
    for (size_t i = 0; i < n && offset < json->bytes; i++) {
        offset = skip_value(json, object ? skip_key(json, offset) : offset);
        offset = skip_space(json, offset);
        offset = skip_space(json, offset + (at(json, offset) == ','));
    }
    return offset;
}

static struct tt_json_place place_of(const struct tt_json_text *json, size_t offset)
{
    struct tt_json_place place = {.offset = offset, .line = 1, .column = 1};

    for (size_t i = 0; i < offset && i < json->bytes; i++) {
        if (json->text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if ((json->text[i] & 0xC0) != 0x80) { /* no byte that continues a character */
            place.column++;
        }
    }
    return place;
}

struct tt_json_place tt_json_place_find(const struct tt_json_text *json, const size_t *path,
                                        size_t depth, bool key)
{
    size_t offset = skip_space(json, 0);

    for (size_t i = 0; i < depth; i++) {
        bool object = at(json, offset) == '{';

        offset = find_child(json, offset, path[i]);
        if (object && !(key && i + 1 == depth)) {
            offset = skip_key(json, offset);
        }
    }
    return place_of(json, offset);
}
