/*
 * See stream_file.h.
 */
#include "cli/stream_file.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/eth.h"
#include "base/attr.h"
#include "base/word.h"
#include "cli/json_place.h"

#define VALUE_BYTES 4096

struct reader {
    struct tt_json_text json;
    enum tt_role role;
    json_t *streams;
    size_t streams_at; /* which of the file's keys it is */
    struct tt_stream_job common;
    struct tt_stream_file file;
    struct tt_stream_file_fault *fault;
};

/* `text` NULL: the message is there already. */
TT_PRINTF(3, 4)
static int refuse(struct reader *reader, const struct tt_json_place *place, const char *text, ...)
{
    va_list args;

    reader->fault->line = place->line;
    reader->fault->column = place->column;
    if (text) {
        va_start(args, text);
        vsnprintf(reader->fault->message.text, sizeof(reader->fault->message.text), text, args);
        va_end(args);
    }
    /* jansson quotes what it met. */
    for (char *c = reader->fault->message.text; *c != 0; c++) {
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    }
    return -EINVAL;
}

/* Where a key of the file (member) or of a stream stands, or its value. */
static struct tt_json_place place_of(const struct reader *reader, const size_t *path, size_t depth,
                                     bool key)
{
    return tt_json_place_find(&reader->json, path, depth, key);
}

/* The value as a person would write it in an option. 0 or -EINVAL with the fault. */
static int value_text(struct reader *reader, const json_t *value, const size_t *path, size_t depth,
                      char ret_text[VALUE_BYTES])
{
    struct tt_json_place place;
    size_t bytes;

    if (json_is_string(value) && json_string_length(value) < VALUE_BYTES) {
        memcpy(ret_text, json_string_value(value), json_string_length(value) + 1);
    } else if (json_is_boolean(value)) {
        snprintf(ret_text, VALUE_BYTES, "%s", json_is_true(value) ? "true" : "false");
    } else if (json_is_integer(value)) {
        snprintf(ret_text, VALUE_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        place = place_of(reader, path, depth, false);
        bytes = tt_json_token_bytes(&reader->json, place.offset);
        if (json_is_string(value) || bytes >= VALUE_BYTES) {
            return refuse(reader, &place, "the value is too long");
        }
        if (!json_is_real(value)) {
            return refuse(reader, &place, "give one value: a string, a number, true or false");
        }
        memcpy(ret_text, reader->json.text + place.offset, bytes);
        ret_text[bytes] = 0;
    }
    return 0;
}

static int set_key(struct reader *reader, struct tt_stream_job *job, const char *key,
                   const json_t *value, const size_t *path, size_t depth)
{
    char text[VALUE_BYTES];
    int error = value_text(reader, value, path, depth, text);

    if (error == 0) {
        error = tt_stream_job_set(job, reader->role, key, text, &reader->fault->message);
        if (error < 0) {
            struct tt_json_place place = place_of(reader, path, depth, error == -ENOENT);

            refuse(reader, &place, NULL);
        }
    }
    return error == -ENOENT ? -EINVAL : error;
}

/* A key may have two names, and jansson sees to each of them being there once. */
static int check_first(struct reader *reader, json_t *object, const char *key, const size_t *path,
                       size_t depth)
{
    const char *other;
    json_t *value;

    json_object_foreach(object, other, value)
    {
        if (strcmp(other, key) == 0) {
            return 0;
        }
        if (tt_stream_config_same_key(other, key)) {
            struct tt_json_place place = place_of(reader, path, depth, true);

            return refuse(reader, &place, "%.40s and %.40s are one key; give it once", other, key);
        }
    }
    return 0;
}

static int read_common(struct reader *reader, json_t *root)
{
    size_t at = 0;
    const char *key;
    json_t *value;

    json_object_foreach(root, key, value)
    {
        int error = 0;

        if (tt_word_same(key, "streams")) {
            reader->streams = value;
            reader->streams_at = at;
        } else if (tt_stream_job_is_single(key)) {
            struct tt_json_place place = place_of(reader, &at, 1, true);

            error = refuse(reader, &place, "%.40s belongs into one of the streams", key);
        } else {
            error = check_first(reader, root, key, &at, 1);
            error = error < 0 ? error : set_key(reader, &reader->common, key, value, &at, 1);
        }
        if (error < 0) {
            return error;
        }
        at++;
    }
    return 0;
}

/* `id_at`: which of its members the stream ID is; SIZE_MAX: none. */
static int check_unique(struct reader *reader, size_t index, size_t id_at)
{
    const struct tt_stream_config *config = &reader->file.jobs[index].config;
    char id[TT_STREAM_ID_TEXT];

    for (size_t i = 0; i < index; i++) {
        const struct tt_stream_config *other = &reader->file.jobs[i].config;
        size_t path[3] = {reader->streams_at, index, 0};
        struct tt_json_place place;
        struct tt_json_place first;

        if (other->stream_id != config->stream_id || strcmp(other->ifname, config->ifname) != 0) {
            continue;
        }
        path[1] = i;
        first = place_of(reader, path, 2, false);
        path[1] = index;
        path[2] = id_at;
        place = place_of(reader, path, id_at == SIZE_MAX ? 2 : 3, false);
        return refuse(reader, &place,
                      "stream ID %s on %s is that of the stream in line %d; each has its own",
                      tt_stream_id_format(config->stream_id, id), config->ifname, first.line);
    }
    return 0;
}

/* The whole stream is at fault. `text` NULL: the message is there already. */
static int refuse_stream(struct reader *reader, size_t index, const char *text)
{
    const size_t path[2] = {reader->streams_at, index};
    struct tt_json_place place = place_of(reader, path, 2, false);

    return text ? refuse(reader, &place, "%s", text) : refuse(reader, &place, NULL);
}

static int read_stream(struct reader *reader, json_t *stream, size_t index)
{
    size_t path[3] = {reader->streams_at, index, 0};
    struct tt_stream_job *job = &reader->file.jobs[index];
    size_t id_at = SIZE_MAX;
    const char *key;
    json_t *value;
    int error;

    if (!json_is_object(stream)) {
        return refuse_stream(reader, index, "a stream is an object in braces");
    }
    error = tt_stream_job_copy(&reader->common, job);
    if (error < 0) {
        refuse_stream(reader, index, "out of memory");
        return error;
    }
    reader->file.count++;
    json_object_foreach(stream, key, value)
    {
        if (tt_stream_job_is_common(key)) {
            struct tt_json_place place = place_of(reader, path, 3, true);

            return refuse(reader, &place, "%.40s belongs beside streams: one clock is for all",
                          key);
        }
        error = check_first(reader, stream, key, path, 3);
        if (error == 0) {
            error = set_key(reader, job, key, value, path, 3);
        }
        if (error < 0) {
            return error;
        }
        id_at = tt_stream_config_same_key(key, "stream_id") ? path[2] : id_at;
        path[2]++;
    }
    error = tt_stream_job_check(job, reader->role, &reader->fault->message);
    if (error < 0) {
        return refuse_stream(reader, index, NULL);
    }
    return check_unique(reader, index, id_at);
}

static int read_streams(struct reader *reader)
{
    struct tt_json_place place = {.line = 1, .column = 1};
    size_t count = json_array_size(reader->streams);

    if (reader->streams) {
        place = place_of(reader, &reader->streams_at, 1, false);
    }
    if (!json_is_array(reader->streams) || count == 0) {
        return refuse(reader, &place,
                      "%s; give \"streams\": [{\"stream_id\": ..., \"dest\": ...}, ...]",
                      reader->streams ? "streams is no list of streams" : "streams is missing");
    }
    if (count > TT_STREAMS_MAX) {
        return refuse(reader, &place, "there are %zu streams, and at most %d in a file", count,
                      TT_STREAMS_MAX);
    }
    reader->file.jobs = calloc(count, sizeof(*reader->file.jobs));
    if (!reader->file.jobs) {
        refuse(reader, &place, "out of memory");
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int error = read_stream(reader, json_array_get(reader->streams, i), i);

        if (error < 0) {
            return error;
        }
    }
    return 0;
}

static int refuse_no_object(struct reader *reader)
{
    static const struct tt_json_place top = {.line = 1, .column = 1};

    return refuse(reader, &top,
                  "a stream file is an object in braces, like {\"interface\": "
                  "\"eth0\", \"streams\": [...]}");
}

static int refuse_json(struct reader *reader, const json_error_t *json_error)
{
    size_t blank = 0;
    struct tt_json_place place = {.line = json_error->line, .column = json_error->column};

    while (blank < reader->json.bytes && isspace((unsigned char)reader->json.text[blank])) {
        blank++;
    }
    /* jansson would offer a list too, and give an empty text no column. */
    if (blank >= reader->json.bytes || reader->json.text[blank] != '{') {
        return refuse_no_object(reader);
    }
    place.column = place.column > 0 ? place.column : 1;
    return refuse(reader, &place, "%s", json_error->text);
}

static int read_root(struct reader *reader, json_t *root)
{
    int error;

    if (!json_is_object(root)) {
        return refuse_no_object(reader);
    }
    error = read_common(reader, root);
    return error < 0 ? error : read_streams(reader);
}

int tt_stream_file_parse(const char *text, size_t bytes, enum tt_role role,
                         const struct tt_stream_job *base, struct tt_stream_file *ret_file,
                         struct tt_stream_file_fault *ret_fault)
{
    struct reader reader = {.json = {text, bytes}, .role = role, .fault = ret_fault};
    json_error_t json_error;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &json_error);
    int error = 0;

    if (!root) {
        return refuse_json(&reader, &json_error);
    }
    if (base) {
        error = tt_stream_job_copy(base, &reader.common);
    } else {
        tt_stream_job_init(&reader.common);
    }
    if (error == 0) {
        error = read_root(&reader, root);
    }
    json_decref(root);
    tt_stream_job_done(&reader.common);
    if (error < 0) {
        tt_stream_file_done(&reader.file);
        return error;
    }
    *ret_file = reader.file;
    return 0;
}

void tt_stream_file_done(struct tt_stream_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        tt_stream_job_done(&file->jobs[i]);
    }
    free(file->jobs);
    free(file->text);
    *file = (struct tt_stream_file){.count = 0};
}
