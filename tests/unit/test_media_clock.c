/*
 * The recovered media clock: exact where the source is exact, quick and quiet where it drifts or
 * jitters.
 */
#include "test.h"

#include <stdio.h>

#include "audio/aaf.h"
#include "audio/media_clock.h"
#include "base/ns.h"

#define EPOCH_NS INT64_C(1800000000000000000)

/* Time of a frame of a source whose frames are `ppb` shorter than nominal, without rounding to ns.
 */
static int64_t source_time(uint32_t rate_hz, int64_t frame, int64_t ppb)
{
    long double length = 1e9L / (long double)rate_hz / (1.0L + (long double)ppb * 1e-9L);

    return EPOCH_NS + (int64_t)((long double)frame * length + 0.5L);
}

static void nominal_before_any_stamp(void **state)
{
    (void)state;
    for (size_t r = 0; r < TT_AAF_RATES; r++) {
        struct tt_media_clock clock;
        uint32_t rate = tt_aaf_rates[r];
        int64_t week = (int64_t)rate * 7 * 86400;

        tt_media_clock_init(&clock, rate, 1000, EPOCH_NS);
        assert_int_equal(tt_media_clock_time(&clock, 1000), EPOCH_NS);
        assert_int_equal(tt_media_clock_time(&clock, 1000 + week),
                         EPOCH_NS + INT64_C(7) * 86400 * TT_NS_PER_S);
        assert_int_equal(tt_media_clock_frame(&clock, EPOCH_NS - 1), 999);
        assert_int_equal(tt_media_clock_frame(&clock, EPOCH_NS), 1000);
        assert_int_equal(tt_media_clock_drift_ppb(&clock), 0);
    }
}

/* Exact stamps: the loop must neither drift nor invent a rate, at 44.1 kHz least of all. */
static void exact_source(void **state)
{
    (void)state;
    for (size_t r = 0; r < TT_AAF_RATES; r++) {
        struct tt_media_clock clock;
        uint32_t rate = tt_aaf_rates[r];

        tt_media_clock_init(&clock, rate, 0, EPOCH_NS);
        for (int64_t frame = 6; frame < (int64_t)rate * 60; frame += 6) {
            tt_media_clock_follow(&clock, frame, source_time(rate, frame, 0));
            assert_in_range(tt_media_clock_time(&clock, frame) - source_time(rate, frame, 0) + 2, 0,
                            4);
        }
        assert_in_range(tt_media_clock_drift_ppb(&clock) + 50, 0, 100);
    }
}

static void drift_and_jitter(void **state)
{
    static const int64_t drifts_ppb[] = {-200000, -50000, 1000, 50000, 200000};
    uint64_t random = 1;

    (void)state;
    for (size_t d = 0; d < TT_COUNT_OF(drifts_ppb); d++) {
        struct tt_media_clock clock;
        int64_t worst_ns = 0;
        int64_t worst_late_ns = 0; /* after ten seconds */

        tt_media_clock_init(&clock, 48000, 0, EPOCH_NS);
        for (int64_t frame = 6; frame < 48000 * 30; frame += 6) {
            int64_t true_ns = source_time(48000, frame, drifts_ppb[d]);
            int64_t jitter_ns = (int64_t)random_below(&random, 20001) - 10000;
            int64_t error_ns = llabs(tt_media_clock_time(&clock, frame) - true_ns);

            worst_ns = error_ns > worst_ns ? error_ns : worst_ns;
            if (frame > 480000 && error_ns > worst_late_ns) {
                worst_late_ns = error_ns;
            }
            tt_media_clock_follow(&clock, frame, true_ns + jitter_ns);
        }
        assert_true(worst_ns < 20000); /* far inside a tolerance of 100 µs while it locks */
        assert_true(worst_late_ns < 2000);
        assert_in_range(tt_media_clock_drift_ppb(&clock) - drifts_ppb[d] + 10000, 0, 20000);
    }
}

/* The answer to a step of phase: a fifth beyond it and back, as a loop of second order with a
 * damping of 0.7 does; less would ring, more would creep. */
static void the_loop_is_well_damped(void **state)
{
    struct tt_media_clock clock;
    int64_t least_ns = INT64_MAX;
    int64_t crossed = 0;

    (void)state;
    tt_media_clock_init(&clock, 48000, 0, EPOCH_NS);
    for (int64_t frame = 6; frame < 48000 * 2; frame += 6) {
        int64_t error_ns =
            source_time(48000, frame, 0) + 50000 - tt_media_clock_time(&clock, frame);

        crossed = crossed == 0 && error_ns < 0 ? frame : crossed;
        least_ns = error_ns < least_ns ? error_ns : least_ns;
        if (frame > 48000) {
            assert_in_range(error_ns + 250, 0, 500); /* within half a percent after a second */
        }
        tt_media_clock_follow(&clock, frame, source_time(48000, frame, 0) + 50000);
    }
    printf("phase step of 50 us: crossed after %lld ms, overshoot %lld ns\n",
           (long long)crossed / 48, (long long)-least_ns);
    assert_in_range(-least_ns, 10200, 10600);
    assert_in_range(crossed / 48, 85, 91);
}

/* Large PDUs at low rates and sparse stamps: the loop must stay stable. */
static void rare_stamps(void **state)
{
    struct tt_media_clock clock;

    (void)state;
    tt_media_clock_init(&clock, 8000, 0, EPOCH_NS);
    for (int64_t i = 1; i < 2000; i++) {
        int64_t frame = i * 738 * 8;
        int64_t true_ns = source_time(8000, frame, 100000);

        tt_media_clock_follow(&clock, frame, true_ns);
        if (i > 100) {
            assert_in_range(tt_media_clock_time(&clock, frame + 738) -
                                source_time(8000, frame + 738, 100000) + 100,
                            0, 200);
        }
    }
}

static void frame_is_the_inverse_of_time(void **state)
{
    uint64_t random = 3;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct tt_media_clock clock;
        int64_t frame = (int64_t)random_below(&random, UINT64_C(1) << 40);
        int64_t at = frame + (int64_t)random_below(&random, 1 << 24) - (1 << 23);

        tt_media_clock_init(&clock, tt_aaf_rates[random_below(&random, TT_AAF_RATES)], frame,
                            EPOCH_NS);
        clock.drift = ((double)random_below(&random, 2001) - 1000) * 1e-6;
        clock.fraction_ns = (double)random_below(&random, 1000) / 1000;
        assert_int_equal(tt_media_clock_frame(&clock, tt_media_clock_time(&clock, at)), at);
        assert_int_equal(tt_media_clock_frame(&clock, tt_media_clock_time(&clock, at) - 1), at - 1);
    }
}

/* A source beyond all reason: the rate stays within its limit. */
static void the_rate_is_limited(void **state)
{
    struct tt_media_clock clock;

    (void)state;
    tt_media_clock_init(&clock, 48000, 0, EPOCH_NS);
    for (int64_t frame = 6; frame < 48000 * 10; frame += 6) {
        tt_media_clock_follow(&clock, frame, source_time(48000, frame, 5000000));
    }
    assert_int_equal(tt_media_clock_drift_ppb(&clock), 1000000);
}

/* A quiet clock of a source that is 80 ppm fast, told of 10 ms apart with 100 us of jitter. */
static void follow_jitter(struct tt_media_clock *clock, int64_t from, int64_t to, uint64_t *random)
{
    for (int64_t frame = from; frame < to; frame += 480) {
        int64_t jitter_ns = (int64_t)random_below(random, 200001) - 100000;

        tt_media_clock_follow(clock, frame, source_time(48000, frame, 80000) + jitter_ns);
    }
}

static int64_t error_at(const struct tt_media_clock *clock, int64_t frame)
{
    return llabs(tt_media_clock_time(clock, frame) - source_time(48000, frame, 80000));
}

static void a_quiet_clock_narrows(void **state)
{
    static const struct {
        int64_t seconds;
        int64_t error_ns;
        int64_t ppb;
    } after[] = {{1, 40000, 60000}, {10, 12000, 3000}, {100, 8000, 400}, {1000, 8000, 400}};
    uint64_t random = 11;
    struct tt_media_clock clock;
    int64_t frame = 480;

    (void)state;
    tt_media_clock_init(&clock, 48000, 0, EPOCH_NS);
    tt_media_clock_quieten(&clock, 10);
    for (size_t i = 0; i < TT_COUNT_OF(after); i++) {
        follow_jitter(&clock, frame, after[i].seconds * 48000, &random);
        frame = after[i].seconds * 48000;
        assert_true(error_at(&clock, frame) < after[i].error_ns);
        assert_true(llabs(tt_media_clock_drift_ppb(&clock) - 80000) < after[i].ppb);
    }
}

/* An interrupt served 20 ms late: less than 1 us and 10 ppb of it remain. */
static void a_late_interrupt_hardly_counts(void **state)
{
    struct tt_media_clock clock;
    int64_t drift_ppb;
    int64_t frame;

    (void)state;
    tt_media_clock_init(&clock, 48000, 0, EPOCH_NS);
    tt_media_clock_quieten(&clock, 10);
    for (frame = 480; frame < 48000 * 60; frame += 480) {
        tt_media_clock_follow(&clock, frame, source_time(48000, frame, 80000) + frame % 7 * 1000);
    }
    drift_ppb = tt_media_clock_drift_ppb(&clock);
    tt_media_clock_follow(&clock, frame, source_time(48000, frame, 80000) + 20 * TT_NS_PER_MS);
    assert_true(llabs(tt_media_clock_drift_ppb(&clock) - drift_ppb) < 10);
    assert_in_range(tt_media_clock_time(&clock, frame) - source_time(48000, frame, 80000), 2000,
                    4000);
}

/* The source itself is 300 us later from one moment on: found within two seconds. */
static void a_source_that_moved_is_found(void **state)
{
    struct tt_media_clock clock;
    int64_t frame;

    (void)state;
    tt_media_clock_init(&clock, 48000, 0, EPOCH_NS);
    tt_media_clock_quieten(&clock, 10);
    for (frame = 480; frame < 48000 * 60; frame += 480) {
        tt_media_clock_follow(&clock, frame, source_time(48000, frame, 80000) + frame % 7 * 1000);
    }
    for (; frame < 48000 * 62; frame += 480) {
        tt_media_clock_follow(&clock, frame,
                              source_time(48000, frame, 80000) + frame % 7 * 1000 + 300000);
    }
    assert_true(llabs(tt_media_clock_time(&clock, frame) - source_time(48000, frame, 80000) -
                      303000) < 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nominal_before_any_stamp),
        cmocka_unit_test(exact_source),
        cmocka_unit_test(the_loop_is_well_damped),
        cmocka_unit_test(drift_and_jitter),
        cmocka_unit_test(rare_stamps),
        cmocka_unit_test(the_rate_is_limited),
        cmocka_unit_test(frame_is_the_inverse_of_time),
        cmocka_unit_test(a_quiet_clock_narrows),
        cmocka_unit_test(a_late_interrupt_hardly_counts),
        cmocka_unit_test(a_source_that_moved_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
