/*
 * The streams that a command was asked for, all together: what they cannot share, and messages that
 * say where in a stream file the fault is.
 */
#ifndef TT_CLI_STREAM_SET_H
#define TT_CLI_STREAM_SET_H

#include <stddef.h>

#include "cli/stream_file.h"
#include "cli/stream_options.h"

struct tt_stream_set {
    const char *command;
    const struct tt_stream_options *options;
    const struct tt_stream_file *file; /* NULL: one stream, from the options */
    const struct tt_stream_job *jobs;
    size_t count;
};

/* Before anything is opened: outputs that can be written and differ, standard input and output used
 * once, a processor that is there. Says what has no effect. TT_EXIT_GOOD, or the exit code, with a
 * message on stderr. */
int tt_stream_set_check(const struct tt_stream_set *set);

/* A message on stderr about a part of that stream; of a stream file with the place. */
void tt_stream_set_say(const struct tt_stream_set *set, size_t index, enum tt_stream_part part,
                       const char *text);

size_t tt_stream_set_pipes(const struct tt_stream_set *set);

#endif
