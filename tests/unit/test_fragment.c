/*
 * The account of periods: exact outcomes for scripted hand-overs, and the identity expected = on
 * time + late + skipped in random runs whose expected number is counted independently.
 *
 * test_fragment [RUNS]: so many random runs, 1000 without it.
 */
#include "test.h"

#include <stdio.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "meter/fragment.h"

/* A period of 1 ms: 48 frames at 48 kHz. */
static const struct tt_fragment_shape triple = {.rate_hz = 48000, .frames = 48, .count = 3};

static struct tt_fragment_fate hand_over(struct tt_fragments *fragments, double now_ms)
{
    struct tt_fragment_fate fate;

    tt_fragments_hand_over(fragments, (int64_t)(now_ms * 1e6), &fate);
    return fate;
}

static void check_sum(const struct tt_fragments *fragments)
{
    const struct tt_fragment_counters *c = &fragments->counters;

    assert_int_equal(c->expected, c->on_time + c->late + c->skipped);
}

static void all_on_time(void **state)
{
    struct tt_fragments fragments;
    int n = 0;

    (void)state;
    tt_fragments_init(&fragments, &triple, 0, 100 * TT_NS_PER_MS);
    while (!tt_fragments_over(&fragments)) {
        struct tt_fragment_fate fate = hand_over(&fragments, ++n + 0.25);

        assert_int_equal(fate.due_ns, n * TT_NS_PER_MS);
        assert_int_equal(fate.late_ns, TT_NS_PER_MS / 4);
        assert_false(fate.late || fate.empty || fate.skipped);
    }
    assert_int_equal(n, 100);
    assert_int_equal(fragments.counters.on_time, 100);
    assert_int_equal(fragments.counters.expected, 100);
    check_sum(&fragments);
}

/* Three fragments: late by one and a half lives on the buffer; late by three does not. */
static void late_then_empty(void **state)
{
    struct tt_fragments fragments;
    struct tt_fragment_fate fate;

    (void)state;
    tt_fragments_init(&fragments, &triple, 0, 20 * TT_NS_PER_MS);
    hand_over(&fragments, 1);
    fate = hand_over(&fragments, 3.5); /* due at 2; the buffer lasts until 4 */
    assert_true(fate.late && !fate.empty && fate.skipped == 0);
    fate = hand_over(&fragments, 3.75); /* due at 3 */
    assert_false(fate.late);
    fate = hand_over(&fragments, 4);
    assert_int_equal(fate.late_ns, 0);
    fate = hand_over(&fragments, 12.5); /* due at 5, empty from 7 on */
    assert_true(fate.late && fate.empty);
    /* 11 plays from 13 on; the place of 10 began at 12. */
    assert_int_equal(fate.skipped, 5);
    assert_int_equal(fragments.next, 11);
    assert_int_equal(fragments.counters.empty, 1);
    assert_int_equal(fragments.counters.empty_ns, 5500000);
    while (!tt_fragments_over(&fragments))
        hand_over(&fragments, (double)tt_max64(fragments.next, 13));
    check_sum(&fragments);
    assert_int_equal(fragments.counters.expected, 20);
    assert_int_equal(fragments.counters.late, 3); /* 2, 5, and 11 at 13: on the limit is not late */
}

static void at_the_limit(void **state)
{
    struct tt_fragments fragments;
    struct tt_fragment_fate fate;

    (void)state;
    tt_fragments_init(&fragments, &triple, 0, 20 * TT_NS_PER_MS);
    fate = hand_over(&fragments, 2); /* due at 1: when the next is due it is on time */
    assert_false(fate.late);
    tt_fragments_init(&fragments, &triple, 0, 20 * TT_NS_PER_MS);
    fate = hand_over(&fragments, 3); /* at the moment at which the device has played all */
    assert_true(fate.late && !fate.empty);
    tt_fragments_init(&fragments, &triple, 0, 20 * TT_NS_PER_MS);
    tt_fragments_hand_over(&fragments, 3 * TT_NS_PER_MS + 1, &fate);
    assert_true(fate.empty);
    assert_int_equal(fragments.counters.empty_ns, 1);
}

/* With two fragments late and empty are one; a timer skips what it slept through. */
static void other_counts(void **state)
{
    struct tt_fragment_shape shape = triple;
    struct tt_fragments fragments;
    struct tt_fragment_fate fate;

    (void)state;
    shape.count = 2;
    tt_fragments_init(&fragments, &shape, 0, 20 * TT_NS_PER_MS);
    fate = hand_over(&fragments, 2.5);
    assert_true(fate.late && fate.empty);
    shape.count = 0;
    tt_fragments_init(&fragments, &shape, 0, 20 * TT_NS_PER_MS);
    fate = hand_over(&fragments, 4.5); /* due at 1; 2, 3 and 4 went by */
    assert_true(fate.late && !fate.empty);
    assert_int_equal(fate.skipped, 3);
    assert_int_equal(fragments.next, 5);
    fate = hand_over(&fragments, 30);
    assert_true(tt_fragments_over(&fragments));
    assert_int_equal(fate.skipped, 15);
    check_sum(&fragments);
}

/* 44.1 kHz: the millionth period is due to the nanosecond. */
static void no_drift(void **state)
{
    struct tt_fragment_shape shape = {.rate_hz = 44100, .frames = 64, .count = 2};
    struct tt_fragments fragments;

    (void)state;
    tt_fragments_init(&fragments, &shape, 5, 4000 * TT_NS_PER_S);
    assert_int_equal(tt_fragments_due_ns(&fragments, 44100), 64 * TT_NS_PER_S + 5);
    assert_int_equal(tt_fragments_due_ns(&fragments, 1000000), INT64_C(1451247165533) + 5);
    assert_int_equal(fragments.counters.expected, 4000 * 44100 / 64);
}

/* There is always one period to account for. */
static void shorter_than_a_period(void **state)
{
    struct tt_fragments fragments;

    (void)state;
    tt_fragments_init(&fragments, &triple, 0, TT_NS_PER_MS - 1);
    hand_over(&fragments, 1);
    assert_true(tt_fragments_over(&fragments));
    assert_int_equal(fragments.counters.expected, 1);
    check_sum(&fragments);
}

static void cut_short(void **state)
{
    struct tt_fragments fragments;

    (void)state;
    tt_fragments_init(&fragments, &triple, 0, 1000 * TT_NS_PER_MS);
    for (int i = 1; i <= 10; i++)
        hand_over(&fragments, i);
    hand_over(&fragments, 12.5); /* 11; 12 is due as well */
    tt_fragments_cut(&fragments, (int64_t)12.5e6);
    assert_int_equal(fragments.counters.expected, 12);
    assert_false(tt_fragments_over(&fragments));
    hand_over(&fragments, 13);
    assert_true(tt_fragments_over(&fragments));
    check_sum(&fragments);
    tt_fragments_init(&fragments, &triple, 0, 1000 * TT_NS_PER_MS);
    tt_fragments_cut(&fragments, 0);
    assert_true(tt_fragments_over(&fragments));
    check_sum(&fragments);
}

/* A card that stood still from 3 to 9.25 and starts full: the next is due a period later. */
static void started_anew(void **state)
{
    struct tt_fragments fragments;

    (void)state;
    tt_fragments_init(&fragments, &triple, 0, 20 * TT_NS_PER_MS);
    hand_over(&fragments, 9.25);
    tt_fragments_restart(&fragments, (int64_t)9.25e6);
    assert_int_equal(fragments.next, 10);
    assert_int_equal(tt_fragments_due_ns(&fragments, 10), (int64_t)10.25e6);
    assert_int_equal(fragments.counters.skipped, 8);
    while (!tt_fragments_over(&fragments))
        tt_fragments_hand_over(&fragments, tt_fragments_due_ns(&fragments, fragments.next),
                               &(struct tt_fragment_fate){0});
    check_sum(&fragments);
}

/* One loop whose computations and wake-ups take what chance gives. */
static void random_run(uint64_t seed)
{
    static const uint32_t rates[] = {8000, 44100, 48000, 96000};
    uint64_t random = seed;
    struct tt_fragment_shape shape = {
        .rate_hz = rates[random_below(&random, 4)],
        .frames = 16 + (int64_t)random_below(&random, 1000),
        .count = (unsigned)random_below(&random, TT_FRAGMENT_COUNT_MAX + 1),
    };
    struct tt_fragments fragments;
    int64_t now_ns = (int64_t)random_below(&random, 1000000000);
    int64_t start_ns = now_ns;
    int64_t period_ns;
    int64_t plan_ns;
    uint64_t handed_over = 0;
    uint64_t empty = 0;

    shape.count = shape.count == 1 ? 2 : shape.count;
    period_ns = tt_fragment_shape_period_ns(&shape);
    plan_ns = period_ns + 1 + (int64_t)random_below(&random, 2000000000);
    tt_fragments_init(&fragments, &shape, start_ns, plan_ns);
    while (!tt_fragments_over(&fragments)) {
        struct tt_fragment_fate fate;
        int64_t due_ns = tt_fragments_due_ns(&fragments, fragments.next);
        int64_t stall = random_below(&random, 20) == 0 ? 8 : 1;

        now_ns += (int64_t)random_below(&random, (uint64_t)(period_ns * stall));
        now_ns = tt_max64(now_ns, due_ns) + (int64_t)random_below(&random, 100000);
        tt_fragments_hand_over(&fragments, now_ns, &fate);
        handed_over++;
        empty += fate.empty;
        if (fate.empty)
            assert_true(fate.late);
        if (random_below(&random, 500) == 0) {
            tt_fragments_cut(&fragments, now_ns);
            plan_ns = tt_min64(plan_ns, now_ns - start_ns);
        }
    }
    int64_t frames = tt_ns_to_frames(plan_ns, shape.rate_hz);

    if (fragments.counters.expected != (uint64_t)(frames / shape.frames) ||
        fragments.counters.expected !=
            fragments.counters.on_time + fragments.counters.late + fragments.counters.skipped ||
        handed_over != fragments.counters.on_time + fragments.counters.late ||
        empty != fragments.counters.empty)
        fail_msg("seed %llu: the sum is off", (unsigned long long)seed);
}

static uint64_t runs = 1000;

static void identity_in_random_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= runs; seed++)
        random_run(seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_on_time),
        cmocka_unit_test(late_then_empty),
        cmocka_unit_test(at_the_limit),
        cmocka_unit_test(other_counts),
        cmocka_unit_test(no_drift),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(shorter_than_a_period),
        cmocka_unit_test(started_anew),
        cmocka_unit_test(identity_in_random_runs),
    };

    if (argc > 1)
        runs = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
