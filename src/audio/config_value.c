/*
 * See config_value.h.
 */
#include "audio/config_value.h"

#include <string.h>
#include <strings.h>

#include "audio/eth.h"
#include "audio/pcm.h"
#include "base/attr.h"
#include "base/ns.h"

/* Reads digits as value * scale; returns the first character behind them. */
static const char *read_digits(const char **text, int64_t scale, int64_t *value)
{
    int64_t sum = 0;
    int64_t scaled;

    if (**text < '0' || **text > '9') {
        return **text == '-' ? "is negative" : "is not a number";
    }
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, **text - '0', &sum)) {
            return "is too large";
        }
    }
    if (__builtin_mul_overflow(sum, scale, &scaled)) {
        return "is too large";
    }
    *value = scaled;
    return NULL;
}

const char *tt_value_number(const char *text, int64_t *ret_value)
{
    const char *why = read_digits(&text, 1, ret_value);

    if (why) {
        return why;
    }
    return *text != 0 ? "is not a whole number" : NULL;
}

static int64_t unit_ns(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"", TT_NS_PER_US},        {"ns", 1},          {"us", TT_NS_PER_US},
        {"ms", TT_NS_PER_MS},      {"s", TT_NS_PER_S}, {"min", 60 * TT_NS_PER_S},
        {"h", 3600 * TT_NS_PER_S},
    };

    for (size_t i = 0; i < TT_COUNT_OF(units); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            return units[i].ns;
        }
    }
    return 0;
}

const char *tt_value_time(const char *text, int64_t *ret_ns)
{
    const char *unit = text + strspn(text, "0123456789.");
    int64_t scale;
    int64_t ns;
    const char *why;

    if (unit == text) {
        return *text == '-' ? "is negative" : "is not a time";
    }
    scale = unit_ns(*unit == ' ' ? unit + 1 : unit);
    if (scale == 0) {
        return "has a unit that is not ns, us, ms, s, min or h";
    }
    why = read_digits(&text, scale, &ns);
    if (why) {
        return why;
    }
    if (*text == '.') {
        text++;
        if (text == unit) {
            return "is not a time";
        }
        for (; *text >= '0' && *text <= '9'; text++) {
            if (*text != '0' && (scale == 0 || scale % 10 != 0)) {
                return "is finer than 1 ns";
            }
            scale /= 10;
            if (__builtin_add_overflow(ns, scale * (*text - '0'), &ns)) {
                return "is too large";
            }
        }
    }
    if (text != unit) {
        return "is not a time";
    }
    *ret_ns = ns;
    return NULL;
}

const char *tt_value_boolean(const char *text, bool *ret_value)
{
    static const char *const words[2][4] = {{"0", "no", "false", "off"},
                                            {"1", "yes", "true", "on"}};

    for (int value = 0; value < 2; value++) {
        for (size_t i = 0; i < TT_COUNT_OF(words[value]); i++) {
            if (strcasecmp(text, words[value][i]) == 0) {
                *ret_value = value != 0;
                return NULL;
            }
        }
    }
    return "is neither";
}

const char *tt_value_format(const char *text, enum tt_aaf_format *ret_format)
{
    enum tt_pcm_format pcm;

    for (int format = TT_AAF_FLOAT32; format <= TT_AAF_INT16; format++) {
        if (strcasecmp(text, tt_aaf_format_name((enum tt_aaf_format)format)) == 0) {
            *ret_format = (enum tt_aaf_format)format;
            return NULL;
        }
    }
    if (tt_pcm_format_parse(text, &pcm) < 0) {
        return "is no format that AAF carries";
    }
    *ret_format = tt_pcm_wire_format(pcm);
    return NULL;
}

const char *tt_value_ifname(const char *text, char ret_ifname[TT_IFNAME_BYTES])
{
    size_t n = strnlen(text, TT_IFNAME_BYTES);

    if (n == TT_IFNAME_BYTES) {
        return "is longer than 15 characters";
    }
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0) {
        return "is no interface name";
    }
    for (size_t i = 0; i < n; i++) {
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '/' || text[i] == ':') {
            return "is no interface name";
        }
    }
    memset(ret_ifname, 0, TT_IFNAME_BYTES);
    memcpy(ret_ifname, text, n);
    return NULL;
}

const char *tt_value_mac(const char *text, uint8_t ret_mac[6])
{
    static const uint8_t none[6] = {0};
    uint8_t mac[6];

    if (tt_mac_parse(text, mac) < 0) {
        return "is not a MAC address";
    }
    if (memcmp(mac, none, sizeof(none)) == 0) {
        return "is nobody's address";
    }
    memcpy(ret_mac, mac, sizeof(mac));
    return NULL;
}

const char *tt_value_stream_id(const char *text, uint64_t *ret_stream_id)
{
    uint64_t id;

    if (tt_stream_id_parse(text, &id) < 0) {
        return "is not a stream ID";
    }
    if (id == 0) {
        return "is no stream's ID";
    }
    *ret_stream_id = id;
    return NULL;
}
