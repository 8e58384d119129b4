/*
 * Reading one qdisc out of the kernel's message: etf, mqprio and taprio as the kernel lays them out
 * (linux/pkt_sched.h), and messages that are something else or cut short.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "base/attr.h"
#include "os/qdisc.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_etf),    cmocka_unit_test(test_mqprio), cmocka_unit_test(test_taprio),
        cmocka_unit_test(test_others), cmocka_unit_test(test_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
