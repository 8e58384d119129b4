/*
 * Reading one qdisc out of the kernel's message: etf, mqprio and taprio as the kernel lays them out
 * (linux/pkt_sched.h), and messages that are something else or cut short.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "base/attr.h"
#include "os/qdisc.h"
#include "os/qdisc_set.h"

static _Alignas(8) uint8_t memory[4096];

static struct nlmsghdr *begin(uint32_t handle, uint32_t parent, const char *kind)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(memory);
    struct tcmsg *tc = mnl_nlmsg_put_extra_header(message, sizeof(*tc));

    message->nlmsg_type = RTM_NEWQDISC;
    tc->tcm_ifindex = 3;
    tc->tcm_handle = handle;
    tc->tcm_parent = parent;
    if (kind) {
        mnl_attr_put_strz(message, TCA_KIND, kind);
    }
    return message;
}

static struct nlmsghdr *etf(int clockid, int delta_ns, uint32_t flags)
{
    struct tc_etf_qopt parms = {.delta = delta_ns, .clockid = clockid, .flags = flags};
    struct nlmsghdr *message = begin(0x20000, 0x10001, "etf");
    struct nlattr *options = mnl_attr_nest_start(message, TCA_OPTIONS);

    mnl_attr_put(message, TCA_ETF_PARMS, sizeof(parms), &parms);
    mnl_attr_nest_end(message, options);
    return message;
}

static struct tc_mqprio_qopt example_map(void)
{
    struct tc_mqprio_qopt map = {.num_tc = 3,
                                 .prio_tc_map = {2, 2, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                                 .hw = 1,
                                 .count = {1, 1, 2},
                                 .offset = {0, 1, 2}};

    return map;
}

static void assert_example_map(const struct tt_qdisc *q)
{
    assert_int_equal(q->classes, 3);
    assert_int_equal(q->class_of_priority[2], 1);
    assert_int_equal(q->class_of_priority[3], 0);
    assert_int_equal(q->class_of_priority[15], 2);
    assert_int_equal(q->queue_count[2], 2);
    assert_int_equal(q->queue_offset[1], 1);
    assert_int_equal(q->queue_offset[2], 2);
}

static void test_etf(void **state)
{
    struct tt_qdisc q;

    (void)state;
    assert_int_equal(tt_qdisc_parse(etf(CLOCK_TAI, 300000, TC_ETF_OFFLOAD_ON), &q), 0);
    assert_string_equal(q.kind, "etf");
    assert_int_equal(q.handle, 0x20000);
    assert_int_equal(q.parent, 0x10001);
    assert_int_equal(q.clockid, CLOCK_TAI);
    assert_int_equal(q.delta_ns, 300000);
    assert_int_equal(q.classes, 0);
    assert_true(q.offload && !q.skip_sock_check && !q.deadline_mode);
    assert_int_equal(tt_qdisc_parse(etf(CLOCK_MONOTONIC, 0, TC_ETF_SKIP_SOCK_CHECK), &q), 0);
    assert_int_equal(q.clockid, CLOCK_MONOTONIC);
    assert_true(!q.offload && q.skip_sock_check && !q.deadline_mode);
    assert_int_equal(tt_qdisc_parse(etf(CLOCK_TAI, 0, TC_ETF_DEADLINE_MODE_ON), &q), 0);
    assert_true(!q.offload && !q.skip_sock_check && q.deadline_mode);
}

static void test_mqprio(void **state)
{
    struct tc_mqprio_qopt map = example_map();
    struct nlmsghdr *message = begin(0x10000, TC_H_ROOT, "mqprio");
    struct nlattr *options = mnl_attr_nest_start(message, TCA_OPTIONS);
    struct tt_qdisc q;

    (void)state;
    /* The structure, padded, then attributes, all inside the same one. */
    memcpy(mnl_nlmsg_get_payload_tail(message), &map, sizeof(map));
    message->nlmsg_len += (uint32_t)(sizeof(map) + 3) / 4 * 4;
    mnl_attr_put_u16(message, TCA_MQPRIO_MODE, 1);
    mnl_attr_nest_end(message, options);
    assert_int_equal(tt_qdisc_parse(message, &q), 0);
    assert_string_equal(q.kind, "mqprio");
    assert_int_equal(q.parent, TC_H_ROOT);
    assert_true(q.offload);
    assert_example_map(&q);
}

static void test_taprio(void **state)
{
    static const struct {
        uint32_t flags;
        bool assist;
        bool offload;
    } cases[] = {{0, false, false}, {1, true, false}, {2, false, true}};
    struct tc_mqprio_qopt map = example_map();

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct nlmsghdr *message = begin(0x10000, TC_H_ROOT, "taprio");
        struct nlattr *options = mnl_attr_nest_start(message, TCA_OPTIONS);
        struct tt_qdisc q;

        mnl_attr_put(message, TCA_TAPRIO_ATTR_PRIOMAP, sizeof(map), &map);
        mnl_attr_put_u32(message, TCA_TAPRIO_ATTR_SCHED_CLOCKID, CLOCK_TAI);
        mnl_attr_put_u32(message, TCA_TAPRIO_ATTR_FLAGS, cases[i].flags);
        mnl_attr_nest_end(message, options);
        assert_int_equal(tt_qdisc_parse(message, &q), 0);
        assert_example_map(&q);
        assert_int_equal(q.txtime_assist, cases[i].assist);
        assert_int_equal(q.offload, cases[i].offload);
    }
}

static void test_others(void **state)
{
    struct nlmsghdr *message = begin(0, TC_H_ROOT, "cbs");
    struct tt_qdisc q;

    (void)state;
    mnl_attr_put_u8(message, TCA_HW_OFFLOAD, 1);
    assert_int_equal(tt_qdisc_parse(message, &q), 0);
    assert_string_equal(q.kind, "cbs");
    assert_true(q.offload);
    assert_int_equal(tt_qdisc_parse(begin(0, 0, "a-kind-with-a-very-long-name"), &q), 0);
    assert_string_equal(q.kind, "a-kind-with-a-v");
}

static void test_broken(void **state)
{
    struct nlmsghdr *message = begin(0, TC_H_ROOT, "mqprio");
    struct tt_qdisc q = {.handle = 77};

    (void)state;
    mnl_attr_put_u32(message, TCA_OPTIONS, 3); /* shorter than a map */
    message->nlmsg_type = RTM_DELQDISC;
    assert_int_equal(tt_qdisc_parse(message, &q), -EINVAL);
    assert_int_equal(tt_qdisc_parse(begin(0, 0, NULL), &q), -EINVAL);
    message = mnl_nlmsg_put_header(memory);
    message->nlmsg_type = RTM_NEWQDISC;
    assert_int_equal(tt_qdisc_parse(message, &q), -EINVAL);
    assert_int_equal(q.handle, 77); /* untouched */

    message = begin(0, TC_H_ROOT, "mqprio");
    mnl_attr_put_u32(message, TCA_OPTIONS, 3);
    assert_int_equal(tt_qdisc_parse(message, &q), 0);
    assert_int_equal(q.classes, 0);
    assert_int_equal(tt_qdisc_parse(begin(0, TC_H_ROOT, "etf"), &q), 0);
    assert_int_equal(q.delta_ns, 0);
}

static void put_schedule(struct nlmsghdr *message, int64_t base_ns)
{
    static const struct tt_qdisc_entry entries[] = {{0, 2, 500000}, {1, 1, 400000}};
    const int64_t cycle_ns = 1000000;
    struct nlattr *list;

    mnl_attr_put(message, TCA_TAPRIO_ATTR_SCHED_BASE_TIME, sizeof(base_ns), &base_ns);
    mnl_attr_put(message, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, sizeof(cycle_ns), &cycle_ns);
    list = mnl_attr_nest_start(message, TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST);
    for (size_t i = 0; i < TT_COUNT_OF(entries); i++) {
        struct nlattr *entry = mnl_attr_nest_start(message, TCA_TAPRIO_SCHED_ENTRY);

        mnl_attr_put_u32(message, TCA_TAPRIO_SCHED_ENTRY_INDEX, (uint32_t)i);
        mnl_attr_put_u8(message, TCA_TAPRIO_SCHED_ENTRY_CMD, entries[i].command);
        mnl_attr_put_u32(message, TCA_TAPRIO_SCHED_ENTRY_GATE_MASK, entries[i].mask);
        mnl_attr_put_u32(message, TCA_TAPRIO_SCHED_ENTRY_INTERVAL, entries[i].interval_ns);
        mnl_attr_nest_end(message, entry);
    }
    mnl_attr_nest_end(message, list);
}

/* A schedule at work, with a size table; and one that is pending only. */
static void test_schedule(void **state)
{
    (void)state;
    for (int pending = 0; pending < 2; pending++) {
        const struct tc_mqprio_qopt map = example_map();
        struct nlmsghdr *message = begin(0x1000000, TC_H_ROOT, "taprio");
        struct nlattr *options = mnl_attr_nest_start(message, TCA_OPTIONS);
        const int32_t clockid = CLOCK_TAI;
        struct tt_qdisc_gates gates;

        mnl_attr_put(message, TCA_TAPRIO_ATTR_PRIOMAP, sizeof(map), &map);
        mnl_attr_put(message, TCA_TAPRIO_ATTR_SCHED_CLOCKID, sizeof(clockid), &clockid);
        if (pending) {
            struct nlattr *admin = mnl_attr_nest_start(message, TCA_TAPRIO_ATTR_ADMIN_SCHED);

            put_schedule(message, 7);
            mnl_attr_nest_end(message, admin);
        } else {
            put_schedule(message, -7);
        }
        mnl_attr_nest_end(message, options);
        if (!pending) {
            mnl_attr_nest_end(message, mnl_attr_nest_start(message, TCA_STAB));
        }
        assert_int_equal(tt_qdisc_gates_parse(message, &gates), 0);
        assert_int_equal(gates.pending, pending);
        assert_int_equal(gates.size_table, !pending);
        assert_true(gates.has_clock && gates.clockid == CLOCK_TAI);
        assert_int_equal(gates.base_ns, pending ? 7 : -7);
        assert_int_equal(gates.cycle_ns, 1000000);
        assert_int_equal(gates.entry_count, 2);
        assert_int_equal(gates.entries[0].mask, 2);
        assert_int_equal(gates.entries[1].command, 1);
        assert_int_equal(gates.entries[1].interval_ns, 400000);
        free(gates.entries);
    }
    assert_int_equal(tt_qdisc_gates_parse(etf(CLOCK_TAI, 1, 0), &(struct tt_qdisc_gates){0}),
                     -EINVAL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_etf),    cmocka_unit_test(test_mqprio),
        cmocka_unit_test(test_taprio), cmocka_unit_test(test_others),
        cmocka_unit_test(test_broken), cmocka_unit_test(test_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
