/*
 * Who releases packets: a table of what administrators set up, and what follows for a priority.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <linux/pkt_sched.h>

#include "base/attr.h"
#include "run/pace.h"

#define ETF(at, delta)                                                                             \
    {                                                                                              \
        .kind = "etf", .handle = 0x20000, .parent = (at), .clockid = CLOCK_TAI,                    \
        .delta_ns = (delta)                                                                        \
    }
#define PLAIN(kind_, handle_, at)                                                                  \
    {                                                                                              \
        .kind = kind_, .handle = (handle_), .parent = (at)                                         \
    }
/* Priority 3 to class 0, 2 to class 1, the others to class 2; queues 1@0 1@1 2@2. */
#define MAPPED(kind_)                                                                              \
    {                                                                                              \
        .kind = kind_, .handle = 0x10000, .parent = TC_H_ROOT, .classes = 3,                       \
        .class_of_priority = {2, 2, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},                     \
        .queue_count = {1, 1, 2}, .queue_offset = {                                                \
            0,                                                                                     \
            1,                                                                                     \
            2                                                                                      \
        }                                                                                          \
    }

struct pace_case {
    const char *what;
    struct tt_qdisc qdiscs[6];
    int priority;
    enum tt_pace_verdict pace;
    int64_t delta_ns;
    int etf; /* index of the one named; -1: none */
};

static const struct pace_case cases[] = {
    {"nothing at all", {{.kind = ""}}, 3, TT_PACE_NO_ETF, 0, -1},
    {"pfifo_fast", {PLAIN("pfifo_fast", 0, TC_H_ROOT)}, 3, TT_PACE_NO_ETF, 0, -1},
    {"etf as root", {ETF(TC_H_ROOT, 5)}, 3, TT_PACE_KEPT, 5, 0},
    {"etf as root, not first",
     {PLAIN("clsact", 0, TC_H_CLSACT), ETF(TC_H_ROOT, 5)},
     0,
     TT_PACE_KEPT,
     5,
     1},
    {"mqprio, etf on its queue", {MAPPED("mqprio"), ETF(0x10001, 7)}, 3, TT_PACE_KEPT, 7, 1},
    {"priorities wrap at 16", {MAPPED("mqprio"), ETF(0x10001, 7)}, 19, TT_PACE_KEPT, 7, 1},
    {"mqprio, etf on the queue of another class",
     {MAPPED("mqprio"), ETF(0x10001, 7)},
     2,
     TT_PACE_OTHER_QUEUE,
     0,
     -1},
    {"mqprio, no etf", {MAPPED("mqprio"), PLAIN("pfifo", 0, 0x10001)}, 3, TT_PACE_NO_ETF, 0, -1},
    {"mqprio, etf of another root",
     {MAPPED("mqprio"), ETF(0x30001, 7)},
     3,
     TT_PACE_OTHER_QUEUE,
     0,
     -1},
    {"two queues, one with etf",
     {MAPPED("mqprio"), ETF(0x10003, 7)},
     0,
     TT_PACE_SOME_QUEUES,
     0,
     -1},
    {"two queues, both with etf",
     {MAPPED("mqprio"), ETF(0x10003, 7), ETF(0x10004, 9)},
     0,
     TT_PACE_KEPT,
     9,
     2},
    {"two queues, one etf with delta 0",
     {MAPPED("mqprio"), ETF(0x10003, 7), ETF(0x10004, 0)},
     0,
     TT_PACE_DELTA,
     0,
     2},
    {"taprio, etf on its queue", {MAPPED("taprio"), ETF(0x10001, 7)}, 3, TT_PACE_KEPT, 7, 1},
    {"taprio, no etf", {MAPPED("taprio")}, 3, TT_PACE_NO_ETF, 0, -1},
    {"mqprio, cbs, etf",
     {MAPPED("mqprio"), PLAIN("cbs", 0x30000, 0x10001), ETF(0x30001, 7)},
     3,
     TT_PACE_KEPT,
     7,
     2},
    {"cbs as root, etf",
     {PLAIN("cbs", 0x30000, TC_H_ROOT), ETF(0x30001, 7)},
     3,
     TT_PACE_KEPT,
     7,
     1},
    {"mq, etf everywhere",
     {PLAIN("mq", 0x10000, TC_H_ROOT), ETF(0x10002, 7), ETF(0x10001, 8)},
     3,
     TT_PACE_KEPT,
     8,
     2},
    {"mq, etf on one queue",
     {PLAIN("mq", 0x10000, TC_H_ROOT), ETF(0x10001, 7), PLAIN("pfifo_fast", 0, 0x10002)},
     3,
     TT_PACE_SOME_QUEUES,
     0,
     -1},
    {"prio, etf below",
     {PLAIN("prio", 0x10000, TC_H_ROOT), ETF(0x10001, 7)},
     3,
     TT_PACE_OTHER_QUEUE,
     0,
     -1},
    {"delta 0", {ETF(TC_H_ROOT, 0)}, 3, TT_PACE_DELTA, 0, 0},
    {"another clock",
     {{.kind = "etf", .parent = TC_H_ROOT, .clockid = CLOCK_MONOTONIC, .delta_ns = 5}},
     3,
     TT_PACE_CLOCK,
     0,
     0},
    {"deadline mode",
     {{.kind = "etf",
       .parent = TC_H_ROOT,
       .clockid = CLOCK_TAI,
       .delta_ns = 5,
       .deadline_mode = true}},
     3,
     TT_PACE_DEADLINE,
     0,
     0},
};

static size_t length(const struct pace_case *c)
{
    size_t n = 0;

    while (n < TT_COUNT_OF(c->qdiscs) && c->qdiscs[n].kind[0] != '\0') {
        n++;
    }
    return n;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        const struct pace_case *c = &cases[i];
        struct tt_pace_found found;

        tt_pace_find(c->qdiscs, length(c), c->priority, &found);
        if (found.pace != c->pace || found.delta_ns != c->delta_ns ||
            found.etf != (c->etf < 0 ? NULL : &c->qdiscs[c->etf])) {
            fail_msg("%s: pace %d (%s), delta %lld", c->what, (int)found.pace,
                     tt_pace_text(found.pace), (long long)found.delta_ns);
        }
    }
}

static void test_offload(void **state)
{
    struct tt_qdisc q[] = {MAPPED("mqprio"), ETF(0x10003, 7), ETF(0x10004, 7)};
    struct tt_pace_found found;

    (void)state;
    /* Only what all queues do can be relied on. */
    for (int with = 0; with < 4; with++) {
        q[1].offload = (with & 1) != 0;
        q[2].offload = (with & 2) != 0;
        tt_pace_find(q, TT_COUNT_OF(q), 0, &found);
        assert_int_equal(found.pace, TT_PACE_KEPT);
        assert_int_equal(found.offload, with == 3);
        assert_ptr_equal(found.root, &q[0]);
    }
}

static bool in_the_way(const struct tt_qdisc *q, size_t n, int priority)
{
    struct tt_pace_found found;

    tt_pace_find(q, n, priority, &found);
    return found.etf_in_the_way;
}

static void test_in_the_way(void **state)
{
    struct tt_qdisc q[] = {MAPPED("mqprio"), ETF(0x10001, 7)};

    (void)state;
    assert_true(in_the_way(q, 2, 3));
    assert_false(in_the_way(q, 2, 2)); /* another queue */
    assert_false(in_the_way(q, 1, 3)); /* none */
    q[1].delta_ns = 0;
    assert_true(in_the_way(q, 2, 3));
    q[1].parent = 0x10003;
    assert_true(in_the_way(q, 2, 0)); /* on one of two queues */
}

static void test_assist_lets_pass(void **state)
{
    struct tt_qdisc q[] = {MAPPED("taprio"), ETF(0x10001, 7)};

    (void)state;
    q[0].txtime_assist = true;
    assert_true(in_the_way(q, 2, 3));
    q[1].skip_sock_check = true;
    assert_false(in_the_way(q, 2, 3));
}

static void test_class_out_of_range(void **state)
{
    struct tt_qdisc q[] = {MAPPED("mqprio"), ETF(0x10001, 7)};
    struct tt_pace_found found;

    (void)state;
    q[0].class_of_priority[3] = 200;
    tt_pace_find(q, TT_COUNT_OF(q), 3, &found);
    assert_int_equal(found.pace, TT_PACE_OTHER_QUEUE);
}

static void test_texts(void **state)
{
    (void)state;
    for (int i = 0; i < TT_PACES; i++) {
        assert_non_null(tt_pace_text((enum tt_pace_verdict)i));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_offload),
        cmocka_unit_test(test_in_the_way),
        cmocka_unit_test(test_assist_lets_pass),
        cmocka_unit_test(test_class_out_of_range),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
