/*
 * PDUs that were handed to the kernel with a launch time: what they hold, so that a report of one,
 * or its absence, says which frames were lost.
 *
 * Pure. A ring of the last ones; the caller sizes it so that a report finds its PDU.
 */
#ifndef TT_RUN_FLIGHT_H
#define TT_RUN_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct tt_flight_pdu {
    int64_t launch_tai_ns;
    int64_t frame;  /* device position of … */
    int64_t frames; /* … the program's frames in it */
    bool lost;      /* known to be */
};

struct tt_flight {
    struct tt_flight_pdu *pdus; /* the owner's */
    size_t capacity;
    uint64_t added;
};

TT_RT void tt_flight_add(struct tt_flight *flight, int64_t launch_tai_ns, int64_t frame,
                         int64_t frames);

/* Marks the PDU with this launch time as lost and returns it; NULL where there is none that was not
 * yet. */
TT_RT const struct tt_flight_pdu *tt_flight_lose(struct tt_flight *flight, int64_t launch_tai_ns);

/* How many of the last ones are launched later than this, without those that are lost. */
TT_RT size_t tt_flight_ahead(const struct tt_flight *flight, int64_t after_tai_ns);
/* Marks the first of them as lost and returns it; there must be one. */
TT_RT const struct tt_flight_pdu *tt_flight_lose_first(struct tt_flight *flight,
                                                       int64_t after_tai_ns);

#endif
