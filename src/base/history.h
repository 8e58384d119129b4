/*
 * How a value went over time, in constant memory: the least and the greatest of each stretch of
 * time. When the cells run out, two become one and a cell lasts twice as long.
 *
 * Invariants: every value lies in a cell, whatever its time (one from before the start in the
 * first); recording allocates nothing.
 */
#ifndef TT_BASE_HISTORY_H
#define TT_BASE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_HISTORY_CELLS   512
#define TT_HISTORY_CELL_NS INT64_C(1000000) /* at first */

struct tt_history_cell {
    uint64_t n; /* 0: min and max are meaningless */
    int64_t min;
    int64_t max;
};

/* Zeroed is empty. */
struct tt_history {
    int64_t start_ns;  /* time of the first value */
    int64_t cell_ns;   /* 0: empty */
    size_t used;       /* cells up to the last one that holds anything */
    size_t newest;     /* the cell of the last value */
    int64_t newest_ns; /* where it begins */
    struct tt_history_cell cells[TT_HISTORY_CELLS];
};

TT_RT void tt_history_record(struct tt_history *history, int64_t time_ns, int64_t value);

#endif
