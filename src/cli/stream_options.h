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

#define TT_OPTION_KEY 0x200
/* Keys are fewer. */
#define TT_OPTIONS_MAX 64

struct tt_stream_options {
    const struct argp_option *table; /* of the command */
    enum tt_role role;
    struct tt_stream_job job;
    const char *streams_path; /* NULL: one stream, from the options */
    int cpu;                  /* -1: any */
    int64_t duration_ns;      /* INT64_MAX: for ever */
    bool json;
    const char *metrics;               /* where figures are served; NULL: nowhere */
    const char *single;                /* an option that is of one stream; NULL: none was given */
    const char *given[TT_OPTIONS_MAX]; /* the keys that are there as options */
    size_t given_count;
};

void tt_stream_options_init(struct tt_stream_options *options, enum tt_role role,
                            const struct argp_option *table);
void tt_stream_options_done(struct tt_stream_options *options);

/* Whether that key was given as an option, by whichever of its names. */
bool tt_stream_options_has(const struct tt_stream_options *options, const char *key);

/* The parser of a command's own table and of its argument; its input is a struct
 * tt_stream_options. What will not do ends the program. */
error_t tt_stream_options_parse(int key, char *argument, struct argp_state *state);
/* Its only child: what is common. */
extern const struct argp_child tt_stream_options_common[];

#endif
