/*
 * What is on its way in the kernel: found by launch time, counted, lost once, and no further back
 * than the ring reaches.
 */
#include "test.h"

#include "run/flight.h"

#define CAPACITY 8

static struct tt_flight_pdu pdus[CAPACITY];

/* PDUs 0 … n - 1, launched at 1000, 1010, …, of six frames each. */
static struct tt_flight flight_of(int n)
{
    struct tt_flight flight = {.pdus = pdus, .capacity = CAPACITY};

    for (int i = 0; i < n; i++) {
        tt_flight_add(&flight, 1000 + 10 * i, 6 * i, 6);
    }
    return flight;
}

static void a_report_finds_its_pdu_once(void **state)
{
    struct tt_flight flight = flight_of(5);

    (void)state;
    assert_int_equal(tt_flight_lose(&flight, 1020)->frame, 12);
    assert_null(tt_flight_lose(&flight, 1020));
    assert_null(tt_flight_lose(&flight, 1021));
    assert_null(tt_flight_lose(&flight, 990));
    tt_flight_add(&flight, 1020, 30, 4); /* two of one time */
    assert_int_equal(tt_flight_lose(&flight, 1020)->frame, 30);
    assert_null(tt_flight_lose(&flight, 1020));
}

static void the_ring_forgets_the_oldest(void **state)
{
    struct tt_flight flight = flight_of(CAPACITY + 3);

    (void)state;
    assert_null(tt_flight_lose(&flight, 1020));
    assert_int_equal(tt_flight_lose(&flight, 1030)->frame, 18);
    assert_int_equal(tt_flight_ahead(&flight, 0), CAPACITY - 1);
}

static void what_is_ahead_is_counted_and_lost_in_order(void **state)
{
    struct tt_flight flight = flight_of(5);

    (void)state;
    assert_int_equal(tt_flight_ahead(&flight, 1040), 0);
    assert_int_equal(tt_flight_ahead(&flight, 1010), 3);
    assert_int_equal(tt_flight_lose_first(&flight, 1010)->frame, 12);
    assert_int_equal(tt_flight_ahead(&flight, 1010), 2);
    assert_int_equal(tt_flight_lose_first(&flight, 1010)->frame, 18);
    assert_int_equal(tt_flight_lose_first(&flight, 1010)->frame, 24);
    assert_int_equal(tt_flight_ahead(&flight, 1010), 0);
    assert_int_equal(tt_flight_ahead(&flight, 0), 2);
}

/* After TAI went back the new ones are launched before the old ones: those are not judged. */
static void what_lies_behind_an_earlier_launch_is_left_alone(void **state)
{
    struct tt_flight flight = flight_of(3);

    (void)state;
    tt_flight_add(&flight, 500, 18, 6);
    assert_int_equal(tt_flight_ahead(&flight, 700), 0);
    assert_int_equal(tt_flight_ahead(&flight, 400), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_finds_its_pdu_once),
        cmocka_unit_test(the_ring_forgets_the_oldest),
        cmocka_unit_test(what_is_ahead_is_counted_and_lost_in_order),
        cmocka_unit_test(what_lies_behind_an_earlier_launch_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
