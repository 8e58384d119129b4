/*
 * See plan.h.
 */
#include "gate/plan.h"

#include <stdlib.h>

#include "base/min_max.h"
#include "gate/plan_inside.h"
#include "gate/wire_time.h"

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static bool takes_part(const struct tt_plan_run *run, size_t flow, size_t stream)
{
    return run->network->flows[flow].kind == TT_FLOW_STREAM && stream < run->streams;
}

/* The least common multiple of the intervals. */
static enum tt_plan_fault base_cycle(struct tt_plan_run *run, int64_t *ret_ns)
{
    int64_t cycle_ns = 1;
    size_t stream = 0;

    for (size_t i = 0; i < run->network->flow_count; i++) {
        int64_t ns;

        if (run->network->flows[i].kind != TT_FLOW_STREAM || stream++ >= run->streams) {
            continue;
        }
        ns = tt_plan_interval_ns(&run->network->flows[i]);
        if (ns > 0) {
            cycle_ns *= ns / common_divisor(cycle_ns, ns);
        }
        if (ns == 0 || cycle_ns > run->options->cycle_max_ns) {
            return tt_plan_refuse(run, TT_PLAN_INTERVAL, 0, ns);
        }
    }
    if (cycle_ns == 1) {
        return tt_plan_refuse(run, TT_PLAN_NO_STREAM, 0, 0);
    }
    *ret_ns = cycle_ns;
    return TT_PLAN_OK;
}

static int64_t wire_ns_of(const struct tt_plan_run *run, unsigned flow, unsigned port)
{
    return tt_wire_ns(tt_wire_bytes(run->network->flows[flow].frame_bytes),
                      tt_gate_rate(&run->network->ports[port]));
}

/* A frame of a varying stream is in time for a window until its own length before the end, or is
 * held up by a longer one that is not. Where those moments differ by more than what the interval
 * has over the class measurement interval, two may meet in a window that has room for one. */
static bool may_meet(const struct tt_plan_run *run, const struct tt_plan_visit *visit,
                     int64_t longest_ns)
{
    const struct tt_flow *flow = &run->network->flows[visit->flow];
    int64_t interval_ns = flow->interval_samples * TT_NS_PER_S / flow->rate_hz;

    return visit->parent < 0 && tt_plan_varies(flow) &&
           longest_ns - visit->wire_ns >
               tt_plan_frames(run, visit) * interval_ns - run->plan->cycle_ns;
}

/* The longest frame of a varying stream that starts at the port. */
static int64_t longest_varying(const struct tt_plan_run *run, unsigned port)
{
    int64_t longest_ns = 0;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        if (visit->parent < 0 && tt_plan_varies(&run->network->flows[visit->flow])) {
            longest_ns = tt_max64(longest_ns, visit->wire_ns);
        }
    }
    return longest_ns;
}

/* The longest frame of each port beside the streams: what is told, and what may come untold. */
static void find_others(struct tt_plan_run *run)
{
    const struct tt_network *network = run->network;

    for (unsigned p = 0; p < network->port_count; p++) {
        run->other_ns[p] = tt_wire_ns(tt_wire_bytes(run->options->best_effort_bytes),
                                      tt_gate_rate(&network->ports[p]));
    }
    for (unsigned i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        for (unsigned h = 0; flow->kind != TT_FLOW_STREAM && h < flow->hop_count; h++) {
            int64_t *other_ns = &run->other_ns[flow->hops[h].port];

            *other_ns = tt_max64(*other_ns, wire_ns_of(run, i, flow->hops[h].port));
        }
    }
}

/* What is no stream has no place in a window that holds the streams just so. */
static enum tt_plan_fault keep_apart(struct tt_plan_run *run)
{
    for (size_t i = 0; i < run->network->flow_count; i++) {
        const struct tt_flow *flow = &run->network->flows[i];

        if (flow->kind == TT_FLOW_STREAM || !tt_plan_is_stream_priority(flow->priority)) {
            continue;
        }
        for (unsigned h = 0; h < flow->hop_count; h++) {
            unsigned p = flow->hops[h].port;

            if (run->port_first[p + 1] > run->port_first[p]) {
                run->plan->flow = i;
                return tt_plan_refuse(run, TT_PLAN_SHARED, p, flow->priority);
            }
        }
    }
    return TT_PLAN_OK;
}

/* Whether the cycle that the plan has will do. */
static enum tt_plan_fault try_cycle(struct tt_plan_run *run)
{
    int64_t cycle_ns = run->plan->cycle_ns;

    for (unsigned p = 0; p < run->network->port_count; p++) {
        int64_t other_ns = run->other_ns[p] + 2 * run->options->margin_ns;
        int64_t longest_ns = longest_varying(run, p);
        int64_t used_ns = 0;

        for (size_t i = run->port_first[p]; i < run->port_first[p + 1]; i++) {
            const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

            if (may_meet(run, visit, longest_ns)) {
                return tt_plan_refuse(run, TT_PLAN_VARYING, p, longest_ns);
            }
            used_ns += visit->wire_ns * tt_plan_frames(run, visit);
        }
        if (used_ns * 100 > cycle_ns * run->options->reserve_percent) {
            return tt_plan_refuse(run, TT_PLAN_LOAD, p, used_ns * 1000 / cycle_ns);
        }
        if (used_ns > 0 && cycle_ns - used_ns < other_ns) {
            return tt_plan_refuse(run, TT_PLAN_BEST_EFFORT, p, other_ns);
        }
    }
    return TT_PLAN_OK;
}

/* The cycle: so many common intervals that what is left on each port holds the longest other
 * frame. */
static enum tt_plan_fault choose_cycle(struct tt_plan_run *run)
{
    int64_t base_ns;
    enum tt_plan_fault fault = base_cycle(run, &base_ns);

    for (int64_t times = 1; fault == TT_PLAN_OK; times++) {
        run->plan->cycle_ns = base_ns * times;
        fault = try_cycle(run);
        if (fault == TT_PLAN_OK || run->plan->cycle_ns > run->options->cycle_max_ns - base_ns) {
            return fault;
        }
        fault = TT_PLAN_OK;
    }
    return fault;
}

/* ---- who passes where */

static void make_visits(struct tt_plan_run *run)
{
    size_t stream = 0;

    for (unsigned i = 0; i < run->network->flow_count; i++) {
        const struct tt_flow *flow = &run->network->flows[i];
        size_t first = run->visit_count;

        if (flow->kind != TT_FLOW_STREAM) {
            continue;
        }
        if (!takes_part(run, i, stream++)) {
            break;
        }
        for (unsigned h = 0; h < flow->hop_count; h++) {
            int parent = flow->hops[h].parent;

            run->visits[run->visit_count++] = (struct tt_plan_visit){
                .flow = i,
                .port = flow->hops[h].port,
                .parent = parent < 0 ? -1 : (int)first + parent,
                .talker =
                    parent < 0 ? run->visit_count - 1 : run->visits[first + (size_t)parent].talker,
                .wire_ns = wire_ns_of(run, i, flow->hops[h].port),
            };
        }
    }
}

static void sort_by_port(struct tt_plan_run *run)
{
    size_t ports = run->network->port_count;

    for (size_t i = 0; i < run->visit_count; i++) {
        run->port_first[run->visits[i].port + 1]++;
    }
    for (size_t p = 0; p < ports; p++) {
        run->port_first[p + 1] += run->port_first[p];
    }
    for (size_t i = run->visit_count; i-- > 0;) {
        /* From behind, so that the firsts end up where they began. */
        run->of_port[--run->port_first[run->visits[i].port + 1]] = i;
    }
    for (size_t p = 0; p < ports; p++) {
        run->port_first[p] = run->port_first[p + 1];
    }
    run->port_first[ports] = run->visit_count;
}

/* By the longest way from a talker; on a ring that grows for ever, is stopped and told by that. */
static void order_ports(struct tt_plan_run *run)
{
    unsigned *depth = calloc(run->network->port_count + 1, sizeof(*depth));
    bool moved = depth != NULL;
    size_t n = 0;

    for (unsigned round = 0; moved && round < TT_GATE_HOPS_MAX; round++) {
        moved = false;
        for (size_t i = 0; i < run->visit_count; i++) {
            const struct tt_plan_visit *visit = &run->visits[i];
            unsigned least = visit->parent < 0 ? 0 : depth[run->visits[visit->parent].port] + 1;

            if (depth[visit->port] < least) {
                run->ring = run->ring || least > TT_GATE_HOPS_MAX;
                moved = moved || least <= TT_GATE_HOPS_MAX;
                depth[visit->port] = least <= TT_GATE_HOPS_MAX ? least : depth[visit->port];
            }
        }
    }
    for (unsigned d = 0; d <= TT_GATE_HOPS_MAX; d++) {
        for (unsigned p = 0; p < run->network->port_count; p++) {
            if ((depth ? depth[p] : 0) == d) {
                run->order[n++] = p;
            }
        }
    }
    free(depth);
}

/* ---- */

static void run_done(struct tt_plan_run *run)
{
    free(run->visits);
    free(run->of_port);
    free(run->port_first);
    free(run->order);
    free(run->other_ns);
    free(run->arrivals_ns);
    free(run->early_ns);
    free(run->packed_ns);
    free(run->ends_ns);
    free(run->spreads_ns);
    free(run->closes_ns);
    free(run->items);
}

static size_t count_hops(const struct tt_network *network)
{
    size_t n = 0;

    for (size_t i = 0; i < network->flow_count; i++) {
        n += network->flows[i].hop_count;
    }
    return n;
}

static bool make_frames(struct tt_plan_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < run->visit_count; i++) {
        run->visits[i].first = n;
        n += (size_t)tt_plan_frames(run, &run->visits[i]);
    }
    run->arrivals_ns = calloc(n + 1, sizeof(*run->arrivals_ns));
    run->early_ns = calloc(n + 1, sizeof(*run->early_ns));
    run->packed_ns = calloc(n + 1, sizeof(*run->packed_ns));
    run->ends_ns = calloc(n + 1, sizeof(*run->ends_ns));
    run->spreads_ns = calloc(n + 1, sizeof(*run->spreads_ns));
    run->closes_ns = calloc(n + 1, sizeof(*run->closes_ns));
    run->items = calloc(n + 1, sizeof(*run->items));
    return run->arrivals_ns && run->early_ns && run->packed_ns && run->ends_ns && run->spreads_ns &&
           run->closes_ns && run->items;
}

/* With the first `streams` streams. */
static enum tt_plan_fault attempt(struct tt_plan_run *run, size_t hops)
{
    size_t ports = run->network->port_count;
    enum tt_plan_fault fault;

    run->visits = calloc(hops + 1, sizeof(*run->visits));
    run->of_port = calloc(hops + 1, sizeof(*run->of_port));
    run->port_first = calloc(ports + 2, sizeof(*run->port_first));
    run->order = calloc(ports + 1, sizeof(*run->order));
    run->other_ns = calloc(ports + 1, sizeof(*run->other_ns));
    if (!run->visits || !run->of_port || !run->port_first || !run->order || !run->other_ns) {
        return tt_plan_refuse(run, TT_PLAN_MEMORY, 0, 0);
    }
    make_visits(run);
    sort_by_port(run);
    order_ports(run);
    find_others(run);
    fault = keep_apart(run);
    fault = fault == TT_PLAN_OK ? choose_cycle(run) : fault;
    if (fault == TT_PLAN_OK && !make_frames(run)) {
        fault = tt_plan_refuse(run, TT_PLAN_MEMORY, 0, 0);
    }
    return fault == TT_PLAN_OK ? tt_plan_times(run) : fault;
}

static enum tt_plan_fault plan_first(struct tt_network *network,
                                     const struct tt_plan_options *options, size_t streams,
                                     struct tt_plan *plan)
{
    struct tt_plan_run run = {
        .network = network, .options = options, .plan = plan, .streams = streams};
    enum tt_plan_fault fault = attempt(&run, count_hops(network));

    run_done(&run);
    return fault;
}

static size_t stream_number(const struct tt_network *network, size_t stream)
{
    for (size_t i = 0; i < network->flow_count; i++) {
        if (network->flows[i].kind == TT_FLOW_STREAM && stream-- == 0) {
            return i;
        }
    }
    return 0;
}

enum tt_plan_fault tt_plan(struct tt_network *network, const struct tt_plan_options *options,
                           struct tt_plan *ret_plan)
{
    size_t good = 0; /* so many streams can be planned */
    size_t bad = 0;  /* and so many cannot */
    enum tt_plan_fault fault;

    for (size_t i = 0; i < network->flow_count; i++) {
        bad += network->flows[i].kind == TT_FLOW_STREAM;
    }
    ret_plan->fault = TT_PLAN_OK;
    fault = plan_first(network, options, bad, ret_plan);
    if (fault == TT_PLAN_OK || fault == TT_PLAN_NO_STREAM || fault == TT_PLAN_MEMORY ||
        fault == TT_PLAN_SHARED) {
        return fault;
    }
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;

        if (plan_first(network, options, middle, ret_plan) == TT_PLAN_OK) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    fault = plan_first(network, options, bad, ret_plan);
    ret_plan->flow = stream_number(network, bad - 1);
    return fault;
}

void tt_plan_entries(const struct tt_plan *plan, unsigned port, uint32_t stream_mask,
                     uint32_t other_mask, struct tt_gate_entry ret_entries[2])
{
    int64_t width_ns = plan->windows[port].width_ns;

    ret_entries[0] = (struct tt_gate_entry){TT_GATE_SET, stream_mask, width_ns};
    ret_entries[1] = (struct tt_gate_entry){TT_GATE_SET, other_mask, plan->cycle_ns - width_ns};
}
