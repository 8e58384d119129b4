/*
 * Keys and values of a stream's description: one table says what each key takes; parsing, limits
 * and messages follow from it.
 *
 * Invariants: a value that is refused leaves the configuration as it was; what a person gave is
 * quoted with its unprintable bytes replaced and cut to a fixed length, so any bytes may be handed
 * in.
 */
#include "audio/stream_config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "audio/aaf.h"
#include "audio/eth.h"
#include "audio/pcm.h"
#include "base/attr.h"
#include "base/ns.h"

#define QUOTE_CHARS   40
#define KEY_CHARS_MAX 31

enum kind { NUMBER, TIME, CHOICE, BOOLEAN, IFNAME, MAC, STREAM_ID, FORMAT, RATE };

struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* of the member it sets */
    int64_t min;
    int64_t max;
    const char *choices[3]; /* CHOICE: by value */
    const char *takes;      /* for people: what would do, with an example */
};

#define MEMBER(name) offsetof(struct tt_stream_config, name)

/* A 32-bit presentation time reaches 2^31 ns ahead, and transit and uncertainty add up to it. The
 * launch lead stays within what hardware with a launch horizon of half a second takes. */
static const struct key keys[] = {
    {"ifname", IFNAME, MEMBER(ifname), 0, 0, {0}, "the name of a network interface, like eth0"},
    {"addr", MAC, MEMBER(dest), 0, 0, {0}, "the destination MAC address, like 91:E0:F0:00:FE:01"},
    {"streamid",
     STREAM_ID,
     MEMBER(stream_id),
     0,
     0,
     {0},
     "a MAC address and a unique ID, like AA:BB:CC:DD:EE:FF:0001"},
    {"prio", NUMBER, MEMBER(priority), 0, 15, {0}, "a socket priority from 0 to 15, like 3"},
    {"mtt",
     TIME,
     MEMBER(mtt_ns),
     0,
     TT_NS_PER_S,
     {0},
     "a time up to 1s, in us or with a unit, like 2000 or 2ms"},
    {"time_uncertainty",
     TIME,
     MEMBER(time_uncertainty_ns),
     0,
     TT_NS_PER_S,
     {0},
     "a time up to 1s, in us or with a unit, like 125 or 125us"},
    {"frames_per_pdu",
     NUMBER,
     MEMBER(frames_per_pdu),
     1,
     32767,
     {0},
     "how many frames each packet carries, like 6 (class A at 48000 Hz)"},
    {"ptime_tolerance",
     TIME,
     MEMBER(ptime_tolerance_ns),
     0,
     TT_NS_PER_S,
     {0},
     "a time up to 1s, in us or with a unit, like 100 or 100us"},
    {"vlan_id", NUMBER, MEMBER(vlan_id), 0, 4094, {0}, "a VLAN ID from 0 to 4094, like 2"},
    {"pcp", NUMBER, MEMBER(pcp), 0, 7, {0}, "a VLAN priority from 0 to 7, like 3 (class A)"},
    {"sparse", BOOLEAN, MEMBER(sparse), 0, 1, {0}, "yes or no"},
    {"playout_latency",
     TIME,
     MEMBER(playout_latency_ns),
     0,
     TT_NS_PER_S,
     {0},
     "a time up to 1s, in us or with a unit, like 500 or 5ms"},
    {"on_absence", CHOICE, MEMBER(on_absence), 0, 1, {"silence", "xrun"}, "silence or xrun"},
    {"timescale", CHOICE, MEMBER(timescale), 0, 1, {"tai", "utc"}, "tai or utc"},
    {"launch_lead",
     TIME,
     MEMBER(launch_lead_ns),
     0,
     TT_NS_PER_S / 2,
     {0},
     "a time up to 500ms, in us or with a unit, like 5000 or 5ms"},
    {"pace",
     CHOICE,
     MEMBER(pace),
     0,
     2,
     {"auto", "kernel", "software"},
     "auto, kernel or software"},
    {"format",
     FORMAT,
     MEMBER(format),
     0,
     0,
     {0},
     "INT16, INT24, INT32 or FLOAT32, or what ALSA calls them, like S16_LE"},
    {"rate",
     RATE,
     MEMBER(rate_hz),
     0,
     0,
     {0},
     "8000, 16000, 24000, 32000, 44100, 48000, 88200, 96000, 176400 or 192000 (Hz)"},
    {"channels",
     NUMBER,
     MEMBER(channels),
     1,
     TT_AAF_CHANNELS_MAX,
     {0},
     "a number from 1 to 1023, like 2"},
};

void tt_stream_config_init(struct tt_stream_config *config)
{
    *config = (struct tt_stream_config){
        .frames_per_pdu = 6,
        .priority = 3,
        .vlan_id = -1,
        .pcp = 3,
        .mtt_ns = 2 * TT_NS_PER_MS,
        .time_uncertainty_ns = 125 * TT_NS_PER_US,
        .ptime_tolerance_ns = 100 * TT_NS_PER_US,
        .launch_lead_ns = 5 * TT_NS_PER_MS,
    };
}

TT_PRINTF(3, 4)
static int refuse(int error, struct tt_message *message, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    vsnprintf(message->text, sizeof(message->text), text, args);
    va_end(args);
    return error;
}

struct quoted {
    char text[QUOTE_CHARS + 4];
};

static struct quoted quote(const char *given)
{
    struct quoted quoted = {0};
    size_t n = strnlen(given, QUOTE_CHARS + 1);

    for (size_t i = 0; i < n && i < QUOTE_CHARS; i++) {
        quoted.text[i] = given[i] >= ' ' && given[i] <= '~' ? given[i] : '?';
    }
    if (n > QUOTE_CHARS) {
        memcpy(quoted.text + QUOTE_CHARS, "...", 4);
    }
    return quoted;
}

static char fold(char c)
{
    if (c == '-') {
        return '_';
    }
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_key(const char *a, const char *b)
{
    while (*a != 0 && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return fold(*a) == fold(*b);
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
        if (same_key(keys[i].name, name)) {
            return &keys[i];
        }
    }
    return NULL;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many characters to insert, drop or change to make one name of the other. Both at most
 * KEY_CHARS_MAX long. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[KEY_CHARS_MAX + 1];
    size_t columns = strlen(b);

    for (unsigned j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; a[i - 1] != 0; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= columns; j++) {
            unsigned change = diagonal + (fold(a[i - 1]) != fold(b[j - 1]));

            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

static int unknown_key(const char *name, struct tt_message *ret_message)
{
    size_t chars = strnlen(name, KEY_CHARS_MAX + 1);
    const char *nearest = NULL;
    unsigned nearest_distance = 0;
    size_t used;

    for (size_t i = 0; i < TT_COUNT_OF(keys) && chars <= KEY_CHARS_MAX; i++) {
        unsigned distance = edit_distance(name, keys[i].name);

        if (!nearest || distance < nearest_distance) {
            nearest = keys[i].name;
            nearest_distance = distance;
        }
    }
    if (nearest && nearest_distance <= strlen(nearest) / 2) {
        return refuse(-ENOENT, ret_message, "there is no key \"%s\"; did you mean %s?",
                      quote(name).text, nearest);
    }
    refuse(-ENOENT, ret_message, "there is no key \"%s\"; there are:", quote(name).text);
    for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
        used = strlen(ret_message->text);
        snprintf(ret_message->text + used, sizeof(ret_message->text) - used, " %s", keys[i].name);
    }
    return -ENOENT;
}

/* Why a value will not do; NULL: it will. */
typedef const char *reason;

/* Reads digits as value * scale; returns the first character behind them. */
static reason read_digits(const char **text, int64_t scale, int64_t *value)
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

static reason read_number(const char *text, int64_t *ret_value)
{
    reason why = read_digits(&text, 1, ret_value);

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
        {"", TT_NS_PER_US}, {"us", TT_NS_PER_US}, {"ms", TT_NS_PER_MS}, {"s", TT_NS_PER_S},
        {"ns", 1},
    };

    for (size_t i = 0; i < TT_COUNT_OF(units); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            return units[i].ns;
        }
    }
    return 0;
}

static reason read_time(const char *text, int64_t *ret_ns)
{
    const char *unit = text + strspn(text, "0123456789.");
    int64_t scale;
    int64_t ns;
    reason why;

    if (unit == text) {
        return *text == '-' ? "is negative" : "is not a time";
    }
    scale = unit_ns(*unit == ' ' ? unit + 1 : unit);
    if (scale == 0) {
        return "has a unit that is not ns, us, ms or s";
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
            if (*text != '0' && scale < 10) {
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

static reason read_boolean(const char *text, bool *ret_value)
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

static reason read_choice(const struct key *key, const char *text, int *ret_value)
{
    for (int i = 0; i <= (int)key->max; i++) {
        if (strcasecmp(text, key->choices[i]) == 0) {
            *ret_value = i;
            return NULL;
        }
    }
    return "is none of them";
}

static reason read_format(const char *text, enum tt_aaf_format *ret_format)
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

/* What the kernel takes as an interface's name. */
static reason read_ifname(const char *text, char *ret_ifname)
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

static reason read_mac(const char *text, uint8_t *ret_mac)
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

static reason read_stream_id(const char *text, uint64_t *ret_stream_id)
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

static reason read_ranged(const struct key *key, const char *text, int64_t *ret_value)
{
    reason why = key->kind == TIME ? read_time(text, ret_value) : read_number(text, ret_value);

    if (why) {
        return why;
    }
    if (*ret_value < key->min) {
        return "is too small";
    }
    return *ret_value > key->max ? "is too large" : NULL;
}

static reason set_value(const struct key *key, const char *text, void *member)
{
    int64_t value;
    reason why;

    switch (key->kind) {
    case TIME:
        why = read_ranged(key, text, &value);
        if (!why) {
            *(int64_t *)member = value;
        }
        return why;
    case NUMBER:
        why = read_ranged(key, text, &value);
        if (!why) {
            *(int *)member = (int)value;
        }
        return why;
    case RATE:
        why = read_number(text, &value);
        if (why || value > UINT32_MAX || tt_aaf_nsr((uint32_t)value) == 0) {
            return why ? why : "is no rate that AAF carries";
        }
        *(uint32_t *)member = (uint32_t)value;
        return NULL;
    case CHOICE:
        return read_choice(key, text, member);
    case BOOLEAN:
        return read_boolean(text, member);
    case IFNAME:
        return read_ifname(text, member);
    case MAC:
        return read_mac(text, member);
    case STREAM_ID:
        return read_stream_id(text, member);
    case FORMAT:
        return read_format(text, member);
    }
    return "is not understood";
}

int tt_stream_config_set(struct tt_stream_config *config, const char *key, const char *value,
                         struct tt_message *ret_message)
{
    const struct key *found = find_key(key);
    reason why;

    if (!found) {
        return unknown_key(key, ret_message);
    }
    why = value[0] == 0 ? "is empty" : set_value(found, value, (char *)config + found->offset);
    if (why) {
        return refuse(-EINVAL, ret_message, "%s \"%s\" %s; give %s", found->name, quote(value).text,
                      why, found->takes);
    }
    return 0;
}

static int missing(const char *name, struct tt_message *ret_message)
{
    return refuse(-EINVAL, ret_message, "%s is missing; give %s", name, find_key(name)->takes);
}

int tt_stream_config_check(const struct tt_stream_config *config, enum tt_role role,
                           struct tt_message *ret_message)
{
    static const uint8_t none[6] = {0};

    if (config->ifname[0] == 0) {
        return missing("ifname", ret_message);
    }
    if (memcmp(config->dest, none, sizeof(none)) == 0) {
        return missing("addr", ret_message);
    }
    if (config->stream_id == 0) {
        return missing("streamid", ret_message);
    }
    if (config->frames_per_pdu == 0) {
        return missing("frames_per_pdu", ret_message);
    }
    if (role == TT_ROLE_TALKER && config->mtt_ns == 0) {
        return refuse(-EINVAL, ret_message,
                      "mtt \"0\" leaves no time to arrive: every packet would be late; give %s",
                      find_key("mtt")->takes);
    }
    return 0;
}

unsigned tt_frames_per_pdu_max(enum tt_aaf_format format, unsigned channels, unsigned mtu_bytes)
{
    unsigned frame_bytes = tt_aaf_sample_bytes(format) * channels;
    unsigned payload_bytes;

    if (frame_bytes == 0 || mtu_bytes <= TT_AAF_HEADER_BYTES) {
        return 0;
    }
    /* stream_data_length has 16 bits, whatever the MTU (of a loopback, say). */
    payload_bytes = least(mtu_bytes - TT_AAF_HEADER_BYTES, UINT16_MAX);
    return payload_bytes / frame_bytes;
}

int tt_stream_config_fits(const struct tt_stream_config *config, enum tt_aaf_format format,
                          unsigned channels, unsigned mtu_bytes, struct tt_message *ret_message)
{
    unsigned frames_max = tt_frames_per_pdu_max(format, channels, mtu_bytes);
    unsigned channels_max = least(tt_frames_per_pdu_max(format, config->frames_per_pdu, mtu_bytes),
                                  TT_AAF_CHANNELS_MAX);

    if (config->frames_per_pdu <= frames_max) {
        return 0;
    }
    return refuse(
        -EMSGSIZE, ret_message,
        "frames_per_pdu %u with %u channels of %s makes packets of %lu bytes, and the MTU of "
        "%s is %u; at most frames_per_pdu %u fits, or %u channels%s",
        config->frames_per_pdu, channels, tt_aaf_format_name(format),
        TT_AAF_HEADER_BYTES +
            (unsigned long)config->frames_per_pdu * channels * tt_aaf_sample_bytes(format),
        config->ifname, mtu_bytes, frames_max, channels_max,
        frames_max == 0 ? " (not even one frame fits)" : "");
}
