/*
 * Comparing windows: what the same setting gives against itself, what is found of a known
 * difference, on a machine with noise of every kind that there is (seeded).
 */
#include "test.h"

#include <string.h>

#include "base/compare.h"

#define TRIALS  100
#define WINDOWS TT_COMPARE_WINDOWS_USUAL
#define PAIRS   100
#define MISSES  4 /* a window, on average */

static struct tt_compare_work *work;

static struct tt_compare_result compare(const int64_t *a, const int64_t *b, size_t n,
                                        bool interleaved)
{
    struct tt_compare_input input = {
        .a = a, .b = b, .a_count = n, .b_count = n, .interleaved = interleaved};
    struct tt_compare_result result;

    tt_compare(&input, work, &result);
    return result;
}

static struct tt_compare_result compare_counts(const int64_t *a, const int64_t *b, size_t n,
                                               bool interleaved)
{
    struct tt_compare_input input = {
        .a = a, .b = b, .a_count = n, .b_count = n, .interleaved = interleaved, .counts = true};
    struct tt_compare_result result;

    tt_compare(&input, work, &result);
    return result;
}

/* About 0, from -1000 to 1000, as the sum of three is. */
static int64_t bell(uint64_t *random)
{
    int64_t sum = 0;

    for (int i = 0; i < 3; i++)
        sum += (int64_t)random_below(random, 667) - 333;
    return sum;
}

/* A machine: its level wanders, each window is off by some percent, one in twelve is one in which
 * somebody else was at work. */
struct machine {
    uint64_t random;
    int64_t level_per_mille;
};

static int64_t median_lateness(struct machine *machine, int64_t percent)
{
    int64_t value = 4000 * percent / 100;

    machine->level_per_mille += bell(&machine->random) / 100;
    value = value * (1000 + machine->level_per_mille + bell(&machine->random) / 5) / 1000;
    return random_below(&machine->random, 12) == 0 ? value * 3 : value;
}

/* Misses come in bursts of 1 to 3. */
static int64_t misses(struct machine *machine, int64_t percent)
{
    int64_t sum = 0;

    for (int i = 0; i < 40; i++) {
        if ((int64_t)random_below(&machine->random, 2000) < MISSES * percent / 4)
            sum += 1 + (int64_t)random_below(&machine->random, 3);
    }
    return sum;
}

struct tally {
    int same;
    int better;
    int worse;
};

/* Windows in the order A B B A. */
static struct tally run_trials(int64_t (*measure)(struct machine *machine, int64_t percent),
                               int64_t percent_b)
{
    struct tally tally = {0};

    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct machine machine = {.random = seed};
        int64_t values[2][WINDOWS];
        struct tt_compare_result result;

        for (size_t i = 0; i < WINDOWS; i++) {
            for (size_t half = 0; half < 2; half++) {
                size_t which = (i & 1) ^ half;

                values[which][i] = measure(&machine, which == 1 ? percent_b : 100);
            }
        }
        result = measure == misses ? compare_counts(values[0], values[1], WINDOWS, true)
                                   : compare(values[0], values[1], WINDOWS, true);
        tally.same += result.answer == TT_COMPARE_SAME;
        tally.better += result.answer == TT_COMPARE_BETTER;
        tally.worse += result.answer == TT_COMPARE_WORSE;
    }
    return tally;
}

static void show(const char *what, struct tally tally)
{
    print_message("%-24s not distinguishable %3d, better %3d, worse %3d\n", what, tally.same,
                  tally.better, tally.worse);
}

static void same_setting(void **state)
{
    struct tally lateness = run_trials(median_lateness, 100);
    struct tally counts = run_trials(misses, 100);

    (void)state;
    show("A/A, median lateness", lateness);
    show("A/A, misses", counts);
    assert_true(lateness.same >= 95);
    assert_true(counts.same >= 95);
}

static void median_of_one_fifth_more(void **state)
{
    struct tally tally = run_trials(median_lateness, 120);

    (void)state;
    show("median lateness +20 %", tally);
    assert_true(tally.worse >= 90);
    assert_true(tally.better <= 1);
    tally = run_trials(median_lateness, 80);
    show("median lateness -20 %", tally);
    assert_true(tally.better >= 90);
    assert_true(tally.worse <= 1);
}

static void misses_doubled(void **state)
{
    struct tally tally = run_trials(misses, 200);

    (void)state;
    show("misses doubled", tally);
    assert_true(tally.worse >= 90);
    assert_true(tally.better <= 1);
}

/* A machine that gets slower makes the second of two equal runs look worse; interleaved it does
 * not. */
static void drift_between_runs(void **state)
{
    int64_t values[2 * WINDOWS];
    int64_t a[WINDOWS];
    int64_t b[WINDOWS];
    uint64_t random = 1;
    struct tt_compare_result result;

    (void)state;
    for (int i = 0; i < 2 * WINDOWS; i++)
        values[i] = 4000 + 40 * i + bell(&random) / 10;
    result = compare(values, values + WINDOWS, WINDOWS, false);
    assert_int_equal(result.answer, TT_COMPARE_TOO_FEW); /* ranks alone would have said: worse */
    assert_true(result.block >= 8);
    /* The same, measured as A B B A. */
    for (int i = 0; i < WINDOWS; i++) {
        a[i] = values[2 * i + (i & 1)];
        b[i] = values[2 * i + 1 - (i & 1)];
    }
    result = compare(a, b, WINDOWS, true);
    assert_int_equal(result.answer, TT_COMPARE_SAME);
}

/* Windows of which each is alike the one before, by r of a thousand. */
static void alike_windows(uint64_t *random, int64_t r, int64_t mean, int64_t *ret_values, size_t n)
{
    int64_t off = 0;

    for (int64_t i = -100; i < (int64_t)n; i++) {
        off = (off * r) / 1000 + bell(random);
        if (i >= 0)
            ret_values[i] = mean + off;
    }
}

static struct tally run_alike(int64_t r, int64_t percent_b, size_t n, bool counts)
{
    static int64_t values[2][200];
    struct tally tally = {0};

    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
        uint64_t random = seed;
        struct tt_compare_result result;
        struct tt_compare_result turned;

        alike_windows(&random, r, 10000, values[0], n);
        alike_windows(&random, r, 100 * percent_b, values[1], n);
        result = (counts ? compare_counts : compare)(values[0], values[1], n, false);
        if (seed <= 20) {
            turned = (counts ? compare_counts : compare)(values[1], values[0], n, false);
            assert_true(result.p == turned.p && result.floor == turned.floor);
            assert_int_equal(result.answer == TT_COMPARE_WORSE, turned.answer == TT_COMPARE_BETTER);
            assert_int_equal(result.answer == TT_COMPARE_BETTER, turned.answer == TT_COMPARE_WORSE);
        }
        tally.same += result.answer == TT_COMPARE_SAME;
        tally.better += result.answer == TT_COMPARE_BETTER;
        tally.worse += result.answer == TT_COMPARE_WORSE;
    }
    return tally;
}

/* Of runs one after the other. */
static void windows_that_are_alike(void **state)
{
    static const int64_t alike[] = {0, 500, 800, 950};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(alike); k++) {
        for (size_t n = WINDOWS; n <= 200; n += 160) {
            for (int counts = 0; counts < 2; counts++) {
                struct tally tally = run_alike(alike[k], 100, n, counts > 0);

                print_message("A/A, r %.2f, %3zu windows, of 100: ", (double)alike[k] / 1000, n);
                show("", tally);
                assert_true(20 * (tally.better + tally.worse) <= PAIRS);
            }
        }
    }
    for (int counts = 0; counts < 2; counts++) {
        struct tally tally = run_alike(0, 120, WINDOWS, counts > 0);

        show("of 100, apart, +20 %", tally);
        assert_true(10 * tally.worse >= 9 * PAIRS && tally.better <= 1);
    }
}

/* Sixteen figures asked at once, of runs that do not differ: that any is found. */
static void many_figures(void **state)
{
    int64_t values[2][WINDOWS];
    uint64_t random = 1;
    int found[2] = {0};

    (void)state;
    for (int trial = 0; trial < PAIRS; trial++) {
        bool any[2] = {false};

        for (int figure = 0; figure < 16; figure++) {
            struct tt_compare_input input = {
                .a = values[0], .b = values[1], .a_count = WINDOWS, .b_count = WINDOWS};
            struct tt_compare_result result;

            for (int i = 0; i < 2 * WINDOWS; i++)
                values[i / WINDOWS][i % WINDOWS] = 4000 + bell(&random);
            for (int together = 0; together < 2; together++) {
                input.asked = together ? 16 : 0;
                tt_compare(&input, work, &result);
                any[together] = any[together] || result.answer != TT_COMPARE_SAME;
            }
        }
        found[0] += any[0];
        found[1] += any[1];
    }
    print_message("any of 16 figures, of %d pairs: %d; asked at once: %d\n", PAIRS, found[0],
                  found[1]);
    assert_true(20 * found[1] <= PAIRS && found[0] > found[1]);
}

static void runs_apart(void **state)
{
    int64_t values[2][WINDOWS];
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < WINDOWS; i++) {
        values[0][i] = 4000 + bell(&random);
        values[1][i] = 4000 + bell(&random);
    }
    assert_int_equal(compare(values[0], values[1], WINDOWS, false).answer, TT_COMPARE_SAME);
    for (int i = 0; i < WINDOWS; i++)
        values[1][i] += 1500;
    assert_int_equal(compare(values[0], values[1], WINDOWS, false).answer, TT_COMPARE_WORSE);
    assert_int_equal(compare(values[1], values[0], WINDOWS, false).answer, TT_COMPARE_BETTER);
}

/* Figures that can be counted on paper: twenty windows of ten each, one of them 7 more. */
static void exact_figures(void **state)
{
    int64_t a[20];
    int64_t b[20];
    struct tt_compare_result result;

    (void)state;
    for (int i = 0; i < 20; i++) {
        a[i] = 10 + (i & 1);
        b[i] = 17 + (i & 1);
    }
    b[3] = 1000;
    result = compare(a, b, 20, true);
    assert_int_equal(result.windows, 20);
    assert_true(result.difference == 7); /* 1000 is among what is left out */
    assert_true(result.a == 10.5);
    assert_true(result.floor >= 0 && result.floor < 7);
    assert_int_equal(result.answer, TT_COMPARE_WORSE);
    assert_int_equal(compare(b, a, 20, true).answer, TT_COMPARE_BETTER);
    /* All the same. */
    result = compare(a, a, 20, true);
    assert_int_equal(result.answer, TT_COMPARE_SAME);
    assert_true(result.p == 1 && result.difference == 0);
    assert_true(compare(a, a, 20, false).p > 0.9);
}

/* What users look for is rare: thousands of misses, in every sixth window. */
static void rare_windows(void **state)
{
    static int64_t none[600];
    int64_t some[600];

    (void)state;
    for (int i = 0; i < 600; i++)
        some[i] = i % 6 == 0 ? 8500 : 0;
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        struct tt_compare_result result = compare_counts(none, some, 600, interleaved);

        assert_int_equal(result.answer, TT_COMPARE_WORSE);
        assert_true(result.a == 0);
        assert_float_equal(result.b, 8500.0 / 6, 1e-6);
        assert_float_equal(result.difference, 8500.0 / 6, 1e-6);
        assert_true(result.a_any == 0 && result.b_any == 100);
        assert_int_equal(compare_counts(some, none, 600, interleaved).answer, TT_COMPARE_BETTER);
        assert_int_equal(compare_counts(some, some, 600, interleaved).answer, TT_COMPARE_SAME);
    }
}

/* Bursts in some windows of two runs, one after the other. */
static struct tally run_apart(uint64_t a_per_mille, uint64_t b_per_mille)
{
    struct tally tally = {0};

    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        int64_t values[2][120];
        uint64_t random = seed;
        struct tt_compare_result result;

        for (size_t i = 0; i < 240; i++) {
            uint64_t per_mille = i < 120 ? a_per_mille : b_per_mille;
            bool burst = random_below(&random, 1000) < per_mille;

            values[i / 120][i % 120] = burst ? 1 + (int64_t)random_below(&random, 8500) : 0;
        }
        result = compare_counts(values[0], values[1], 120, false);
        tally.better += result.answer == TT_COMPARE_BETTER;
        tally.worse += result.answer == TT_COMPARE_WORSE;
    }
    tally.same = TRIALS - tally.better - tally.worse;
    return tally;
}

static void rare_runs_apart(void **state)
{
    struct tally same = run_apart(167, 167);
    struct tally more = run_apart(0, 167);

    (void)state;
    show("A/A, apart, a sixth", same);
    show("none, apart, a sixth", more);
    assert_true(same.same >= 95);
    assert_true(more.worse >= 90);
    assert_true(more.better == 0);
}

/* One window of any size shows nothing, nor do a few; and what is found is what the mean says, also
 * where most windows say the opposite. */
static void few_windows(void **state)
{
    int64_t a[100] = {0};
    int64_t b[100] = {0};

    (void)state;
    for (int windows = 1; windows < TT_COMPARE_ANY_MIN; windows++) {
        b[13 * windows] = 1000000;
        assert_int_equal(compare_counts(a, b, 100, true).answer, TT_COMPARE_RARE);
        assert_int_equal(compare_counts(a, b, 100, false).answer, TT_COMPARE_RARE);
        assert_int_equal(compare(a, b, 100, true).answer, TT_COMPARE_SAME);
    }
    for (int i = 0; i < 100; i++) {
        a[i] = i % 4 != 0;
        b[i] = i % 4 == 0 ? 8500 : 0;
    }
    assert_int_equal(compare_counts(a, b, 100, true).answer, TT_COMPARE_WORSE);
    assert_int_equal(compare_counts(b, a, 100, true).answer, TT_COMPARE_BETTER);
    assert_int_equal(compare_counts(a, b, 100, false).answer, TT_COMPARE_WORSE);
}

static void counts_of_windows(void **state)
{
    static int64_t many[TT_COMPARE_WINDOWS_MAX + 5];
    struct tt_compare_input input = {.a = many, .b = many, .interleaved = true};
    struct tt_compare_result result;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(many); i++)
        many[i] = TT_COMPARE_VALUE_MAX;
    assert_int_equal(compare(many, many, 0, true).answer, TT_COMPARE_TOO_FEW);
    assert_int_equal(compare(many, many, TT_COMPARE_WINDOWS_MIN - 1, false).answer,
                     TT_COMPARE_TOO_FEW);
    assert_int_equal(compare(many, many, TT_COMPARE_WINDOWS_MIN, false).answer, TT_COMPARE_SAME);
    input.a_count = TT_COUNT_OF(many);
    input.b_count = 33;
    tt_compare(&input, work, &result);
    assert_int_equal(result.windows, 33);
    input.b_count = TT_COUNT_OF(many);
    tt_compare(&input, work, &result);
    assert_int_equal(result.windows, TT_COMPARE_WINDOWS_MAX);
    assert_true(result.a == (double)TT_COMPARE_VALUE_MAX);
    assert_true(compare_counts(many, many, TT_COMPARE_WINDOWS_MAX, true).a == result.a);
    assert_true(compare_counts(many, many, TT_COMPARE_WINDOWS_MAX, false).p == 1);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(tt_compare_answer_text(TT_COMPARE_SAME), "not distinguishable");
    assert_string_equal(tt_compare_answer_text(TT_COMPARE_TOO_FEW), "not enough data");
    assert_string_equal(tt_compare_answer_text(TT_COMPARE_RARE), "too rare to tell");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_setting),
        cmocka_unit_test(median_of_one_fifth_more),
        cmocka_unit_test(misses_doubled),
        cmocka_unit_test(drift_between_runs),
        cmocka_unit_test(windows_that_are_alike),
        cmocka_unit_test(many_figures),
        cmocka_unit_test(runs_apart),
        cmocka_unit_test(exact_figures),
        cmocka_unit_test(rare_windows),
        cmocka_unit_test(few_windows),
        cmocka_unit_test(rare_runs_apart),
        cmocka_unit_test(counts_of_windows),
        cmocka_unit_test(words),
    };
    int failed;

    work = (struct tt_compare_work *)malloc(sizeof(*work));
    failed = work ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    free(work);
    return failed;
}
