/*
 * What the bound's parts share: flows at their hops. See bound.h.
 */
#ifndef TT_GATE_BOUND_INSIDE_H
#define TT_GATE_BOUND_INSIDE_H

#include "base/ns.h"
#include "gate/bound.h"

#define TT_BOUND_LONGEST_NS (2 * TT_NS_PER_S) /* what takes longer has no bound */

/* A flow at one of its hops, or several flows that are alike there. */
struct tt_bound_visit {
    const struct tt_flow *flow;
    unsigned class;
    int64_t wire_ns;
    int64_t interval_ns;
    int64_t jitter_ns;
    int64_t count;
};

struct tt_bound_run {
    const struct tt_network *network;
    struct tt_gate_bounds *bounds;
    struct tt_bound_visit *visits; /* by port */
    size_t *first;                 /* of each port; one more at the end */
    bool *moved;                   /* by port: a jitter there has grown since it was looked at */
    struct tt_bound_visit
        *groups; /* of each port, from `first` on: its visits, those alike as one */
    size_t *group_count;
    size_t *visit_of; /* of flow × TT_GATE_HOPS_MAX + hop */
};

/* bound_wait.c: the longest wait of any frame of the class at the port, until its queue has run
 * empty once; from jitters and the bounds of the classes above. 0: none passes. */
int64_t tt_bound_wait(const struct tt_bound_run *run, unsigned port, unsigned class);

#endif
