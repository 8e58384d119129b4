/*
 * The longest wait at one port. See bound.h. Source of the method: response times of non-preemptive
 * fixed priorities with release jitter (Tindell, Burns, Wellings 1994), with time counted only
 * while the gate is open; credits as in Cao, Cuijpers, Bril, Lukkien, "Independent yet tight WCRT
 * analysis for individual priority classes in Ethernet AVB" (2016): what others take counts once,
 * as the credit that it leaves.
 */
#include "base/min_max.h"
#include "gate/bound_inside.h"
#include "gate/wire_time.h"

/* What competes with a class at a port. */
struct demand {
    unsigned port;
    unsigned class;
    int64_t longest_ns; /* of its own frames */
    int64_t shortest_ns;
    int64_t least_ns;    /* the shortest of those too that go before them */
    int64_t blocking_ns; /* one frame of a lower class */
    int64_t entering_ns; /* … that may be on the wire when the class's gate opens, each time */
    bool endless;        /* TCP in it or above it */
    bool alone;          /* nothing above it */
    int64_t own_ns;      /* what comes of the class until the frame that is looked at */
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

/* Whether some window of `class` opens while the gate of `other` is open, and has been. */
static bool enters(const struct tt_gate_list *list, unsigned class, unsigned other)
{
    for (size_t i = 0; list && i < list->classes[class].window_count; i++) {
        int64_t open_ns = list->base_tai_ns + list->classes[class].windows[i].open_ns;

        if (tt_gate_list_mask(list, open_ns - 1) & tt_gate_list_mask(list, open_ns) & 1u << other) {
            return true;
        }
    }
    return false;
}

static struct demand demand_of(const struct tt_bound_run *run, unsigned at, unsigned class)
{
    const struct tt_gate_port *port = &run->network->ports[at];
    struct demand demand = {
        .port = at, .class = class, .alone = true, .shortest_ns = INT64_MAX, .least_ns = INT64_MAX};

    for (size_t i = 0; i < run->group_count[at]; i++) {
        const struct tt_bound_visit *visit = &run->groups[run->first[at] + i];
        bool bulk = visit->flow->kind == TT_FLOW_BULK;

        if (visit->class == class) {
            demand.longest_ns = tt_max64(demand.longest_ns, visit->wire_ns);
            demand.shortest_ns = tt_min64(demand.shortest_ns, visit->wire_ns);
            demand.least_ns = tt_min64(demand.least_ns, visit->wire_ns);
            demand.endless = demand.endless || bulk;
        } else if (together(port, visit->class, class)) {
            if (visit->class < class) {
                demand.blocking_ns = tt_max64(demand.blocking_ns, visit->wire_ns);
                if (visit->wire_ns > demand.entering_ns &&
                    enters(port->list, class, visit->class)) {
                    demand.entering_ns = visit->wire_ns;
                }
            } else {
                demand.alone = false;
                demand.least_ns = tt_min64(demand.least_ns, visit->wire_ns);
                demand.endless = demand.endless || bulk;
            }
        }
    }
    return demand;
}

static bool is_open(const struct tt_gate_port *port, unsigned class)
{
    return !port->list || port->list->classes[class].always;
}

static bool is_shaped(const struct tt_gate_port *port, unsigned class)
{
    return port->cbs[class].set && port->cbs[class].idle_kbps > 0 &&
           port->cbs[class].idle_kbps < tt_gate_rate(port) / 1000;
}

/* With credits a frame is as long as it takes to earn it. */
static int64_t scaled(const struct tt_gate_port *port, unsigned class, int64_t ns)
{
    const struct tt_gate_cbs *cbs = &port->cbs[class];
    int64_t rate_kbps = tt_gate_rate(port) / 1000;

    return is_shaped(port, class) ? (ns * rate_kbps + cbs->idle_kbps - 1) / cbs->idle_kbps : ns;
}

/* How far the frames of a class that goes first may be off their interval when they want to go: one
 * that is held back, by its gate or its credit, may come with all that has waited. */
static int64_t jitter_above(const struct tt_bound_run *run, const struct tt_bound_visit *visit,
                            unsigned at)
{
    const struct tt_gate_port *port = &run->network->ports[at];
    int64_t bound_ns = run->bounds->ports_ns[at * TT_GATE_CLASSES + visit->class];

    if (!is_shaped(port, visit->class) && is_open(port, visit->class)) {
        return visit->jitter_ns;
    }
    return bound_ns == TT_GATE_UNBOUNDED
               ? TT_BOUND_LONGEST_NS
               : tt_min64(TT_BOUND_LONGEST_NS, visit->jitter_ns + bound_ns - visit->wire_ns);
}

/* What comes in the classes above until span_ns after the worst moment; ret_next_ns: when after
 * that the next may come. */
static int64_t above(const struct tt_bound_run *run, const struct demand *demand, int64_t span_ns,
                     int64_t *ret_next_ns)
{
    const struct tt_gate_port *port = &run->network->ports[demand->port];
    int64_t sum_ns = 0;

    *ret_next_ns = INT64_MAX;
    if (demand->alone) {
        return 0;
    }
    for (size_t i = 0; i < run->group_count[demand->port]; i++) {
        const struct tt_bound_visit *visit = &run->groups[run->first[demand->port] + i];

        if (visit->class > demand->class && together(port, visit->class, demand->class)) {
            int64_t jitter_ns = jitter_above(run, visit, demand->port);
            int64_t times = (span_ns + jitter_ns) / visit->interval_ns + 1;

            sum_ns += visit->count * times * visit->wire_ns;
            *ret_next_ns = tt_min64(*ret_next_ns, times * visit->interval_ns - jitter_ns);
        }
    }
    return sum_ns;
}

/* What comes of the class itself until behind_ns, each frame as long as its credit takes;
 * ret_next_ns: when after that the next may come. */
static int64_t own(const struct tt_bound_run *run, const struct demand *demand, int64_t behind_ns,
                   int64_t *ret_next_ns)
{
    int64_t sum_ns = 0;

    *ret_next_ns = INT64_MAX;
    for (size_t i = 0; i < run->group_count[demand->port]; i++) {
        const struct tt_bound_visit *visit = &run->groups[run->first[demand->port] + i];

        if (visit->class == demand->class) {
            int64_t times = (behind_ns + visit->jitter_ns) / visit->interval_ns + 1;

            sum_ns += visit->count * times *
                      scaled(&run->network->ports[demand->port], visit->class, visit->wire_ns);
            *ret_next_ns = tt_min64(*ret_next_ns, times * visit->interval_ns - visit->jitter_ns);
        }
    }
    return sum_ns;
}

/* What has to go before the frame is out, `span_ns` after the worst moment. */
static int64_t work(const struct tt_bound_run *run, const struct demand *demand, int64_t span_ns)
{
    const struct tt_gate_port *port = &run->network->ports[demand->port];
    int64_t next_ns;
    int64_t sum_ns = demand->blocking_ns + demand->own_ns + above(run, demand, span_ns, &next_ns);

    /* With credits: the last frame goes at the speed of the wire, and one before may have left a
     * debt of what that saves. */
    return is_shaped(port, demand->class) ? sum_ns + demand->longest_ns : sum_ns;
}

/* A shaped class earns credit while others keep it from sending, and catches up: what counts is the
 * most credit that it can have, as the time in which it is earned. With I the idle slope, R the
 * rate and u the time since it last had none, that is (R × others(u) - (R - I) × u) / I. */
static int64_t held_up(const struct tt_bound_run *run, const struct demand *demand)
{
    const struct tt_gate_port *port = &run->network->ports[demand->port];
    int64_t rate_kbps = tt_gate_rate(port) / 1000;
    int64_t idle_kbps = port->cbs[demand->class].idle_kbps;
    int64_t others_ns = demand->blocking_ns;
    int64_t most_ns = 0;
    int64_t at_ns = 0;
    int64_t next_ns = 0;

    for (int round = 0; round < 1000 && at_ns < TT_BOUND_LONGEST_NS; round++) {
        int64_t before_ns = others_ns;
        int64_t earned_ns;

        others_ns = demand->blocking_ns + above(run, demand, tt_max64(0, next_ns), &next_ns);
        at_ns = round == 0 ? others_ns : at_ns + others_ns - before_ns;
        earned_ns =
            (rate_kbps * others_ns - (rate_kbps - idle_kbps) * at_ns + idle_kbps - 1) / idle_kbps;
        most_ns = tt_max64(most_ns, earned_ns);
        if (next_ns == INT64_MAX || rate_kbps * others_ns <= (rate_kbps - idle_kbps) * next_ns) {
            return most_ns;
        }
        at_ns = tt_max64(at_ns, next_ns);
    }
    return TT_GATE_UNBOUNDED;
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
    return tt_max64(open_ns >= demand->longest_ns ? demand->least_ns : 0,
                    open_ns - (demand->longest_ns - 1));
}

/* What a cycle passes at least of the class while more is left than it passes. */
static int64_t served_in_cycle(const struct tt_gate_list *list, const struct demand *demand)
{
    const struct tt_gate_class *class = &list->classes[demand->class];
    int64_t sum_ns = 0;

    for (size_t i = 0; i < class->window_count; i++) {
        sum_ns += served(
            demand, class->windows[i].close_ns - class->windows[i].open_ns - demand->entering_ns,
            INT64_MAX);
    }
    return sum_ns;
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
    int64_t cycle_ns = served_in_cycle(list, demand);
    int64_t whole = cycle_ns > 0 ? tt_max64(0, (work_ns - 1) / cycle_ns - 1) : 0;
    int64_t cycles_ns = whole * list->cycle_ns;

    work_ns -= whole * cycle_ns;
    for (size_t i = first; cycle_ns > 0 && cycles_ns < TT_BOUND_LONGEST_NS;) {
        int64_t open_ns = windows[i].close_ns - windows[i].open_ns - demand->entering_ns;
        int64_t done_ns = served(demand, open_ns, work_ns);

        if (done_ns == work_ns) {
            return windows[i].open_ns + demand->entering_ns + cycles_ns + work_ns - from_ns;
        }
        work_ns -= done_ns;
        i = (i + 1) % n;
        cycles_ns += i == 0 ? list->cycle_ns : 0;
    }
    return TT_GATE_UNBOUNDED;
}

static int64_t longest(const struct tt_bound_run *run, const struct demand *demand, int64_t work_ns)
{
    const struct tt_gate_list *list = run->network->ports[demand->port].list;
    int64_t longest_ns = 0;

    if (is_open(&run->network->ports[demand->port], demand->class)) {
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

/* The end of the frame, and when the class has neither a frame nor a debt again. */
static int64_t end_of(const struct tt_bound_run *run, const struct demand *demand,
                      int64_t *ret_over_ns)
{
    const struct tt_gate_port *port = &run->network->ports[demand->port];
    int64_t span_ns = 0;

    if (is_shaped(port, demand->class) && is_open(port, demand->class)) {
        int64_t others_ns = held_up(run, demand);

        if (others_ns == TT_GATE_UNBOUNDED) {
            return others_ns;
        }
        *ret_over_ns = others_ns + demand->own_ns;
        /* It need not wait for the credit that it takes itself. */
        return *ret_over_ns -
               (scaled(port, demand->class, demand->shortest_ns) - demand->shortest_ns);
    }
    for (int round = 0; round < 1000 && span_ns < TT_BOUND_LONGEST_NS; round++) {
        int64_t next_ns = longest(run, demand, work(run, demand, span_ns));

        *ret_over_ns = next_ns;
        if (next_ns == span_ns || next_ns == TT_GATE_UNBOUNDED) {
            return next_ns;
        }
        span_ns = next_ns;
    }
    return TT_GATE_UNBOUNDED;
}

/* Whether more comes for ever than goes. */
static bool is_too_much(const struct tt_bound_run *run, const struct demand *demand)
{
    const struct tt_gate_port *port = &run->network->ports[demand->port];
    int64_t comes_ppb = 0;
    int64_t goes_ppb = TT_NS_PER_S;

    for (size_t i = 0; i < run->group_count[demand->port]; i++) {
        const struct tt_bound_visit *visit = &run->groups[run->first[demand->port] + i];
        bool same = visit->class == demand->class;

        if (same || (visit->class > demand->class && together(port, visit->class, demand->class))) {
            int64_t each_ns = same ? scaled(port, visit->class, visit->wire_ns) : visit->wire_ns;

            comes_ppb += visit->count *
                         tt_min64(each_ns * TT_NS_PER_S / visit->interval_ns, TT_NS_PER_S * 2);
        }
    }
    if (!is_open(port, demand->class)) {
        /* Rounded up: what is just too much is found out later. */
        goes_ppb =
            (served_in_cycle(port->list, demand) * 1000000 / port->list->cycle_ns + 1) * 1000;
    }
    return comes_ppb > goes_ppb + 1000;
}

/* The longest wait of any frame until the queue has run empty once. */
int64_t tt_bound_wait(const struct tt_bound_run *run, unsigned port, unsigned class)
{
    struct demand demand = demand_of(run, port, class);
    int64_t behind_ns = 0;
    int64_t longest_ns = 0;

    if (demand.longest_ns == 0) {
        return 0;
    }
    if (is_too_much(run, &demand)) {
        return TT_GATE_UNBOUNDED;
    }
    while (!demand.endless && behind_ns < TT_BOUND_LONGEST_NS) {
        int64_t next_ns;
        int64_t over_ns;
        int64_t end_ns;

        demand.own_ns = own(run, &demand, behind_ns, &next_ns);
        end_ns = end_of(run, &demand, &over_ns);
        if (end_ns == TT_GATE_UNBOUNDED) {
            return TT_GATE_UNBOUNDED;
        }
        longest_ns = tt_max64(longest_ns, end_ns - behind_ns);
        behind_ns = next_ns;
        if (over_ns <= behind_ns) {
            return longest_ns;
        }
    }
    return TT_GATE_UNBOUNDED;
}
