/*
 * Any bytes as a configuration: a line is a key, a space and a value. What is set must stay within
 * its limits, what is refused must leave everything as it was, and what is said must be printable
 * and name the key.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audio/stream_config.h"
#include "base/attr.h"
#include "base/ns.h"

/* By the words that the messages carry. */
static struct fuzz_reason reasons[] = {
    {"did you mean", 0},
    {"there are:", 0},
    {"is empty", 0},
    {"is negative", 0},
    {"is not a number", 0},
    {"is not a whole number", 0},
    {"is too small", 0},
    {"is too large", 0},
    {"is not a time", 0},
    {"has a unit that is not", 0},
    {"is finer than 1 ns", 0},
    {"is neither", 0},
    {"is none of them", 0},
    {"is no format that AAF carries", 0},
    {"is no rate that AAF carries", 0},
    {"is longer than 15 characters", 0},
    {"is no interface name", 0},
    {"is not a MAC address", 0},
    {"is nobody's address", 0},
    {"is not a stream ID", 0},
    {"is no stream's ID", 0},
    {"ifname is missing", 0},
    {"addr is missing", 0},
    {"streamid is missing", 0},
    {"leaves no time to arrive", 0},
    {"makes packets of", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = TT_COUNT_OF(reasons);
    return reasons;
}

static void hold(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Every message has a reason in it. */
static void check_message(const struct tt_message *message)
{
    unsigned found = 0;

    hold(memchr(message->text, 0, sizeof(message->text)) != NULL);
    for (const char *c = message->text; *c != 0; c++) {
        hold(*c >= ' ' && *c <= '~');
    }
    for (size_t i = 0; i < TT_COUNT_OF(reasons); i++) {
        if (strstr(message->text, reasons[i].name)) {
            reasons[i].reached++;
            found++;
        }
    }
    hold(found >= 1);
}

static bool is_time(int64_t ns, int64_t most_ns)
{
    return ns >= 0 && ns <= most_ns;
}

static void check_limits(const struct tt_stream_config *config)
{
    hold(memchr(config->ifname, 0, sizeof(config->ifname)) != NULL);
    hold((unsigned)config->format <= TT_AAF_INT16);
    hold(config->rate_hz == 0 || tt_aaf_nsr(config->rate_hz) != 0);
    hold(config->channels <= TT_AAF_CHANNELS_MAX);
    hold(config->frames_per_pdu >= 1 && config->frames_per_pdu <= 32767);
    hold(config->priority >= 0 && config->priority <= 15);
    hold(config->vlan_id >= -1 && config->vlan_id <= 4094);
    hold(config->pcp >= -1 && config->pcp <= 7);
    hold(is_time(config->mtt_ns, TT_NS_PER_S) && is_time(config->time_uncertainty_ns, TT_NS_PER_S));
    hold(is_time(config->ptime_tolerance_ns, TT_NS_PER_S));
    hold(is_time(config->playout_latency_ns, TT_NS_PER_S));
    hold(is_time(config->launch_lead_ns, TT_NS_PER_S / 2));
}

static void set_line(struct tt_stream_config *config, char *line)
{
    struct tt_stream_config before;
    struct tt_message message;
    char *value = strchr(line, ' ');
    int error;

    if (value) {
        *value++ = 0;
    }
    memcpy(&before, config, sizeof(before));
    error = tt_stream_config_set(config, line, value ? value : "", &message);
    hold(error == 0 || error == -EINVAL || error == -ENOENT);
    if (error < 0) {
        hold(memcmp(&before, config, sizeof(before)) == 0);
        check_message(&message);
    }
    check_limits(config);
}

static void check_whole(const struct tt_stream_config *config)
{
    static const unsigned mtus[] = {0, 24, 64, 1500, 9000, 65536};
    struct tt_message message;
    unsigned channels = config->channels ? config->channels : 2;
    enum tt_aaf_format format = config->format ? config->format : TT_AAF_INT16;

    for (int role = TT_ROLE_TALKER; role <= TT_ROLE_LISTENER; role++) {
        if (tt_stream_config_check(config, (enum tt_role)role, &message) < 0) {
            check_message(&message);
        }
    }
    for (size_t i = 0; i < TT_COUNT_OF(mtus); i++) {
        unsigned most = tt_frames_per_pdu_max(format, channels, mtus[i]);

        if (tt_stream_config_fits(config, format, channels, mtus[i], &message) < 0) {
            hold(config->frames_per_pdu > most);
            check_message(&message);
        } else {
            hold(config->frames_per_pdu <= most);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_stream_config config;
    char *text = malloc(size + 1);
    char *next;

    if (!text) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = 0;
    memset(&config, 0, sizeof(config)); /* padding takes part in the comparison */
    tt_stream_config_init(&config);
    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = 0;
        }
        set_line(&config, line);
    }
    check_whole(&config);
    free(text);
    return 0;
}
