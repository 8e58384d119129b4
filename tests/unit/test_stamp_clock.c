/*
 * Receive stamps: an interface's clock that runs off, is read with noise and is set, against the
 * UTC that a script knows; and who stamps, by what an interface can do.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/stamp_clock.h"
#include "base/ns.h"
#include "base/random.h"
#include "cli/receive_stamps.h"

#define UTC_NS   INT64_C(1796025585000000000)
#define READ_NS  INT64_C(100000000)
#define NOISE_NS 1000
#define AHEAD_NS (37 * TT_NS_PER_S)
#define MICRO    1000000

/* The interface's clock at a time since the start: ahead by AHEAD_NS, fast by ppm. */
static int64_t phc_at(int64_t since_ns, int64_t ppm)
{
    return UTC_NS + AHEAD_NS + since_ns + since_ns * ppm / MICRO;
}

static int64_t noise(uint64_t *random)
{
    return (int64_t)(tt_random_next(random) % (2 * NOISE_NS)) - NOISE_NS;
}

/* The worst error of stamps between the readings from `from_s` to `to_s`. */
static int64_t follow(struct tt_stamp_clock *clock, int64_t ppm, int from_s, int to_s)
{
    uint64_t random = 1;
    int64_t worst_ns = 0;

    for (int64_t t = 0; t < to_s * TT_NS_PER_S; t += READ_NS) {
        tt_stamp_clock_follow(clock, phc_at(t, ppm), UTC_NS + t + noise(&random));
        for (int64_t i = 1; i < 10; i++) {
            int64_t at_ns = t + READ_NS * i / 10;
            int64_t utc_ns = tt_stamp_clock_utc(clock, phc_at(at_ns, ppm), UTC_NS + at_ns);

            if (t >= from_s * TT_NS_PER_S && llabs(utc_ns - UTC_NS - at_ns) > worst_ns) {
                worst_ns = llabs(utc_ns - UTC_NS - at_ns);
            }
        }
    }
    return worst_ns;
}

static void test_a_clock_is_followed(void **state)
{
    static const int64_t rates[] = {0, 50, -200};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rates); i++) {
        struct tt_stamp_clock clock = {0};

        assert_in_range(follow(&clock, rates[i], 10, 60), 0, NOISE_NS);
        assert_int_equal(clock.steps, 0);
        assert_int_equal(clock.foreign, 0);
    }
}

static void test_a_clock_that_is_set(void **state)
{
    struct tt_stamp_clock clock = {0};
    int64_t later_ns = 60 * TT_NS_PER_S;
    int64_t set_ns = 5 * TT_NS_PER_S;

    (void)state;
    follow(&clock, 0, 0, 60);
    for (int sign = -1; sign <= 1; sign += 2) {
        int64_t phc_ns = phc_at(later_ns, 0) + sign * set_ns;

        tt_stamp_clock_follow(&clock, phc_ns, UTC_NS + later_ns);
        assert_true(llabs(tt_stamp_clock_utc(&clock, phc_ns + 1000, UTC_NS + later_ns + 1000) -
                          UTC_NS - later_ns - 1000) <= 1);
        later_ns += READ_NS;
    }
    assert_int_equal(clock.steps, 2);
}

/* Before a reading stamps are as they came; and so are those of the kernel later. */
static void test_stamps_of_the_kernel_between(void **state)
{
    struct tt_stamp_clock clock = {0};

    (void)state;
    assert_true(tt_stamp_clock_utc(&clock, UTC_NS, UTC_NS) == UTC_NS);
    tt_stamp_clock_follow(&clock, phc_at(0, 0), UTC_NS);
    assert_true(tt_stamp_clock_utc(&clock, phc_at(0, 0), UTC_NS + 5000) == UTC_NS);
    assert_true(tt_stamp_clock_utc(&clock, UTC_NS, UTC_NS + 5000) == UTC_NS);
    assert_int_equal(clock.foreign, 1);
}

static void test_who_stamps(void **state)
{
    const struct {
        struct tt_receive_abilities can;
        const char *says;
    } cases[] = {
        {{.known = false, .phc_index = -1}, "by the kernel, in UTC (the driver does not say"},
        {{.known = true, .phc_index = 0}, "by the kernel, in UTC (the interface has no stamps"},
        {{.known = true, .received = true, .phc_index = 0}, "packets of PTP only"},
        {{.known = true, .received = true, .all = true, .phc_index = -1}, "without a clock"},
        {{.known = true, .received = true, .all = true, .phc_index = 3, .error = -EACCES},
         "/dev/ptp3 cannot be read: Permission denied"},
        {{.known = true, .received = true, .all = true, .uncertainty_ns = 80000},
         "only be read to within 80 us"},
        {{.known = true, .received = true, .all = true, .phc_index = 1, .uncertainty_ns = 700},
         "by the interface (/dev/ptp1), converted to UTC to within 700 ns"},
    };
    char text[TT_STAMPS_TEXT];

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        assert_int_equal(tt_receive_stamps_choose(&cases[i].can, text),
                         i + 1 == TT_COUNT_OF(cases));
        assert_non_null(strstr(text, cases[i].says));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_is_followed),
        cmocka_unit_test(test_a_clock_that_is_set),
        cmocka_unit_test(test_stamps_of_the_kernel_between),
        cmocka_unit_test(test_who_stamps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
