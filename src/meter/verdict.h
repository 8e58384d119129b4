/*
 * What a buffer's figures allow to be said, and no more: of each load, and of all together.
 *
 * No dropout in a time T shows only that they are rarer than 3 in T (95 %: a Poisson process of a
 * higher rate would have shown one). So "safe" takes half an hour without any under each load: at
 * most one in ten minutes. Time under one load says nothing of another. One dropout is enough for
 * "not safe", except where the machine did other work, which the meter did not make, in the time in
 * which they fell: then it is too noisy to say. Of all together, the worst of these holds: not
 * safe, too noisy, not enough, safe. A time in which the load was not at work all the while shows
 * nothing of it: no dropout there is not enough, however long, and nothing is held.
 */
#ifndef TT_METER_VERDICT_H
#define TT_METER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/cause.h"

/* A buffer under one load. */
struct tt_verdict_input {
    uint64_t dropouts; /* the device ran empty; a timer: periods skipped */
    uint64_t bursts;
    int64_t measured_ns;
    int64_t foreign_per_mille; /* of all CPU time: what neither the meter nor its loads used; or
                                  TT_CAUSE_UNKNOWN */
    enum tt_cause cause;       /* of most of them; TT_CAUSES: none known */
    int64_t cause_per_mille;
    int64_t share_per_mille; /* of its time, that a computation usually takes; or unknown */
    bool load_failed;        /* it ended early, or came to nothing */
};

/* The better ones first. */
enum tt_verdict_kind {
    TT_VERDICT_SAFE,
    TT_VERDICT_NOT_ENOUGH, /* no dropout, in too little time */
    TT_VERDICT_TOO_NOISY,
    TT_VERDICT_NOT_SAFE,
    TT_VERDICTS,
};

struct tt_verdict {
    enum tt_verdict_kind kind;
    size_t worst; /* of the loads of that kind: most dropouts in its time; or least time */
    size_t loads[TT_VERDICTS]; /* how many are of each kind */
    uint64_t dropouts;
    uint64_t bursts;
    int64_t measured_ns;
    int64_t shortest_ns; /* under one load */
    /* Without dropouts: at most one in so long; else one in so long was seen. */
    int64_t one_in_ns;
    int64_t worst_one_in_ns;   /* under the worst load */
    int64_t foreign_per_mille; /* of the worst */
    enum tt_cause cause;       /* of the worst */
    int64_t cause_per_mille;
    size_t failed;           /* so many loads failed, … */
    size_t first_failed;     /* … the first of them this one */
    size_t slowest;          /* the load with the greatest share … */
    int64_t share_per_mille; /* … and that */
};

#define TT_VERDICT_SAFE_ONE_IN_NS    (600 * INT64_C(1000000000))
#define TT_VERDICT_FOREIGN_PER_MILLE 150
#define TT_VERDICT_SHARE_PER_MILLE   1000 /* from there on no buffer is long enough */
#define TT_VERDICT_HELD_ONE_IN_NS    (10 * INT64_C(1000000000))
#define TT_VERDICT_HELD_BUFFERS      10

/* All dropouts of all loads are within the verdict. `count` >= 1. */
void tt_verdict_find(const struct tt_verdict_input *inputs, size_t count,
                     struct tt_verdict *ret_verdict);

/* Whether a clean run is long enough to be called held: at most one dropout in ten seconds (95 %),
 * and under each load, none of which failed, the buffer was used up ten times. */
bool tt_verdict_shows_held(const struct tt_verdict *verdict, int64_t buffer_ns);

/* "safe", "not_safe", "not_enough_data", "too_noisy". */
const char *tt_verdict_name(enum tt_verdict_kind kind);

#endif
