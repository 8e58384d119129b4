/*
 * A small network for tests of the gate room: ports and flows are added, the simulation runs it,
 * and a checker that knows masks by the ns only looks at every frame.
 */
#ifndef GATE_WORLD_H
#define GATE_WORLD_H

#include "gate/bound.h"
#include "gate/simulate.h"

#define MBIT INT64_C(1000000)
#define MS   INT64_C(1000000)

enum { PORTS = 6, FLOWS = 12 };

struct world {
    struct tt_gate_port ports[PORTS];
    struct tt_flow flows[FLOWS];
    struct tt_gate_entry entries[PORTS][4];
    struct tt_network network;
    struct tt_flow_result flow_results[FLOWS];
    struct tt_port_result port_results[PORTS];
    struct tt_sim_result result;
    int64_t flow_bounds[FLOWS];
    int64_t port_bounds[PORTS * TT_GATE_CLASSES];
    uint64_t wrong; /* frames that the checker does not allow */
    int64_t free_ns[PORTS];
};

struct world *world_new(void);
void world_free(struct world *w);
/* Of eight classes, one for each priority. */
struct tt_gate_port *add_port(struct world *w, int64_t rate_bps);
/* The first n entries of the port's in the world. */
void set_gates(struct world *w, struct tt_gate_port *port, size_t n);
/* Over the first port. */
struct tt_flow *add_flow(struct world *w, enum tt_flow_kind kind, unsigned priority,
                         int64_t frame_bytes, int64_t interval_ns);
/* Simulates, looks at all frames, and computes the bounds. */
void world_run(struct world *w, int64_t duration_ns, bool as_linux);

#endif
