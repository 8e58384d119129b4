/*
 * From streams to gates: for each port one window in each cycle in which all its streams' frames go
 * out back to back and nothing else does, and for each stream the offset in its interval at which
 * its talker launches. What is left of the cycle is one window for everything else: no plan leaves
 * more.
 *
 * In every cycle each stream brings the same frames to a port. A window opens at the first moment
 * from which it never runs empty, whichever frame comes first; so it is as long as its frames. No
 * frame of the next cycle can come before it has closed, so that no frame ever takes another's
 * place: not where two come at once, not where a talker is silent, starts or stops, and not where
 * clocks, launches and latencies are off by the margin. Where ports wait for each other, as on a
 * ring, windows begin with slots of the cycle instead, and frames wait for them (plan_slots.c).
 * Either is a search that may miss: what is refused as TT_PLAN_SPREAD may be possible. It never
 * was below a third of each link, and is certain on n bridges in a ring that are loaded to more
 * than 1 - 1/n all around.
 * A talker whose interval is no whole number of ns (44.1 kHz) cannot keep an offset in a cycle: it
 * has a frame in each class measurement interval (125 us, or the power of two of it that is not
 * longer than its interval), and its frames wait for the talker's next window, which opens when all
 * others are there. Uses the heap (tt_plan
 * only).
 */
#ifndef TT_GATE_PLAN_H
#define TT_GATE_PLAN_H

#include "gate/network.h"

struct tt_plan_options {
    int64_t margin_ns; /* a window is longer by this at both ends: how far clocks may be apart */
    int64_t best_effort_bytes; /* the longest other frame, that has to fit into what is left */
    unsigned reserve_percent;  /* of a link for streams, at most */
    int64_t cycle_max_ns;
};

#define TT_PLAN_RESERVE_PERCENT 75 /* IEEE 802.1Q-2018, 34.3.1 */
#define TT_PLAN_OPTIONS_DEFAULT                                                                    \
    {                                                                                              \
        .margin_ns = 500, .best_effort_bytes = 1518, .reserve_percent = TT_PLAN_RESERVE_PERCENT,   \
        .cycle_max_ns = 10000000                                                                   \
    }

enum tt_plan_fault {
    TT_PLAN_OK,
    TT_PLAN_NO_STREAM,
    TT_PLAN_INTERVAL,    /* no cycle of whole ns up to cycle_max_ns fits the intervals */
    TT_PLAN_LOAD,        /* above reserve_percent of a link */
    TT_PLAN_BEST_EFFORT, /* no cycle leaves room for the longest other frame */
    TT_PLAN_DEADLINE,
    TT_PLAN_VARYING, /* frames of streams without a whole interval differ too much at one talker */
    TT_PLAN_SHARED,  /* what is no stream would pass the streams' window: that is `flow` */
    TT_PLAN_SPREAD,  /* frames might come while the window of the cycle before is open */
    TT_PLAN_MEMORY,
    TT_PLAN_FAULTS
};

struct tt_plan_window {
    int64_t open_ns;  /* phase; the port's base time is the plan's and this */
    int64_t width_ns; /* 0: no stream passes */
};

struct tt_plan {
    int64_t cycle_ns;
    struct tt_plan_window *windows; /* the caller's, one for each port */
    int64_t *delays_ns; /* the caller's, one for each flow: launch to listener, at the latest */
    /* Where it cannot be done: */
    enum tt_plan_fault fault;
    size_t flow; /* the first stream too many, in the plan's order (shared: what it is) */
    unsigned port;
    int64_t figure; /* load: per mille of the link; deadline: ns that it takes */
};

/* Sets the offsets of the streams among the flows and fills ret_plan. TT_PLAN_OK, or why not; then
 * ret_plan says which stream is the first too many. */
enum tt_plan_fault tt_plan(struct tt_network *network, const struct tt_plan_options *options,
                           struct tt_plan *ret_plan);

/* Whether frames of that priority go through the streams' window: classes A and B. */
static inline bool tt_plan_is_stream_priority(unsigned priority)
{
    return priority == 2 || priority == 3;
}

/* The gates of a port that has a window. */
void tt_plan_entries(const struct tt_plan *plan, unsigned port, uint32_t stream_mask,
                     uint32_t other_mask, struct tt_gate_entry ret_entries[2]);

#endif
