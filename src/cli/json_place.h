/*
 * Where something stands in a JSON text. jansson tells that for syntax errors only.
 *
 * The text is known to be valid JSON without duplicate keys, and has been loaded: a container's
 * n-th child there is its n-th here, because jansson keeps the order. So nothing has to be compared
 * or unescaped. Invariant: never looks beyond the text, whatever its bytes are.
 */
#ifndef TT_CLI_JSON_PLACE_H
#define TT_CLI_JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct tt_json_text {
    const char *text;
    size_t bytes;
};

struct tt_json_place {
    size_t offset;
    int line;   /* from 1 */
    int column; /* from 1, in characters of UTF-8 */
};

/* path: at each level, which child. `key`: the last child's key instead of its value. */
struct tt_json_place tt_json_place_find(const struct tt_json_text *json, const size_t *path,
                                        size_t depth, bool key);

/* The bytes of the number, word or string that begins there, with its quotes. */
size_t tt_json_token_bytes(const struct tt_json_text *json, size_t offset);

#endif
