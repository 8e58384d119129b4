/*
 * The most that TCP gets out of a class: the shaper itself, in virtual time, with a queue that
 * never runs empty; and, strict, with wake-ups as late and sending as slow as was measured.
 *
 * Uses the heap.
 */
#ifndef TT_GATE_GOODPUT_H
#define TT_GATE_GOODPUT_H

#include "gate/shaper.h"

/* Measured; gone through again and again. Counts of 0: none. */
struct tt_goodput_model {
    const int64_t *late_ns; /* from the time to wake to being awake */
    size_t late_count;
    const int64_t *hand_ns; /* for a frame to be handed over */
    size_t hand_count;
};

/* TCP's payload in bit/s, with its usual headers (timestamps), over duration_ns (1 ms at least). 0
 * or -ENOMEM. */
int tt_goodput(const struct tt_shaper_setup *setup, const struct tt_gate_list *list, unsigned class,
               bool ipv6, const struct tt_goodput_model *model, int64_t duration_ns,
               int64_t *ret_bps);

#endif
