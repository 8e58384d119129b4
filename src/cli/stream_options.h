/*
 * The options that `talk` and `listen` share: a stream's keys with dashes, the stream file, and
 * what holds for all streams.
 *
 * An option whose number is TT_OPTION_KEY or more is the key of that name.
 */
#ifndef TT_CLI_STREAM_OPTIONS_H
#define TT_CLI_STREAM_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/stream_job.h"

enum {
    TT_OPTION_STREAMS = 0x100,
    TT_OPTION_CPU,
    TT_OPTION_DURATION,
    TT_OPTION_JSON,
    TT_OPTION_KEY = 0x200, /* … 0x2FF: those of one command from 0x280 on */
};

/* Entries of an argp table. */
#define TT_STREAM_OPTIONS                                                                           \
    {"interface", 'i', "IF", 0, "The Ethernet interface, such as eth0", 1},                         \
        {"stream-id", TT_OPTION_KEY, "ID", 0, "The stream, such as AA:BB:CC:DD:EE:FF:0001", 1},     \
        {"dest",                                                                                    \
         TT_OPTION_KEY + 1,                                                                         \
         "MAC",                                                                                     \
         0,                                                                                         \
         "Its destination address, such as "                                                        \
         "91:E0:F0:00:FE:01",                                                                       \
         1},                                                                                        \
        {"streams", TT_OPTION_STREAMS, "FILE", 0, "Several streams, from a stream file (JSON)", 1}, \
        {"format",                                                                                  \
         TT_OPTION_KEY + 2,                                                                         \
         "FORMAT",                                                                                  \
         0,                                                                                         \
         "Samples on the wire: INT16, INT24, INT32, "                                               \
         "FLOAT32",                                                                                 \
         2},                                                                                        \
        {"rate", TT_OPTION_KEY + 3, "HZ", 0, "Sampling rate of the stream", 2},                     \
        {"channels", TT_OPTION_KEY + 4, "N", 0, "Channels of the stream", 2},                       \
        {"timescale", TT_OPTION_KEY + 5, "tai|utc", 0, "Scale of the presentation times", 3},       \
        {"buffer", TT_OPTION_KEY + 6, "TIME", 0, "Between file and network, such as 500ms", 4},     \
        {"report", TT_OPTION_KEY + 7, "FILE", 0, "At the end: what happened, as JSON", 4},          \
        {"cpu", TT_OPTION_CPU, "N", 0, "The processor for the real-time work", 4},                  \
        {"duration", TT_OPTION_DURATION, "TIME", 0, "End after TIME, such as 10s or 2min", 4},      \
        {"for", TT_OPTION_DURATION, NULL, OPTION_ALIAS, NULL, 4},                                   \
    {                                                                                               \
        "json", TT_OPTION_JSON, NULL, 0, "A line of JSON each second on standard output", 4         \
    }

struct tt_stream_options {
    const struct argp_option *table; /* the command's */
    enum tt_role role;
    struct tt_stream_job job;
    const char *streams_path; /* NULL: one stream, from the options */
    int cpu;                  /* -1: any */
    int64_t duration_ns;      /* INT64_MAX: for ever */
    bool json;
    const char *single; /* an option that is of one stream; NULL: none was given */
};

void tt_stream_options_init(struct tt_stream_options *options, enum tt_role role,
                            const struct argp_option *table);
void tt_stream_options_done(struct tt_stream_options *options);

/* For argp; state->input is a struct tt_stream_options. What will not do ends the program. */
error_t tt_stream_options_parse(int key, char *argument, struct argp_state *state);

#endif
