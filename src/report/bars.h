/*
 * A distribution as bars of equal width, from its 0.1 % to its 99.9 % percentile. A bar is a whole
 * number of the histogram's buckets, or bars would be of unequal weight.
 */
#ifndef TT_REPORT_BARS_H
#define TT_REPORT_BARS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"

#define TT_BARS_MAX 128

struct tt_bars {
    int64_t from;
    int64_t width;
    size_t count;
    uint64_t of[TT_BARS_MAX + 1];
    uint64_t most;    /* of any bar */
    uint64_t outside; /* below and above all */
};

/* About `most` bars, one more at most; 1 … TT_BARS_MAX. hist->n must not be 0. */
void tt_bars_fill(struct tt_bars *bars, const struct tt_hist *hist, size_t most);

#endif
