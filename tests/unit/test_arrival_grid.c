/*
 * audio/arrival_grid: what is late, by how much, and when the grid moves.
 */
#include "test.h"

#include "audio/arrival_grid.h"
#include "base/ns.h"

#define START_NS    INT64_C(1796025585000000000)
#define INTERVAL_NS INT64_C(125000)
#define SETTLED     800 /* PDUs of 125 us in TT_ARRIVAL_GRID_SETTLE_NS */

/* The next PDU of a class A stream, `late_ns` after its time. Whether it was judged. */
static bool step(struct tt_arrival_grid *grid, int64_t i, int64_t late_ns, int64_t *ret_late_ns)
{
    const struct tt_conduct_pdu pdu = {.period = tt_conduct_period(6, 48000),
                                       .arrival_ns = START_NS + i * INTERVAL_NS + late_ns,
                                       .ahead = i > 0,
                                       .restart = i == 0,
                                       .readable = true};

    return tt_arrival_grid_step(grid, &pdu, ret_late_ns);
}

static void run(struct tt_arrival_grid *grid, int64_t from, int64_t to, int64_t late_ns)
{
    int64_t ignored;

    for (int64_t i = from; i < to; i++) {
        step(grid, i, late_ns, &ignored);
    }
}

static void test_the_first_ones_place_it(void **state)
{
    struct tt_arrival_grid grid = {0};
    int64_t late_ns = -1;

    (void)state;
    for (int64_t i = 0; i < SETTLED; i++) {
        assert_false(step(&grid, i, 0, &late_ns));
    }
    assert_true(step(&grid, SETTLED, 777, &late_ns));
    assert_true(late_ns == 777);
}

/* A stall of 300 ms that is made good is seen as it was, and what follows is on time. */
static void test_a_stall_does_not_move_it(void **state)
{
    struct tt_arrival_grid grid = {0};
    int64_t late_ns = 0;

    (void)state;
    run(&grid, 0, 16000, 0);
    for (int64_t i = 16000; i < 18400; i++) {
        int64_t waited_ns = (18400 - i) * INTERVAL_NS;

        assert_true(step(&grid, i, waited_ns, &late_ns));
        assert_true(llabs(late_ns - waited_ns) < 50000);
    }
    assert_true(step(&grid, 18400, 0, &late_ns));
    assert_true(llabs(late_ns) < 50000);
    assert_true(grid.moves == 0);
}

/* A pause after which the talker goes on 300 ms later, for good. */
static void test_a_pause_moves_it_once(void **state)
{
    const int64_t pause_ns = 300 * TT_NS_PER_MS;
    struct tt_arrival_grid grid = {0};
    int64_t late_ns = 0;

    (void)state;
    run(&grid, 0, 16000, 0);
    assert_true(step(&grid, 16000, pause_ns, &late_ns));
    assert_true(llabs(late_ns - pause_ns) < 1000);
    run(&grid, 16001, 30000, pause_ns);
    assert_true(grid.moves == 1);
    assert_true(step(&grid, 30000, pause_ns, &late_ns));
    assert_true(llabs(late_ns) < 1000);
}

/* One that is late just then stands for nobody. */
static void test_a_late_one_is_not_where_it_moves(void **state)
{
    const int64_t pause_ns = 300 * TT_NS_PER_MS;
    struct tt_arrival_grid grid = {0};
    int64_t late_ns = 0;
    int64_t i;

    (void)state;
    run(&grid, 0, 16000, 0);
    for (i = 16000; grid.moves == 0; i++) {
        assert_true(i < 25000);
        step(&grid, i, pause_ns + (i > 23995 ? 400 * TT_NS_PER_US : 0), &late_ns);
    }
    run(&grid, i, i + 500, pause_ns);
    assert_true(step(&grid, i + 500, pause_ns, &late_ns));
    assert_true(llabs(late_ns) < 50 * TT_NS_PER_US);
    assert_true(llabs(tt_media_clock_drift_ppb(&grid.clock)) < 1000);
}

/* The same before the drift is known: it makes no drift of the pause. */
static void test_an_early_pause_bends_nothing(void **state)
{
    const int64_t pause_ns = 5 * TT_NS_PER_S;

    (void)state;
    for (int64_t before = 100; before < 8100; before += 500) {
        struct tt_arrival_grid grid = {0};
        int64_t late_ns = 0;

        run(&grid, 0, before, 0);
        run(&grid, before, before + 9000, pause_ns);
        assert_true(grid.moves == 1);
        assert_true(step(&grid, before + 9000, pause_ns, &late_ns));
        assert_true(llabs(late_ns) < 1000);
        assert_true(llabs(tt_media_clock_drift_ppb(&grid.clock)) < 1000);
    }
}

/* One of less than 100 ms that is made good, in the first second. */
static void test_an_early_stall_bends_nothing(void **state)
{
    static const int64_t stalls[] = {10, 16, 80, 400, 790};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(stalls); k++) {
        for (int64_t before = 900; before < 8100; before += 600) {
            struct tt_arrival_grid grid = {0};
            uint64_t random = 5;
            int64_t late_ns;

            for (int64_t i = 0; i < before + stalls[k] + 4000; i++) {
                int64_t jitter_ns = (int64_t)random_below(&random, 2000) - 1000;
                int64_t waited = i < before ? 0 : before + stalls[k] - i;

                step(&grid, i, jitter_ns + (waited > 0 ? waited * INTERVAL_NS : 0), &late_ns);
                assert_true(i < before || waited > 0 || llabs(late_ns - jitter_ns) < 2000);
            }
            assert_true(grid.moves == 0);
            assert_true(llabs(tt_media_clock_drift_ppb(&grid.clock)) < 2000);
        }
    }
}

/* The next PDU of a talker whose media clock is 20 ppm slow, and which stood still for so long. */
static bool step_stamped(struct tt_arrival_grid *grid, int64_t i, int64_t stalled_ns,
                         int64_t late_ns, int64_t *ret_late_ns)
{
    int64_t due_ns = START_NS + i * INTERVAL_NS + i * INTERVAL_NS / 50000 + stalled_ns;
    const struct tt_conduct_pdu pdu = {.period = tt_conduct_period(6, 48000),
                                       .arrival_ns = due_ns + late_ns,
                                       .ahead = i > 0,
                                       .restart = i == 0,
                                       .readable = true,
                                       .stamped = true,
                                       .stamp = (uint32_t)(due_ns + 2 * TT_NS_PER_MS)};

    return tt_arrival_grid_step(grid, &pdu, ret_late_ns);
}

/* A talker that stood still and goes on where it would be now: its stamps tell. What it was behind
 * with comes at once. The line that was found still holds. */
static void test_stamps_tell_of_a_pause(void **state)
{
    static const int64_t pauses_ns[] = {1730 * TT_NS_PER_US, 300 * TT_NS_PER_MS, 9 * TT_NS_PER_S};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(pauses_ns); k++) {
        struct tt_arrival_grid grid = {0};
        uint64_t random = 5;
        int64_t late_ns = 0;
        int64_t behind_ns = k > 0 ? 20 * TT_NS_PER_MS : 0;

        for (int64_t i = 0; i < 40000; i++) {
            step_stamped(&grid, i, 0, (int64_t)random_below(&random, 10000), &late_ns);
        }
        for (int64_t i = 40000; i<60000; i++, behind_ns -= behind_ns> 0 ? INTERVAL_NS : 0) {
            assert_true(step_stamped(&grid, i, pauses_ns[k],
                                     behind_ns + (int64_t)random_below(&random, 10000), &late_ns));
            assert_true(llabs(late_ns - behind_ns) < 8000);
            assert_true(llabs(tt_media_clock_drift_ppb(&grid.clock) + 20000) < 2000);
        }
        assert_true(grid.moves == 1);
    }
}

/* Stamps alone move nothing: one that is wrong, and a talker that changes its transit time. */
static void test_stamps_alone_move_nothing(void **state)
{
    struct tt_arrival_grid grid = {0};
    int64_t late_ns = 0;

    (void)state;
    for (int64_t i = 0; i < 40000; i++) {
        int64_t wrong_ns = i % 5000 == 4999 || i > 30000 ? 7 * TT_NS_PER_MS : 0;

        step_stamped(&grid, i, wrong_ns, -wrong_ns, &late_ns);
        assert_true(llabs(late_ns) < 1000);
    }
    assert_true(grid.moves == 0);
}

/* A talker whose clock is 80 ppm slow, and arrivals that jitter by 20 us. */
static void test_drift_is_followed(void **state)
{
    struct tt_arrival_grid grid = {0};
    uint64_t random = 5;
    int64_t late_ns;
    int64_t worst_ns = 0;
    int64_t ppb;

    (void)state;
    assert_false(tt_arrival_grid_knows_drift(&grid));
    for (int64_t i = 0; i < 160000; i++) {
        int64_t drift_ns = i * INTERVAL_NS * 80 / 1000000;

        if (step(&grid, i, drift_ns + (int64_t)random_below(&random, 20000), &late_ns) &&
            i > 80000) {
            worst_ns = llabs(late_ns) > worst_ns ? llabs(late_ns) : worst_ns;
        }
    }
    ppb = tt_media_clock_drift_ppb(&grid.clock);
    assert_true(tt_arrival_grid_knows_drift(&grid));
    assert_true(ppb > -81000 && ppb < -79000);
    assert_true(worst_ns > 9000 && worst_ns < 12000);
    assert_true(grid.moves == 0);
}

static void test_a_restart_places_it_anew(void **state)
{
    struct tt_arrival_grid grid = {0};
    int64_t late_ns = 0;

    (void)state;
    run(&grid, 0, 16000, 0);
    assert_false(step(&grid, 0, 5 * TT_NS_PER_S, &late_ns));
    run(&grid, 1, SETTLED, 5 * TT_NS_PER_S);
    assert_true(step(&grid, SETTLED, 5 * TT_NS_PER_S, &late_ns));
    assert_true(llabs(late_ns) < 1000);
    assert_true(grid.moves == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_ones_place_it),
        cmocka_unit_test(test_a_stall_does_not_move_it),
        cmocka_unit_test(test_a_pause_moves_it_once),
        cmocka_unit_test(test_a_late_one_is_not_where_it_moves),
        cmocka_unit_test(test_an_early_pause_bends_nothing),
        cmocka_unit_test(test_an_early_stall_bends_nothing),
        cmocka_unit_test(test_stamps_tell_of_a_pause),
        cmocka_unit_test(test_stamps_alone_move_nothing),
        cmocka_unit_test(test_drift_is_followed),
        cmocka_unit_test(test_a_restart_places_it_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
