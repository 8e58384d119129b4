/*
 * See bound.h: what comes of the waits at the ports.
 */
#include "gate/bound.h"

#include <errno.h>
#include <stdlib.h>

#include "base/min_max.h"
#include "gate/bound_inside.h"
#include "gate/wire_time.h"

#define ROUNDS_MAX 64

static int64_t bound_at(const struct tt_bound_run *run, const struct tt_flow *flow, unsigned hop)
{
    unsigned port = flow->hops[hop].port;

    return run->bounds->ports_ns[port * TT_GATE_CLASSES +
                                 tt_gate_class_of(&run->network->ports[port], flow->priority)];
}

/* Jitters at the next hops from the bounds at the ports. true: one has grown. */
static bool hand_on(struct tt_bound_run *run)
{
    bool grown = false;

    for (size_t i = 0; i < run->network->flow_count; i++) {
        const struct tt_flow *flow = &run->network->flows[i];

        for (unsigned h = 0; h < flow->hop_count; h++) {
            struct tt_bound_visit *visit = &run->visits[run->visit_of[i * TT_GATE_HOPS_MAX + h]];
            unsigned parent = (unsigned)flow->hops[h].parent;
            const struct tt_bound_visit *from;
            int64_t jitter_ns = TT_BOUND_LONGEST_NS;

            if (flow->hops[h].parent < 0) {
                continue;
            }
            from = &run->visits[run->visit_of[i * TT_GATE_HOPS_MAX + parent]];
            if (bound_at(run, flow, parent) != TT_GATE_UNBOUNDED) {
                jitter_ns = from->jitter_ns + bound_at(run, flow, parent) - from->wire_ns;
            }
            jitter_ns = tt_min64(jitter_ns, TT_BOUND_LONGEST_NS);
            if (jitter_ns > visit->jitter_ns) {
                visit->jitter_ns = jitter_ns;
                run->moved[flow->hops[h].port] = true;
                grown = true;
            }
        }
    }
    return grown;
}

static void sum_flow(struct tt_bound_run *run, size_t number)
{
    const struct tt_flow *flow = &run->network->flows[number];
    int64_t worst_ns[TT_GATE_HOPS_MAX];

    run->bounds->flows_ns[number] = 0;
    for (unsigned h = 0; h < flow->hop_count; h++) {
        const struct tt_gate_port *port = &run->network->ports[flow->hops[h].port];
        int64_t at_ns = flow->hops[h].parent < 0 ? 0 : worst_ns[flow->hops[h].parent];
        int64_t bound_ns = bound_at(run, flow, h);

        worst_ns[h] = at_ns == TT_GATE_UNBOUNDED || bound_ns == TT_GATE_UNBOUNDED
                          ? TT_GATE_UNBOUNDED
                          : at_ns + bound_ns + port->delay_ns;
        run->bounds->flows_ns[number] = tt_max64(run->bounds->flows_ns[number], worst_ns[h]);
    }
}

/* All flows at all their hops, port by port. */
static void make_visits(struct tt_bound_run *run)
{
    const struct tt_network *network = run->network;
    size_t n = 0;

    for (unsigned p = 0; p < network->port_count; p++) {
        run->first[p] = n;
        for (size_t i = 0; i < network->flow_count; i++) {
            const struct tt_flow *flow = &network->flows[i];

            for (unsigned h = 0; h < flow->hop_count; h++) {
                if (flow->hops[h].port == p) {
                    run->visit_of[i * TT_GATE_HOPS_MAX + h] = n;
                    run->visits[n++] = (struct tt_bound_visit){
                        .flow = flow,
                        .class = tt_gate_class_of(&network->ports[p], flow->priority),
                        .wire_ns = tt_wire_ns(tt_wire_bytes(flow->frame_bytes),
                                              tt_gate_rate(&network->ports[p])),
                        /* Rounded down: more often. Of TCP nothing is known. */
                        .interval_ns =
                            flow->kind == TT_FLOW_BULK
                                ? 1
                                : flow->interval_samples * TT_NS_PER_S / (int64_t)flow->rate_hz,
                        .count = 1,
                    };
                }
            }
        }
    }
    run->first[network->port_count] = n;
}

static bool alike(const struct tt_bound_visit *a, const struct tt_bound_visit *b)
{
    return a->class == b->class && a->wire_ns == b->wire_ns && a->interval_ns == b->interval_ns &&
           a->jitter_ns == b->jitter_ns && a->flow->kind == b->flow->kind;
}

static void group(struct tt_bound_run *run, unsigned port)
{
    struct tt_bound_visit *groups = &run->groups[run->first[port]];
    size_t n = 0;

    for (size_t i = run->first[port]; i < run->first[port + 1]; i++) {
        size_t g = 0;

        while (g < n && !alike(&groups[g], &run->visits[i])) {
            g++;
        }
        if (g == n) {
            groups[n++] = run->visits[i];
        } else {
            groups[g].count++;
        }
    }
    run->group_count[port] = n;
}

/* From the top: what is held back there comes down on those below. */
static void bound_port(struct tt_bound_run *run, unsigned port)
{
    group(run, port);
    for (unsigned c = TT_GATE_CLASSES; c-- > 0;) {
        run->bounds->ports_ns[port * TT_GATE_CLASSES + c] = tt_bound_wait(run, port, c);
    }
}

static void settle(struct tt_bound_run *run)
{
    const struct tt_network *network = run->network;
    bool grown = true;

    make_visits(run);
    for (unsigned p = 0; p < network->port_count; p++) {
        run->moved[p] = true;
    }
    for (int round = 0; grown && round < ROUNDS_MAX; round++) {
        for (unsigned p = 0; p < network->port_count; p++) {
            if (run->moved[p]) {
                bound_port(run, p);
            }
            run->moved[p] = false;
        }
        grown = hand_on(run);
    }
    for (size_t i = 0; i < network->flow_count; i++) {
        sum_flow(run, i);
        if (grown) {
            run->bounds->flows_ns[i] = TT_GATE_UNBOUNDED;
        }
    }
}

int tt_gate_bound(const struct tt_network *network, struct tt_gate_bounds *ret_bounds)
{
    struct tt_bound_run run = {.network = network, .bounds = ret_bounds};
    size_t hops = network->flow_count * TT_GATE_HOPS_MAX;
    int error = 0;

    run.visits = calloc(hops + 1, sizeof(*run.visits));
    run.first = calloc(network->port_count + 1, sizeof(*run.first));
    run.groups = calloc(hops + 1, sizeof(*run.groups));
    run.group_count = calloc(network->port_count + 1, sizeof(*run.group_count));
    run.moved = calloc(network->port_count + 1, sizeof(*run.moved));
    run.visit_of = calloc(hops + 1, sizeof(*run.visit_of));
    if (!run.visits || !run.first || !run.groups || !run.group_count || !run.moved ||
        !run.visit_of) {
        error = -ENOMEM;
    } else {
        settle(&run);
    }
    free(run.visits);
    free(run.first);
    free(run.groups);
    free(run.group_count);
    free(run.moved);
    free(run.visit_of);
    return error;
}
