/*
 * The list of an interface's qdiscs, as the running kernel answers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <linux/pkt_sched.h>

#include "netns.h"
#include "os/qdisc.h"

#define CAPACITY 8

static size_t list(struct tt_qdisc *qdiscs, size_t capacity)
{
    size_t n = 0;

    assert_int_equal(tt_qdisc_list("va", qdiscs, capacity, &n), 0);
    return n;
}

static void test_unknown(void **state)
{
    struct tt_qdisc q[1];
    size_t n = 9;

    (void)state;
    assert_int_equal(tt_qdisc_list("nosuch0", q, 1, &n), -ENODEV);
    assert_int_equal(n, 9);
}

static void test_default(void **state)
{
    struct tt_qdisc q[CAPACITY];

    (void)state;
    assert_int_equal(list(q, CAPACITY), 1);
    assert_string_equal(q[0].kind, "noqueue");
    assert_int_equal(q[0].parent, TC_H_ROOT);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *kind;
        const char *command;
    } cases[] = {
        {"pfifo_fast", "tc qdisc replace dev va root handle 10: pfifo_fast"},
        {"tbf", "tc qdisc replace dev va root handle 10: tbf rate 1mbit burst 10k latency 10ms"},
    };
    struct tt_qdisc q[CAPACITY];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (netns_run(cases[i].command) != 0) {
            print_message("this kernel has no %s\n", cases[i].kind);
            continue;
        }
        assert_int_equal(list(q, CAPACITY), 1);
        assert_string_equal(q[0].kind, cases[i].kind);
        assert_int_equal(q[0].handle, 0x100000);
        assert_int_equal(q[0].parent, TC_H_ROOT);
        assert_int_equal(q[0].classes, 0);
        assert_false(q[0].offload);
        assert_int_equal(netns_run("tc qdisc del dev va root"), 0);
    }
}

static void test_children(void **state)
{
    struct tt_qdisc q[CAPACITY];

    (void)state;
    if (netns_run("tc qdisc add dev va root handle 1: htb") != 0) {
        print_message("this kernel has no htb\n");
        skip();
    }
    assert_int_equal(netns_run("tc class add dev va parent 1: classid 1:5 htb rate 1mbit"), 0);
    assert_int_equal(netns_run("tc qdisc add dev va parent 1:5 handle 2: pfifo"), 0);
    assert_int_equal(list(q, CAPACITY), 2);
    assert_string_equal(q[0].kind, "htb");
    assert_string_equal(q[1].kind, "pfifo");
    assert_int_equal(q[1].parent, 0x10005);
    assert_int_equal(list(q, 1), 1); /* no more than there is room for */
    assert_int_equal(netns_run("tc qdisc del dev va root"), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_children),
    };

    if (!netns_enter(argc > 1 && strcmp(argv[1], "rootless") == 0)) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
