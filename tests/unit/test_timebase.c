/*
 * Scripted readings of the two clocks: what a preempted reader, a step and a drift look like.
 */
#include "test.h"

#include "base/timebase.h"

#define TAI_MINUS_MONO INT64_C(1700000000000000000)
#define UTC_STEP       INT64_C(37000000000)

/* TAI was read `before_ns` after the first and `after_ns` before the second reading of the
 * monotonic clock. */
static struct tt_clock_reading reading_at(int64_t mono_ns, int64_t offset_ns, int64_t before_ns,
                                          int64_t after_ns)
{
    return (struct tt_clock_reading){
        .mono_before_ns = mono_ns - before_ns,
        .tai_ns = mono_ns + offset_ns,
        .mono_after_ns = mono_ns + after_ns,
    };
}

static int64_t follow(struct tt_timebase *timebase, struct tt_clock_reading reading)
{
    return tt_timebase_follow(timebase, &reading);
}

static void start(struct tt_timebase *timebase)
{
    *timebase = (struct tt_timebase){0};
    assert_int_equal(follow(timebase, reading_at(0, TAI_MINUS_MONO, 20, 20)), 0);
    assert_true(timebase->valid);
    assert_true(timebase->tai_minus_mono_ns == TAI_MINUS_MONO);
}

static void test_first_reading_is_no_step(void **state)
{
    struct tt_timebase timebase;

    (void)state;
    start(&timebase);
    assert_true(tt_timebase_tai(&timebase, 5) == TAI_MINUS_MONO + 5);
    assert_true(tt_timebase_mono(&timebase, TAI_MINUS_MONO + 5) == 5);
    assert_true(tt_timebase_mono(&timebase, tt_timebase_tai(&timebase, -7)) == -7);
}

/* The reader lost the processor between two clocks, for up to 50 ms, on either side. */
static void test_preempted_readings_do_not_move_it(void **state)
{
    struct tt_timebase timebase;
    uint64_t seed = 4;

    (void)state;
    start(&timebase);
    for (int64_t i = 1; i < 20000; i++) {
        int64_t before_ns = 20 + (int64_t)random_below(&seed, 30);
        int64_t after_ns = 20 + (int64_t)random_below(&seed, 30);

        if (random_below(&seed, 3) == 0)
            before_ns += (int64_t)random_below(&seed, 50000000);
        if (random_below(&seed, 3) == 0)
            after_ns += (int64_t)random_below(&seed, 50000000);
        assert_int_equal(
            follow(&timebase, reading_at(i * 1000000, TAI_MINUS_MONO, before_ns, after_ns)), 0);
        /* half of an odd bracket is rounded */
        assert_in_range(timebase.tai_minus_mono_ns, TAI_MINUS_MONO - 1, TAI_MINUS_MONO + 1);
    }
}

static void test_step_is_told_once(void **state)
{
    static const int64_t steps[] = {UTC_STEP, -UTC_STEP, 1000100, -1000100};
    struct tt_timebase timebase;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(steps); i++) {
        int64_t offset = TAI_MINUS_MONO + steps[i];

        start(&timebase);
        assert_true(follow(&timebase, reading_at(1000000, offset, 20, 20)) == steps[i]);
        assert_true(timebase.tai_minus_mono_ns == offset);
        for (int64_t k = 2; k < 100; k++)
            assert_int_equal(follow(&timebase, reading_at(k * 1000000, offset, 20, 20)), 0);
        assert_true(timebase.tai_minus_mono_ns == offset);
    }
}

/* A step that a preempted reading first shows is not missed, and what its bracket blurred is made
 * up. */
static void test_step_seen_by_a_preempted_reading(void **state)
{
    struct tt_timebase timebase;
    int64_t offset = TAI_MINUS_MONO + UTC_STEP;
    int64_t step;

    (void)state;
    start(&timebase);
    step = follow(&timebase, reading_at(1000000, offset, 20, 400020));
    assert_true(step == UTC_STEP - 200000);
    for (int64_t k = 2; k < 2002; k++)
        assert_int_equal(follow(&timebase, reading_at(k * 1000000, offset, 20, 20)), 0);
    assert_in_range(timebase.tai_minus_mono_ns, offset - 20, offset + 20);
}

/* 100 ppm for ten seconds, a reading each ms: the offset follows within the bracket, in small
 * moves. */
static void test_drift_is_slewed(void **state)
{
    struct tt_timebase timebase;

    (void)state;
    for (int64_t direction = -1; direction <= 1; direction += 2) {
        int64_t offset = TAI_MINUS_MONO;

        start(&timebase);
        for (int64_t k = 1; k < 10000; k++) {
            int64_t was = timebase.tai_minus_mono_ns;

            offset += direction * 100;
            assert_int_equal(follow(&timebase, reading_at(k * 1000000, offset, 30, 30)), 0);
            assert_true(llabs(timebase.tai_minus_mono_ns - was) <= 100);
            assert_true(llabs(timebase.tai_minus_mono_ns - offset) <= 130);
        }
        assert_true(llabs(timebase.tai_minus_mono_ns - TAI_MINUS_MONO) > 900000);
    }
}

/* A correction just under a step: slewed, 100 ns a reading at the most, and reached. */
static void test_small_correction_is_slewed(void **state)
{
    struct tt_timebase timebase;
    int64_t offset = TAI_MINUS_MONO - 900000;

    (void)state;
    start(&timebase);
    for (int64_t k = 1; k <= 8000; k++)
        assert_int_equal(follow(&timebase, reading_at(k * 1000000, offset, 30, 30)), 0);
    assert_true(timebase.tai_minus_mono_ns == TAI_MINUS_MONO - 800000);
    for (int64_t k = 8001; k <= 9001; k++)
        assert_int_equal(follow(&timebase, reading_at(k * 1000000, offset, 30, 30)), 0);
    assert_true(timebase.tai_minus_mono_ns == offset + 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_reading_is_no_step),
        cmocka_unit_test(test_preempted_readings_do_not_move_it),
        cmocka_unit_test(test_step_is_told_once),
        cmocka_unit_test(test_step_seen_by_a_preempted_reading),
        cmocka_unit_test(test_drift_is_slewed),
        cmocka_unit_test(test_small_correction_is_slewed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
