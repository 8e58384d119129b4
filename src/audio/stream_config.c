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
#include "audio/config_value.h"
#include "base/attr.h"
#include "base/ns.h"
#include "base/word.h"

#define PCP_CLASS_A 3

enum kind { NUMBER, TIME, CHOICE, BOOLEAN, IFNAME, MAC, STREAM_ID, FORMAT, RATE };

struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* of the member it sets */
    int64_t min;
    int64_t max;
    const char *choices[4]; /* CHOICE: by value */
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
    {"on_loss", CHOICE, MEMBER(on_loss), 0, 1, {"silence", "fade"}, "silence or fade"},
    {"on_underrun", CHOICE, MEMBER(on_underrun), 0, 1, {"xrun", "silence"}, "xrun or silence"},
    {"tu", CHOICE, MEMBER(tu), 0, 1, {"auto", "never"}, "auto or never"},
    {"timescale", CHOICE, MEMBER(timescale), 0, 1, {"tai", "utc"}, "tai or utc"},
    {"launch_lead",
     TIME,
     MEMBER(launch_lead_ns),
     0,
     TT_NS_PER_S / 2,
     {0},
     "a time up to 500ms, in us or with a unit, like 5000 or 5ms"},
    {"launch_offset",
     TIME,
     MEMBER(launch_offset_ns),
     0,
     TT_NS_PER_S,
     {0},
     "a time up to 1s, in us or with a unit, like 20 or 1680ns"},
    {"pace",
     CHOICE,
     MEMBER(pace),
     0,
     3,
     {"auto", "kernel", "software", "xdp"},
     "auto, kernel, software or xdp"},
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
        .pcp = -1,
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

/* The names of the 2018 plugin, and what one would rather write in a file or an option. */
static const char *const aliases[][2] = {
    {"interface", "ifname"}, {"dest", "addr"}, {"stream_id", "streamid"}, {"priority", "prio"}};

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < TT_COUNT_OF(aliases); i++) {
        if (tt_word_same(aliases[i][0], name)) {
            name = aliases[i][1];
        }
    }
    for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
        if (tt_word_same(keys[i].name, name)) {
            return &keys[i];
        }
    }
    return NULL;
}

bool tt_stream_config_same_key(const char *a, const char *b)
{
    const struct key *key = find_key(a);

    return key ? key == find_key(b) : tt_word_same(a, b);
}

int tt_stream_config_pcp(const struct tt_stream_config *config)
{
    return config->vlan_id < 0 ? -1 : config->pcp < 0 ? PCP_CLASS_A : config->pcp;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

const char *tt_stream_config_nearest_key(const char *name)
{
    const char *nearest = NULL;
    size_t least_distance = SIZE_MAX;

    for (size_t i = 0; i < TT_COUNT_OF(keys) + TT_COUNT_OF(aliases); i++) {
        const char *known =
            i < TT_COUNT_OF(keys) ? keys[i].name : aliases[i - TT_COUNT_OF(keys)][0];
        size_t distance = tt_word_distance(name, known);

        if (distance < least_distance) {
            nearest = known;
            least_distance = distance;
        }
    }
    return least_distance <= strlen(nearest) / 2 ? nearest : NULL;
}

static int unknown_key(const char *name, struct tt_message *ret_message)
{
    const char *nearest = tt_stream_config_nearest_key(name);
    size_t used;

    if (nearest) {
        return refuse(-ENOENT, ret_message, "there is no key \"%s\"; did you mean %s?",
                      tt_word_quote(name).text, nearest);
    }
    refuse(-ENOENT, ret_message, "there is no key \"%s\"; there are:", tt_word_quote(name).text);
    for (size_t i = 0; i < TT_COUNT_OF(keys); i++) {
        used = strlen(ret_message->text);
        snprintf(ret_message->text + used, sizeof(ret_message->text) - used, " %s", keys[i].name);
    }
    return -ENOENT;
}

static const char *read_choice(const struct key *key, const char *text, int *ret_value)
{
    for (int i = 0; i <= (int)key->max; i++) {
        if (strcasecmp(text, key->choices[i]) == 0) {
            *ret_value = i;
            return NULL;
        }
    }
    return "is none of them";
}

static const char *read_ranged(const struct key *key, const char *text, int64_t *ret_value)
{
    const char *why =
        key->kind == TIME ? tt_value_time(text, ret_value) : tt_value_number(text, ret_value);

    if (why) {
        return why;
    }
    if (*ret_value < key->min) {
        return "is too small";
    }
    return *ret_value > key->max ? "is too large" : NULL;
}

static const char *set_value(const struct key *key, const char *text, void *member)
{
    int64_t value;
    const char *why;

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
        why = tt_value_number(text, &value);
        if (why || value > UINT32_MAX || tt_aaf_nsr((uint32_t)value) == 0) {
            return why ? why : "is no rate that AAF carries";
        }
        *(uint32_t *)member = (uint32_t)value;
        return NULL;
    case CHOICE:
        return read_choice(key, text, member);
    case BOOLEAN:
        return tt_value_boolean(text, member);
    case IFNAME:
        return tt_value_ifname(text, member);
    case MAC:
        return tt_value_mac(text, member);
    case STREAM_ID:
        return tt_value_stream_id(text, member);
    case FORMAT:
        return tt_value_format(text, member);
    }
    return "is not understood";
}

int tt_stream_config_set(struct tt_stream_config *config, const char *key, const char *value,
                         struct tt_message *ret_message)
{
    const struct key *found = find_key(key);
    const char *why;

    if (!found) {
        return unknown_key(key, ret_message);
    }
    why = value[0] == 0 ? "is empty" : set_value(found, value, (char *)config + found->offset);
    if (why) {
        return refuse(-EINVAL, ret_message, "%s \"%s\" %s; give %s", key, tt_word_quote(value).text,
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
    if (role == TT_ROLE_TALKER && config->pcp >= 0 && config->vlan_id < 0) {
        return refuse(
            -EINVAL, ret_message,
            "pcp \"%d\" is the priority in a VLAN tag, and packets have none; give vlan_id "
            "too (0: no VLAN, the priority alone), or leave pcp out",
            config->pcp);
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
    char remedy[64];

    if (config->frames_per_pdu <= frames_max) {
        return 0;
    }
    if (frames_max == 0) {
        snprintf(remedy, sizeof(remedy), "not even one frame fits, at most channels %u does",
                 least(tt_frames_per_pdu_max(format, 1, mtu_bytes), TT_AAF_CHANNELS_MAX));
    } else if (channels_max == 0) {
        snprintf(remedy, sizeof(remedy), "at most frames_per_pdu %u fits", frames_max);
    } else {
        snprintf(remedy, sizeof(remedy), "at most frames_per_pdu %u fits, or channels %u",
                 frames_max, channels_max);
    }
    return refuse(
        -EMSGSIZE, ret_message,
        "frames_per_pdu %u with channels %u of %s makes packets of %lu bytes, and the MTU "
        "of %s is %u; %s",
        config->frames_per_pdu, channels, tt_aaf_format_name(format),
        TT_AAF_HEADER_BYTES +
            (unsigned long)config->frames_per_pdu * channels * tt_aaf_sample_bytes(format),
        config->ifname, mtu_bytes, remedy);
}
