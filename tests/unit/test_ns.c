/*
 * Time arithmetic against exact rationals computed another way: by running sums of a remainder,
 * never by a product.
 */
#include "test.h"

#include "audio/aaf.h"
#include "base/bytes.h"
#include "base/ns.h"

#define WEEK_S INT64_C(604800)

/* The exact time of a PDU's first frame, kept as whole ns and a remainder in units of 1 / (2 rate)
 * ns. */
struct exact_clock {
    int64_t ns;
    int64_t rest; /* 0 … 2 rate - 1, the half that rounds is already in */
};

static void exact_step(struct exact_clock *clock, int64_t frames, int64_t rate_hz)
{
    clock->rest += 2 * TT_NS_PER_S * frames;
    clock->ns += clock->rest / (2 * rate_hz);
    clock->rest %= 2 * rate_hz;
}

/* A week in PDUs; `stride` of them a time, so that the whole takes no longer than a moment. */
static void run_week(uint32_t rate_hz, int64_t frames_per_pdu, int64_t stride)
{
    struct exact_clock clock = {0, rate_hz};
    int64_t period_floor = TT_NS_PER_S * frames_per_pdu / rate_hz;
    int64_t frames = WEEK_S * rate_hz;
    int64_t step = frames_per_pdu * stride;

    for (int64_t frame = 0; frame <= frames; frame += step) {
        int64_t ns = tt_frames_to_ns(frame, rate_hz);
        int64_t period = tt_frames_to_ns(frame + frames_per_pdu, rate_hz) - ns;

        assert_int_equal(ns, clock.ns);
        assert_true(period == period_floor ||
                    (period == period_floor + 1 && TT_NS_PER_S * frames_per_pdu % rate_hz != 0));
        assert_int_equal(tt_ns_to_frames(ns, rate_hz), frame);
        assert_int_equal(tt_ns_to_frames(ns - 1, rate_hz), frame - 1);
        exact_step(&clock, step, rate_hz);
    }
    assert_int_equal(tt_frames_to_ns(frames, rate_hz), WEEK_S * TT_NS_PER_S);
}

static void test_week_at_every_rate(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TT_AAF_RATES; i++) {
        run_week(tt_aaf_rates[i], 6, 4999);
        run_week(tt_aaf_rates[i], 1, 99991);
    }
}

/* Every PDU of the first and last minute of the week, at the rate whose period is no whole ns. */
static void test_no_step_between_neighbours(void **state)
{
    const int64_t rate_hz = 44100;
    const int64_t starts[] = {0, (WEEK_S - 60) * rate_hz, -60 * rate_hz};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(starts); i++) {
        int64_t before = tt_frames_to_ns(starts[i], 44100);

        for (int64_t frame = starts[i] + 6; frame < starts[i] + 60 * rate_hz; frame += 6) {
            int64_t ns = tt_frames_to_ns(frame, 44100);

            assert_in_range(ns - before, 136054, 136055); /* 6 / 44100 s = 136054.42 ns */
            before = ns;
        }
    }
}

static void test_negative_frames(void **state)
{
    (void)state;
    assert_int_equal(tt_floor_div(-1, 3), -1);
    assert_int_equal(tt_floor_div(-3, 3), -1);
    assert_int_equal(tt_floor_div(-4, 3), -2);
    assert_int_equal(tt_floor_div(4, 3), 1);
    assert_int_equal(tt_frames_to_ns(-48000, 48000), -TT_NS_PER_S);
    assert_int_equal(tt_frames_to_ns(-1, 48000), -20833); /* -20833.3 */
    assert_int_equal(tt_frames_to_ns(-1, 44100), -22676); /* -22675.7 */
    assert_int_equal(tt_frames_to_ns(1, 44100), 22676);
    assert_int_equal(tt_ns_to_frames(-1, 48000), -1);
    assert_int_equal(tt_ns_to_frames(-20833, 48000), -1);
    assert_int_equal(tt_ns_to_frames(-20834, 48000), -2);
    /* halves go up, on either side of 0: 1 / 400 000 000 s = 2.5 ns */
    assert_int_equal(tt_frames_to_ns(1, 400000000), 3);
    assert_int_equal(tt_frames_to_ns(-1, 400000000), -2);
}

static void test_there_and_back(void **state)
{
    const uint32_t more[] = {1, 3, 7, 1000000, 499999999, 500000000};
    uint64_t seed = 1;

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        unsigned which = (unsigned)random_below(&seed, TT_AAF_RATES + TT_COUNT_OF(more));
        uint32_t rate_hz = which < TT_AAF_RATES ? tt_aaf_rates[which] : more[which - TT_AAF_RATES];
        /* up to 200 years either side */
        uint64_t span = UINT64_C(2) * 200 * 365 * 86400 * rate_hz;
        int64_t frame = (int64_t)(random_below(&seed, span)) - (int64_t)(span / 2);
        int64_t ns = tt_frames_to_ns(frame, rate_hz);
        int64_t between = ns + (int64_t)random_below(&seed, TT_NS_PER_S);
        int64_t found = tt_ns_to_frames(between, rate_hz);

        assert_true(tt_ns_to_frames(ns, rate_hz) == frame);
        assert_true(tt_frames_to_ns(found, rate_hz) <= between);
        assert_true(tt_frames_to_ns(found + 1, rate_hz) > between);
    }
}

static void test_widen_either_side(void **state)
{
    const int64_t wrap = INT64_C(1) << 32;
    const int64_t bases[] = {0, wrap, 400 * wrap, -wrap,
                             INT64_C(1700000037000000000) / wrap * wrap};
    const int64_t offsets[] = {-2000000, -1, 0, 1, 2000000, INT32_MAX, INT32_MIN};

    (void)state;
    for (size_t b = 0; b < TT_COUNT_OF(bases); b++) {
        for (size_t n = 0; n < TT_COUNT_OF(offsets); n++) {
            for (size_t o = 0; o < TT_COUNT_OF(offsets); o++) {
                int64_t near_ns = bases[b] + offsets[n];
                int64_t truth = near_ns + offsets[o];

                assert_true(tt_widen32((uint32_t)truth, near_ns) == truth);
            }
        }
    }
    /* half a wrap away: the earlier one */
    assert_true(tt_widen32(0x80000000, wrap) == wrap - INT64_C(0x80000000));
    assert_true(tt_widen32(0xFFFFFFFF, wrap) == wrap - 1);
    assert_true(tt_widen32(0, wrap - 1) == wrap);
}

static void test_bytes(void **state)
{
    uint8_t b[9] = {0xEE, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF};
    uint8_t out[9] = {0};

    (void)state;
    assert_int_equal(tt_get_be16(b + 1), 0x0123);
    assert_int_equal(tt_get_be16(b + 7), 0xCDEF);
    assert_int_equal(tt_get_be32(b + 5), 0x89ABCDEF);
    assert_true(tt_get_be64(b + 1) == UINT64_C(0x0123456789ABCDEF));
    out[0] = 0xEE;
    tt_put_be64(out + 1, UINT64_C(0x0123456789ABCDEF));
    assert_memory_equal(out, b, 9);
    tt_put_be32(out + 1, 0xFEDCBA98);
    tt_put_be16(out + 5, 0x7654);
    assert_memory_equal(out, ((const uint8_t[]){0xEE, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54}), 7);
    assert_memory_equal(out + 7, b + 7, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_week_at_every_rate),
        cmocka_unit_test(test_no_step_between_neighbours),
        cmocka_unit_test(test_negative_frames),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_widen_either_side),
        cmocka_unit_test(test_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
