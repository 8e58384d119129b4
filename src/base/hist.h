/*
 * A distribution of signed int64_t values in constant memory: exact count, minimum, maximum, mean
 * and population standard deviation, and a log-linear (HDR) histogram for percentiles within 0.1 %
 * of the distance from an origin, which is 0 or what the values are near to.
 *
 * Invariants: no value is ever dropped (one outside the buckets lands in the outermost bucket and
 * still counts in n, min, max, mean and stdev); nothing wraps or saturates, whatever the values and
 * however many; recording is bounded and allocates nothing; two histograms merge into what
 * recording both would have given.
 *
 * One thread records. Another may go through the buckets meanwhile (tt_hist_next): each count is
 * whole, and never less than what was recorded before it began. All else waits for the writer's
 * end.
 *
 * Buckets: 2^9 linear steps per power of two on both sides of the origin. A bucket's middle is off
 * from any value in it by at most 1/1024 of its distance, and distances under 1024 have a bucket
 * each.
 */
#ifndef TT_BASE_HIST_H
#define TT_BASE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_HIST_STEP_BITS 9
#define TT_HIST_TOP_BITS  40 /* values up to 2^40 ns = 18 min have buckets of their own */
#define TT_HIST_BUCKETS   ((TT_HIST_TOP_BITS - TT_HIST_STEP_BITS + 1) << TT_HIST_STEP_BITS)

struct tt_hist {
    uint64_t n;
    int64_t min;
    int64_t max;
    int64_t origin;     /* of the buckets, … */
    unsigned shift;     /* … which are 2^shift wide or wider */
    int64_t first;      /* moments are kept about the first value */
    uint64_t sum[2];    /* of value - first: 128 bits, two's complement, low word first */
    uint64_t square[3]; /* of (value - first)^2: 192 bits, low word first */
    uint64_t buckets[2][TT_HIST_BUCKETS]; /* by distance: value >= origin, value < origin */
};

struct tt_summary {
    uint64_t n; /* 0: all other fields are meaningless and printed as unknown */
    int64_t min;
    int64_t max;
    double mean;
    double stdev; /* population */
    int64_t p50;  /* nearest rank: the ceil(p n)-th smallest */
    int64_t p99;
    int64_t p999;
};

void tt_hist_init(struct tt_hist *h);
/* Percentiles are finest there, to 2^shift (0 … 9): what is coarser touches fewer buckets, and is
 * quicker where there are many distributions. As long as nothing is recorded. */
TT_RT void tt_hist_set_origin(struct tt_hist *h, int64_t origin, unsigned shift);
/* Any value. */
TT_RT void tt_hist_record(struct tt_hist *h, int64_t value);
void tt_hist_merge(struct tt_hist *into, const struct tt_hist *from);
/* Nearest rank; per_mille 1 … 1000; h->n must not be 0. Clamped to [min, max]. */
int64_t tt_hist_percentile(const struct tt_hist *h, unsigned per_mille);
void tt_hist_summarize(const struct tt_hist *h, struct tt_summary *ret_summary);

/* The width of the bucket that `value` falls into: what is drawn or counted finer is made up. */
int64_t tt_hist_step(const struct tt_hist *h, int64_t value);
/* Through the buckets that hold anything, values ascending: *at is 0 at first. A value is its
 * bucket's middle, clamped to [min, max]. false at the end. */
bool tt_hist_next(const struct tt_hist *h, size_t *at, int64_t *ret_value, uint64_t *ret_count);

#endif
