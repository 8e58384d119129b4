/*
 * The credit-based shaper: credits in integers, exact to 10^-9 bit, and the figures that configure
 * one.
 *
 * While frames wait (or credit is negative) it grows by the idle slope, while a frame is sent it
 * falls by the send slope; a frame may start at 0 and above; with nothing waiting, credit above 0
 * is lost. Where gates are, credit stands still while the gate is closed, and the idle slope is
 * larger by cycle / open time.
 * Source: IEEE 802.1Q-2018, 8.6.8.2 and Annex L; 8.6.8.2 for gates (operIdleSlope).
 */
#ifndef TT_GATE_CREDIT_H
#define TT_GATE_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct tt_credit {
    int64_t rate_bps;  /* of the link */
    int64_t idle_bps;  /* idle slope, up to 100 Gbit/s, 1 at least */
    int64_t nano_bits; /* the credit */
    int64_t hi_nano_bits;
};

/* hi_bits: the credit never exceeds it; 4 × 10^9 and above: no bound. */
void tt_credit_init(struct tt_credit *credit, int64_t rate_bps, int64_t idle_bps, int64_t hi_bits);
/* The gate was open for ns and nothing was sent; `waiting`: a frame waited. */
TT_RT void tt_credit_wait(struct tt_credit *credit, int64_t ns, bool waiting);
/* A frame of so many bytes on the wire was sent. */
TT_RT void tt_credit_send(struct tt_credit *credit, int64_t wire_bytes);
/* How long until a waiting frame may start: 0 now. */
TT_RT int64_t tt_credit_due_ns(const struct tt_credit *credit);

/* What `tc qdisc … cbs` wants: slopes in kbit/s, credits in bytes. */
struct tt_credit_figures {
    int64_t idle_kbps;
    int64_t send_kbps;
    int64_t hi_bytes;
    int64_t lo_bytes;
};

/* One shaped class. other_bytes is the longest frame that may be in the way when it wants to start
 * (M0), own_bytes its own longest frame (Mx); whether they are counted with overhead is a
 * convention of whoever asks. idle_kbps below rate_kbps, which is at most 10^7; bytes at most 9000.
 */
struct tt_credit_figures tt_credit_first(int64_t rate_kbps, int64_t idle_kbps, int64_t other_bytes,
                                         int64_t own_bytes);
/* A second one below it: above_kbps and above_bytes are the first one's. */
struct tt_credit_figures tt_credit_second(int64_t rate_kbps, int64_t idle_kbps, int64_t other_bytes,
                                          int64_t own_bytes, int64_t above_kbps,
                                          int64_t above_bytes);
/* The idle slope while the gate is open that gives idle_kbps over the cycle, rounded up. */
int64_t tt_credit_gated_kbps(int64_t idle_kbps, int64_t cycle_ns, int64_t open_ns);

#endif
