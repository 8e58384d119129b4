/*
 * Findings about traffic: what never gets out, what overruns, what is left over in a window.
 */
#include "test.h"

#include <string.h>

#include "gate_scene.h"

static void test_never_sent(void **state)
{
    struct scene s;

    (void)state;
    scene_init_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.entries[0].interval_ns = 60000;
    s.entries[1].interval_ns = 40000;
    scene_expect(&s, TT_GATE_WRONG, "never_sent");
    assert_string_equal(scene_find(&s, "never_sent")->where, "eth0 class 0");
    assert_string_equal(scene_find(&s, "never_sent")->what,
                        "it: a frame of 1538 bytes on the wire takes 123.04 us, and the longest "
                        "window is 100 us: never sent");
    assert_string_equal(scene_find(&s, "never_sent")->remedy,
                        "widen it to 123.04 us, or lower the MTU by 288 bytes");
    /* A static guard band takes a full frame's time off. */
    scene_init_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.port.mode = TT_GATE_OFFLOAD;
    s.port.clock_given = false;
    s.port.driver = TT_DRIVER_FELIX;
    s.entries[0].interval_ns = 100000;
    s.entries[1].interval_ns = 100000;
    scene_expect(&s, TT_GATE_WRONG, "never_sent");
    s.port.driver = TT_DRIVER_SJA1105;
    s.findings.count = 0;
    scene_expect(&s, TT_GATE_NOTE, NULL);
    /* 7240 bytes at once before 5.13. */
    scene_init_flow(&s, TT_FLOW_BULK, 2, 1514);
    s.flow.gso_bytes = 7240;
    s.port.kernel = 5012;
    scene_expect(&s, TT_GATE_WRONG, "whole_never_sent");
    s.port.kernel = 5013;
    scene_expect_none(&s, "whole_never_sent");
}

static void test_traffic(void **state)
{
    struct scene s;

    (void)state;
    /* 4 of 123.04 in 500: 7.84 us to spare. */
    scene_init_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.entries[1].interval_ns = 200000;
    scene_expect(&s, TT_GATE_WARNING, "little_slack");
    assert_non_null(strstr(scene_find(&s, "little_slack")->what, "7.84 us to spare"));
    scene_init_flow(&s, TT_FLOW_STREAM, 3, 100);
    scene_expect(&s, TT_GATE_WRONG, "launch_on_edge");
    s.flow.offset_ns = 1000;
    scene_expect_none(&s, "launch_on_edge");
    /* 100 Mbit/s, class A: 1518 bytes every 125 us are 98.7. */
    scene_init_flow(&s, TT_FLOW_STREAM, 3, 1518);
    scene_expect(&s, TT_GATE_WRONG, "reserved_too_much");
    assert_non_null(scene_find(&s, "window_too_small"));
    scene_init(&s);
    s.entries[1].mask = 1;
    scene_expect(&s, TT_GATE_WARNING, "never_open");
    scene_init(&s);
    s.entries[2].mask = 1;
    scene_expect(&s, TT_GATE_WRONG, "never_open");
    scene_init(&s);
    s.entries[2].interval_ns = 6000;
    scene_expect(&s, TT_GATE_WRONG, "ptp_shut_out");
    scene_init(&s);
    s.entries[0].interval_ns = 10000000;
    scene_expect(&s, TT_GATE_WARNING, "ptp_waits");
}

/* What is counted is what flows send, not what there would be room for. */
static void test_slack(void **state)
{
    struct scene s;

    (void)state;
    /* 200 bytes take 17.92 us, every 125 us; from window to window it is 1 ms: 8 of them. */
    scene_init_flow(&s, TT_FLOW_STREAM, 2, 200);
    s.flow.offset_ns = 1000;
    s.port.class_of_priority[2] = 2;
    s.entries[1].mask = 1;
    s.entries[2].interval_ns = 400000;
    scene_expect(&s, TT_GATE_NOTE, NULL);
    assert_null(scene_find(&s, "little_slack"));
    s.entries[2].interval_ns = 120000;
    s.findings.count = 0;
    scene_run(&s);
    assert_non_null(
        strstr(scene_find(&s, "little_slack")->what, "6 frames in a window, and 12.48"));
}

/* Without a size table 6.12 counts 1514 bytes, 121.12 us, and sends what takes 123.04. */
static void test_overrun(void **state)
{
    struct scene s;

    (void)state;
    scene_init_flow(&s, TT_FLOW_BULK, 3, 1514);
    s.port.size_table = false;
    s.entries[0].interval_ns = 123000;
    s.entries[1].mask = 2;
    scene_expect(&s, TT_GATE_WRONG, "overrun");
    assert_null(scene_find(&s, "never_sent"));
    assert_non_null(
        strstr(scene_find(&s, "overrun")->what, "Linux 6.12 counts 1514 bytes, sends it"));
    s.port.size_table = true;
    s.findings.count = 0;
    scene_expect(&s, TT_GATE_WRONG, "never_sent");
    assert_null(scene_find(&s, "overrun"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_sent),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
