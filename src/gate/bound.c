/*
 * See bound.h. Source of the method: response times of non-preemptive fixed priorities with release
 * jitter (Tindell, Burns, Wellings 1994), with time counted only while the gate is open.
 */
#include "gate/bound.h"

#include <errno.h>
#include <stdlib.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "gate/wire_time.h"

#define ROUNDS_MAX 64
#define LONGEST_NS (2 * TT_NS_PER_S) /* what takes longer has no bound */

/* A flow at one of its hops. */
struct visit {
    const struct tt_flow *flow;
    unsigned class;
    int64_t wire_ns;
    int64_t interval_ns;
    int64_t jitter_ns;
};

struct run {
    const struct tt_network *network;
    struct tt_gate_bounds *bounds;
    struct visit *visits; /* by port */
    size_t *first;        /* of each port; one more at the end */
    size_t *visit_of;     /* of flow × TT_GATE_HOPS_MAX + hop */
};

/* What competes with a class at a port. */
struct demand {
    unsigned port;
    unsigned class;
    int64_t longest_ns; /* of its own frames */
    int64_t shortest_ns;
    int64_t blocking_ns; /* one frame of a lower class */
    bool endless;        /* TCP in it or above it */
    bool alone;          /* nothing above it */
};

static bool together(const struct tt_gate_port *port, unsigned a, unsigned b)
{
    if (!port->list) {
        return true;
    }
    for (size_t i = 0; i < port->list->segment_count; i++) {
        uint32_t mask = port->list->segments[i].mask;

        if ((mask >> a & 1) && (mask >> b & 1)) {
            return true;
        }
    }
    return false;
}

static struct demand demand_of(const struct run *run, unsigned at, unsigned class)
{
    const struct tt_gate_port *port = &run->network->ports[at];
    struct demand demand = {.port = at, .class = class, .alone = true, .shortest_ns = INT64_MAX};

    for (size_t i = run->first[at]; i < run->first[at + 1]; i++) {
        const struct visit *visit = &run->visits[i];
        bool bulk = visit->flow->kind == TT_FLOW_BULK;

        if (visit->class == class) {
            demand.longest_ns = tt_max64(demand.longest_ns, visit->wire_ns);
            demand.shortest_ns = tt_min64(demand.shortest_ns, visit->wire_ns);
            demand.endless = demand.endless || bulk;
        } else if (together(port, visit->class, class)) {
            if (visit->class < class) {
                demand.blocking_ns = tt_max64(demand.blocking_ns, visit->wire_ns);
            } else {
                demand.alone = false;
                demand.endless = demand.endless || bulk;
            }
        }
    }
    return demand;
}

/* With credits a frame is as long as it takes to earn it. */
static int64_t scaled(const struct tt_gate_port *port, unsigned class, int64_t ns)
{
    const struct tt_gate_cbs *cbs = &port->cbs[class];
    int64_t rate_kbps = tt_gate_rate(port) / 1000;

    return cbs->set && cbs->idle_kbps > 0 ? (ns * rate_kbps + cbs->idle_kbps - 1) / cbs->idle_kbps
                                          : ns;
}

/* What has to go before a frame that comes `behind_ns` after the worst moment is out, `span_ns`
 * after that moment. */
static int64_t work(const struct run *run, const struct demand *demand, int64_t behind_ns,
                    int64_t span_ns)
{
    const struct tt_gate_port *port = &run->network->ports[demand->port];
    int64_t sum_ns = demand->blocking_ns;

    for (size_t i = run->first[demand->port]; i < run->first[demand->port + 1]; i++) {
        const struct visit *visit = &run->visits[i];
        bool own = visit->class == demand->class;

        if (own || (visit->class > demand->class && together(port, visit->class, demand->class))) {
            /* Of its own class what comes later is behind it. */
            int64_t times =
                ((own ? behind_ns : span_ns) + visit->jitter_ns) / visit->interval_ns + 1;

            sum_ns += times * (own ? scaled(port, visit->class, visit->wire_ns) : visit->wire_ns);
        }
    }
    /* With credits: the last frame goes at the speed of the wire, and one before may have left a
     * debt of what that saves. */
    return port->cbs[demand->class].set ? sum_ns + demand->longest_ns : sum_ns;
}

/* What a window of so long passes at least of the class; `all`: what is left of the work. */
static int64_t served(const struct demand *demand, int64_t open_ns, int64_t all_ns)
{
    if (all_ns <= open_ns) {
        return all_ns;
    }
    if (demand->alone && demand->longest_ns == demand->shortest_ns && demand->blocking_ns == 0) {
        return open_ns / demand->longest_ns * demand->longest_ns;
    }
    return tt_max64(open_ns >= demand->longest_ns ? demand->shortest_ns : 0,
                    open_ns - (demand->longest_ns - 1));
}

/* Until so much work is done from the worst moment in front of window `first` on. */
static int64_t finish(const struct tt_gate_list *list, const struct demand *demand, size_t first,
                      int64_t work_ns)
{
    const struct tt_gate_class *class = &list->classes[demand->class];
    const struct tt_gate_window *windows = class->windows;
    size_t n = class->window_count;
    size_t before = (first + n - 1) % n;
    /* Just too late for the one before, where a frame of its length would not end in time. */
    int64_t lost_ns =
        tt_min64(demand->longest_ns - 1, windows[before].close_ns - windows[before].open_ns);
    int64_t from_ns = windows[before].close_ns - (before >= first ? list->cycle_ns : 0) - lost_ns;
    int64_t cycles_ns = 0;

    for (size_t i = first; cycles_ns < LONGEST_NS;) {
        int64_t open_ns = windows[i].close_ns - windows[i].open_ns;
        int64_t done_ns = served(demand, open_ns, work_ns);

        if (done_ns == work_ns) {
            return windows[i].open_ns + cycles_ns + work_ns - from_ns;
        }
        work_ns -= done_ns;
        i = (i + 1) % n;
        cycles_ns += i == 0 ? list->cycle_ns : 0;
    }
    return TT_GATE_UNBOUNDED;
}

static int64_t longest(const struct run *run, const struct demand *demand, int64_t work_ns)
{
    const struct tt_gate_list *list = run->network->ports[demand->port].list;
    int64_t longest_ns = 0;

    if (!list || list->classes[demand->class].always) {
        return work_ns;
    }
    if (list->classes[demand->class].longest_ns < demand->longest_ns) {
        return TT_GATE_UNBOUNDED;
    }
    for (size_t i = 0; i < list->classes[demand->class].window_count; i++) {
        longest_ns = tt_max64(longest_ns, finish(list, demand, i, work_ns));
    }
    return longest_ns;
}

/* The end of a frame that comes so long after the worst moment. */
static int64_t end_of(const struct run *run, const struct demand *demand, int64_t behind_ns)
{
    int64_t span_ns = 0;

    for (int round = 0; round < 1000 && span_ns < LONGEST_NS; round++) {
        int64_t next_ns = longest(run, demand, work(run, demand, behind_ns, span_ns));

        if (next_ns == span_ns || next_ns == TT_GATE_UNBOUNDED) {
            return next_ns;
        }
        span_ns = next_ns;
    }
    return TT_GATE_UNBOUNDED;
}

/* When after behind_ns the next frame of the class may come; INT64_MAX: none comes. */
static int64_t next_arrival(const struct run *run, const struct demand *demand, int64_t behind_ns)
{
    int64_t next_ns = INT64_MAX;

    for (size_t i = run->first[demand->port]; i < run->first[demand->port + 1]; i++) {
        const struct visit *visit = &run->visits[i];

        if (visit->class == demand->class) {
            int64_t times = (behind_ns + visit->jitter_ns) / visit->interval_ns + 1;

            next_ns = tt_min64(next_ns, times * visit->interval_ns - visit->jitter_ns);
        }
    }
    return next_ns;
}

/* The longest wait of any frame until the queue has run empty once. */
static int64_t port_bound(const struct run *run, unsigned port, unsigned class)
{
    struct demand demand = demand_of(run, port, class);
    int64_t behind_ns = 0;
    int64_t longest_ns = 0;

    if (demand.longest_ns == 0) {
        return 0;
    }
    while (!demand.endless && behind_ns < LONGEST_NS) {
        int64_t end_ns = end_of(run, &demand, behind_ns);

        if (end_ns == TT_GATE_UNBOUNDED) {
            return TT_GATE_UNBOUNDED;
        }
        longest_ns = tt_max64(longest_ns, end_ns - behind_ns);
        behind_ns = next_arrival(run, &demand, behind_ns);
        if (end_ns <= behind_ns) {
            return longest_ns;
        }
    }
    return TT_GATE_UNBOUNDED;
}

static int64_t bound_at(const struct run *run, const struct tt_flow *flow, unsigned hop)
{
    unsigned port = flow->hops[hop].port;

    return run->bounds->ports_ns[port * TT_GATE_CLASSES +
                                 tt_gate_class_of(&run->network->ports[port], flow->priority)];
}

/* Jitters at the next hops from the bounds at the ports. true: one has grown. */
static bool hand_on(struct run *run)
{
    bool grown = false;

    for (size_t i = 0; i < run->network->flow_count; i++) {
        const struct tt_flow *flow = &run->network->flows[i];

        for (unsigned h = 0; h < flow->hop_count; h++) {
            struct visit *visit = &run->visits[run->visit_of[i * TT_GATE_HOPS_MAX + h]];
            unsigned parent = (unsigned)flow->hops[h].parent;
            const struct visit *from;
            int64_t jitter_ns = LONGEST_NS;

            if (flow->hops[h].parent < 0) {
                continue;
            }
            from = &run->visits[run->visit_of[i * TT_GATE_HOPS_MAX + parent]];
            if (bound_at(run, flow, parent) != TT_GATE_UNBOUNDED) {
                jitter_ns = from->jitter_ns + bound_at(run, flow, parent) - from->wire_ns;
            }
            jitter_ns = tt_min64(jitter_ns, LONGEST_NS);
            if (jitter_ns > visit->jitter_ns) {
                visit->jitter_ns = jitter_ns;
                grown = true;
            }
        }
    }
    return grown;
}

static void sum_flow(struct run *run, size_t number)
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
static void make_visits(struct run *run)
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
                    run->visits[n++] = (struct visit){
                        .flow = flow,
                        .class = tt_gate_class_of(&network->ports[p], flow->priority),
                        .wire_ns = tt_wire_ns(tt_wire_bytes(flow->frame_bytes),
                                              tt_gate_rate(&network->ports[p])),
                        /* Rounded down: more often. Of TCP nothing is known. */
                        .interval_ns =
                            flow->kind == TT_FLOW_BULK
                                ? 1
                                : flow->interval_samples * TT_NS_PER_S / (int64_t)flow->rate_hz,
                    };
                }
            }
        }
    }
    run->first[network->port_count] = n;
}

static void settle(struct run *run)
{
    const struct tt_network *network = run->network;
    bool grown = true;

    make_visits(run);
    for (int round = 0; grown && round < ROUNDS_MAX; round++) {
        for (unsigned p = 0; p < network->port_count; p++) {
            for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
                run->bounds->ports_ns[p * TT_GATE_CLASSES + c] = port_bound(run, p, c);
            }
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
    struct run run = {.network = network, .bounds = ret_bounds};
    size_t hops = network->flow_count * TT_GATE_HOPS_MAX;
    int error = 0;

    run.visits = calloc(hops + 1, sizeof(*run.visits));
    run.first = calloc(network->port_count + 1, sizeof(*run.first));
    run.visit_of = calloc(hops + 1, sizeof(*run.visit_of));
    if (!run.visits || !run.first || !run.visit_of) {
        error = -ENOMEM;
    } else {
        settle(&run);
    }
    free(run.visits);
    free(run.first);
    free(run.visit_of);
    return error;
}
