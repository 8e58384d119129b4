/*
 * The planner's times: when talkers launch, when windows open, when each frame is off each wire.
 * See plan.h.
 */
#include "base/min_max.h"
#include "gate/plan_inside.h"

#define ROUNDS_MAX 64

static bool has_varying(const struct tt_plan_run *run, unsigned port)
{
    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        if (visit->parent < 0 && tt_plan_varies(&run->network->flows[visit->flow])) {
            return true;
        }
    }
    return false;
}

/* When what comes from other bridges is at the port, without any wait: for a first guess in
 * open_ns. */
static void guess(struct tt_plan_run *run)
{
    for (unsigned p = 0; p < run->network->port_count; p++) {
        run->plan->windows[p].open_ns = 0;
    }
    for (size_t n = 0; n < run->network->port_count; n++) {
        unsigned p = run->order[n];
        int64_t *open_ns = &run->plan->windows[p].open_ns;

        for (size_t i = run->port_first[p]; i < run->port_first[p + 1]; i++) {
            const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];
            const struct tt_plan_visit *from =
                visit->parent < 0 ? NULL : &run->visits[visit->parent];

            if (from && from->parent >= 0) {
                *open_ns =
                    tt_max64(*open_ns, run->plan->windows[from->port].open_ns + from->wire_ns +
                                           run->network->ports[from->port].delay_ns);
            }
        }
    }
}

/* When the talker at the port starts, so that its frames are at the next ports before the others:
 * these take least of the cycle then. */
static int64_t first_launch(const struct tt_plan_run *run, unsigned port)
{
    int64_t at_ns = 0;
    int64_t wire_ns = 0;

    for (size_t i = 0; i < run->visit_count; i++) {
        const struct tt_plan_visit *visit = &run->visits[i];

        if (visit->parent >= 0 && run->visits[visit->parent].port == port &&
            run->visits[visit->parent].parent < 0) {
            at_ns = tt_max64(at_ns, run->plan->windows[visit->port].open_ns);
            wire_ns += run->visits[visit->parent].wire_ns;
        }
    }
    return at_ns - wire_ns - run->network->ports[port].delay_ns;
}

/* A talker launches its streams one behind the other; all at once where they have to be there
 * before those that come at any time. */
static void launch(struct tt_plan_run *run)
{
    guess(run);
    for (unsigned p = 0; p < run->network->port_count; p++) {
        bool at_once = has_varying(run, p);
        int64_t at_ns = first_launch(run, p);

        for (size_t i = run->port_first[p]; i < run->port_first[p + 1]; i++) {
            const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];
            struct tt_flow *flow = &run->network->flows[visit->flow];

            if (visit->parent < 0) {
                tt_plan_launch_at(flow, at_ns);
                at_ns += at_once ? 0 : visit->wire_ns;
            }
        }
    }
    for (size_t i = 0; i < run->visit_count; i++) {
        const struct tt_plan_visit *visit = &run->visits[i];
        const struct tt_flow *flow = &run->network->flows[visit->flow];
        int64_t before_ns = 0; /* without any wait, for a first guess */
        /* It comes at any time; what is said holds for what a window finds there. */
        bool varies = tt_plan_varies(flow);

        for (int v = visit->parent; v >= 0; v = run->visits[v].parent) {
            before_ns += run->visits[v].wire_ns + run->network->ports[run->visits[v].port].delay_ns;
        }
        for (int64_t k = 0; k < tt_plan_frames(run, visit); k++) {
            size_t frame = visit->first + (size_t)k;

            run->early_ns[frame] = 0;
            run->arrivals_ns[frame] =
                flow->offset_ns + (varies ? 0 : k * tt_plan_interval_ns(flow)) + before_ns;
            run->packed_ns[frame] = run->arrivals_ns[frame];
        }
    }
}

/* Packs what comes from each wire: from the last on, each behind all that follow it. Where lengths
 * differ it may be the longest that is cut in two by the time from which on one counts. */
static void pack(struct tt_plan_run *run, size_t n)
{
    struct tt_plan_item *items = run->items;

    tt_plan_sort(items, n, true);
    for (size_t last = n; last > 0;) {
        size_t first = last - 1;
        int64_t longest_ns = items[first].wire_ns;
        int64_t shortest_ns = longest_ns;
        int64_t at_ns = items[first].phase_ns;

        for (; first > 0 && items[first - 1].from == items[first].from; first--) {
            longest_ns = tt_max64(longest_ns, items[first - 1].wire_ns);
            shortest_ns = tt_min64(shortest_ns, items[first - 1].wire_ns);
        }
        at_ns += longest_ns > shortest_ns ? longest_ns : 0;
        for (size_t i = last; i-- > first;) {
            run->packed_ns[items[i].frame] =
                run->arrivals_ns[items[i].frame] - tt_max64(0, items[i].phase_ns - at_ns);
            at_ns -= items[i].wire_ns;
        }
        last = first;
    }
}

/* What left one port is what comes to the next. true: something has moved. */
static bool hand_on(struct tt_plan_run *run, unsigned port)
{
    bool moved = false;
    size_t n = 0;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        for (int64_t k = 0; visit->parent >= 0 && k < tt_plan_frames(run, visit); k++) {
            const struct tt_plan_visit *from = &run->visits[visit->parent];
            size_t left = from->first + (size_t)k;
            size_t comes = visit->first + (size_t)k;
            int64_t at_ns = run->ends_ns[left] + run->network->ports[from->port].delay_ns;

            run->items[n++] = (struct tt_plan_item){
                .phase_ns =
                    tt_plan_phase(run, run->ends_ns[left] - run->plan->windows[from->port].open_ns),
                .wire_ns = from->wire_ns,
                .from = from->port,
                .frame = comes,
            };
            /* It only grows, so that it comes to rest on a ring too. */
            moved = moved || run->arrivals_ns[comes] != at_ns ||
                    run->early_ns[comes] < run->spreads_ns[left];
            run->arrivals_ns[comes] = at_ns;
            run->early_ns[comes] = tt_max64(run->early_ns[comes], run->spreads_ns[left]);
        }
    }
    pack(run, n);
    return moved;
}

/* Windows that open as soon as what comes lets them, port by port. */
static enum tt_plan_fault settle(struct tt_plan_run *run)
{
    bool moved = true;

    launch(run);
    for (unsigned p = 0; p < run->network->port_count; p++) {
        tt_plan_place(run, p);
    }
    for (int round = 0; moved && round < ROUNDS_MAX; round++) {
        moved = false;
        for (size_t i = 0; i < run->network->port_count; i++) {
            if (hand_on(run, run->order[i])) {
                tt_plan_place(run, run->order[i]);
                moved = true;
            }
        }
    }
    for (unsigned p = 0; p < run->network->port_count; p++) {
        if (!tt_plan_place(run, p) || moved) {
            return tt_plan_refuse(run, TT_PLAN_SPREAD, p, 0);
        }
    }
    return TT_PLAN_OK;
}

static enum tt_plan_fault judge(struct tt_plan_run *run)
{
    for (size_t i = 0; i < run->network->flow_count; i++) {
        run->plan->delays_ns[i] = 0;
    }
    for (size_t i = 0; i < run->visit_count; i++) {
        const struct tt_plan_visit *visit = &run->visits[i];
        const struct tt_plan_visit *talker = &run->visits[visit->talker];
        int64_t *delay_ns = &run->plan->delays_ns[visit->flow];
        /* One that keeps no offset comes, at worst, when a window has just been missed. */
        int64_t missed_ns =
            tt_plan_varies(&run->network->flows[visit->flow]) ? run->plan->cycle_ns : 0;

        for (int64_t k = 0; k < tt_plan_frames(run, visit); k++) {
            *delay_ns =
                tt_max64(*delay_ns, run->closes_ns[visit->first + (size_t)k] -
                                        run->arrivals_ns[talker->first + (size_t)k] + missed_ns +
                                        run->network->ports[visit->port].delay_ns);
        }
        if (run->network->flows[visit->flow].deadline_ns > 0 &&
            *delay_ns > run->network->flows[visit->flow].deadline_ns) {
            return tt_plan_refuse(run, TT_PLAN_DEADLINE, visit->port, *delay_ns);
        }
    }
    return TT_PLAN_OK;
}

static enum tt_plan_fault try_way(struct tt_plan_run *run, bool in_slots)
{
    enum tt_plan_fault fault = TT_PLAN_OK;

    if (!in_slots) {
        fault = settle(run);
    } else if (!tt_plan_slots(run)) {
        return tt_plan_refuse(run, TT_PLAN_SPREAD, run->plan->port, 0);
    }
    return fault == TT_PLAN_OK ? judge(run) : fault;
}

/* Windows that follow each other come round a ring at another time than they began: there slots are
 * faster. Where neither can be, a deadline is said before other faults. */
enum tt_plan_fault tt_plan_times(struct tt_plan_run *run)
{
    enum tt_plan_fault fault = try_way(run, run->ring);
    struct tt_plan first = *run->plan;
    enum tt_plan_fault second;

    if (fault == TT_PLAN_OK) {
        return fault;
    }
    second = try_way(run, !run->ring);
    if (second == TT_PLAN_OK || (second == TT_PLAN_DEADLINE && fault != TT_PLAN_DEADLINE)) {
        return second;
    }
    return tt_plan_refuse(run, fault, first.port, first.figure);
}
