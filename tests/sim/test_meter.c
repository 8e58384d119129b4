/*
 * The meter's loop on a machine in virtual time: exact cells for scripted lateness, the identity in
 * random runs, the causes of known disturbances, and comparisons of known differences.
 *
 * test_sim_meter [RUNS [CASES]]: random runs (1000), disturbances of each kind (100).
 */
#include "../unit/test.h"

#include <stdio.h>

#include "base/compare.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "base/random.h"
#include "made_machine.h"

#define PLAN_NS   (400 * TT_NS_PER_MS)
#define SECOND_NS TT_NS_PER_S
#define TRIALS    100

static const struct tt_fragment_shape small = {.rate_hz = 48000, .frames = 64, .count = 3};

static unsigned runs = 1000;
static unsigned cases = 100;

/* Wake-ups that are exactly 20 us late, and one fragment of 1 ms taken away for 4.5 of them. */
static void exact_cell(void **state)
{
    static const struct tt_fragment_shape shape = {.rate_hz = 48000, .frames = 48, .count = 3};
    struct made_run run;
    const struct tt_fragment_counters *c = &run.loop.fragments.counters;

    (void)state;
    made_run_init(&run, &shape, 1, 0, 100 * TT_NS_PER_MS, SECOND_NS);
    run.machine.jitter_ns = 0;
    made_machine_add(&run.machine, TT_CAUSE_OTHERS, SECOND_NS + 50 * TT_NS_PER_MS - 1,
                     4500001); /* from just before period 50 is due until 54.5 */
    made_run_go(&run);
    assert_int_equal(c->expected, 100);
    /* 50 is handed over at 54.5, 4.5 late: empty from 52 on. Next 53, the first that plays later
     * than now, and 54 are there at once; 51 and 52 are skipped. */
    assert_int_equal(c->skipped, 2);
    assert_int_equal(c->late, 2); /* 50, and 53 at 54.5 */
    assert_int_equal(c->on_time, 96);
    assert_int_equal(c->empty, 1);
    assert_int_equal(c->empty_ns, 2500000);
    assert_int_equal(run.cell->late.max, 4500000);
    assert_int_equal(run.cell->late.min, 20000);
    assert_in_range(tt_hist_percentile(&run.cell->late, 500), 19980, 20020);
    assert_int_equal(run.cell->late.n, 98);
    assert_int_equal(run.cell->incidents, 1);
    assert_int_equal(run.cell->bursts, 1);
    assert_int_equal(run.worst.empty, 1);
    assert_int_equal(run.worst.skipped, 2);
    assert_int_equal(run.worst.loss.main, TT_CAUSE_OTHERS);
    assert_int_equal(run.cell->causes[TT_CAUSE_OTHERS].empty, 1);
    made_run_done(&run);
}

/* A computation that never ends in time is told of while it goes on. */
static void endless_loss(void **state)
{
    struct made_run run;

    (void)state;
    made_run_init(&run, &small, 1, 80, 3500 * TT_NS_PER_MS, SECOND_NS);
    made_machine_add(&run.machine, TT_CAUSE_SLOWER, SECOND_NS + 100 * TT_NS_PER_MS, 10 * SECOND_NS);
    made_run_go(&run);
    assert_in_range(run.incidents, 3, 4);
    assert_int_equal(run.cell->causes[TT_CAUSE_SLOWER].incidents, run.incidents);
    made_run_done(&run);
}

static void random_happenings(struct made_run *run, uint64_t *random, int64_t plan_ns)
{
    static const enum tt_cause kinds[] = {TT_CAUSE_OTHERS, TT_CAUSE_STOPPED,    TT_CAUSE_FAULT,
                                          TT_CAUSE_SLOWER, TT_CAUSE_HYPERVISOR, TT_CAUSE_TIMER};
    int64_t at_ns = SECOND_NS;

    while (at_ns < SECOND_NS + plan_ns && run->machine.count < MADE_HAPPENINGS) {
        at_ns += (int64_t)random_below(random, 30 * TT_NS_PER_MS);
        made_machine_add(&run->machine, kinds[random_below(random, TT_COUNT_OF(kinds))], at_ns,
                         (int64_t)random_below(random, 15 * TT_NS_PER_MS));
    }
}

static void identity(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= runs; seed++) {
        uint64_t random = seed;
        struct tt_fragment_shape shape = {.rate_hz = 48000,
                                          .frames = 32 << random_below(&random, 6),
                                          .count = 2 + (unsigned)random_below(&random, 3)};
        struct made_run run;
        const struct tt_fragment_counters *c = &run.loop.fragments.counters;

        made_run_init(&run, &shape, seed, 80, PLAN_NS, SECOND_NS);
        random_happenings(&run, &random, PLAN_NS);
        made_run_go(&run);
        if (c->expected != (uint64_t)(PLAN_NS * 48 / 1000000 / shape.frames) ||
            c->expected != c->on_time + c->late + c->skipped ||
            run.cell->late.n != c->on_time + c->late || run.ring.dropped != 0)
            fail_msg("seed %llu: the sum is off", (unsigned long long)seed);
        made_run_done(&run);
    }
}

/* One disturbance of a kind in half a second, after the loop has found out what is usual. */
static enum tt_cause find_cause(enum tt_cause kind, uint64_t seed)
{
    uint64_t random = seed * 1000 + kind;
    int64_t at_ns = SECOND_NS + 100 * TT_NS_PER_MS + (int64_t)random_below(&random, 200000000);
    int64_t length_ns = 3 * TT_NS_PER_MS + (int64_t)random_below(&random, 27 * TT_NS_PER_MS);
    enum tt_cause found;
    struct made_run run;

    made_run_init(&run, &small, seed, 80, PLAN_NS, SECOND_NS);
    if (kind == TT_CAUSE_THROTTLED)
        length_ns += 7 * TT_NS_PER_MS; /* what is looked for every 5 ms */
    if (kind == TT_CAUSE_HYPERVISOR || kind == TT_CAUSE_INTERRUPT)
        length_ns += 8 * TT_NS_PER_MS; /* what a kernel that counts in 10 ms can show */
    if (kind == TT_CAUSE_TIMER) {      /* just before the loop is to wake */
        int64_t period_ns = tt_fragment_shape_period_ns(&small);

        at_ns = (at_ns - SECOND_NS) / period_ns * period_ns + SECOND_NS + period_ns - 1000;
    }
    run.machine.steal_counted = random_below(&random, 2) == 0;
    made_machine_add(&run.machine, kind, at_ns, length_ns);
    made_run_go(&run);
    found = run.incidents > 0 ? run.worst.loss.main : TT_CAUSES;
    made_run_done(&run);
    return found;
}

static void causes(void **state)
{
    static const enum tt_cause kinds[] = {
        TT_CAUSE_OTHERS, TT_CAUSE_THROTTLED,  TT_CAUSE_STOPPED,   TT_CAUSE_FAULT,
        TT_CAUSE_SLOWER, TT_CAUSE_HYPERVISOR, TT_CAUSE_INTERRUPT, TT_CAUSE_TIMER};
    unsigned right_least = cases;
    unsigned matrix[TT_CAUSES][TT_CAUSES + 1] = {0};

    (void)state;
    printf("%12s", "");
    for (int found = 0; found < TT_CAUSES; found++)
        printf(" %11s", tt_cause_name((enum tt_cause)found));
    printf(" %11s\n", "none");
    for (size_t k = 0; k < TT_COUNT_OF(kinds); k++) {
        for (unsigned i = 0; i < cases; i++)
            matrix[kinds[k]][find_cause(kinds[k], i + 1)]++;
        printf("%12s", tt_cause_name(kinds[k]));
        for (int found = 0; found <= TT_CAUSES; found++)
            printf(" %11u", matrix[kinds[k]][found]);
        printf("\n");
        right_least =
            right_least < matrix[kinds[k]][kinds[k]] ? right_least : matrix[kinds[k]][kinds[k]];
    }
    assert_true(right_least * 100 >= cases * 95);
}

/* Windows of the one setting and of the other in turn, from runs of the loop. */
struct setting {
    int64_t wake_ns;
    unsigned miss_in;   /* one cycle in so many is taken a few ms; 0: none … */
    unsigned per_mille; /* … in so many windows */
};

#define PAIRS_MAX      160
#define WINDOW_CYCLES  100
#define WINDOW_PLAN_NS (WINDOW_CYCLES * 64 * TT_NS_PER_S / 48000)

static struct tt_meter_entry *entries;

static int compare_values(const void *a, const void *b)
{
    const int64_t *x = (const int64_t *)a;
    const int64_t *y = (const int64_t *)b;

    return (*x > *y) - (*x < *y);
}

/* A window's machine is its own: a tenth faster or slower, with others at work in one of 12. */
static void make_machine(const struct setting *setting, uint64_t *random,
                         struct made_machine *machine)
{
    int64_t at_ns = SECOND_NS;
    bool misses;

    made_machine_init(machine, tt_random_next(random));
    machine->wake_ns = setting->wake_ns * (900 + (int64_t)random_below(random, 200)) / 1000;
    if (random_below(random, 12) == 0)
        machine->wake_ns *= 3;
    machine->jitter_ns = machine->wake_ns * 3 / 4;
    misses = setting->miss_in > 0 && random_below(random, 1000) < setting->per_mille;
    while (misses && at_ns < SECOND_NS + WINDOW_PLAN_NS) {
        at_ns += (int64_t)random_below(random, 2 * setting->miss_in * TT_NS_PER_MS);
        made_machine_add(machine, TT_CAUSE_OTHERS, at_ns,
                         2 * TT_NS_PER_MS + (int64_t)random_below(random, 3 * TT_NS_PER_MS));
    }
}

static void run_window(const struct setting *setting, uint64_t *random, int64_t *ret_median_ns,
                       int64_t *ret_misses)
{
    static struct made_machine machine;
    struct tt_meter_ring ring;
    struct tt_meter_loop loop = {.host = &machine.host, .ring = &ring};
    const struct tt_fragment_counters *counters = &loop.fragments.counters;
    int64_t late_ns[WINDOW_CYCLES];
    struct tt_meter_entry entry;
    size_t n = 0;

    make_machine(setting, random, &machine);
    tt_meter_ring_init(&ring, entries);
    loop.units = tt_fragment_shape_period_ns(&small) / 2;
    tt_meter_loop_start(&loop, &small, machine.now_ns, WINDOW_PLAN_NS);
    while (tt_meter_loop_cycle(&loop)) {
    }
    while (tt_meter_ring_take(&ring, &entry))
        if (entry.kind == TT_METER_CYCLE)
            late_ns[n++] = entry.cycle.fate.late_ns;
    qsort(late_ns, n, sizeof(late_ns[0]), compare_values);
    *ret_median_ns = late_ns[n / 2];
    *ret_misses = (int64_t)(counters->late + counters->skipped);
}

struct comparison {
    const char *name;
    size_t pairs;
    struct setting settings[2];
    bool misses; /* are compared; else medians */
    bool same;
};

static void compare_settings(const struct comparison *c, unsigned ret_answers[5])
{
    static struct tt_compare_work work;

    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        uint64_t random = trial;
        int64_t medians[2][PAIRS_MAX];
        int64_t missed[2][PAIRS_MAX];
        struct tt_compare_result result;

        for (size_t i = 0; i < c->pairs; i++)
            for (size_t half = 0; half < 2; half++) {
                size_t which = (i & 1) ^ half;

                run_window(&c->settings[which], &random, &medians[which][i], &missed[which][i]);
            }
        tt_compare(&(struct tt_compare_input){.a = c->misses ? missed[0] : medians[0],
                                              .b = c->misses ? missed[1] : medians[1],
                                              .a_count = c->pairs,
                                              .b_count = c->pairs,
                                              .interleaved = true,
                                              .counts = c->misses},
                   &work, &result);
        ret_answers[result.answer]++;
    }
}

/* With as many pairs as the command measures, or as it is told to for what is rarer. */
static void comparisons(void **state)
{
    static const struct comparison table[] = {
        {"A/A, p50", TT_COMPARE_WINDOWS_USUAL, {{20000, 0, 0}, {20000, 0, 0}}, false, true},
        {"A/A, misses",
         TT_COMPARE_WINDOWS_USUAL,
         {{20000, 40, 1000}, {20000, 40, 1000}},
         true,
         true},
        {"A/A, in a sixth",
         TT_COMPARE_WINDOWS_USUAL,
         {{20000, 20, 167}, {20000, 20, 167}},
         true,
         true},
        {"A/A, in a half",
         TT_COMPARE_WINDOWS_USUAL,
         {{20000, 20, 500}, {20000, 20, 500}},
         true,
         true},
        {"p50 +20 %", TT_COMPARE_WINDOWS_USUAL, {{20000, 0, 0}, {24000, 0, 0}}, false, false},
        {"misses doubled",
         TT_COMPARE_WINDOWS_USUAL,
         {{20000, 40, 1000}, {20000, 20, 1000}},
         true,
         false},
        {"none, in a third",
         TT_COMPARE_WINDOWS_USUAL,
         {{20000, 0, 0}, {20000, 20, 333}},
         true,
         false},
        {"in .1, in .6",
         TT_COMPARE_WINDOWS_USUAL,
         {{20000, 20, 100}, {20000, 20, 600}},
         true,
         false},
        {"none, in a sixth", 100, {{20000, 0, 0}, {20000, 20, 167}}, true, false},
        {"in .25, in .5", PAIRS_MAX, {{20000, 20, 250}, {20000, 20, 500}}, true, false},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(table); i++) {
        unsigned answers[5] = {0};

        compare_settings(&table[i], answers);
        printf("%-16s %3zu pairs: not distinguishable %3u, better %3u, worse %3u\n", table[i].name,
               table[i].pairs, answers[TT_COMPARE_SAME] + answers[TT_COMPARE_RARE],
               answers[TT_COMPARE_BETTER], answers[TT_COMPARE_WORSE]);
        if (table[i].same) {
            assert_true(answers[TT_COMPARE_SAME] + answers[TT_COMPARE_RARE] >= 95);
        } else {
            assert_true(answers[TT_COMPARE_WORSE] >= 90);
            assert_true(answers[TT_COMPARE_BETTER] <= 1);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_cell), cmocka_unit_test(endless_loss), cmocka_unit_test(identity),
        cmocka_unit_test(causes),     cmocka_unit_test(comparisons),
    };

    runs = argc > 1 ? (unsigned)atoi(argv[1]) : runs;
    cases = argc > 2 ? (unsigned)atoi(argv[2]) : cases;
    entries = (struct tt_meter_entry *)calloc(TT_METER_RING_ENTRIES, sizeof(*entries));
    int failed = entries ? cmocka_run_group_tests(tests, NULL, NULL) : 1;

    free(entries);
    return failed;
}
