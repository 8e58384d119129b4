/*
 * What streams at work show: a line of each as they go, tables at the end, or JSON.
 */
#ifndef TT_CLI_STREAMS_SHOW_H
#define TT_CLI_STREAMS_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/stream.h"
#include "cli/stream_clock.h"

#define TT_STREAMS_LINES 8 /* of so many there is a line each; of the rest a sum */

struct tt_streams_view {
    struct tt_stream *streams;
    const struct tt_stream_clock *clock;
    const struct tt_stream_status *statuses;
    size_t count;
    int64_t elapsed_ns;
    bool final; /* the engines have stopped */
};

/* Returns how many lines it printed. */
int tt_streams_print_lines(const struct tt_streams_view *view, FILE *out);
void tt_streams_print_summary(const struct tt_streams_view *view, FILE *out);
/* A new reference, or NULL when memory is out. */
json_t *tt_streams_json(const struct tt_streams_view *view);

/* Whether anything was lost. */
bool tt_stream_status_is_negative(const struct tt_stream *stream,
                                  const struct tt_stream_status *status);

#endif
