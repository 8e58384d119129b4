/*
 * Interruptions within a computation that a program sees by its own clock alone. The computation is
 * cut into chunks of equal work, and a clock is read behind each. One that takes twice as long as
 * both that before and that behind it was interrupted; where its neighbours take as long, the
 * processor is slower, by whatever factor.
 */
#ifndef TT_METER_GAPS_H
#define TT_METER_GAPS_H

#include <stdint.h>

#include "base/attr.h"

/* Less than that beyond its neighbours is none. */
#define TT_GAPS_LEAST_NS INT64_C(10000)
/* Chunks of a computation: fewer tell nothing. */
#define TT_GAPS_CHUNKS_MIN 3

struct tt_gaps {
    int64_t before_ns; /* the chunk before the last; -1: none yet */
    int64_t last_ns;
    int64_t sum_ns; /* in interruptions */
};

#define TT_GAPS_INIT ((struct tt_gaps){.before_ns = -1, .last_ns = -1})

/* A chunk took so long. */
TT_RT void tt_gaps_add(struct tt_gaps *gaps, int64_t chunk_ns);
/* Behind the last: time in interruptions, in ns. */
TT_RT int64_t tt_gaps_end(struct tt_gaps *gaps);

#endif
