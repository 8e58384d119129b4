/*
 * See stream_options.h.
 */
#include "cli/stream_options.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "cli/cmd.h"

#define CPU_MAX 4095

enum { OPTION_STREAMS = 256, OPTION_CPU, OPTION_DURATION, OPTION_JSON, OPTION_METRICS };

static const struct argp_option common[] = {
    {NULL, 0, NULL, 0, "Which stream, where, how long:", 1},
    {"interface", 'i', "IF", 0, "The Ethernet interface, such as eth0", 1},
    {"stream-id", TT_OPTION_KEY, "ID", 0, "The stream, such as AA:BB:CC:DD:EE:FF:0001", 1},
    {"dest", TT_OPTION_KEY + 1, "MAC", 0, "Its address, such as 91:E0:F0:00:FE:01", 1},
    {"streams", OPTION_STREAMS, "FILE", 0, "Several streams, from a stream file (JSON)", 1},
    {"format", TT_OPTION_KEY + 2, "FORMAT", 0, "On the wire: INT16, INT24, INT32, FLOAT32", 1},
    {"rate", TT_OPTION_KEY + 3, "HZ", 0, "Sampling rate of the stream", 1},
    {"channels", TT_OPTION_KEY + 4, "N", 0, "Channels of the stream", 1},
    {"timescale", TT_OPTION_KEY + 5, "tai|utc", 0, "Scale of the presentation times", 1},
    {"buffer", TT_OPTION_KEY + 6, "TIME", 0, "Between file and network, such as 500ms", 1},
    {"level", TT_OPTION_KEY + 8, "TIME", 0, "Held between a sound card and the network", 1},
    {"quality", TT_OPTION_KEY + 9, "best|medium", 0, "Of resampling to or from a sound card", 1},
    {"cpu", OPTION_CPU, "N", 0, "The processor for the real-time work", 1},
    {"duration", OPTION_DURATION, "TIME", 0, "End after TIME, such as 10s or 2min", 1},
    {"for", OPTION_DURATION, NULL, OPTION_ALIAS, NULL, 1},
    {"json", OPTION_JSON, NULL, 0, "A line of JSON each second on standard output", 1},
    {"metrics", OPTION_METRICS, "[ADDR:]PORT", 0, "Serve figures for Prometheus there", 1},
    {"report", TT_OPTION_KEY + 7, "FILE", 0, "At the end: what happened, as JSON", 1},
    {0},
};

void tt_stream_options_init(struct tt_stream_options *options, enum tt_role role,
                            const struct argp_option *table)
{
    *options = (struct tt_stream_options){
        .table = table, .role = role, .cpu = -1, .duration_ns = INT64_MAX};
    tt_stream_job_init(&options->job);
}

void tt_stream_options_done(struct tt_stream_options *options)
{
    tt_stream_job_done(&options->job);
}

static const char *name_of(const struct argp_option *option, int key)
{
    while (option->key != key) {
        option++;
    }
    return option->name;
}

bool tt_stream_options_has(const struct tt_stream_options *options, const char *key)
{
    for (size_t i = 0; i < options->given_count; i++) {
        if (tt_stream_config_same_key(options->given[i], key)) {
            return true;
        }
    }
    return false;
}

/* `typed`: how the option is written, "" where it is the argument: messages begin with that. */
static void set_key(struct tt_stream_options *options, const char *typed, const char *name,
                    const char *argument, struct argp_state *state)
{
    struct tt_message message;
    int error;

    if (tt_stream_job_is_single(name)) {
        options->single = name;
    }
    if (!tt_stream_options_has(options, name)) {
        assert(options->given_count < TT_OPTIONS_MAX);
        options->given[options->given_count++] = name;
    }
    error = tt_stream_job_set(&options->job, options->role, name, argument, &message);
    if (error == -EINVAL && typed[0] != 0 && strncmp(message.text, name, strlen(name)) == 0) {
        argp_error(state, "%s%s", typed, message.text + strlen(name));
    } else if (error < 0) {
        argp_error(state, "%s", message.text);
    }
}

/* The option of that number, as a person would type it: what has a letter, by that. */
static void set_option(struct tt_stream_options *options, const struct argp_option *table, int key,
                       const char *argument, struct argp_state *state)
{
    const char *name = name_of(table, key);
    char typed[64];

    if (key < TT_OPTION_KEY) {
        snprintf(typed, sizeof(typed), "-%c", key);
    } else {
        snprintf(typed, sizeof(typed), "--%s", name);
    }
    set_key(options, typed, name, argument ? argument : "yes", state);
}

static void check_required(const struct tt_stream_options *options, struct argp_state *state)
{
    static const uint8_t none[6] = {0};
    const struct tt_stream_config *config = &options->job.config;
    const char *missing =
        config->ifname[0] == 0   ? "-i IF, such as -i eth0"
        : config->stream_id == 0 ? "--stream-id ID, such as --stream-id AA:BB:CC:DD:EE:FF:0001"
        : memcmp(config->dest, none, sizeof(none)) == 0
            ? "--dest MAC, such as --dest 91:E0:F0:00:FE:01"
        : !options->job.end ? options->role == TT_ROLE_TALKER
                                  ? "a source: a sound file, -, tone:HZ or alsa:DEVICE"
                                  : "a sink: a file to write, -, or alsa:DEVICE"
                            : NULL;

    if (missing) {
        argp_error(state, "give %s", missing);
    }
}

static void check(struct tt_stream_options *options, struct argp_state *state)
{
    struct tt_message message;

    if (options->streams_path) {
        if (options->single) {
            argp_error(state, "%s%s is of one stream, and with --streams it stands in the file",
                       strcmp(options->single, "source") == 0 ||
                               strcmp(options->single, "sink") == 0
                           ? "a "
                           : "--",
                       options->single);
        }
        return;
    }
    check_required(options, state);
    if (tt_stream_job_check(&options->job, options->role, &message) < 0) {
        argp_error(state, "--%s", message.text); /* what is not missing is a key's value */
    }
}

static bool is_key(int key)
{
    return key == 'i' || (key >= TT_OPTION_KEY && key <= TT_OPTION_KEY + 0xFF);
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    struct tt_stream_options *options = state->input;

    if (is_key(key)) {
        set_option(options, common, key, argument, state);
        return 0;
    }
    switch (key) {
    case OPTION_STREAMS:
        options->streams_path = argument;
        return 0;
    case OPTION_CPU:
        options->cpu = (int)tt_cli_number_option("cpu", argument, state, 0, CPU_MAX);
        return 0;
    case OPTION_DURATION:
        options->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_JSON:
        options->json = true;
        return 0;
    case OPTION_METRICS:
        options->metrics = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common_parser = {.options = common, .parser = parse_common};

const struct argp_child tt_stream_options_common[] = {{&common_parser, 0, NULL, 0}, {0}};

error_t tt_stream_options_parse(int key, char *argument, struct argp_state *state)
{
    struct tt_stream_options *options = state->input;
    const char *end = options->role == TT_ROLE_TALKER ? "source" : "sink";

    if (is_key(key)) {
        set_option(options, options->table, key, argument, state);
        return 0;
    }
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) {
            argp_error(state, "one %s: what is %s?", end, argument);
        }
        set_key(options, "", end, argument, state);
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
