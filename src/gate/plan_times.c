/*
 * The planner's times: when talkers launch, when windows open, when each frame is off each wire.
 * See plan.h.
 */
#include "base/min_max.h"
#include "gate/plan_inside.h"

#define ROUNDS_MAX 64

static int64_t phase_of(const struct tt_plan_run *run, int64_t ns)
{
    return ns - tt_floor_div(ns, run->plan->cycle_ns) * run->plan->cycle_ns;
}

/* A talker launches its streams one behind the other from the start of the cycle on. */
static void launch(struct tt_plan_run *run)
{
    for (unsigned p = 0; p < run->network->port_count; p++) {
        int64_t at_ns = 0;

        for (size_t i = run->port_first[p]; i < run->port_first[p + 1]; i++) {
            const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];
            struct tt_flow *flow = &run->network->flows[visit->flow];

            if (visit->parent < 0) {
                flow->offset_ns = at_ns % tt_plan_interval_ns(flow);
                at_ns += visit->wire_ns;
            }
        }
    }
    for (size_t i = 0; i < run->visit_count; i++) {
        struct tt_plan_visit *visit = &run->visits[i];
        const struct tt_flow *flow = &run->network->flows[visit->flow];
        int64_t before_ns = 0; /* without any wait, for a first guess */

        for (int v = visit->parent; v >= 0; v = run->visits[v].parent) {
            before_ns += run->visits[v].wire_ns + run->network->ports[run->visits[v].port].delay_ns;
        }
        visit->first = run->frame_count;
        for (int64_t k = 0; k < tt_plan_frames(run, visit->flow); k++) {
            run->arrivals_ns[run->frame_count++] =
                flow->offset_ns + k * tt_plan_interval_ns(flow) + before_ns;
        }
    }
}

static int by_phase(const struct tt_plan_item *a, const struct tt_plan_item *b)
{
    if (a->phase_ns != b->phase_ns) {
        return a->phase_ns < b->phase_ns ? -1 : 1;
    }
    return a->frame < b->frame ? -1 : 1;
}

static void sort_items(struct tt_plan_item *items, size_t n)
{
    /* Shell's: nearly sorted after the first round. */
    for (size_t gap = n / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < n; i++) {
            struct tt_plan_item item = items[i];
            size_t j = i;

            for (; j >= gap && by_phase(&item, &items[j - gap]) < 0; j -= gap) {
                items[j] = items[j - gap];
            }
            items[j] = item;
        }
    }
}

/* The window's opening where the cycle is cut in front of item `cut`, and what all wait then. */
static int64_t open_at(const struct tt_plan_run *run, size_t n, size_t cut, int64_t *ret_wait_ns)
{
    int64_t open_ns = INT64_MIN;
    int64_t before_ns = 0;
    int64_t wait_ns = 0;

    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[(cut + i) % n];
        int64_t at_ns = item->phase_ns + (cut + i >= n ? run->plan->cycle_ns : 0);

        open_ns = tt_max64(open_ns, at_ns - before_ns);
        wait_ns += before_ns - at_ns;
        before_ns += item->wire_ns;
    }
    *ret_wait_ns = wait_ns + open_ns * (int64_t)n;
    return open_ns;
}

static size_t gather(struct tt_plan_run *run, unsigned port)
{
    size_t n = 0;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        for (int64_t k = 0; k < tt_plan_frames(run, visit->flow); k++) {
            size_t frame = visit->first + (size_t)k;

            run->items[n++] = (struct tt_plan_item){
                .phase_ns = phase_of(run, run->arrivals_ns[frame]),
                .wire_ns = visit->wire_ns,
                .frame = frame,
            };
        }
    }
    sort_items(run->items, n);
    return n;
}

/* Places the port's window and says when each frame is off the wire. */
static void place(struct tt_plan_run *run, unsigned port)
{
    size_t n = gather(run, port);
    int64_t margin_ns = run->options->margin_ns;
    int64_t least_ns = INT64_MAX;
    int64_t open_ns = 0;
    int64_t at_ns;
    size_t cut = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t wait_ns;
        int64_t opened_ns = open_at(run, n, i, &wait_ns);

        if (wait_ns < least_ns) {
            least_ns = wait_ns;
            open_ns = opened_ns;
            cut = i;
        }
    }
    at_ns = open_ns;
    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[(cut + i) % n];
        int64_t phase_ns = item->phase_ns + (cut + i >= n ? run->plan->cycle_ns : 0);

        at_ns += item->wire_ns;
        run->ends_ns[item->frame] = at_ns + run->arrivals_ns[item->frame] - phase_ns;
        /* Whatever the order in which those come that come at once. */
        run->closes_ns[item->frame] = run->arrivals_ns[item->frame] - phase_ns;
    }
    for (size_t i = 0; i < n; i++) {
        run->closes_ns[run->items[i].frame] += at_ns + margin_ns;
    }
    run->plan->windows[port] = (struct tt_plan_window){0};
    if (n > 0) {
        run->plan->windows[port].open_ns = phase_of(run, open_ns - margin_ns);
        run->plan->windows[port].width_ns = at_ns - open_ns + 2 * margin_ns;
    }
}

/* What left one port is what comes to the next. true: something has moved. */
static bool hand_on(struct tt_plan_run *run, unsigned port)
{
    bool moved = false;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        for (int64_t k = 0; visit->parent >= 0 && k < tt_plan_frames(run, visit->flow); k++) {
            const struct tt_plan_visit *from = &run->visits[visit->parent];
            int64_t at_ns =
                run->ends_ns[from->first + (size_t)k] + run->network->ports[from->port].delay_ns;

            moved = moved || run->arrivals_ns[visit->first + (size_t)k] != at_ns;
            run->arrivals_ns[visit->first + (size_t)k] = at_ns;
        }
    }
    return moved;
}

static enum tt_plan_fault settle(struct tt_plan_run *run)
{
    bool moved = true;
    unsigned moving = 0;

    for (unsigned p = 0; p < run->network->port_count; p++) {
        place(run, p);
    }
    for (int round = 0; moved && round < ROUNDS_MAX; round++) {
        moved = false;
        for (size_t i = 0; i < run->network->port_count; i++) {
            if (hand_on(run, run->order[i])) {
                place(run, run->order[i]);
                moving = run->order[i];
                moved = true;
            }
        }
    }
    return moved ? tt_plan_refuse(run, TT_PLAN_RING, moving, 0) : TT_PLAN_OK;
}

static enum tt_plan_fault judge(struct tt_plan_run *run)
{
    for (size_t i = 0; i < run->network->flow_count; i++) {
        run->plan->delays_ns[i] = 0;
    }
    for (size_t i = 0; i < run->visit_count; i++) {
        const struct tt_plan_visit *visit = &run->visits[i];
        const struct tt_plan_visit *talker = visit;
        int64_t *delay_ns = &run->plan->delays_ns[visit->flow];

        while (talker->parent >= 0) {
            talker = &run->visits[talker->parent];
        }
        for (int64_t k = 0; k < tt_plan_frames(run, visit->flow); k++) {
            *delay_ns = tt_max64(*delay_ns, run->closes_ns[visit->first + (size_t)k] -
                                                run->arrivals_ns[talker->first + (size_t)k] +
                                                run->network->ports[visit->port].delay_ns);
        }
        if (run->network->flows[visit->flow].deadline_ns > 0 &&
            *delay_ns > run->network->flows[visit->flow].deadline_ns) {
            return tt_plan_refuse(run, TT_PLAN_DEADLINE, visit->port, *delay_ns);
        }
    }
    return TT_PLAN_OK;
}

enum tt_plan_fault tt_plan_times(struct tt_plan_run *run)
{
    enum tt_plan_fault fault;

    launch(run);
    fault = settle(run);
    return fault == TT_PLAN_OK ? judge(run) : fault;
}
