/*
 * The longest that anything can take: for every class at every port, and so for every stream from
 * its talker to its listeners. Whatever the phases of all that sends, as long as each flow keeps
 * its interval; what is observed is never more.
 *
 * A frame comes at the worst moment: just too late for its window. Before it go a frame of a lower
 * class that has just begun (where both gates are ever open together; in each window, where a gate
 * opens below one that is open already), what all flows of its own and of the higher classes bring
 * in that time, with what those have held back behind gates and credits of theirs, and what each
 * window loses at its end. A credit-based shaper makes each of its class's frames as long as the
 * idle slope does, and what others take then counts once. How far a flow's
 * frames may be off their interval grows from hop to hop; on a ring that is a fixed point or none.
 * Uses the heap.
 */
#ifndef TT_GATE_BOUND_H
#define TT_GATE_BOUND_H

#include "gate/network.h"

#define TT_GATE_UNBOUNDED INT64_MAX

struct tt_gate_bounds {
    int64_t *flows_ns; /* the caller's, one for each flow: launch to the last listener */
    int64_t *ports_ns; /* … TT_GATE_CLASSES for each port: from queue to the end on the wire; 0: no
                          flow */
};

/* 0 or -ENOMEM. TT_GATE_UNBOUNDED where there is no bound: never sent, or more comes than goes. */
int tt_gate_bound(const struct tt_network *network, struct tt_gate_bounds *ret_bounds);

#endif
