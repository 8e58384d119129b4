/*
 * What the simulation's parts share: the state of a run. See simulate.h.
 */
#ifndef TT_GATE_SIMULATE_INSIDE_H
#define TT_GATE_SIMULATE_INSIDE_H

#include "gate/credit.h"
#include "gate/simulate.h"
#include "gate/timeline.h"

#define TT_SIM_NONE UINT32_MAX

/* A frame in a queue; a packet of several segments that is not cut is one. */
struct tt_sim_packet {
    uint32_t next;
    uint32_t flow;
    uint32_t hop;
    uint32_t segments;
    int64_t launch_ns;
    int64_t queued_ns;
};

struct tt_sim_queue {
    uint32_t first;
    uint32_t last;
    uint32_t count;
};

struct tt_sim_port {
    const struct tt_gate_port *port;
    struct tt_gate_timeline timeline;
    enum tt_gate_keeper keeper;
    struct tt_wire wire;
    struct tt_sim_queue queues[TT_GATE_CLASSES];
    uint32_t waiting; /* bit c: queue c is not empty */
    int64_t wake_ns;  /* when it is looked at next; INT64_MAX: when something comes */
    struct tt_credit credits[TT_GATE_CLASSES];
    int64_t credit_ns[TT_GATE_CLASSES]; /* when it was last brought up to date */
    struct tt_taprio taprio;            /* of a keeper that is not the wire */
};

/* What a port may send now: a class, or -1 and when to look again. */
struct tt_sim_choice {
    int class;
    int64_t again_ns;
    int64_t close_ns;
};

/* What stands first in each queue. */
struct tt_sim_heads {
    const struct tt_flow *flow[TT_GATE_CLASSES];
    uint32_t segments[TT_GATE_CLASSES];
};

int64_t tt_sim_wire_bytes(const struct tt_flow *flow, uint32_t segments);
void tt_sim_port_init(struct tt_sim_port *port, const struct tt_gate_port *of,
                      enum tt_gate_keeper keeper);
/* How many segments of what the flow hands over are queued as one packet. */
uint32_t tt_sim_whole(const struct tt_sim_port *port, const struct tt_flow *flow);
/* Brings a class's credit up to now; `waiting`: its queue was not empty since. */
void tt_sim_credit(struct tt_sim_port *port, unsigned class, int64_t now_ns, bool waiting);
/* Which class sends now. ret_never gets true where a head can never go out. */
struct tt_sim_choice tt_sim_choose(struct tt_sim_port *port, const struct tt_sim_heads *heads,
                                   int64_t now_ns, bool ret_never[TT_GATE_CLASSES]);

#endif
