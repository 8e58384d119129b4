/*
 * Frames held against a port's gates by their stamps. What was outside its window is either what
 * the keeper of the gates is known to do (Linux's taprio counts bytes without preamble, FCS and gap
 * and does not look at whether the wire is free), or nothing explains it.
 *
 * Stamps are of frames on the wire, or of a sender's handing frames over to its driver: then they
 * wait for the wire, which is modelled. Frames come in the order of their stamps.
 */
#ifndef TT_GATE_VERIFY_H
#define TT_GATE_VERIFY_H

#include "gate/taprio.h"
#include "gate/wire_time.h"

enum tt_gate_place {
    TT_PLACE_INSIDE,
    TT_PLACE_UNCOUNTED, /* modelled: without its overhead it would have ended in time */
    TT_PLACE_BUSY,      /* modelled: it was let out in time, and the wire was busy */
    TT_PLACE_OVERRUN,   /* began in time and ended too late, and nothing explains it */
    TT_PLACE_OUTSIDE,   /* its gate was closed */
    TT_PLACES
};

struct tt_gate_verifier {
    const struct tt_gate_port *port; /* with a list */
    bool handed_over;                /* what the stamps are of */
    int64_t tolerance_ns; /* so far outside is inside, unless it is known: stamps are late */
    struct tt_taprio taprio;
    struct tt_wire wire;
};

struct tt_gate_verdict {
    enum tt_gate_place place;
    int64_t start_ns; /* on the wire */
    int64_t end_ns;
    int64_t by_ns; /* so far outside; 0: inside */
};

/* Whether what the place names is known and not a fault of who sends. */
static inline bool tt_gate_place_is_modelled(enum tt_gate_place place)
{
    return place == TT_PLACE_UNCOUNTED || place == TT_PLACE_BUSY;
}

/* The port has a list; it is the caller's. */
void tt_gate_verifier_init(struct tt_gate_verifier *verifier, const struct tt_gate_port *port,
                           bool handed_over, int64_t tolerance_ns);
/* frame_bytes as in wire_time.h. */
void tt_gate_verify(struct tt_gate_verifier *verifier, unsigned class, int64_t tai_ns,
                    int64_t frame_bytes, struct tt_gate_verdict *ret_verdict);

#endif
