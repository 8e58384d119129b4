/*
 * Findings: the table of what kernels accept and refuse, each driver's limits, and what never gets
 * out. Where tactus is stricter than the kernel, the case says so.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "gate/lint.h"

#define MBIT INT64_C(1000000)

struct scene {
    struct tt_gate_port port;
    struct tt_gate_entry entries[200];
    struct tt_flow flow;
    struct tt_gate_finding items[50];
    struct tt_gate_findings findings;
};

/* tc-taprio(8)'s set-up: 3 classes on 8 queues, 100 Mbit/s, in software. */
static void scene_init(struct scene *s)
{
    static const uint8_t map[] = {2, 2, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};

    *s = (struct scene){.port = {.rate_bps = 100 * MBIT,
                                 .kernel = 6012,
                                 .tx_queues = 8,
                                 .class_count = 3,
                                 .clock_given = true,
                                 .has_schedule = true,
                                 .size_table = true}};
    snprintf(s->port.name, sizeof(s->port.name), "eth0");
    memcpy(s->port.class_of_priority, map, sizeof(map));
    for (unsigned c = 0; c < 3; c++) {
        s->port.queue_count[c] = 1;
        s->port.queue_offset[c] = (uint16_t)c;
    }
    s->entries[0] = (struct tt_gate_entry){TT_GATE_SET, 1, 300000};
    s->entries[1] = (struct tt_gate_entry){TT_GATE_SET, 3, 300000};
    s->entries[2] = (struct tt_gate_entry){TT_GATE_SET, 4, 400000};
    s->port.schedule.entry_count = 3;
    s->findings = (struct tt_gate_findings){s->items, TT_COUNT_OF(s->items), 0};
}

static void run(struct scene *s)
{
    struct tt_network network = {&s->port, 1, &s->flow, s->flow.hop_count > 0};
    struct tt_gate_lint_options options = {.now_tai_ns = 1000,
                                           .software_margin_ns = TT_GATE_SOFTWARE_MARGIN_NS};

    s->port.schedule.entries = s->entries;
    if (s->port.has_schedule && tt_gate_check(&s->port.schedule) == TT_GATE_OK)
        s->port.list = tt_gate_list_new(&s->port.schedule);
    tt_gate_lint(&network, &options, &s->findings);
    tt_gate_list_free(s->port.list);
    s->port.list = NULL;
}

static const struct tt_gate_finding *find(const struct scene *s, const char *kind)
{
    for (size_t i = 0; i < s->findings.count; i++)
        if (strcmp(s->items[i].kind, kind) == 0)
            return &s->items[i];
    return NULL;
}

/* Runs it; NULL: nothing worse than a warning may be found. */
static void expect(struct scene *s, enum tt_gate_severity severity, const char *kind)
{
    run(s);
    if (!kind) {
        for (size_t i = 0; i < s->findings.count; i++)
            if (s->items[i].severity >= TT_GATE_WRONG)
                fail_msg("%s: %s", s->items[i].kind, s->items[i].what);
        return;
    }
    if (!find(s, kind))
        fail_msg("no finding %s", kind);
    assert_int_equal(find(s, kind)->severity, severity);
    assert_true(find(s, kind)->what[0] != 0);
}

static void test_accepted(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    expect(&s, TT_GATE_NOTE, NULL);
    /* Overlapping queues, with flags 0x1; and with a delay. */
    scene_init(&s);
    s.port.mode = TT_GATE_ASSIST;
    s.port.queue_offset[1] = s.port.queue_offset[2] = 0;
    s.port.txtime_delay_ns = 500000;
    expect(&s, TT_GATE_NOTE, NULL);
    /* mqprio, 8 classes on 8 queues. */
    scene_init(&s);
    s.port.has_schedule = false;
    s.port.class_count = 8;
    expect(&s, TT_GATE_NOTE, NULL);
    /* etf with a delta, on a class of its own; cbs as in tc-cbs(8). */
    scene_init(&s);
    s.port.rate_bps = 1000 * MBIT;
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 100};
    s.port.cbs[1] = (struct tt_gate_cbs){true, false, 20000, -980000, 30, -1470};
    expect(&s, TT_GATE_NOTE, NULL);
}

static void test_refused_queues(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.tx_queues = 1;
    expect(&s, TT_GATE_REFUSED, "one_queue");
    scene_init(&s);
    s.port.tx_queues = 2;
    expect(&s, TT_GATE_REFUSED, "more_classes_than_queues");
    assert_non_null(find(&s, "queue_range"));
    scene_init(&s);
    s.port.queue_offset[1] = 0;
    expect(&s, TT_GATE_REFUSED, "queues_overlap");
    scene_init(&s);
    s.port.class_count = 0;
    expect(&s, TT_GATE_REFUSED, "no_classes");
    scene_init(&s);
    s.port.below_taprio = true;
    expect(&s, TT_GATE_REFUSED, "not_root");
}

static void test_refused_clocks(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.clock_given = false;
    expect(&s, TT_GATE_REFUSED, "clock_missing");
    scene_init(&s);
    s.port.mode = TT_GATE_OFFLOAD;
    expect(&s, TT_GATE_REFUSED, "clock_with_offload");
    scene_init(&s);
    s.port.txtime_delay_ns = 1;
    expect(&s, TT_GATE_REFUSED, "delay_without_assist");
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
        run(&s);
        assert_int_equal(find(&s, "interval") != NULL, rows[i].severity != TT_GATE_NOTE);
        assert_true(!find(&s, "interval") || find(&s, "interval")->severity == rows[i].severity);
        scene_init(&s);
        s.port.rate_bps = rows[i].rate_bps;
        s.port.kernel = rows[i].kernel;
        s.port.schedule.cycle_ns = 100;
        s.port.schedule.entry_count = 2;
        run(&s);
        assert_int_equal(find(&s, "cycle_small") != NULL, rows[i].severity != TT_GATE_NOTE);
    }
}

static void test_cycles(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.schedule.entry_count = 0;
    expect(&s, TT_GATE_REFUSED, "no_entry");
    scene_init(&s);
    s.port.schedule.cycle_ns = INT64_C(2147483648);
    expect(&s, TT_GATE_REFUSED, "cycle_big");
    scene_init(&s);
    s.port.schedule.cycle_ns = 1000001;
    expect(&s, TT_GATE_WRONG, "cycle_drifts");
    scene_init(&s);
    s.port.schedule.cycle_ns = 999999;
    expect(&s, TT_GATE_WARNING, "cycle_cut");
    scene_init(&s);
    s.port.schedule.extension_ns = 1;
    expect(&s, TT_GATE_WARNING, "extension_ignored");
    scene_init(&s);
    s.entries[1].command = TT_GATE_HOLD;
    expect(&s, TT_GATE_WRONG, "hold_ignored");
    scene_init(&s);
    s.port.rate_bps = 0;
    expect(&s, TT_GATE_WARNING, "speed_unknown");
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
        expect(&s, TT_GATE_WRONG, "cbs_signs");
    }
    scene_init(&s);
    s.port.cbs[1] = (struct tt_gate_cbs){true, false, 20000, -980000, 30, -1470};
    expect(&s, TT_GATE_WARNING, "cbs_sendslope");
    scene_init(&s);
    s.port.etf[0] = (struct tt_gate_etf){.set = true};
    expect(&s, TT_GATE_WRONG, "etf_delta");
    scene_init(&s);
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 1, .other_clock = true};
    expect(&s, TT_GATE_REFUSED, "etf_clock");
    scene_init(&s);
    s.port.driver = TT_DRIVER_VETH;
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 1, .offload = true};
    expect(&s, TT_GATE_REFUSED, "etf_offload");
    scene_init(&s);
    s.port.etf[2] = (struct tt_gate_etf){.set = true, .delta_ns = 1};
    expect(&s, TT_GATE_WRONG, "etf_on_default");
    /* CBS: stmmac not on queue 0, igb on 0 and 1, enetc on 6 and 7. */
    scene_init(&s);
    s.port.driver = TT_DRIVER_STMMAC;
    s.port.cbs[0] = (struct tt_gate_cbs){true, true, 20000, -80000, 30, -1470};
    expect(&s, TT_GATE_REFUSED, "cbs_queue");
    scene_init(&s);
    s.port.driver = TT_DRIVER_IGB;
    s.port.cbs[0] = (struct tt_gate_cbs){true, true, 20000, -80000, 30, -1470};
    expect(&s, TT_GATE_NOTE, "cbs_step");
    assert_null(find(&s, "cbs_queue"));
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
            s.port.driver = tt_gate_driver_find(rows[i].name);
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
            run(&s);
            if ((find(&s, rows[i].kind) != NULL) != bad)
                fail_msg("%s, %s: %lld is %s", rows[i].name, rows[i].kind, (long long)value,
                         bad ? "taken" : "refused");
        }
}

static void test_drivers_without(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.port.mode = TT_GATE_OFFLOAD;
    s.port.clock_given = false;
    s.port.driver = TT_DRIVER_IGB;
    expect(&s, TT_GATE_REFUSED, "driver_no_gates");
    scene_init(&s);
    s.port.mode = TT_GATE_OFFLOAD;
    s.port.clock_given = false;
    s.port.driver = TT_DRIVER_ENETC;
    s.port.etf[0] = (struct tt_gate_etf){.set = true, .delta_ns = 1};
    expect(&s, TT_GATE_REFUSED, "etf_and_gates");
}

static void add_flow(struct scene *s, enum tt_flow_kind kind, unsigned priority, int64_t bytes)
{
    s->flow = (struct tt_flow){.kind = kind,
                               .priority = priority,
                               .frame_bytes = bytes,
                               .payload_bytes = bytes - 66,
                               .interval_samples = 6,
                               .rate_hz = 48000,
                               .hop_count = 1,
                               .hops = {{0, -1}}};
    snprintf(s->flow.name, sizeof(s->flow.name), "it");
}

static void test_never_sent(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    add_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.entries[0].interval_ns = 60000;
    s.entries[1].interval_ns = 40000;
    expect(&s, TT_GATE_WRONG, "never_sent");
    assert_string_equal(find(&s, "never_sent")->where, "eth0 class 0");
    assert_string_equal(find(&s, "never_sent")->what,
                        "it: a frame of 1538 bytes on the wire takes 123.04 us, and the longest "
                        "window is 100 us: never sent");
    assert_string_equal(find(&s, "never_sent")->remedy,
                        "widen it to 123.04 us, or lower the MTU by 288 bytes");
    /* A static guard band takes a full frame's time off. */
    scene_init(&s);
    add_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.port.mode = TT_GATE_OFFLOAD;
    s.port.clock_given = false;
    s.port.driver = TT_DRIVER_FELIX;
    s.entries[0].interval_ns = 100000;
    s.entries[1].interval_ns = 100000;
    expect(&s, TT_GATE_WRONG, "never_sent");
    s.port.driver = TT_DRIVER_SJA1105;
    s.findings.count = 0;
    expect(&s, TT_GATE_NOTE, NULL);
    /* 7240 bytes at once before 5.13. */
    scene_init(&s);
    add_flow(&s, TT_FLOW_BULK, 2, 1514);
    s.flow.gso_bytes = 7240;
    s.port.kernel = 5012;
    expect(&s, TT_GATE_WRONG, "whole_never_sent");
    s.port.kernel = 5013;
    s.findings.count = 0;
    run(&s);
    assert_null(find(&s, "whole_never_sent"));
}

static void test_traffic(void **state)
{
    struct scene s;

    (void)state;
    /* 4 of 123.04 in 500: 7.84 us to spare. */
    scene_init(&s);
    add_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.entries[1].interval_ns = 200000;
    expect(&s, TT_GATE_WARNING, "little_slack");
    assert_non_null(strstr(find(&s, "little_slack")->what, "7.84 us to spare"));
    scene_init(&s);
    add_flow(&s, TT_FLOW_STREAM, 3, 100);
    expect(&s, TT_GATE_WRONG, "launch_on_edge");
    s.flow.offset_ns = 1000;
    s.findings.count = 0;
    run(&s);
    assert_null(find(&s, "launch_on_edge"));
    /* 100 Mbit/s, class A: 1518 bytes every 125 us are 98.7. */
    scene_init(&s);
    add_flow(&s, TT_FLOW_STREAM, 3, 1518);
    expect(&s, TT_GATE_WRONG, "reserved_too_much");
    assert_non_null(find(&s, "window_too_small"));
    scene_init(&s);
    s.entries[1].mask = 1;
    expect(&s, TT_GATE_WARNING, "never_open");
    scene_init(&s);
    s.entries[2].mask = 1;
    expect(&s, TT_GATE_WRONG, "never_open");
    scene_init(&s);
    s.entries[2].interval_ns = 6000;
    expect(&s, TT_GATE_WRONG, "ptp_shut_out");
    scene_init(&s);
    s.entries[0].interval_ns = 10000000;
    expect(&s, TT_GATE_WARNING, "ptp_waits");
}

/* What does not fit into the list is counted. */
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
    expect(&s, TT_GATE_WARNING, "queue_by_flow");
    s.port.kernel = 6001;
    s.findings.count = 0;
    run(&s);
    assert_null(find(&s, "queue_by_flow"));
}

static void test_too_many(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.findings.capacity = 1;
    s.port.tx_queues = 2;
    s.port.clock_given = false;
    run(&s);
    assert_true(s.findings.count > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),       cmocka_unit_test(test_refused_queues),
        cmocka_unit_test(test_refused_clocks), cmocka_unit_test(test_short_intervals),
        cmocka_unit_test(test_cycles),         cmocka_unit_test(test_shapers),
        cmocka_unit_test(test_driver_limits),  cmocka_unit_test(test_drivers_without),
        cmocka_unit_test(test_never_sent),     cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_queue_by_flow),  cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
