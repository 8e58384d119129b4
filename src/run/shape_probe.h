/*
 * How late this machine's real-time thread wakes, and how long a frame takes to be handed over:
 * what strict mode has to reckon with.
 */
#ifndef TT_RUN_SHAPE_PROBE_H
#define TT_RUN_SHAPE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/clock.h"

#define TT_SHAPE_PROBES 1000

struct tt_shape_probe {
    bool realtime;
    int64_t late_ns[TT_SHAPE_PROBES];
    int64_t hand_ns[TT_SHAPE_PROBES];
    size_t hand_count; /* 0: no interface to send on */
    int64_t margin_ns; /* the p99 of a handing over, rounded up to a us */
};

/* Takes half a second. On the interface (NULL: none) it sends so many frames of an experimental
 * EtherType (88B5) to an address that no bridge passes on. 0 or -errno. */
int tt_shape_probe(struct tt_clock *clock, const char *ifname, struct tt_shape_probe *ret_probe);

#endif
