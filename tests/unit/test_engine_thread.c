/*
 * run/thread: what a thread takes for the usual lateness of its wake-ups.
 */
#include "run/thread.h"

#include "test.h"

/* Half of the wake-ups come up to 2 us around `usual_ns`, one in ten a millisecond later. */
static int64_t late_ns(uint64_t *random, int64_t usual_ns)
{
    int64_t late_ns = usual_ns - 2000 + (int64_t)random_below(random, 4000);

    return random_below(random, 10) == 0 ? late_ns + 1000000 : late_ns;
}

static void follows_the_median(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct tt_wake_lateness lateness = {0};
        uint64_t random = seed;

        for (int i = 0; i < 1000; i++) {
            tt_wake_lateness_add(&lateness, late_ns(&random, 12000));
        }
        assert_in_range(lateness.median_ns, 11000, 14000);
        for (int i = 0; i < 1000; i++) {
            tt_wake_lateness_add(&lateness, late_ns(&random, 5000));
        }
        assert_in_range(lateness.median_ns, 4000, 7000);
    }
}

static void stays_within_bounds(void **state)
{
    struct tt_wake_lateness lateness = {0};

    (void)state;
    for (int i = 0; i < 10000; i++) {
        tt_wake_lateness_add(&lateness, INT64_MAX);
    }
    assert_int_equal(lateness.median_ns, TT_WAKE_LATENESS_MAX_NS);
    for (int i = 0; i < 10000; i++) {
        tt_wake_lateness_add(&lateness, -1);
    }
    assert_int_equal(lateness.median_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_median),
        cmocka_unit_test(stays_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
