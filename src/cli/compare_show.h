/*
 * A comparison of two captures as text, as a page, as JSON.
 */
#ifndef TT_CLI_COMPARE_SHOW_H
#define TT_CLI_COMPARE_SHOW_H

#include <stdint.h>

#include "audio/observer.h"
#include "base/compare.h"
#include "cli/watch_compare.h"

/* The figures of a window. */
enum tt_compared_figure {
    TT_COMPARED_JITTER,   /* stdev of the interval, ns */
    TT_COMPARED_RANGE,    /* its maximum - minimum, ns */
    TT_COMPARED_LATENESS, /* p99 - p50, ns: the grid itself is drawn ever better */
    TT_COMPARED_LOST,     /* PDUs */
    TT_COMPARED
};

struct tt_compared {
    const char *paths[2];
    const struct tt_observed *streams[2];
    int64_t window_ns;
    struct tt_compare_result results[TT_COMPARED];
};

/* TT_EXIT_GOOD, or why it could not be written. */
int tt_compare_show(const struct tt_watch_compare *options, const struct tt_compared *compared);

#endif
