/*
 * The planner at one port: where its window is and when each frame is off the wire. See plan.h.
 */
#include "base/min_max.h"
#include "gate/plan_inside.h"

static bool is_before(const struct tt_plan_item *a, const struct tt_plan_item *b, bool by_port)
{
    if (by_port && a->from != b->from) {
        return a->from < b->from;
    }
    return a->phase_ns != b->phase_ns ? a->phase_ns < b->phase_ns : a->frame < b->frame;
}

void tt_plan_sort(struct tt_plan_item *items, size_t n, bool by_port)
{
    /* Shell's: nearly sorted after the first round. */
    for (size_t gap = n / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < n; i++) {
            struct tt_plan_item item = items[i];
            size_t j = i;

            for (; j >= gap && is_before(&item, &items[j - gap], by_port); j -= gap) {
                items[j] = items[j - gap];
            }
            items[j] = item;
        }
    }
}

/* ---- the cut */

/* A cut of the cycle, in front of an item, and what comes of it. */
struct cut {
    size_t at;
    int64_t open_ns;  /* the window */
    int64_t close_ns; /* … without margins */
    int64_t wait_ns;  /* of all together */
    bool apart;       /* no frame can come before the window that was has closed */
};

/* What all cuts are made of. Sums of wire times count from the first item on. */
struct cut_sums {
    size_t n;
    int64_t wire_ns;   /* of all items */
    int64_t before_ns; /* Σ of the sum in front of each */
    int64_t phase_ns;  /* Σ */
};

/* Items get what holds from them on: `lead_ns`, `first_ns`. */
static struct cut_sums sum_up(struct tt_plan_run *run, size_t n)
{
    struct cut_sums sums = {.n = n};
    int64_t lead_ns = INT64_MIN;
    int64_t first_ns = INT64_MAX;

    for (size_t i = 0; i < n; i++) {
        struct tt_plan_item *item = &run->items[i];

        item->before_ns = sums.wire_ns;
        sums.before_ns += sums.wire_ns;
        sums.phase_ns += item->phase_ns;
        sums.wire_ns += item->wire_ns;
    }
    for (size_t i = n; i-- > 0;) {
        struct tt_plan_item *item = &run->items[i];

        lead_ns = tt_max64(lead_ns, item->phase_ns - item->before_ns);
        first_ns = tt_min64(first_ns, item->phase_ns - item->early_ns);
        item->lead_ns = lead_ns;
        item->first_ns = first_ns;
    }
    return sums;
}

/* The cut in front of item `at`; in front of that the two hold for what is behind the cycle's end.
 * The window opens at the first moment from which it never runs empty. What comes at any time takes
 * what the others leave: those are all there before. */
static struct cut cut_at(const struct tt_plan_run *run, const struct cut_sums *sums, size_t at,
                         int64_t lead_ns, int64_t first_ns)
{
    const struct tt_plan_item *item = &run->items[at];
    int64_t cycle_ns = run->plan->cycle_ns;
    int64_t last_ns = run->items[(at + sums->n - 1) % sums->n].phase_ns + (at > 0 ? cycle_ns : 0);
    struct cut cut = {.at = at};

    cut.open_ns = item->lead_ns;
    first_ns = at > 0 ? tt_min64(first_ns + cycle_ns, item->first_ns) : item->first_ns;
    if (at > 0) {
        cut.open_ns = tt_max64(cut.open_ns, lead_ns + cycle_ns - sums->wire_ns);
    }
    cut.open_ns = run->any_time ? last_ns : cut.open_ns + item->before_ns;
    cut.close_ns = cut.open_ns + sums->wire_ns;
    cut.wait_ns = sums->before_ns - sums->phase_ns +
                  (int64_t)sums->n * (cut.open_ns - item->before_ns) +
                  (int64_t)at * (sums->wire_ns - cycle_ns);
    /* Of the next cycle; that clocks differ makes the one early and the other late. */
    cut.apart = first_ns + cycle_ns >= cut.close_ns + 2 * run->options->margin_ns;
    return cut;
}

/* The one with the least wait of those that are safe. */
static struct cut best_cut(struct tt_plan_run *run, size_t n)
{
    struct cut_sums sums = sum_up(run, n);
    struct cut best = {.wait_ns = INT64_MAX};
    int64_t lead_ns = INT64_MIN / 2;
    int64_t first_ns = INT64_MAX / 2;

    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[i];
        struct cut cut = cut_at(run, &sums, i, lead_ns, first_ns);

        if (cut.apart > best.apart || (cut.apart == best.apart && cut.wait_ns < best.wait_ns)) {
            best = cut;
        }
        lead_ns = tt_max64(lead_ns, item->phase_ns - item->before_ns);
        first_ns = tt_min64(first_ns, item->phase_ns - item->early_ns);
    }
    return best;
}

/* ---- the frames */

/* Whether item k may be in front of item i. Those of one wire are one behind the other; of others
 * the clocks differ. */
static bool may_precede(const struct tt_plan_run *run, const struct tt_plan_item *k,
                        const struct tt_plan_item *i)
{
    bool one_wire = k->from == i->from && k->from != TT_PLAN_TALKER;

    return k->any_time || i->any_time ||
           k->phase_ns - k->early_ns <=
               i->phase_ns + i->late_ns + (one_wire ? 0 : run->options->margin_ns);
}

static size_t gather(struct tt_plan_run *run, unsigned port)
{
    size_t n = 0;

    run->any_time = false;

    for (size_t i = run->port_first[port]; i < run->port_first[port + 1]; i++) {
        const struct tt_plan_visit *visit = &run->visits[run->of_port[i]];

        for (int64_t k = 0; k < tt_plan_frames(run, visit); k++) {
            size_t frame = visit->first + (size_t)k;

            run->items[n] = (struct tt_plan_item){
                .phase_ns = tt_plan_phase(run, run->packed_ns[frame]),
                .late_ns = run->arrivals_ns[frame] - run->packed_ns[frame],
                .early_ns = run->early_ns[frame] + run->packed_ns[frame] - run->arrivals_ns[frame],
                .wire_ns = visit->wire_ns,
                .frame = frame,
                .from = visit->parent < 0 ? TT_PLAN_TALKER : run->visits[visit->parent].port,
                .varies = tt_plan_varies(&run->network->flows[visit->flow]),
                .any_time = visit->parent < 0,
            };
            run->items[n].any_time &= run->items[n].varies;
            run->any_time = run->any_time || run->items[n].any_time;
            n++;
        }
    }
    tt_plan_sort(run->items, n, false);
    return n;
}

/* When item i is off the wire at the latest: with all in front of it that may be, since the window
 * has opened or, where the wire had nothing to do, since one of them has come. Items by phase. */
static int64_t latest_end(const struct tt_plan_run *run, size_t n, size_t i, int64_t open_ns)
{
    const struct tt_plan_item *items = run->items;
    int64_t came_ns = items[i].phase_ns + items[i].late_ns;
    int64_t before_ns = items[i].wire_ns;
    int64_t latest_ns = tt_max64(open_ns, came_ns) + before_ns;

    for (size_t k = n; k-- > 0;) {
        if (k != i && may_precede(run, &items[k], &items[i])) {
            before_ns += items[k].wire_ns;
            latest_ns = tt_max64(
                latest_ns, tt_max64(open_ns, tt_min64(items[k].phase_ns, came_ns)) + before_ns);
        }
    }
    return latest_ns;
}

/* At the earliest: alone, for the others may be silent. */
static int64_t earliest_end(const struct tt_plan_item *item, int64_t open_ns)
{
    return tt_max64(open_ns, item->any_time ? open_ns : item->phase_ns - item->early_ns) +
           item->wire_ns;
}

/* When each frame is off the wire, whatever the order in which those come that may be in any. */
static void send_all(struct tt_plan_run *run, size_t n, const struct cut *cut)
{
    int64_t margin_ns = run->options->margin_ns;

    for (size_t i = 0; i < cut->at; i++) {
        run->items[i].phase_ns += run->plan->cycle_ns;
    }
    tt_plan_sort(run->items, n, false);
    for (size_t i = 0; i < n; i++) {
        const struct tt_plan_item *item = &run->items[i];
        int64_t cycles_ns = run->packed_ns[item->frame] - item->phase_ns;
        int64_t latest_ns = cut->close_ns + margin_ns;

        run->closes_ns[item->frame] = cycles_ns + latest_ns;
        if (!item->any_time) {
            latest_ns = tt_min64(latest_ns, latest_end(run, n, i, cut->open_ns));
        }
        run->ends_ns[item->frame] = cycles_ns + latest_ns;
        run->spreads_ns[item->frame] = latest_ns - earliest_end(item, cut->open_ns - margin_ns);
    }
}

bool tt_plan_place(struct tt_plan_run *run, unsigned port)
{
    size_t n = gather(run, port);
    struct cut cut = best_cut(run, n);

    run->plan->windows[port] = (struct tt_plan_window){0};
    if (n == 0) {
        return true;
    }
    run->plan->windows[port].open_ns = tt_plan_phase(run, cut.open_ns - run->options->margin_ns);
    run->plan->windows[port].width_ns = cut.close_ns - cut.open_ns + 2 * run->options->margin_ns;
    send_all(run, n, &cut);
    return cut.apart;
}
