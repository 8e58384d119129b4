/*
 * When PDUs are handed to the kernel, and when the kernel is given up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/ns.h"
#include "run/launch.h"

#define CLASS_A_NS 125000

static struct tt_launch_plan plan_of(int64_t lead_ns, int64_t release_ns, bool offload)
{
    struct tt_launch_plan plan;

    tt_launch_plan_init(&plan, lead_ns, release_ns, CLASS_A_NS, offload);
    return plan;
}

static void batches_are_short_where_a_timer_releases(void **state)
{
    (void)state;
    assert_int_equal(plan_of(5 * TT_NS_PER_MS, 5000, false).batch, 4);
    assert_int_equal(plan_of(5 * TT_NS_PER_MS, 5000, true).batch, 21);
    assert_int_equal(plan_of(500 * TT_NS_PER_MS, 5000, true).batch, 64);
    assert_int_equal(plan_of(0, 5000, false).batch, 1);
}

/* Handing over as the plan says: in steps of one batch, each just behind a release, never later
 * than is safe. */
static void batches_start_behind_a_release(void **state)
{
    static const int64_t releases_ns[] = {5000, 100000, 500000, 1234567};

    (void)state;
    for (size_t i = 0; i < sizeof releases_ns / sizeof *releases_ns; i++) {
        struct tt_launch_plan plan = plan_of(5 * TT_NS_PER_MS, releases_ns[i], false);
        int64_t now_ns = 777;
        int64_t launch_ns = now_ns + 3 * TT_NS_PER_MS;

        for (int step = 0; step < 100; step++) {
            int64_t next_ns = tt_launch_next_step(&plan, launch_ns, now_ns, false);

            assert_true(next_ns > now_ns);
            assert_int_equal(
                tt_floor_div(next_ns - 10000 - (launch_ns - plan.release_ns), CLASS_A_NS) *
                    CLASS_A_NS,
                next_ns - 10000 - (launch_ns - plan.release_ns));
            assert_true(next_ns <= launch_ns - tt_launch_margin(&plan));
            now_ns = next_ns;
            for (int n = 0; n < plan.batch && launch_ns <= now_ns + plan.lead_ns; n++) {
                launch_ns += CLASS_A_NS;
            }
            if (step > 10) { /* it has caught up */
                int64_t then_ns = tt_launch_next_step(&plan, launch_ns, now_ns, false);

                assert_int_equal(then_ns - now_ns, plan.batch * CLASS_A_NS);
            }
        }
    }
}

static void a_starved_stream_is_looked_at_in_its_last_moment(void **state)
{
    struct tt_launch_plan plan = plan_of(5 * TT_NS_PER_MS, 5000, false);
    int64_t last_ns = 100 * TT_NS_PER_MS - tt_launch_margin(&plan);

    (void)state;
    assert_int_equal(tt_launch_next_step(&plan, 100 * TT_NS_PER_MS, last_ns - 600000, true),
                     last_ns - 100000);
    assert_int_equal(tt_launch_next_step(&plan, 100 * TT_NS_PER_MS, last_ns - 200000, true),
                     last_ns);
    assert_true(tt_launch_next_step(&plan, 100 * TT_NS_PER_MS, last_ns, true) > last_ns);
}

/* Feeds PDUs of which `refused` in 16 are refused; returns after how many it is given up, or -1. */
static int given_up_after(unsigned refused_of_16, int64_t from_ns, int64_t launch_ns)
{
    struct tt_launch_trial trial;

    tt_launch_trial_start(&trial, from_ns);
    for (int n = 4; n <= 4000; n += 4) {
        if (tt_launch_trial_add(&trial, 4, n % 16 == 0 ? refused_of_16 : 0, launch_ns)) {
            return n;
        }
    }
    return -1;
}

static void the_kernel_is_given_up_when_most_is_refused(void **state)
{
    (void)state;
    assert_int_equal(given_up_after(0, 0, 1), -1);
    assert_int_equal(given_up_after(7, 0, 1), -1);
    assert_int_equal(given_up_after(8, 0, 1), TT_LAUNCH_TRIAL);
    assert_int_equal(given_up_after(16, 0, 1), TT_LAUNCH_TRIAL);
}

static void what_a_clock_step_cost_does_not_count(void **state)
{
    (void)state;
    assert_int_equal(given_up_after(16, 1000, 999), -1);
    assert_int_equal(given_up_after(16, 1000, 1000), TT_LAUNCH_TRIAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_short_where_a_timer_releases),
        cmocka_unit_test(batches_start_behind_a_release),
        cmocka_unit_test(a_starved_stream_is_looked_at_in_its_last_moment),
        cmocka_unit_test(the_kernel_is_given_up_when_most_is_refused),
        cmocka_unit_test(what_a_clock_step_cost_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
