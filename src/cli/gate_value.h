/*
 * Values of a gate plan: what is there is of the right kind and in range, or a message says where.
 *
 * `where` is the place as a person would write it ("streams[2]"). A key that is missing leaves the
 * value as it is. 0 or -EINVAL.
 */
#ifndef TT_CLI_GATE_VALUE_H
#define TT_CLI_GATE_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/say.h"

struct tt_gate_place {
    char where[128];
    struct tt_message *message;
};

int tt_gate_value_integer(const json_t *object, const char *key, int64_t least, int64_t most,
                          const struct tt_gate_place *place, int64_t *value);
/* A number of ns, or a text with a unit ("2us"). */
int tt_gate_value_time(const json_t *object, const char *key, const struct tt_gate_place *place,
                       int64_t *value_ns);
/* "100M", "2.5G", or a number of bit/s. */
int tt_gate_value_speed(const json_t *object, const char *key, const struct tt_gate_place *place,
                        int64_t *value_bps);
int tt_gate_value_bool(const json_t *object, const char *key, const struct tt_gate_place *place,
                       bool *value);
#define TT_GATE_TEXT_MAX 40
/* NULL where it is missing. */
int tt_gate_value_text(const json_t *object, const char *key, const struct tt_gate_place *place,
                       const char **value);

/* It is an object, with no other keys than these. NULL ends them. */
int tt_gate_check_keys(json_t *object, const struct tt_gate_place *place, const char *const *names);

/* NULL, or why it will not do. */
const char *tt_gate_speed_parse(const char *text, int64_t *ret_bps);
/* "6.12" is 6012. */
const char *tt_gate_kernel_parse(const char *text, unsigned *ret_kernel);

#endif
