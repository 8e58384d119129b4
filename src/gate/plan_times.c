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

/* A talker launches its streams one behind the other from the start of the cycle on; all at once
 * where they have to be there before those that come at any time. */
static void launch(struct tt_plan_run *run)
{
    for (unsigned p = 0; p < run->network->port_count; p++) {
        bool at_once = has_varying(run, p);
        int64_t at_ns = 0;

        for (size_t i = run->port_first[p]; i < run->port_first[p + 1]; i++) {
            const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];
            struct tt_flow *flow = &run->network->flows[visit->flow];

            if (visit->parent < 0) {
                flow->offset_ns = at_ns % tt_plan_interval_ns(flow);
                at_ns += at_once ? 0 : visit->wire_ns;
            }
        }
    }
    for (size_t i = 0; i < run->visit_count; i++) {
        struct tt_plan_visit *visit = &run->visits[i];
        const struct tt_flow *flow = &run->network->flows[visit->flow];
        int64_t before_ns = 0; /* without any wait, for a first guess */
        /* It comes at any time; what is said holds for what a window finds there. */
        bool varies = tt_plan_varies(flow);

        for (int v = visit->parent; v >= 0; v = run->visits[v].parent) {
            before_ns += run->visits[v].wire_ns + run->network->ports[run->visits[v].port].delay_ns;
        }
        visit->first = run->frame_count;
        for (int64_t k = 0; k < tt_plan_frames(run, visit); k++) {
            run->arrivals_ns[run->frame_count++] =
                flow->offset_ns + (varies ? 0 : k * tt_plan_interval_ns(flow)) + before_ns;
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

/* A cut of the cycle, in front of an item, and what comes of it. */
struct cut {
    size_t at;
    int64_t open_ns;  /* the window */
    int64_t close_ns; /* … without margins */
    int64_t wait_ns;  /* of all together */
    bool safe;        /* no frame can come before the window that was has closed */
};

/* The window opens at the first moment from which it never runs empty. What comes at any time takes
 * what the others leave: those are all there before. */
static struct cut cut_at(const struct tt_plan_run *run, size_t n, size_t at)
{
    struct cut cut = {.at = at, .open_ns = INT64_MIN};
    int64_t first_ns = INT64_MAX;
    int64_t before_ns = 0;

    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[(at + i) % n];
        int64_t at_ns = item->phase_ns + (at + i >= n ? run->plan->cycle_ns : 0);

        cut.open_ns = tt_max64(cut.open_ns, run->any_time ? at_ns : at_ns - before_ns);
        cut.wait_ns += before_ns - at_ns;
        first_ns = tt_min64(first_ns, at_ns - item->early_ns);
        before_ns += item->wire_ns;
    }
    cut.wait_ns += cut.open_ns * (int64_t)n;
    cut.close_ns = cut.open_ns + before_ns;
    cut.safe =
        !run->mixed || first_ns >= cut.close_ns + run->options->margin_ns - run->plan->cycle_ns;
    return cut;
}

/* The one with the least wait of those that are safe. */
static struct cut best_cut(const struct tt_plan_run *run, size_t n)
{
    struct cut best = {.wait_ns = INT64_MAX};

    for (size_t i = 0; i < n; i++) {
        struct cut cut = cut_at(run, n, i);

        if (cut.safe > best.safe || (cut.safe == best.safe && cut.wait_ns < best.wait_ns)) {
            best = cut;
        }
    }
    return best;
}

static size_t gather(struct tt_plan_run *run, unsigned port)
{
    size_t n = 0;

    run->mixed = false;
    run->any_time = false;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        for (int64_t k = 0; k < tt_plan_frames(run, visit); k++) {
            size_t frame = visit->first + (size_t)k;

            run->items[n] = (struct tt_plan_item){
                .phase_ns = phase_of(run, run->arrivals_ns[frame]),
                .early_ns = run->early_ns[frame],
                .wire_ns = visit->wire_ns,
                .frame = frame,
                .varies = tt_plan_varies(&run->network->flows[visit->flow]),
                .any_time = visit->parent < 0,
            };
            run->items[n].any_time &= run->items[n].varies;
            run->any_time = run->any_time || run->items[n].any_time;
            run->mixed = run->mixed || run->any_time || run->items[n].early_ns > 0;
            n++;
        }
    }
    sort_items(run->items, n);
    /* Which of two that come at once is first, nobody says; behind them it matters. */
    for (size_t i = 1; i < n; i++) {
        run->mixed = run->mixed || run->items[i].phase_ns == run->items[i - 1].phase_ns;
    }
    return n;
}

/* Whether item k may be in front of item i. */
static bool may_precede(const struct tt_plan_item *k, const struct tt_plan_item *i)
{
    return k->any_time || i->any_time || k->phase_ns - k->early_ns <= i->phase_ns;
}

/* When item i is off the wire at the latest: with all in front of it that may be, since the window
 * has opened or, where the wire had nothing to do, since one of them has come. Items by phase. */
static int64_t latest_end(const struct tt_plan_run *run, size_t n, size_t i, int64_t open_ns)
{
    const struct tt_plan_item *items = run->items;
    int64_t before_ns = 0;
    int64_t latest_ns = 0;

    for (size_t k = n; k-- > 0;) {
        if (may_precede(&items[k], &items[i])) {
            before_ns += items[k].wire_ns;
            latest_ns = tt_max64(latest_ns, tt_max64(open_ns, items[k].phase_ns) + before_ns);
        }
    }
    return latest_ns;
}

/* At the earliest: behind those that must be in front of it. */
static int64_t earliest_end(const struct tt_plan_run *run, size_t n, size_t i, int64_t open_ns)
{
    const struct tt_plan_item *item = &run->items[i];
    int64_t came_ns = item->phase_ns - item->early_ns;
    int64_t before_ns = 0;

    for (size_t k = 0; !item->any_time && k < n && run->items[k].phase_ns < came_ns; k++) {
        before_ns += run->items[k].varies ? 0 : run->items[k].wire_ns;
    }
    return tt_max64(item->any_time ? open_ns : came_ns, open_ns + before_ns) + item->wire_ns;
}

/* Where places change, frames end within the window, sooner or later. */
static void change_places(struct tt_plan_run *run, size_t n, const struct cut *cut)
{
    int64_t margin_ns = run->options->margin_ns;

    for (size_t i = 0; i < cut->at; i++) {
        run->items[i].phase_ns += run->plan->cycle_ns;
    }
    sort_items(run->items, n);
    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[i];
        int64_t latest_ns = cut->close_ns + margin_ns;

        if (!item->any_time) {
            latest_ns = tt_min64(latest_ns, latest_end(run, n, i, cut->open_ns));
        }
        run->ends_ns[item->frame] = latest_ns + run->arrivals_ns[item->frame] - item->phase_ns;
        run->spreads_ns[item->frame] =
            latest_ns - earliest_end(run, n, i, cut->open_ns - margin_ns);
    }
}

/* Places the port's window and says when each frame is off the wire. false: it cannot be. */
static bool place(struct tt_plan_run *run, unsigned port)
{
    size_t n = gather(run, port);
    int64_t margin_ns = run->options->margin_ns;
    struct cut cut = best_cut(run, n);
    int64_t at_ns = cut.open_ns;

    run->plan->windows[port] = (struct tt_plan_window){0};
    if (n == 0) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[(cut.at + i) % n];
        int64_t phase_ns = item->phase_ns + (cut.at + i >= n ? run->plan->cycle_ns : 0);

        at_ns += item->wire_ns;
        run->ends_ns[item->frame] = at_ns + run->arrivals_ns[item->frame] - phase_ns;
        run->spreads_ns[item->frame] = 0;
        /* Whatever the order in which those come that come at once. */
        run->closes_ns[item->frame] =
            run->arrivals_ns[item->frame] - phase_ns + cut.close_ns + margin_ns;
    }
    run->plan->windows[port].open_ns = phase_of(run, cut.open_ns - margin_ns);
    run->plan->windows[port].width_ns = cut.close_ns - cut.open_ns + 2 * margin_ns;
    if (run->mixed) {
        change_places(run, n, &cut);
    }
    return cut.safe;
}

/* What left one port is what comes to the next. true: something has moved. */
static bool hand_on(struct tt_plan_run *run, unsigned port)
{
    bool moved = false;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        for (int64_t k = 0; visit->parent >= 0 && k < tt_plan_frames(run, visit); k++) {
            const struct tt_plan_visit *from = &run->visits[visit->parent];
            size_t left = from->first + (size_t)k;
            size_t comes = visit->first + (size_t)k;
            int64_t at_ns = run->ends_ns[left] + run->network->ports[from->port].delay_ns;

            /* It only grows, so that it comes to rest on a ring too. */
            moved = moved || run->arrivals_ns[comes] != at_ns ||
                    run->early_ns[comes] < run->spreads_ns[left];
            run->arrivals_ns[comes] = at_ns;
            run->early_ns[comes] = tt_max64(run->early_ns[comes], run->spreads_ns[left]);
        }
    }
    return moved;
}

/* What goes to listeners alone is not of a ring. */
static bool feeds(const struct tt_plan_run *run, unsigned port)
{
    for (size_t i = 0; i < run->visit_count; i++) {
        const struct tt_plan_visit *visit = &run->visits[i];

        if (visit->parent >= 0 && run->visits[visit->parent].port == port) {
            return true;
        }
    }
    return false;
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
                moving = feeds(run, run->order[i]) ? run->order[i] : moving;
                moved = true;
            }
        }
    }
    for (unsigned p = 0; !moved && p < run->network->port_count; p++) {
        if (!place(run, p)) {
            return tt_plan_refuse(run, TT_PLAN_SPREAD, p, 0);
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

enum tt_plan_fault tt_plan_times(struct tt_plan_run *run)
{
    enum tt_plan_fault fault;

    launch(run);
    fault = settle(run);
    return fault == TT_PLAN_OK ? judge(run) : fault;
}
