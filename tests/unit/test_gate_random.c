/*
 * Random schedules, times and frames: what the core says about the next launch, against a reference
 * that lives through every single nanosecond and does no arithmetic with them. So many cases as the
 * argument says; 20,000 where there is none.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>

#include "gate/timeline.h"

enum { ENTRIES_MAX = 8, INTERVAL_MAX = 40, BURST_MAX = 5 };
enum { CYCLES = 4, LIFE_NS = CYCLES * ENTRIES_MAX * INTERVAL_MAX * 2 + 2000 };

static unsigned long cases = 20000;

struct drawn {
    struct tt_gate_entry entries[ENTRIES_MAX];
    struct tt_gate_schedule schedule;
};

static void draw_schedule(uint64_t *seed, struct drawn *drawn)
{
    size_t n = 1 + random_size(seed, ENTRIES_MAX);
    int64_t sum_ns = 0;

    for (size_t i = 0; i < n; i++) {
        drawn->entries[i] = (struct tt_gate_entry){
            .command = random_below(seed, 4) ? TT_GATE_SET : 1 + (int)random_below(seed, 2),
            .mask = (uint32_t)random_below(seed, 8),
            .interval_ns = 1 + (int64_t)random_below(seed, INTERVAL_MAX),
        };
        sum_ns += drawn->entries[i].interval_ns;
    }
    drawn->schedule = (struct tt_gate_schedule){
        .base_tai_ns = (int64_t)random_below(seed, 1000) - 500,
        .preemptable = random_below(seed, 2) ? 0 : (uint32_t)random_below(seed, 8),
        .entries = drawn->entries,
        .entry_count = n,
    };
    if (random_below(seed, 3) == 0)
        drawn->schedule.cycle_ns = 1 + (int64_t)random_below(seed, (uint64_t)(2 * sum_ns));
    /* Behind the cycle of a cut list nothing runs, not even in an extended cycle (list.h). */
    if (random_below(seed, 2) &&
        (drawn->schedule.cycle_ns == 0 || drawn->schedule.cycle_ns >= sum_ns))
        drawn->schedule.extension_ns = (int64_t)random_below(seed, 500);
}

/* ---- the reference */

struct machine {
    const struct tt_gate_schedule *schedule;
    size_t pointer; /* entry */
    int64_t left_ns;
    int64_t cycle_left_ns;
    bool held;
    uint32_t mask;
};

static void machine_enter(struct machine *m)
{
    const struct tt_gate_entry *entry = &m->schedule->entries[m->pointer];

    if (entry->command == TT_GATE_HOLD)
        m->held = true;
    if (entry->command == TT_GATE_RELEASE)
        m->held = false;
    m->mask = entry->mask;
    if (m->held)
        for (unsigned c = 0; c < 32; c++)
            if (m->schedule->preemptable & 1u << c)
                m->mask &= ~(1u << c);
    m->left_ns = entry->interval_ns;
}

static void machine_begin(struct machine *m)
{
    m->pointer = 0;
    m->cycle_left_ns = m->schedule->cycle_ns;
    if (m->cycle_left_ns == 0)
        for (size_t i = 0; i < m->schedule->entry_count; i++)
            m->cycle_left_ns += m->schedule->entries[i].interval_ns;
    machine_enter(m);
}

/* One ns passes; true where a cycle has ended. */
static bool machine_tick(struct machine *m)
{
    m->left_ns--;
    m->cycle_left_ns--;
    if (m->cycle_left_ns == 0)
        return true;
    if (m->left_ns == 0 && m->pointer + 1 < m->schedule->entry_count) {
        m->pointer++;
        machine_enter(m);
    }
    return false;
}

/* A machine that is at the base time of its list and has been through cycles before, except that
 * the standard keeps a hold through a cut cycle only from entries that were reached: the core takes
 * that of the whole list, so cut lists with hold or release are not drawn. */
static struct machine machine_at_base(const struct tt_gate_schedule *schedule)
{
    struct machine m = {.schedule = schedule};

    machine_begin(&m);
    for (int ended = 0; ended < 2;)
        if (machine_tick(&m)) {
            ended++;
            machine_begin(&m);
        }
    return m;
}

static bool cut_with_hold(const struct tt_gate_schedule *schedule)
{
    for (size_t i = 0; i < schedule->entry_count; i++)
        if (schedule->entries[i].command != TT_GATE_SET && schedule->cycle_ns != 0)
            return true;
    return false;
}

/* Masks of LIFE_NS ns from `from_ns`, a base time of the schedule's, or cycles after it. */
static void live(const struct tt_gate_schedule *schedule, uint32_t *ret_masks, size_t n)
{
    struct machine m = machine_at_base(schedule);

    for (size_t i = 0; i < n; i++) {
        ret_masks[i] = m.mask;
        if (machine_tick(&m))
            machine_begin(&m);
    }
}

/* The old list from its base, the new one from ns number `change` on: the rule of SetCycleStartTime
 * at the start of each cycle. */
static void live_change(const struct tt_gate_schedule *old, const struct tt_gate_schedule *new,
                        size_t change, uint32_t *ret_masks, size_t n)
{
    struct machine m = machine_at_base(old);
    bool last = false;

    live(new, ret_masks + change, n - change);
    for (size_t i = 0; i < change; i++) {
        if (i == 0 || m.cycle_left_ns == 0) {
            machine_begin(&m);
            last = (int64_t)change <= (int64_t)i + m.cycle_left_ns + old->extension_ns;
            if (last && (int64_t)change > (int64_t)i + m.cycle_left_ns)
                m.cycle_left_ns = (int64_t)change - (int64_t)i;
        }
        ret_masks[i] = m.mask;
        machine_tick(&m);
    }
}

static int64_t least_ns(int64_t bits, int64_t rate_bps)
{
    int64_t n = 0;

    while (n * rate_bps < bits * 1000000000)
        n++;
    return n;
}

struct question {
    const uint32_t *masks; /* from from_ns on */
    int64_t from_ns;
    unsigned class;
    int64_t rate_bps;
    int64_t burst_ns; /* a burst that keeps the wire busy starts */
    int64_t burst_bits;
    int64_t bits;
    int64_t t_ns;
};

/* -1: not within the reference's life. */
static int64_t reference(const struct question *q)
{
    static uint16_t open_for[LIFE_NS + 1];
    int64_t free_ns = q->burst_ns + least_ns(q->burst_bits, q->rate_bps);
    int64_t joined_ns = q->burst_ns + least_ns(q->burst_bits + q->bits, q->rate_bps) - free_ns;
    int64_t alone_ns = least_ns(q->bits, q->rate_bps);

    open_for[LIFE_NS] = 0;
    for (int i = LIFE_NS - 1; i >= 0; i--)
        open_for[i] = q->masks[i] >> q->class & 1 ? (uint16_t)(open_for[i + 1] + 1) : 0;
    for (int64_t u = q->t_ns > free_ns ? q->t_ns : free_ns; u < q->from_ns + LIFE_NS; u++)
        if (open_for[u - q->from_ns] >= (u == free_ns ? joined_ns : alone_ns))
            return u;
    return -1;
}

/* ---- */

static void draw_question(uint64_t *seed, struct question *q)
{
    static const int64_t rates[] = {10000000000, 2500000000, 100000000000, 400000000000,
                                    399999999999};
    int64_t frames = (int64_t)random_below(seed, BURST_MAX);

    q->class = (unsigned)random_below(seed, 3);
    q->rate_bps = random_below(seed, 4) ? rates[random_size(seed, 5)]
                                        : 20000000000 + (int64_t)random_below(seed, 380000000000);
    q->bits = 8 * (84 + (int64_t)random_below(seed, 200));
    q->t_ns = q->from_ns + 300 + (int64_t)random_below(seed, 400);
    q->burst_ns = q->t_ns - (int64_t)random_below(seed, 300);
    for (q->burst_bits = 0; frames > 0; frames--)
        q->burst_bits += 8 * (84 + (int64_t)random_below(seed, 60));
}

static void check(const struct question *q, const struct tt_gate_timeline *timeline,
                  unsigned long number)
{
    struct tt_wire wire = {.rate_bps = q->rate_bps, .free_ns = q->burst_ns};
    int64_t expected = reference(q);
    int64_t launch_ns = -1;

    for (int64_t left = q->burst_bits / 8; left > 0; left -= 1000)
        tt_wire_send(&wire, tt_wire_free_ns(&wire), left < 1000 ? left : 1000);
    if (tt_gate_launch(timeline, q->class, &wire, q->t_ns, q->bits / 8, &launch_ns) == 0 &&
        launch_ns >= q->from_ns + LIFE_NS)
        launch_ns = -1;
    if (launch_ns != expected)
        fail_msg("case %lu: launch %lld, the reference says %lld", number, (long long)launch_ns,
                 (long long)expected);
    for (int i = 0; i < 3; i++) {
        int64_t at_ns = q->t_ns + 100 * i;

        uint32_t mask = tt_gate_mask(timeline, at_ns) & 7;

        if (mask != (q->masks[at_ns - q->from_ns] & 7))
            fail_msg("case %lu: gates 0x%x at %lld, the reference says 0x%x", number, mask,
                     (long long)at_ns, q->masks[at_ns - q->from_ns] & 7);
    }
}

static void test_steady(void **state)
{
    static uint32_t masks[LIFE_NS];

    (void)state;
    for (unsigned long n = 0; n < cases; n++) {
        uint64_t seed = n;
        struct drawn drawn;
        struct tt_gate_list *list;
        struct question q = {.masks = masks};

        do {
            draw_schedule(&seed, &drawn);
        } while (cut_with_hold(&drawn.schedule));
        assert_int_equal(tt_gate_check(&drawn.schedule), TT_GATE_OK);
        list = tt_gate_list_new(&drawn.schedule);
        live(&drawn.schedule, masks, LIFE_NS);
        q.from_ns = drawn.schedule.base_tai_ns;
        draw_question(&seed, &q);
        check(&q, &(struct tt_gate_timeline){.list = list, .start_ns = INT64_MIN}, n);
        tt_gate_list_free(list);
    }
}

static void test_change(void **state)
{
    static uint32_t masks[LIFE_NS];

    (void)state;
    for (unsigned long n = 0; n < cases; n++) {
        uint64_t seed = n + 1000000007;
        struct drawn old;
        struct drawn new;
        struct tt_gate_timeline timeline = {0};
        struct tt_gate_list *lists[2];
        struct question q = {.masks = masks};
        size_t change;

        do {
            draw_schedule(&seed, &old);
            draw_schedule(&seed, &new);
        } while (cut_with_hold(&old.schedule) || cut_with_hold(&new.schedule));
        /* The first cycle from the base is lived through in any case. */
        change = 1 + (size_t)old.schedule.extension_ns + random_size(&seed, 1000);
        q.from_ns = old.schedule.base_tai_ns;
        new.schedule.base_tai_ns = q.from_ns + (int64_t)change;
        lists[0] = tt_gate_list_new(&old.schedule);
        lists[1] = tt_gate_list_new(&new.schedule);
        timeline.list = lists[1];
        timeline.start_ns = new.schedule.base_tai_ns;
        if (random_below(&seed, 4)) {
            timeline.old = lists[0];
            live_change(&old.schedule, &new.schedule, change, masks, LIFE_NS);
        } else {
            live(&new.schedule, masks + change, LIFE_NS - change);
            for (size_t i = 0; i < change; i++)
                masks[i] = UINT32_MAX;
        }
        draw_question(&seed, &q);
        check(&q, &timeline, n);
        tt_gate_list_free(lists[0]);
        tt_gate_list_free(lists[1]);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady),
        cmocka_unit_test(test_change),
    };

    if (argc > 1)
        cases = strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
