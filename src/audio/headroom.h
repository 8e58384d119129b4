/*
 * How long before its presentation a stream's packets arrive.
 *
 * Invariant: the usual one is that of packets which come in time: an earlier one makes it larger
 * at once, and what the network holds back for a while makes it smaller only slowly.
 */
#ifndef TT_AUDIO_HEADROOM_H
#define TT_AUDIO_HEADROOM_H

#include <stdint.h>

/* So many later ones move it by two thirds. */
#define TT_HEADROOM_SLOWNESS 16

struct tt_headroom {
    int64_t latest_ns; /* presentation - arrival */
    int64_t usual_ns;
};

static inline void tt_headroom_set(struct tt_headroom *headroom, int64_t ns)
{
    *headroom = (struct tt_headroom){.latest_ns = ns, .usual_ns = ns};
}

static inline void tt_headroom_add(struct tt_headroom *headroom, int64_t ns)
{
    int64_t less_ns = headroom->usual_ns - ns;

    headroom->latest_ns = ns;
    headroom->usual_ns -= less_ns > 0 ? less_ns / TT_HEADROOM_SLOWNESS : less_ns;
}

#endif
