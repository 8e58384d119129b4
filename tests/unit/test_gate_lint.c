/*
 * Findings: the table of what kernels accept and refuse, and each driver's limits. Where tactus is
 * stricter than the kernel, the case says so.
 */
#include "test.h"

#include <string.h>

#include "gate_scene.h"

static void test_accepted(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    scene_expect(&s, TT_GATE_NOTE, NULL);
    /* Overlapping queues, with flags 0x1; and with a delay. */
    scene_init(&s);
    s.port.mode = TT_GATE_ASSIST;
    s.port.queue_offset[1] = s.port.queue_offset[2] = 0;
    s.port.txtime_delay_ns = 500000;
    scene_expect(&s, TT_GATE_NOTE, NULL);
    /* mqprio, 8 classes on 8 queues. */
    scene_init(&s);
    s.port.has_schedule = false;
    s.port.class_count = 8;
    for (unsigned c = 0; c < 8; c++) {
        s.port.queue_count[c] = 1;
        s.port.queue_offset[c] = (uint16_t)c;
    }
    scene_expect(&s, TT_GATE_NOTE, NULL);
    /* etf with a delta, on a class of its own; cbs as in tc-cbs(8). */
    scene_init(&s);
    s.port.rate_bps = 1000 * MBIT;
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 100};
    s.port.cbs[1] = (struct tt_gate_cbs){true, false, 20000, -980000, 30, -1470};
    scene_expect(&s, TT_GATE_NOTE, NULL);
}

static void test_refused_queues(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.tx_queues = 1;
    scene_expect(&s, TT_GATE_REFUSED, "one_queue");
    scene_init(&s);
    s.port.tx_queues = 2;
    scene_expect(&s, TT_GATE_REFUSED, "more_classes_than_queues");
    assert_non_null(scene_find(&s, "queue_range"));
    scene_init(&s);
    s.port.queue_offset[1] = 0;
    scene_expect(&s, TT_GATE_REFUSED, "queues_overlap");
    scene_init(&s);
    s.port.class_count = 0;
    scene_expect(&s, TT_GATE_REFUSED, "no_classes");
    scene_init(&s);
    s.port.below_taprio = true;
    scene_expect(&s, TT_GATE_REFUSED, "not_root");
}

static void test_refused_clocks(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.clock_given = false;
    scene_expect(&s, TT_GATE_REFUSED, "clock_missing");
    scene_init(&s);
    s.port.mode = TT_GATE_OFFLOAD;
    scene_expect(&s, TT_GATE_REFUSED, "clock_with_offload");
    scene_init(&s);
    s.port.txtime_delay_ns = 1;
    scene_expect(&s, TT_GATE_REFUSED, "delay_without_assist");
}

/* S 01 300, S 02 1700; and a cycle of 100 ns: refused by 6.12 at 100 Mbit/s, where 60 bytes take
 * 4800 ns; 6.1 takes both (tactus is stricter: it calls them wrong); at 10 Gbit/s 60 bytes take 48
 * ns. */
static void test_short_intervals(void **state)
{
    static const struct {
        int64_t rate_bps;
        unsigned kernel;
        enum tt_gate_severity severity;
    } rows[] = {{100 * MBIT, 6012, TT_GATE_REFUSED},
                {100 * MBIT, 6001, TT_GATE_WRONG},
                {100 * MBIT, 0, TT_GATE_REFUSED},
                {10000 * MBIT, 6012, TT_GATE_NOTE}};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++) {
        struct scene s;

        scene_init(&s);
        s.port.rate_bps = rows[i].rate_bps;
        s.port.kernel = rows[i].kernel;
        s.entries[0] = (struct tt_gate_entry){TT_GATE_SET, 1, 300};
        s.entries[1] = (struct tt_gate_entry){TT_GATE_SET, 2, 1700};
        s.port.schedule.entry_count = 2;
        scene_run(&s);
        assert_int_equal(scene_find(&s, "interval") != NULL, rows[i].severity != TT_GATE_NOTE);
        assert_true(!scene_find(&s, "interval") ||
                    scene_find(&s, "interval")->severity == rows[i].severity);
        scene_init(&s);
        s.port.rate_bps = rows[i].rate_bps;
        s.port.kernel = rows[i].kernel;
        s.port.schedule.cycle_ns = 100;
        s.port.schedule.entry_count = 2;
        scene_run(&s);
        assert_int_equal(scene_find(&s, "cycle_small") != NULL, rows[i].severity != TT_GATE_NOTE);
    }
}

static void test_cycles(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.schedule.entry_count = 0;
    scene_expect(&s, TT_GATE_REFUSED, "no_entry");
    scene_init(&s);
    s.port.schedule.cycle_ns = INT64_C(2147483648);
    scene_expect(&s, TT_GATE_REFUSED, "cycle_big");
    scene_init(&s);
    s.port.schedule.cycle_ns = 1000001;
    scene_expect(&s, TT_GATE_WRONG, "cycle_drifts");
    scene_init(&s);
    s.port.schedule.cycle_ns = 999999;
    scene_expect(&s, TT_GATE_WARNING, "cycle_cut");
    scene_init(&s);
    s.port.schedule.extension_ns = 1;
    scene_expect(&s, TT_GATE_WARNING, "extension_ignored");
    scene_init(&s);
    s.entries[1].command = TT_GATE_HOLD;
    scene_expect(&s, TT_GATE_WRONG, "hold_ignored");
    scene_init(&s);
    s.port.rate_bps = 0;
    scene_expect(&s, TT_GATE_WARNING, "speed_unknown");
}

static void test_shapers(void **state)
{
    static const struct tt_gate_cbs wrong[] = {{true, false, 0, 0, 0, 0},
                                               {true, false, 20000, 888, 30, -1470},
                                               {true, false, 20000, -980000, 30, 75}};
    struct scene s;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(wrong); i++) {
        scene_init(&s);
        s.port.cbs[1] = wrong[i];
        scene_expect(&s, TT_GATE_WRONG, "cbs_signs");
    }
    scene_init(&s);
    s.port.cbs[1] = (struct tt_gate_cbs){true, false, 20000, -980000, 30, -1470};
    scene_expect(&s, TT_GATE_WARNING, "cbs_sendslope");
    scene_init(&s);
    s.port.etf[0] = (struct tt_gate_etf){.set = true};
    scene_expect(&s, TT_GATE_WRONG, "etf_delta");
    scene_init(&s);
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 1, .other_clock = true};
    scene_expect(&s, TT_GATE_REFUSED, "etf_clock");
    scene_init(&s);
    s.port.driver = TT_DRIVER_VETH;
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 1, .offload = true};
    scene_expect(&s, TT_GATE_REFUSED, "etf_offload");
    scene_init(&s);
    s.port.etf[2] = (struct tt_gate_etf){.set = true, .delta_ns = 1};
    scene_expect(&s, TT_GATE_WRONG, "etf_on_default");
    /* CBS: stmmac not on queue 0, igb on 0 and 1, enetc on 6 and 7. */
    scene_init(&s);
    s.port.driver = TT_DRIVER_STMMAC;
    s.port.cbs[0] = (struct tt_gate_cbs){true, true, 20000, -80000, 30, -1470};
    scene_expect(&s, TT_GATE_REFUSED, "cbs_queue");
    scene_init(&s);
    s.port.driver = TT_DRIVER_IGB;
    s.port.cbs[0] = (struct tt_gate_cbs){true, true, 20000, -80000, 30, -1470};
    scene_expect(&s, TT_GATE_NOTE, "cbs_step");
    assert_null(scene_find(&s, "cbs_queue"));
}

/* One limit of each driver with gates in hardware, just broken, and just kept. */
static void test_driver_limits(void **state)
{
    static const struct {
        const char *name;
        const char *kind;
        int64_t good, bad; /* of what the case varies */
        enum { EXTENSION, HOLD, OPENINGS, BASE, ENTRIES, INTERVAL, CYCLE } what;
    } rows[] = {
        {"igc", "driver_extension", 0, 1, EXTENSION},
        {"igc", "driver_set_only", 0, 1, HOLD},
        {"igc", "driver_opens_once", 0, 1, OPENINGS},
        {"igc", "driver_base", 1000, 1001, BASE},
        {"stmmac", "driver_entries", 64, 65, ENTRIES},
        {"stmmac", "driver_interval", 65535, 65536, INTERVAL},
        {"am65-cpsw", "driver_extension", 0, 1, EXTENSION},
        {"am65-cpsw", "driver_entries", 64, 65, ENTRIES},
        {"felix", "driver_entries", 63, 64, ENTRIES},
        {"felix", "driver_cycle", 1000000000, 1000000001, CYCLE},
        {"lan966x", "driver_extension", 0, 1, EXTENSION},
        {"lan966x", "driver_interval", 1000, 999, INTERVAL},
        {"lan966x", "driver_cycle", 1000000000, 1000000001, CYCLE},
        {"sja1105", "driver_ticks", 200000, 200100, INTERVAL},
        {"hellcreek", "driver_set_only", 0, 1, HOLD},
        {"hellcreek", "driver_extension", 0, 1, EXTENSION},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++)
        for (int bad = 0; bad < 2; bad++) {
            int64_t value = bad ? rows[i].bad : rows[i].good;
            struct scene s;

            scene_init(&s);
            tt_gate_driver_set(&s.port.driver, s.port.driver_unknown, rows[i].name);
            assert_int_not_equal(s.port.driver, TT_DRIVER_OTHER);
            s.port.mode = TT_GATE_OFFLOAD;
            s.port.clock_given = false;
            s.port.rate_bps = 10000 * MBIT;
            for (int e = 0; e < 3; e++)
                s.entries[e].interval_ns = 40000;
            if (rows[i].what == EXTENSION)
                s.port.schedule.extension_ns = value;
            else if (rows[i].what == HOLD)
                s.entries[2].command = value ? TT_GATE_HOLD : TT_GATE_SET;
            else if (rows[i].what == OPENINGS) {
                s.entries[2].mask |= value ? 2 : 0;
                s.entries[1].mask = value ? 1 : 2;
                s.entries[0].mask |= value ? 2 : 0;
                s.entries[3] = (struct tt_gate_entry){TT_GATE_SET, 4, 40000};
                s.port.schedule.entry_count = 4;
            } else if (rows[i].what == BASE)
                s.port.schedule.base_tai_ns = value;
            else if (rows[i].what == ENTRIES) {
                for (int64_t e = 0; e < value; e++)
                    s.entries[e] = (struct tt_gate_entry){TT_GATE_SET, 1u << e % 3, 2000};
                s.port.schedule.entry_count = (size_t)value;
            } else if (rows[i].what == INTERVAL)
                s.entries[1].interval_ns = value;
            else
                s.port.schedule.cycle_ns = value;
            scene_run(&s);
            if ((scene_find(&s, rows[i].kind) != NULL) != bad)
                fail_msg("%s, %s: %lld is %s", rows[i].name, rows[i].kind, (long long)value,
                         bad ? "taken" : "refused");
        }
}

/* mqprio asks for its queues as taprio does. */
static void test_mqprio_queues(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.has_schedule = false;
    s.port.queue_count[2] = 6;
    scene_expect(&s, TT_GATE_NOTE, NULL);
    s.port.tx_queues = 1;
    scene_expect(&s, TT_GATE_REFUSED, "one_queue");
    s.findings.count = 0;
    s.port.tx_queues = 7;
    scene_expect(&s, TT_GATE_REFUSED, "queue_range");
    s.findings.count = 0;
    s.port.tx_queues = 2;
    scene_expect(&s, TT_GATE_REFUSED, "more_classes_than_queues");
    /* A bridge's queues are its own. */
    s.findings.count = 0;
    s.port.bridge = true;
    s.port.tx_queues = 1;
    scene_expect(&s, TT_GATE_NOTE, NULL);
}

static void test_drivers_without(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.mode = TT_GATE_OFFLOAD;
    s.port.clock_given = false;
    s.port.driver = TT_DRIVER_IGB;
    scene_expect(&s, TT_GATE_REFUSED, "driver_no_gates");
    scene_init(&s);
    s.port.mode = TT_GATE_OFFLOAD;
    s.port.clock_given = false;
    s.port.driver = TT_DRIVER_ENETC;
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 1};
    scene_expect(&s, TT_GATE_REFUSED, "etf_and_gates");
}

static void test_unknown_driver(void **state)
{
    static const struct {
        const char *name;
        enum tt_gate_driver driver;
    } rows[] = {
        {"fsl_enetc", TT_DRIVER_ENETC},        {"st_gmac", TT_DRIVER_STMMAC},
        {"stmmaceth", TT_DRIVER_STMMAC},       {"am65-cpsw-nuss", TT_DRIVER_AM65_CPSW},
        {"lan966x-switch", TT_DRIVER_LAN966X}, {"mscc_felix", TT_DRIVER_FELIX},
        {"e1000e", TT_DRIVER_OTHER},           {"virtio_net", TT_DRIVER_OTHER},
    };
    struct scene s;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++) {
        scene_init(&s);
        tt_gate_driver_set(&s.port.driver, s.port.driver_unknown, rows[i].name);
        assert_int_equal(s.port.driver, rows[i].driver);
        scene_run(&s);
        assert_int_equal(scene_find(&s, "driver_unknown") != NULL,
                         rows[i].driver == TT_DRIVER_OTHER);
    }
    assert_int_equal(scene_find(&s, "driver_unknown")->severity, TT_GATE_NOTE);
    assert_non_null(strstr(scene_find(&s, "driver_unknown")->what, "virtio_net"));
    assert_non_null(strstr(scene_find(&s, "driver_unknown")->remedy, "enetc"));
}

/* Found in the kernel lab: on a TAP of several queues Linux 6.12 sends nothing of a class that does
 * not happen to be in its own queue; 6.1 does. */
static void test_queue_by_flow(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.driver = TT_DRIVER_TUN;
    s.port.mode = TT_GATE_SOFTWARE;
    s.port.kernel = 6012;
    scene_expect(&s, TT_GATE_WARNING, "queue_by_flow");
    s.port.kernel = 6001;
    scene_expect_none(&s, "queue_by_flow");
}

/* What does not fit into the list is counted. */
static void test_too_many(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.findings.capacity = 1;
    s.port.tx_queues = 2;
    s.port.clock_given = false;
    scene_run(&s);
    assert_true(s.findings.count > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),        cmocka_unit_test(test_refused_queues),
        cmocka_unit_test(test_refused_clocks),  cmocka_unit_test(test_short_intervals),
        cmocka_unit_test(test_cycles),          cmocka_unit_test(test_shapers),
        cmocka_unit_test(test_driver_limits),   cmocka_unit_test(test_mqprio_queues),
        cmocka_unit_test(test_drivers_without), cmocka_unit_test(test_unknown_driver),
        cmocka_unit_test(test_queue_by_flow),   cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
