/*
 * The planner's other way, for rings: the cycle is cut into slots, and each port's window begins
 * with one. What comes from a port comes while that one's window is open, whatever came there
 * before; so ports may be in a circle. A port takes the slot in which its neighbours' frames wait
 * least, among those in which all of a cycle has come in time and nothing of the next comes before
 * its window has closed. See plan.h.
 */
#include <stdlib.h>

#include "base/min_max.h"
#include "gate/plan_inside.h"

#define SLOTS_MAX 64
#define TRIES     8
#define NOT_YET   INT64_MIN

/* Frames go from a port to the next. */
struct edge {
    unsigned from;
    unsigned to;
    int64_t streams;
    int64_t work_ns;     /* on the wire of `to`, in a cycle */
    int64_t longest_ns;  /* … a frame */
    int64_t shortest_ns; /* on the wire of `from` */
    size_t next_to;      /* edge with the same `to`, or edge_count */
    size_t next_from;
};

struct slots {
    struct tt_plan_run *run;
    struct edge *edges;
    size_t edge_count;
    size_t *edges_to; /* the first edge to each port, or NO_EDGE */
    size_t *edges_from;
    unsigned *order; /* of ports with streams, each with as many neighbours before it as can be */
    size_t port_count;
    bool *any_time;   /* by port: some of its talkers' frames come when they like */
    int64_t *best_ns; /* phases, by port */
};

#define NO_EDGE SIZE_MAX

static const struct tt_plan_visit *parent_of(const struct tt_plan_run *run,
                                             const struct tt_plan_visit *visit)
{
    return visit->parent < 0 ? NULL : &run->visits[visit->parent];
}

static struct edge *edge_of(struct slots *slots, unsigned from, unsigned to)
{
    size_t e = slots->edges_to[to];

    while (e != NO_EDGE && slots->edges[e].from != from) {
        e = slots->edges[e].next_to;
    }
    if (e == NO_EDGE) {
        e = slots->edge_count++;
        slots->edges[e] = (struct edge){
            .from = from,
            .to = to,
            .shortest_ns = INT64_MAX,
            .next_to = slots->edges_to[to],
            .next_from = slots->edges_from[from],
        };
        slots->edges_to[to] = e;
        slots->edges_from[from] = e;
    }
    return &slots->edges[e];
}

static void find_edges(struct slots *slots)
{
    for (size_t p = 0; p < slots->run->network->port_count; p++) {
        slots->edges_to[p] = NO_EDGE;
        slots->edges_from[p] = NO_EDGE;
    }
    for (size_t i = 0; i < slots->run->visit_count; i++) {
        const struct tt_plan_visit *visit = &slots->run->visits[i];
        const struct tt_plan_visit *parent = parent_of(slots->run, visit);

        if (parent) {
            struct edge *edge = edge_of(slots, parent->port, visit->port);

            edge->streams++;
            edge->work_ns += visit->wire_ns * tt_plan_frames(slots->run, visit);
            edge->longest_ns = tt_max64(edge->longest_ns, visit->wire_ns);
            edge->shortest_ns = tt_min64(edge->shortest_ns, parent->wire_ns);
        }
    }
}

/* Each port has what all its frames take, and no place yet. */
static void measure(struct slots *slots)
{
    const struct tt_plan_run *run = slots->run;

    for (unsigned p = 0; p < run->network->port_count; p++) {
        struct tt_plan_window *window = &run->plan->windows[p];

        *window = (struct tt_plan_window){.open_ns = NOT_YET};
        for (size_t i = run->port_first[p]; i < run->port_first[p + 1]; i++) {
            const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

            window->width_ns += visit->wire_ns * tt_plan_frames(run, visit);
            slots->any_time[p] |=
                visit->parent < 0 && tt_plan_varies(&run->network->flows[visit->flow]);
        }
        window->width_ns += window->width_ns > 0 ? 2 * run->options->margin_ns : 0;
    }
}

static bool is_placed(const struct slots *slots, unsigned port)
{
    return slots->run->plan->windows[port].open_ns != NOT_YET;
}

static size_t neighbours(const struct slots *slots, unsigned port)
{
    size_t n = 0;

    for (size_t e = slots->edges_to[port]; e != NO_EDGE; e = slots->edges[e].next_to) {
        n += is_placed(slots, slots->edges[e].from);
    }
    for (size_t e = slots->edges_from[port]; e != NO_EDGE; e = slots->edges[e].next_from) {
        n += is_placed(slots, slots->edges[e].to);
    }
    return n;
}

static void find_order(struct slots *slots)
{
    const struct tt_plan_run *run = slots->run;

    for (;;) {
        unsigned next = UINT_MAX;
        size_t most = 0;

        for (size_t i = 0; i < run->network->port_count; i++) {
            unsigned port = run->order[i];

            if (run->plan->windows[port].width_ns > 0 && !is_placed(slots, port)) {
                size_t n = neighbours(slots, port);

                if (next == UINT_MAX || n > most) {
                    most = n;
                    next = port;
                }
            }
        }
        if (next == UINT_MAX) {
            break;
        }
        slots->order[slots->port_count++] = next;
        run->plan->windows[next].open_ns = 0;
    }
}

/* From the opening of the one window to the end of that of the other in which its frames go: the
 * first such that none of the cycle after comes while it is open. */
static int64_t across_ns(const struct tt_plan_run *run, const struct edge *edge)
{
    const struct tt_plan_window *from = &run->plan->windows[edge->from];
    const struct tt_plan_window *to = &run->plan->windows[edge->to];
    int64_t first_ns =
        run->network->ports[edge->from].delay_ns + edge->shortest_ns - run->options->margin_ns;

    return first_ns + run->plan->cycle_ns -
           tt_plan_phase(run, from->open_ns + first_ns - to->open_ns - to->width_ns);
}

/* When the last frame comes, before the port's window ends. */
static int64_t last_ns(const struct tt_plan_run *run, const struct edge *edge)
{
    return across_ns(run, edge) - run->plan->windows[edge->from].width_ns +
           run->options->margin_ns - run->network->ports[edge->from].delay_ns;
}

/* What so long on the wire of the one is on that of the other. */
static int64_t scaled_ns(const struct tt_plan_run *run, int64_t ns, unsigned from, unsigned to)
{
    int64_t from_kbps = (tt_gate_rate(&run->network->ports[from]) + 999) / 1000;
    int64_t to_kbps = tt_gate_rate(&run->network->ports[to]) / 1000;

    return ns * from_kbps / to_kbps;
}

/* What comes over the edge from so long before the port's window ends. */
static int64_t work_ns(const struct tt_plan_run *run, const struct edge *edge, int64_t before_ns)
{
    int64_t ns = before_ns - last_ns(run, edge);

    return ns < 0 ? 0
                  : tt_min64(edge->work_ns,
                             scaled_ns(run, ns, edge->from, edge->to) + edge->longest_ns + 1);
}

/* Whether all that comes before a moment of the window is off the wire in time; the moments are
 * those at which more or less begins to come. What comes at any time takes what the others leave:
 * those are all there before. */
static bool in_time(const struct slots *slots, unsigned port)
{
    const struct tt_plan_run *run = slots->run;

    for (size_t e = slots->edges_to[port]; e != NO_EDGE; e = slots->edges[e].next_to) {
        const struct edge *edge = &slots->edges[e];
        int64_t moments_ns[2];

        if (!is_placed(slots, edge->from)) {
            continue;
        }
        moments_ns[0] = last_ns(run, edge);
        moments_ns[1] =
            moments_ns[0] + scaled_ns(run, edge->work_ns - edge->longest_ns, port, edge->from);
        for (int m = 0; m < 2; m++) {
            int64_t sum_ns = 0;

            if (moments_ns[m] >= run->plan->windows[port].width_ns - run->options->margin_ns) {
                continue;
            }
            if (slots->any_time[port]) {
                return false;
            }
            for (size_t i = slots->edges_to[port]; i != NO_EDGE; i = slots->edges[i].next_to) {
                sum_ns += is_placed(slots, slots->edges[i].from)
                              ? work_ns(run, &slots->edges[i], moments_ns[m])
                              : 0;
            }
            if (sum_ns > moments_ns[m] - run->options->margin_ns) {
                return false;
            }
        }
    }
    return true;
}

/* What all take between the port and those that have a place; -1: one does not come in time. */
static int64_t cost_ns(const struct slots *slots, unsigned port)
{
    const struct edge *edges = slots->edges;
    int64_t sum_ns = 0;

    if (!in_time(slots, port)) {
        return -1;
    }
    for (size_t e = slots->edges_to[port]; e != NO_EDGE; e = edges[e].next_to) {
        if (is_placed(slots, edges[e].from)) {
            sum_ns += edges[e].streams * across_ns(slots->run, &edges[e]);
        }
    }
    for (size_t e = slots->edges_from[port]; e != NO_EDGE; e = edges[e].next_from) {
        if (!is_placed(slots, edges[e].to)) {
            continue;
        }
        if (!in_time(slots, edges[e].to)) {
            return -1;
        }
        sum_ns += edges[e].streams * across_ns(slots->run, &edges[e]);
    }
    return sum_ns;
}

/* The port found no slot that its neighbours leave: next time it chooses before they do. */
static void to_front(struct slots *slots, size_t i)
{
    unsigned port = slots->order[i];

    for (; i > 0; i--) {
        slots->order[i] = slots->order[i - 1];
    }
    slots->order[0] = port;
}

/* With so many slots. */
static bool try_slots(struct slots *slots, int64_t n)
{
    struct tt_plan_window *windows = slots->run->plan->windows;

    for (size_t i = 0; i < slots->port_count; i++) {
        windows[slots->order[i]].open_ns = NOT_YET;
    }
    for (size_t i = 0; i < slots->port_count; i++) {
        struct tt_plan_window *window = &windows[slots->order[i]];
        int64_t best_ns = NOT_YET;
        int64_t least_ns = -1;

        for (int64_t slot = 0; slot < n; slot++) {
            int64_t ns;

            window->open_ns = slots->run->plan->cycle_ns * slot / n;
            ns = cost_ns(slots, slots->order[i]);
            if (ns >= 0 && (least_ns < 0 || ns < least_ns)) {
                least_ns = ns;
                best_ns = window->open_ns;
            }
        }
        if (least_ns < 0) {
            slots->run->plan->port = slots->order[i];
            to_front(slots, i);
            return false;
        }
        window->open_ns = best_ns;
    }
    return true;
}

/* Of any stream, from its talker's window on. */
static int64_t longest_ns(struct slots *slots)
{
    struct tt_plan_run *run = slots->run;
    int64_t longest_ns = 0;

    for (size_t i = 0; i < run->visit_count; i++) {
        const struct tt_plan_visit *visit = &run->visits[i];
        const struct tt_plan_visit *parent = parent_of(run, visit);
        int64_t *end_ns = &run->ends_ns[visit->first];

        *end_ns = run->plan->windows[visit->port].width_ns;
        if (parent) {
            *end_ns = run->ends_ns[parent->first] - run->plan->windows[parent->port].width_ns +
                      across_ns(run, edge_of(slots, parent->port, visit->port));
        }
        longest_ns = tt_max64(longest_ns, *end_ns);
    }
    return longest_ns;
}

/* That with which the slowest stream is the fastest. */
static bool choose(struct slots *slots)
{
    struct tt_plan_window *windows = slots->run->plan->windows;
    int64_t least_ns = -1;

    for (int64_t n = 1; n <= SLOTS_MAX; n++) {
        bool found = false;
        int64_t ns;

        for (int i = 0; !found && i < TRIES; i++) {
            found = try_slots(slots, n);
        }
        if (!found) {
            continue;
        }
        ns = longest_ns(slots);
        if (least_ns < 0 || ns < least_ns) {
            least_ns = ns;
            for (size_t i = 0; i < slots->port_count; i++) {
                slots->best_ns[slots->order[i]] = windows[slots->order[i]].open_ns;
            }
        }
    }
    for (unsigned p = 0; p < slots->run->network->port_count; p++) {
        windows[p].open_ns = windows[p].width_ns > 0 ? slots->best_ns[p] : 0;
    }
    return least_ns >= 0;
}

/* ---- the frames */

/* A talker launches its streams so that they are there when its window opens. */
static void launch(struct tt_plan_run *run, unsigned port)
{
    int64_t at_ns = run->plan->windows[port].open_ns - 2 * run->options->margin_ns;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];
        struct tt_flow *flow = &run->network->flows[visit->flow];

        if (visit->parent < 0) {
            tt_plan_launch_at(flow, at_ns);
        }
    }
}

/* A talker's frames. One that keeps no offset is said to come when its window opens. false: one
 * might come while it is open. */
static bool start(struct tt_plan_run *run, const struct tt_plan_visit *visit)
{
    const struct tt_plan_window *window = &run->plan->windows[visit->port];
    const struct tt_flow *flow = &run->network->flows[visit->flow];
    int64_t margin_ns = run->options->margin_ns;

    for (int64_t k = 0; k < tt_plan_frames(run, visit); k++) {
        int64_t at_ns = flow->offset_ns + k * tt_plan_interval_ns(flow);
        int64_t wait = tt_plan_phase(run, window->open_ns - at_ns - margin_ns) + margin_ns;

        if (tt_plan_varies(flow)) {
            wait = 0;
        } else if (wait + window->width_ns + margin_ns > run->plan->cycle_ns) {
            return false;
        }
        run->arrivals_ns[visit->first + (size_t)k] = at_ns;
        run->closes_ns[visit->first + (size_t)k] = at_ns + wait + window->width_ns;
    }
    return true;
}

static void hand_on(struct slots *slots, const struct tt_plan_visit *visit)
{
    struct tt_plan_run *run = slots->run;
    const struct tt_plan_visit *parent = parent_of(run, visit);
    int64_t ns = across_ns(run, edge_of(slots, parent->port, visit->port)) -
                 run->plan->windows[parent->port].width_ns;

    for (size_t k = 0; k < (size_t)tt_plan_frames(run, visit); k++) {
        run->closes_ns[visit->first + k] = run->closes_ns[parent->first + k] + ns;
    }
}

static bool go(struct slots *slots)
{
    struct tt_plan_run *run = slots->run;

    for (unsigned p = 0; p < run->network->port_count; p++) {
        launch(run, p);
    }
    for (size_t i = 0; i < run->visit_count; i++) {
        if (run->visits[i].parent >= 0) {
            hand_on(slots, &run->visits[i]);
        } else if (!start(run, &run->visits[i])) {
            return false;
        }
    }
    return true;
}

bool tt_plan_slots(struct tt_plan_run *run)
{
    struct slots slots = {
        .run = run,
        .edges = calloc(run->visit_count + 1, sizeof(*slots.edges)),
        .edges_to = calloc(run->network->port_count + 1, sizeof(*slots.edges_to)),
        .edges_from = calloc(run->network->port_count + 1, sizeof(*slots.edges_from)),
        .order = calloc(run->network->port_count + 1, sizeof(*slots.order)),
        .any_time = calloc(run->network->port_count + 1, sizeof(*slots.any_time)),
        .best_ns = calloc(run->network->port_count + 1, sizeof(*slots.best_ns)),
    };
    bool good = slots.edges && slots.edges_to && slots.edges_from && slots.order &&
                slots.any_time && slots.best_ns;

    if (good) {
        find_edges(&slots);
        measure(&slots);
        find_order(&slots);
        good = choose(&slots) && go(&slots);
    }
    free(slots.edges);
    free(slots.edges_to);
    free(slots.edges_from);
    free(slots.order);
    free(slots.any_time);
    free(slots.best_ns);
    return good;
}
