/*
 * A measurement that is interrupted ends, however slow whoever takes its entries is, and whatever
 * its load is at.
 */
#include "test.h"

#include <stdlib.h>
#include <time.h>

#include "base/ns.h"
#include "os/memory.h"
#include "os/machine.h"
#include "run/meter.h"

#define PLAN_NS   (10 * TT_NS_PER_S)
#define SLOW_NS   (50 * TT_NS_PER_MS)
#define LOST_NS   (5 * TT_NS_PER_MS)
#define APART     10 /* cycles */
#define INCIDENTS 2

static struct tt_meter_ring ring;
static struct tt_meter_machine machine;
static unsigned incidents; /* of whoever is slow */
static bool at_once;

static bool interrupted(void)
{
    return at_once || __atomic_load_n(&incidents, __ATOMIC_RELAXED) >= INCIDENTS;
}

static void take_long(void *context, const struct tt_cell *cell)
{
    struct timespec slow = {.tv_nsec = SLOW_NS};

    (void)context;
    (void)cell;
    nanosleep(&slow, NULL);
    __atomic_add_fetch(&incidents, 1, __ATOMIC_RELAXED);
}

/* A loss every few cycles: they come faster than they are taken. */
static void stumble(struct tt_meter_host *host, int64_t units, int64_t *ret_gap_ns)
{
    static unsigned cycles;

    (void)units;
    *ret_gap_ns = 0;
    if (++cycles % APART == 0)
        host->ops->sleep_until(host, host->ops->now_ns(host) + LOST_NS);
}

static void measure(enum tt_load_kind load, struct tt_meter_result *ret_result)
{
    struct tt_meter_setup setup = {
        .shape = {.rate_hz = 48000, .frames = 64, .count = 3},
        .plan_ns = PLAN_NS,
        .policy = {.kind = TT_POLICY_OTHER, .cpu = -1},
        .load = {.kind = load},
        .machine = &machine,
        .ring = &ring,
        .interrupted = interrupted,
        .incident = take_long,
    };
    const char *what;

    *ret_result =
        (struct tt_meter_result){.cell = (struct tt_cell *)calloc(1, sizeof(struct tt_cell))};
    assert_non_null(ret_result->cell);
    assert_int_equal(tt_meter_run(&setup, ret_result, &what), 0);
    free(ret_result->cell);
}

static void slow_taking(void **state)
{
    struct tt_meter_result result;
    uint64_t planned = PLAN_NS * 48 / 64 / TT_NS_PER_MS;

    (void)state;
    measure(TT_LOAD_IDLE, &result);
    assert_true(result.interrupted);
    assert_true(result.counters.expected > 0 && result.counters.expected < planned);
}

static void before_it_began(void **state)
{
    struct tt_meter_result result;

    (void)state;
    at_once = true;
    measure(TT_LOAD_COPY, &result);
    assert_true(result.interrupted);
    assert_int_equal(result.counters.expected, 0);
    assert_int_equal(result.load.left, 0);
}

/* So much longer is a unit then, and so many fewer are between two looks at the clock. */
static void corrected(void **state)
{
    struct tt_meter_machine made = machine;
    int64_t unit_ps = made.host.unit_ps;

    (void)state;
    tt_meter_machine_correct(&made, 20, 30);
    assert_int_equal(made.host.unit_ps, unit_ps * 3 / 2);
    assert_int_equal(made.chunk_units, 10000000 / made.host.unit_ps);
    tt_meter_machine_correct(&made, 20, 0);
    assert_int_equal(made.host.unit_ps, 1);
}

/* Who keeps others from starving: by the kernel's number, and how it was built. */
static void fair_server(void **state)
{
    (void)state;
    assert_false(tt_machine_has_fair_server("6.1.0-40-amd64", false));
    assert_false(tt_machine_has_fair_server("6.11.10", false));
    assert_true(tt_machine_has_fair_server("6.12.0", false));
    assert_true(tt_machine_has_fair_server("6.12", false));
    assert_true(tt_machine_has_fair_server("6.18.44-x", false));
    assert_true(tt_machine_has_fair_server("7.0", false));
    assert_false(tt_machine_has_fair_server("6.18.44", true));
    assert_false(tt_machine_has_fair_server("5.15.0", false));
    assert_false(tt_machine_has_fair_server("", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fair_server),
        cmocka_unit_test(slow_taking),
        cmocka_unit_test(before_it_began),
        cmocka_unit_test(corrected),
    };
    struct tt_meter_host_ops stumbling;
    int failed;

    tt_meter_ring_init(&ring, (struct tt_meter_entry *)tt_memory_new(
                                  TT_METER_RING_ENTRIES, sizeof(struct tt_meter_entry)));
    if (!ring.entries)
        return 1;
    tt_meter_machine_init(&machine);
    stumbling = *machine.host.ops;
    stumbling.compute = stumble;
    machine.host.ops = &stumbling;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ring.entries);
    return failed;
}
