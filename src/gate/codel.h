/*
 * Controlled delay: a queue whose packets have waited longer than the target for a whole interval
 * loses one (or has it marked) from time to time, ever faster, until senders slow down.
 *
 * Source: RFC 8289.
 */
#ifndef TT_GATE_CODEL_H
#define TT_GATE_CODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct tt_codel {
    int64_t target_ns;
    int64_t interval_ns;
    int64_t above_until_ns; /* wait was above the target: since interval_ns before this. 0: it was
                               not */
    bool dropping;
    int64_t next_ns; /* the next one to lose */
    uint32_t count;  /* lost since dropping began */
    uint32_t count_before;
};

/* Whether the frame that leaves at now_ns (never decreasing) after wait_ns is to be lost. `last`:
 * hardly anything waits behind it. */
TT_RT bool tt_codel_leave(struct tt_codel *codel, int64_t now_ns, int64_t wait_ns, bool last);

#endif
