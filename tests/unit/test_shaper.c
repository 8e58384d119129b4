/*
 * The shaper, case by case: limits, who goes first, what never fits, margins, changes of lists,
 * congestion, classes. Random cases are in sim/shaper_random.
 */
#include "test.h"

#include <string.h>

#include "base/ns.h"
#include "gate/classify.h"
#include "gate/goodput.h"
#include "made_packet.h"
#include "malloc_trap.h"

enum { US = 1000, MS = 1000 * US, MBPS = 1000000 };

static uint8_t packet[MADE_MAX];
static uint8_t frame[TT_SHAPER_FRAME_MAX];

static struct tt_gate_list *make_list(int64_t base_ns, uint32_t mask_a, int64_t a_us,
                                      uint32_t mask_b, int64_t b_us)
{
    const struct tt_gate_entry entries[] = {{TT_GATE_SET, mask_a, a_us * US},
                                            {TT_GATE_SET, mask_b, b_us * US}};
    const struct tt_gate_schedule schedule = {
        .base_tai_ns = base_ns, .entries = entries, .entry_count = 2};

    return tt_gate_list_new(&schedule);
}

static struct tt_shaper_setup setup(void)
{
    return (struct tt_shaper_setup){
        .classes = 2, .rate_bps = 100 * MBPS, .queue_bytes = 200000, .cut_bytes = 256};
}

static void push_tcp(struct tt_shaper *shaper, unsigned class, size_t payload_bytes, uint8_t ecn,
                     int64_t now_ns)
{
    struct made_packet made = {
        .flags = 16, .options = 12, .payload_bytes = payload_bytes, .traffic_class = ecn};
    struct tt_gso gso;
    size_t bytes = make_packet(&made, packet, &gso);

    if (payload_bytes > 1448) {
        gso.kind = TT_GSO_TCP;
        gso.size = 1448;
    }
    tt_trap_arm();
    tt_shaper_push(shaper, class, packet, bytes, &gso, now_ns);
    tt_trap_disarm();
}

static void push_udp(struct tt_shaper *shaper, unsigned class, size_t payload_bytes, int64_t now_ns)
{
    struct made_packet made = {.udp = true, .payload_bytes = payload_bytes};
    struct tt_gso gso;
    size_t bytes = make_packet(&made, packet, &gso);

    tt_shaper_push(shaper, class, packet, bytes, &gso, now_ns);
}

static void push_arp(struct tt_shaper *shaper, unsigned class, int64_t now_ns)
{
    memset(packet, 0, 42);
    memcpy(packet + 12, "\x08\x06", 2);
    tt_shaper_push(shaper, class, packet, 42, &(struct tt_gso){0}, now_ns);
}

/* The next frame's launch, and the frame; -1: none is due, and *wake says when. */
static int64_t next(struct tt_shaper *shaper, int64_t now_ns, struct tt_shaper_frame *f,
                    int64_t *wake_ns)
{
    bool due;

    tt_trap_arm();
    due = tt_shaper_next(shaper, now_ns, frame, f, wake_ns);
    tt_trap_disarm();
    return due ? f->launch_tai_ns : -1;
}

static void test_limits(void **state)
{
    static const struct {
        int64_t closed_us, open_us;
        bool ipv6;
        size_t cut;
        int64_t bps; /* at most; cut, a packet's last frame is a short one: up to 0.5 % less */
    } cases[] = {
        {500, 500, false, 0, 46336000},
        {500, 500, true, 0, 45696000},
        {640, 360, false, 0, 23168000},
        {875, 125, false, 0, 11584000},
        /* 113.92 us are left: 1424 bytes on the wire, 1334 of payload */
        {640, 360, false, 256, 33840000},
        {500, 500, false, 8, 46400000},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct tt_gate_list *list = make_list(0, 2, cases[i].closed_us, 1, cases[i].open_us);
        struct tt_goodput_model model = {0};
        struct tt_shaper_setup s = setup();
        int64_t bps;

        s.cut_bytes = cases[i].cut;
        for (int strict = 0; strict < 2; strict++) {
            s.strict = strict;
            assert_int_equal(tt_goodput(&s, list, 0, cases[i].ipv6, &model, 200 * MS, &bps), 0);
            assert_in_range(bps, cases[i].bps - (cases[i].cut ? cases[i].bps / 200 : 0),
                            cases[i].bps);
        }
        tt_gate_list_free(list);
    }
}

/* A class that shares nothing but the wire, and control frames in front of a full queue. */
static void test_who_goes_first(void **state)
{
    struct tt_gate_list *list = make_list(0, 3, 500, 2, 500);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper = tt_shaper_new(&s, list);
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    push_tcp(shaper, 0, 5000, 0, 0);
    push_tcp(shaper, 1, 1000, 0, 0);
    push_arp(shaper, 0, 0);
    assert_int_equal(next(shaper, MS, &f, &wake_ns), 0);
    assert_int_equal(f.bytes, 42);
    assert_int_equal(next(shaper, MS, &f, &wake_ns), 6720);
    assert_int_equal(f.class, 1);
    assert_int_equal(next(shaper, MS, &f, &wake_ns), 6720 + 8 * 10 * (14 + 52 + 1000 + 24));
    assert_int_equal(f.class, 0);
    /* The other class comes while that one is on the wire, and is next. */
    push_tcp(shaper, 1, 100, 0, 100 * US);
    next(shaper, MS, &f, &wake_ns);
    assert_int_equal(f.class, 1);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
}

static void test_what_never_fits(void **state)
{
    struct tt_gate_list *list = make_list(0, 2, 900, 1, 100);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper = tt_shaper_new(&s, list);
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    push_udp(shaper, 0, 1400, 0);
    push_udp(shaper, 0, 100, 0);
    assert_int_equal(next(shaper, 0, &f, &wake_ns), -1);
    assert_int_equal(wake_ns, 900 * US);
    assert_int_equal(shaper->counters[0].dropped_never, 1);
    assert_int_equal(next(shaper, MS, &f, &wake_ns), 900 * US);
    assert_int_equal(f.bytes, 142);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
}

static void test_stall_of_2021(void **state)
{
    struct tt_gate_list *list = make_list(0, 2, 500, 1, 500);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper;
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    s.whole = true;
    shaper = tt_shaper_new(&s, list);
    push_tcp(shaper, 0, 4 * 1448, 0, 0);
    push_tcp(shaper, 0, 5 * 1448, 0, 0);
    push_tcp(shaper, 0, 100, 0, 0);
    for (int i = 0; i < 4; i++)
        assert_true(next(shaper, 100 * MS, &f, &wake_ns) >= 500 * US);
    assert_int_equal(next(shaper, 100 * MS, &f, &wake_ns), -1);
    assert_true(wake_ns == INT64_MAX);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
}

static void test_strict_margin(void **state)
{
    struct tt_gate_list *list = make_list(0, 1, 200, 2, 800);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper;
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    s.strict = true;
    s.margin_ns = 30 * US;
    s.cut_bytes = 0;
    shaper = tt_shaper_new(&s, list);
    push_udp(shaper, 0, 1472, 0); /* 123.04 us */
    push_udp(shaper, 0, 1472, 0);
    assert_int_equal(next(shaper, 47 * US, &f, &wake_ns), -1); /* 0.04 us too late */
    assert_int_equal(wake_ns, MS);
    assert_int_equal(next(shaper, MS + 46 * US, &f, &wake_ns), MS + 46 * US);
    tt_shaper_sent(shaper, &f, MS + 50 * US);
    assert_int_equal(next(shaper, MS + 51 * US, &f, &wake_ns), -1);
    assert_int_equal(wake_ns, 2 * MS);
    /* So short that a wake-up that comes a margin late would be too late: never. */
    push_udp(shaper, 1, 1472, 2 * MS);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
    list = make_list(0, 1, 180, 2, 820);
    shaper = tt_shaper_new(&s, list);
    push_udp(shaper, 0, 1472, 0);
    assert_int_equal(next(shaper, 600 * US, &f, &wake_ns), -1);
    assert_int_equal(shaper->counters[0].dropped_never, 1);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
}

/* Frames are decided ahead for a kernel that takes no launch time that is past: of what is back. */
static void test_no_further_back(void **state)
{
    struct tt_gate_list *list = make_list(0, 1, 500, 2, 500);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper;
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    s.back_ns = 400 * US;
    shaper = tt_shaper_new(&s, list);
    push_tcp(shaper, 0, 1448, 0, 10 * MS);
    /* It came just now; decided 450 us ahead, of which 400 may be used up. */
    assert_int_equal(next(shaper, 10 * MS + 450 * US, &f, &wake_ns), 10 * MS + 50 * US);
    push_tcp(shaper, 0, 1448, 0, 11 * MS);
    push_tcp(shaper, 0, 1448, 0, 11 * MS);
    assert_int_equal(next(shaper, 11 * MS + 300 * US, &f, &wake_ns), 11 * MS);
    /* Awake late: the window is lost, and not used behind time. */
    assert_int_equal(next(shaper, 12 * MS - 50 * US, &f, &wake_ns), -1);
    assert_int_equal(wake_ns, 12 * MS);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
}

static void test_replaced(void **state)
{
    struct tt_gate_list *old = make_list(0, 1, 500, 2, 500);
    struct tt_gate_list *new = make_list(10 * MS + 100 * US, 2, 100, 1, 300);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper = tt_shaper_new(&s, old);
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    assert_int_equal(tt_shaper_replace(shaper, new, 5 * MS), 10 * MS + 100 * US);
    push_tcp(shaper, 0, 1448, 0, 9 * MS);
    assert_int_equal(next(shaper, 9 * MS, &f, &wake_ns), 9 * MS);
    push_tcp(shaper, 0, 1448, 0, 9 * MS + 900 * US);
    /* 100 us of the old list are left before the new one shuts it: cut to what fits. */
    assert_int_equal(next(shaper, 11 * MS, &f, &wake_ns), 10 * MS);
    assert_int_equal(f.end_tai_ns, 10 * MS + 100 * US);
    assert_int_equal(next(shaper, 11 * MS, &f, &wake_ns), 10 * MS + 200 * US);
    tt_shaper_free(shaper);
    tt_gate_list_free(old);
    tt_gate_list_free(new);
}

/* A packet that fits only the gates to come: it waits for a change that is near, and for no other.
 */
static void test_fits_only_the_next(void **state)
{
    static const struct {
        int64_t ahead_ns;
        uint32_t mask; /* of the old list's short window */
        int64_t launch_ns;
    } cases[] = {
        {50 * MS, 1, 50 * MS},
        {50 * MS, 2, 50 * MS}, /* the old list never opens */
        {30 * TT_NS_PER_S, 1, -1},
        {30 * TT_NS_PER_S, 2, -1},
        {INT64_C(30) * 86400 * TT_NS_PER_S, 1, -1},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct tt_gate_list *old = make_list(0, cases[i].mask, 100, 2, 900);
        struct tt_gate_list *new = make_list(cases[i].ahead_ns, 1, 500, 2, 500);
        struct tt_shaper_setup s = setup();
        struct tt_shaper *shaper = tt_shaper_new(&s, old);
        bool waits = cases[i].launch_ns >= 0;
        struct tt_shaper_frame f;
        int64_t wake_ns;

        assert_int_equal(tt_shaper_replace(shaper, new, 0), cases[i].ahead_ns);
        push_udp(shaper, 0, 1400, 10 * US);
        push_udp(shaper, 0, 20, 10 * US);
        assert_int_equal(next(shaper, 20 * US, &f, &wake_ns),
                         waits || cases[i].mask == 2 ? -1 : 10 * US);
        assert_int_equal(shaper->counters[0].dropped_never, waits ? 0 : cases[i].mask);
        if (waits) {
            assert_int_equal(wake_ns, cases[i].launch_ns);
            assert_int_equal(next(shaper, wake_ns, &f, &wake_ns), cases[i].launch_ns);
        }
        tt_shaper_free(shaper);
        tt_gate_list_free(old);
        tt_gate_list_free(new);
    }
}

/* How long is too long goes by the gates in force, and by both while they change. */
static void test_replaced_patience(void **state)
{
    struct tt_gate_list *old = make_list(0, 1, 1000, 1, 1000);
    struct tt_gate_list *new = make_list(10 * MS, 2, 200000, 1, 50000);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper = tt_shaper_new(&s, old);
    struct tt_shaper_frame f;
    int64_t wake_ns;

    (void)state;
    assert_int_equal(shaper->lanes[0].codel.target_ns, 5 * MS);
    tt_shaper_replace(shaper, new, 5 * MS);
    assert_int_equal(shaper->lanes[0].codel.target_ns, 205 * MS);
    next(shaper, 10 * MS, &f, &wake_ns);
    assert_int_equal(shaper->lanes[0].codel.target_ns, 205 * MS);
    assert_int_equal(shaper->lanes[0].codel.interval_ns, 300 * MS);
    tt_shaper_replace(shaper, old, 20 * MS);
    assert_int_equal(shaper->lanes[0].codel.target_ns, 205 * MS);
    next(shaper, 22 * MS, &f, &wake_ns);
    assert_int_equal(shaper->lanes[0].codel.target_ns, 5 * MS);
    tt_shaper_free(shaper);
    tt_gate_list_free(old);
    tt_gate_list_free(new);
}

/* A sender that does not slow down: after 100 ms above the target frames are marked, or dropped. */
static void test_congestion(void **state)
{
    (void)state;
    for (uint8_t ecn = 0; ecn < 3; ecn += 2) {
        struct tt_gate_list *list = make_list(0, 1, 500, 1, 500);
        struct tt_shaper_setup s = setup();
        struct tt_shaper *shaper = tt_shaper_new(&s, list);
        struct tt_shaper_frame f;
        int64_t now_ns = 0;
        int64_t wake_ns;
        int64_t first_ns = 0;
        unsigned marked = 0;

        while (now_ns < TT_NS_PER_S) {
            while (tt_shaper_waiting(shaper, 0) < 150000)
                push_tcp(shaper, 0, 20 * 1448, ecn, now_ns);
            if (next(shaper, now_ns, &f, &wake_ns) < 0) {
                now_ns = wake_ns;
                continue;
            }
            marked += take_apart(frame, f.bytes).traffic_class == 3;
            if (first_ns == 0 && shaper->counters[0].dropped_delay + marked > 0)
                first_ns = now_ns;
        }
        assert_int_equal(shaper->counters[0].marked, marked);
        assert_int_equal(marked > 0, ecn > 0);
        assert_int_equal(shaper->counters[0].dropped_delay > 0, ecn == 0);
        assert_in_range(first_ns, 100 * MS, 130 * MS);
        /* ever faster: 2.5 times the number at an even pace */
        assert_in_range(shaper->counters[0].dropped_delay + marked, 15, 60);
        tt_shaper_free(shaper);
        tt_gate_list_free(list);
    }
}

static void test_full(void **state)
{
    struct tt_gate_list *list = make_list(0, 2, 500, 2, 500);
    struct tt_shaper_setup s = setup();
    struct tt_shaper *shaper = tt_shaper_new(&s, list);
    unsigned n = 0;

    (void)state;
    for (; shaper->counters[0].dropped_full == 0; n++)
        push_tcp(shaper, 0, 14480, 0, 0);
    assert_int_equal(n, 200000 / 14546 + 2);
    for (int i = 0; i < 100; i++) /* has room of its own */
        push_arp(shaper, 0, 0);
    assert_int_equal(shaper->counters[0].dropped_full, 1);
    tt_shaper_free(shaper);
    tt_gate_list_free(list);
}

static unsigned class_of(const struct tt_classifier *classifier, const struct made_packet *made)
{
    struct tt_headers headers;
    struct tt_gso gso;

    tt_headers_parse(packet, make_packet(made, packet, &gso), &headers);
    return tt_classify(classifier, &headers);
}

static void test_classes(void **state)
{
    struct tt_classifier classifier = {.class_of_priority = {[5] = 5, [6] = 6}};
    struct made_packet made = {.traffic_class = 48 << 2};
    struct tt_rule rule;

    (void)state;
    assert_int_equal(class_of(&classifier, &made), 6); /* DSCP CS6 */
    made.tagged = true;
    assert_int_equal(class_of(&classifier, &made), 5); /* the tag counts more */
    assert_null(tt_rule_parse("port:5201=3", &classifier.rules[0]));
    assert_null(tt_rule_parse("dscp:48=2", &classifier.rules[1]));
    classifier.rule_count = 2;
    assert_int_equal(class_of(&classifier, &made), 3);
    made = (struct made_packet){0};
    assert_null(tt_rule_parse("ethertype:0x0800=4", &classifier.rules[0]));
    assert_int_equal(class_of(&classifier, &made), 4);
    assert_non_null(tt_rule_parse("port:70000=1", &rule));
    assert_non_null(tt_rule_parse("port:=1", &rule));
    assert_non_null(tt_rule_parse("pcp:3", &rule));
    assert_non_null(tt_rule_parse("pcp:3=16", &rule));
    assert_non_null(tt_rule_parse("vlan:3=1", &rule));
    assert_non_null(tt_rule_parse("port: 5=1", &rule));
    assert_non_null(tt_rule_parse("port:1=-18446744073709551615", &rule));
    assert_non_null(tt_rule_parse("port:1=+1", &rule));
    assert_null(tt_rule_parse("port:010=1", &rule));
    assert_int_equal(rule.value, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_who_goes_first),
        cmocka_unit_test(test_what_never_fits),
        cmocka_unit_test(test_stall_of_2021),
        cmocka_unit_test(test_strict_margin),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_congestion),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_no_further_back),
        cmocka_unit_test(test_fits_only_the_next),
        cmocka_unit_test(test_replaced_patience),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
