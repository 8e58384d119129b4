/*
 * See gate_value.h.
 */
#include "cli/gate_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "audio/config_value.h"
#include "base/ns.h"
#include "base/word.h"
#include "gate/wire_time.h"

#define SPEED_MIN 1000000

static int refuse(const struct tt_gate_place *place, const char *key, const char *what)
{
    return tt_say(-EINVAL, place->message, "%s: %s %s", place->where, key, what);
}

int tt_gate_value_integer(const json_t *object, const char *key, int64_t least, int64_t most,
                          const struct tt_gate_place *place, int64_t *value)
{
    const json_t *member = json_object_get(object, key);

    if (!member) {
        return 0;
    }
    if (!json_is_integer(member)) {
        return refuse(place, key, "is no whole number");
    }
    if (json_integer_value(member) < least || json_integer_value(member) > most) {
        return tt_say(-EINVAL, place->message,
                      "%s: %s is %" JSON_INTEGER_FORMAT "; it goes from %" PRId64 " to %" PRId64,
                      place->where, key, json_integer_value(member), least, most);
    }
    *value = json_integer_value(member);
    return 0;
}

int tt_gate_value_time(const json_t *object, const char *key, const struct tt_gate_place *place,
                       int64_t *value_ns)
{
    const json_t *member = json_object_get(object, key);
    const char *fault;
    int64_t ns;

    if (!json_is_string(member)) {
        return tt_gate_value_integer(object, key, 0, TT_NS_PER_S * 1000, place, value_ns);
    }
    fault = tt_value_time(json_string_value(member), &ns);
    if (fault || ns > TT_NS_PER_S * 1000) {
        return refuse(place, key, fault ? fault : "is longer than 1000 s");
    }
    *value_ns = ns;
    return 0;
}

/* Every key of the object is one of the names. */
static int check_keys(json_t *object, const struct tt_gate_place *place, const char *const *names)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        size_t i = 0;

        while (names[i] && strcmp(names[i], key) != 0) {
            i++;
        }
        if (!names[i]) {
            int n = snprintf(place->message->text, sizeof(place->message->text),
                             "%s: there is no key %.40s; there are:", place->where, key);

            for (i = 0; names[i] && n < (int)sizeof(place->message->text); i++) {
                n += snprintf(place->message->text + n, sizeof(place->message->text) - (size_t)n,
                              " %s", names[i]);
            }
            return -EINVAL;
        }
    }
    return 0;
}

int tt_gate_check_keys(json_t *object, const struct tt_gate_place *place, const char *const *names)
{
    return json_is_object(object)
               ? check_keys(object, place, names)
               : tt_say(-EINVAL, place->message, "%s is no object in braces", place->where);
}

const char *tt_gate_speed_parse(const char *text, int64_t *ret_bps)
{
    int64_t unit = 1;
    int64_t tenths = 0;
    char *end;
    int64_t value = strtoll(text, &end, 10);

    if (end == text || value < 0 || value > TT_WIRE_RATE_MAX) {
        return "is no speed; write 100M, 1G or bits per second";
    }
    if (end[0] == '.' && end[1] >= '0' && end[1] <= '9') {
        tenths = end[1] - '0';
        end += 2;
    }
    if (*end == 'M' || *end == 'm') {
        unit = 1000000;
        end++;
    } else if (*end == 'G' || *end == 'g') {
        unit = 1000000000;
        end++;
    }
    if (strcasecmp(end, "bit") == 0 || strcasecmp(end, "bit/s") == 0 || *end == 0) {
        if (value > TT_WIRE_RATE_MAX / unit || value * unit + tenths * unit / 10 < SPEED_MIN ||
            value * unit + tenths * unit / 10 > TT_WIRE_RATE_MAX) {
            return "is no speed from 1M to 400G";
        }
        *ret_bps = value * unit + tenths * unit / 10;
        return NULL;
    }
    return "is no speed; write 100M, 1G or bits per second";
}

int tt_gate_value_speed(const json_t *object, const char *key, const struct tt_gate_place *place,
                        int64_t *value_bps)
{
    const json_t *member = json_object_get(object, key);
    const char *fault;

    if (!json_is_string(member)) {
        return tt_gate_value_integer(object, key, SPEED_MIN, TT_WIRE_RATE_MAX, place, value_bps);
    }
    fault = tt_gate_speed_parse(json_string_value(member), value_bps);
    return fault ? refuse(place, key, fault) : 0;
}

int tt_gate_value_bool(const json_t *object, const char *key, const struct tt_gate_place *place,
                       bool *value)
{
    const json_t *member = json_object_get(object, key);

    if (!member) {
        return 0;
    }
    if (!json_is_boolean(member)) {
        return refuse(place, key, "is neither true nor false");
    }
    *value = json_is_true(member);
    return 0;
}

int tt_gate_value_text(const json_t *object, const char *key, const struct tt_gate_place *place,
                       const char **value)
{
    const json_t *member = json_object_get(object, key);

    *value = NULL;
    if (!member) {
        return 0;
    }
    if (!json_is_string(member) || json_string_length(member) == 0 ||
        json_string_length(member) > TT_GATE_TEXT_MAX) {
        return refuse(place, key, "is no text of 1 to 40 characters");
    }
    *value = json_string_value(member);
    return 0;
}

const char *tt_gate_kernel_parse(const char *text, unsigned *ret_kernel)
{
    char *end;
    unsigned long major = strtoul(text, &end, 10);
    unsigned long minor;

    if (end == text || *end != '.' || major > 99) {
        return "is no kernel version such as 6.1 or 6.12";
    }
    text = end + 1;
    minor = strtoul(text, &end, 10);
    if (end == text || minor > 999) {
        return "is no kernel version such as 6.1 or 6.12";
    }
    *ret_kernel = (unsigned)(major * 1000 + minor);
    return NULL;
}
