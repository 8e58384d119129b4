/*
 * Wire times, windows and credits against figures that others have published or that can be told
 * by hand; each test names where its figures are from and what they count.
 */
#include "test.h"

#include <errno.h>

#include "gate/credit.h"
#include "gate/timeline.h"
#include "malloc_trap.h"

#define MBIT INT64_C(1000000)

static struct tt_gate_list *make(int64_t cycle_ns, const struct tt_gate_entry *entries, size_t n)
{
    struct tt_gate_schedule schedule = {.cycle_ns = cycle_ns, .entries = entries, .entry_count = n};

    assert_int_equal(tt_gate_check(&schedule), TT_GATE_OK);
    return tt_gate_list_new(&schedule);
}

static struct tt_gate_timeline steady(const struct tt_gate_list *list)
{
    return (struct tt_gate_timeline){.list = list, .start_ns = INT64_MIN};
}

/* How many frames a window holds. */
static int64_t frames_in(int64_t window_ns, int64_t wire_bytes, int64_t rate_bps)
{
    struct tt_wire wire = {.rate_bps = rate_bps};
    int64_t n = 0;

    while (tt_wire_end_ns(&wire, tt_wire_free_ns(&wire), wire_bytes) <= window_ns) {
        tt_wire_send(&wire, tt_wire_free_ns(&wire), wire_bytes);
        n++;
    }
    return n;
}

static void test_wire_time(void **state)
{
    static const struct {
        int64_t frame_bytes, rate_bps, ns;
    } rows[] = {
        {1514, 100 * MBIT, 123040}, /* 1538 on the wire: 1448 bytes of TCP */
        {1518, 100 * MBIT, 123360}, /* tagged */
        {1, 1000 * MBIT, 672},      /* padded: 84 bytes */
        {60, 1000 * MBIT, 672},     {61, 1000 * MBIT, 680},
        {1514, 10 * MBIT, 1230400}, {60, 10000 * MBIT, 68}, /* 67.2, up */
        {60, 2500 * MBIT, 269},                             /* 268.8 */
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++) {
        int64_t bytes = tt_wire_bytes(rows[i].frame_bytes);

        assert_int_equal(tt_wire_ns(bytes, rows[i].rate_bps), rows[i].ns);
        if (rows[i].frame_bytes >= TT_FRAME_BYTES_MIN && rows[i].rate_bps <= 1000 * MBIT) {
            assert_int_equal(tt_wire_longest_frame(rows[i].ns, rows[i].rate_bps),
                             rows[i].frame_bytes);
            assert_int_not_equal(tt_wire_longest_frame(rows[i].ns - 1, rows[i].rate_bps),
                                 rows[i].frame_bytes);
        }
    }
    assert_int_equal(tt_wire_longest_frame(671, 1000 * MBIT), -1);
}

/* 67.2 ns each, and no fraction of a ns is lost or won in a million of them. */
static void test_back_to_back(void **state)
{
    struct tt_wire wire = {.rate_bps = 10000 * MBIT, .free_ns = 5};

    (void)state;
    for (int i = 0; i < 1000000; i++)
        tt_wire_send(&wire, tt_wire_free_ns(&wire), 84);
    assert_int_equal(tt_wire_free_ns(&wire), 5 + 67200000);
}

/* IEEE 802.3's limit: 14 880 952 frames of 64 bytes (with FCS) a second at 10 Gbit/s. */
static void test_most_frames_a_second(void **state)
{
    (void)state;
    assert_int_equal(frames_in(1000000000, 84, 10000 * MBIT), 14880952);
    assert_int_equal(frames_in(1000000000, 84, 100 * MBIT), 148809);
}

/* March 2021, 100 Mbit/s, windows of 500, 360 and 125 us in 1 ms: goodput is frames × payload. The
 * payload of TCP with time stamps is 1448 bytes over IPv4 and 1428 over IPv6; the frame is counted
 * with FCS, preamble and gap. */
static void test_goodput_2021(void **state)
{
    int64_t wire = tt_wire_bytes(TT_FRAME_HEAD_BYTES + 1500);

    (void)state;
    assert_int_equal(wire, 1538);
    assert_int_equal(frames_in(500000, wire, 100 * MBIT), 4);
    assert_int_equal(500000 - 4 * tt_wire_ns(wire, 100 * MBIT), 7840);
    assert_int_equal(4 * 1448 * 8 * 1000, 46336000);
    assert_int_equal(4 * 1428 * 8 * 1000, 45696000);
    assert_int_equal((frames_in(500000, wire, 100 * MBIT) - 1) * 1448 * 8 * 1000, 34752000);
    assert_int_equal(frames_in(360000, wire, 100 * MBIT) * 1448 * 8 * 1000, 23168000);
    assert_int_equal(frames_in(125000, wire, 100 * MBIT) * 1448 * 8 * 1000, 11584000);
    /* As if bits were fluid: half the wire, 1448 of 1538. */
    assert_int_equal(50 * MBIT * 1448 / 1538 / 10000, 4707);
}

/* AAF at 48 kHz, 6 frames a PDU: 24 bytes of header behind a tagged head of 18. */
static int64_t aaf_wire(int64_t channels, int64_t sample_bytes)
{
    return tt_wire_bytes(18 + 24 + 6 * channels * sample_bytes);
}

/* What 75 % of the link holds, class A: bits on the wire with preamble and gap. */
static void test_class_a_streams(void **state)
{
    static const struct {
        int64_t channels, sample_bytes, bps, of_100, of_1000;
    } rows[] = {
        {2, 2, 5760000, 13, 130}, {2, 3, 6528000, 11, 114}, {2, 4, 7296000, 10, 102},
        {8, 3, 13440000, 5, 55},  {8, 4, 16512000, 4, 45},  {32, 3, 41088000, 1, 18},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++) {
        int64_t bps = aaf_wire(rows[i].channels, rows[i].sample_bytes) * 8 * 8000;

        assert_int_equal(bps, rows[i].bps);
        assert_int_equal(75 * MBIT / bps, rows[i].of_100);
        assert_int_equal(750 * MBIT / bps, rows[i].of_1000);
    }
}

/* 61883-6, class A, 48 kHz, 32-bit samples: (42 + 32 + channels × 24) × 8 × 8000, as published in
 * units of 0.01 Mbit/s. */
static void test_61883_6(void **state)
{
    static const int64_t rows[][2] = {{2, 781}, {8, 1702}, {16, 2931}, {32, 5389}};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rows); i++) {
        int64_t wire = tt_wire_bytes(18 + 32 + rows[i][0] * 6 * 4);

        assert_int_equal(wire, 42 + 32 + rows[i][0] * 24);
        assert_int_equal((wire * 8 * 8000 + 5000) / 10000, rows[i][1]);
    }
}

/* A simulator's example: 100 Mbit/s, 20 + 980 us; 72 bytes (64 and preamble) take 5.76 us, and 8
 * large frames fit into 980 us. It leaves the gap out; with it 7 fit. */
static void test_tas_example(void **state)
{
    (void)state;
    assert_int_equal(tt_wire_ns(72, 100 * MBIT), 5760);
    assert_int_equal(frames_in(980000, tt_wire_bytes(1518) - TT_WIRE_GAP_BYTES, 100 * MBIT), 8);
    assert_int_equal(frames_in(980000, tt_wire_bytes(1518), 100 * MBIT), 7);
}

static void assert_figures(struct tt_credit_figures f, int64_t idle, int64_t send, int64_t hi,
                           int64_t lo)
{
    assert_int_equal(f.idle_kbps, idle);
    assert_int_equal(f.send_kbps, send);
    assert_int_equal(f.hi_bytes, hi);
    assert_int_equal(f.lo_bytes, lo);
}

/* An AVB guide for Linux, 1 Gbit/s: class A H.264 of 1470 bytes at 8000/s, class B of 48 bytes at
 * 4000/s, AAF stereo of 16 bits in class A. Frames are counted with 72 or 66 bytes of overhead
 * (idle slope), M0 is 1542. */
static void test_cbs_guide(void **state)
{
    int64_t a_bytes = 1470 + 72;
    int64_t b_bytes = 48 + 66;

    (void)state;
    assert_figures(tt_credit_first(1000000, a_bytes * 64, 1542, a_bytes), 98688, -901312, 153,
                   -1389);
    assert_figures(tt_credit_second(1000000, b_bytes * 32, 1542, b_bytes, 98688, a_bytes), 3648,
                   -996352, 12, -113);
    assert_figures(tt_credit_first(1000000, aaf_wire(2, 2) * 64, 1542, aaf_wire(2, 2)), 5760,
                   -994240, 9, -89);
}

/* tc-cbs(8)'s example: 20 Mbit/s, 1500 bytes on 1 Gbit/s; with the whole frame on the wire it is
 * 31 and -1511. */
static void test_cbs_manual(void **state)
{
    (void)state;
    assert_figures(tt_credit_first(1000000, 20000, 1500, 1500), 20000, -980000, 30, -1470);
    assert_figures(tt_credit_first(1000000, 20000, 1542, 1542), 20000, -980000, 31, -1511);
}

static void test_credit(void **state)
{
    struct tt_credit credit;

    (void)state;
    /* 10 of 100 Mbit/s: after a frame of 1000 bits credit is at -900 and is back in 90 us. */
    tt_credit_init(&credit, 100 * MBIT, 10 * MBIT, 1000000);
    assert_int_equal(tt_credit_due_ns(&credit), 0);
    tt_credit_send(&credit, 125);
    assert_int_equal(credit.nano_bits, -900 * INT64_C(1000000000));
    assert_int_equal(tt_credit_due_ns(&credit), 90000);
    tt_credit_wait(&credit, 89999, false);
    assert_int_equal(tt_credit_due_ns(&credit), 1);
    /* Empty: up to 0 and no further; waiting: on, up to the bound. */
    tt_credit_wait(&credit, 1000000, false);
    assert_int_equal(credit.nano_bits, 0);
    tt_credit_wait(&credit, 1000, true);
    assert_int_equal(credit.nano_bits, 10 * INT64_C(1000000000));
    tt_credit_wait(&credit, INT64_MAX / 2, true);
    assert_int_equal(credit.nano_bits, 1000000 * INT64_C(1000000000));
    tt_credit_wait(&credit, 0, false);
    assert_int_equal(credit.nano_bits, 0);
    /* Half the cycle: twice the slope; up to whole kbit/s. */
    assert_int_equal(tt_credit_gated_kbps(5760, 1000000, 500000), 11520);
    assert_int_equal(tt_credit_gated_kbps(10, 1000, 300), 34);
}

/* tc-taprio(8): 300, 300 and 400 us, classes 0, then 0 and 1, then 2. */
static void test_joined_windows(void **state)
{
    static const struct tt_gate_entry entries[] = {
        {TT_GATE_SET, 1, 300000}, {TT_GATE_SET, 3, 300000}, {TT_GATE_SET, 4, 400000}};
    struct tt_gate_list *list = make(0, entries, 3);
    struct tt_gate_window window;

    (void)state;
    assert_int_equal(list->classes[0].longest_ns, 600000);
    assert_int_equal(list->classes[1].longest_ns, 300000);
    assert_int_equal(list->classes[2].longest_ns, 400000);
    assert_int_equal(tt_gate_list_longest_closed(list, 0), 400000);
    assert_int_equal(tt_gate_list_longest_closed(list, 1), 700000);
    assert_int_equal(tt_gate_list_longest_closed(list, 3), INT64_MAX);
    assert_false(tt_gate_list_window(list, 3, 0, &window));
    tt_gate_list_free(list);
}

/* The example of tc-taprio(8) with max-sdu: 80, 20, 20 and 60 us; class 5 of it in the last two,
 * joined over the cycle's end with the first. */
static void test_window_round_the_end(void **state)
{
    static const struct tt_gate_entry entries[] = {{TT_GATE_SET, 0x20, 80000},
                                                   {TT_GATE_SET, 0x01, 20000},
                                                   {TT_GATE_SET, 0x01, 20000},
                                                   {TT_GATE_SET, 0x20, 60000}};
    struct tt_gate_list *list = make(0, entries, 4);
    struct tt_gate_timeline timeline = steady(list);
    int64_t at_ns = 0;

    (void)state;
    assert_int_equal(list->classes[5].longest_ns, 140000);
    assert_int_equal(list->classes[5].window_count, 1);
    assert_int_equal(tt_gate_next(&timeline, 5, 0, 80000, &at_ns), 0);
    assert_int_equal(at_ns, 0);
    assert_int_equal(tt_gate_next(&timeline, 5, 1, 80000, &at_ns), 0);
    assert_int_equal(at_ns, 120000);
    assert_int_equal(tt_gate_next(&timeline, 5, 150000, 110000, &at_ns), 0);
    assert_int_equal(at_ns, 150000);
    assert_int_equal(tt_gate_next(&timeline, 5, 150001, 110000, &at_ns), 0);
    assert_int_equal(at_ns, 300000);
    assert_int_equal(tt_gate_next(&timeline, 5, 0, 140001, &at_ns), -ENOENT);
    tt_gate_list_free(list);
}

static void test_cycle_cut_and_stretched(void **state)
{
    static const struct tt_gate_entry entries[] = {{TT_GATE_SET, 1, 400}, {TT_GATE_SET, 2, 600}};
    struct tt_gate_list *cut = make(700, entries, 2);
    struct tt_gate_list *stretched = make(1500, entries, 2);

    (void)state;
    assert_int_equal(cut->classes[1].longest_ns, 300);
    assert_int_equal(cut->classes[0].longest_ns, 400);
    assert_int_equal(stretched->classes[1].longest_ns, 1100);
    tt_gate_list_free(cut);
    tt_gate_list_free(stretched);
}

static void test_start(void **state)
{
    static const struct tt_gate_entry entries[] = {{TT_GATE_SET, 1, 1000}};
    struct tt_gate_list *list = make(0, entries, 1);

    (void)state;
    list->base_tai_ns = 5000;
    assert_int_equal(tt_gate_start_ns(list, 100), 5000);
    assert_int_equal(tt_gate_start_ns(list, 5000), 5000);
    assert_int_equal(tt_gate_start_ns(list, 5001), 6000);
    assert_int_equal(tt_gate_start_ns(list, 7999), 8000);
    tt_gate_list_free(list);
}

static void test_faults(void **state)
{
    struct tt_gate_entry entries[2] = {{TT_GATE_SET, 1, 1000}, {TT_GATE_SET, 1, 0}};
    struct tt_gate_schedule s = {.entries = entries};

    (void)state;
    assert_int_equal(tt_gate_check(&s), TT_GATE_NO_ENTRY);
    s.entry_count = TT_GATE_ENTRIES_MAX + 1;
    assert_int_equal(tt_gate_check(&s), TT_GATE_TOO_MANY_ENTRIES);
    s.entry_count = 2;
    assert_int_equal(tt_gate_check(&s), TT_GATE_INTERVAL);
    entries[1].interval_ns = 1;
    s.cycle_ns = -1;
    assert_int_equal(tt_gate_check(&s), TT_GATE_CYCLE);
    s.cycle_ns = 0;
    s.extension_ns = -1;
    assert_int_equal(tt_gate_check(&s), TT_GATE_EXTENSION);
    s.extension_ns = 0;
    s.base_tai_ns = INT64_MAX;
    assert_int_equal(tt_gate_check(&s), TT_GATE_BASE);
    for (int i = 0; i < TT_GATE_FAULTS; i++)
        assert_non_null(tt_gate_fault_text((enum tt_gate_fault)i));
}

/* A frame of 9 hours of old cycles that cannot hold it waits for the change, at once. */
static void test_long_wait_for_a_change(void **state)
{
    static const struct tt_gate_entry old[] = {{TT_GATE_SET, 1, 10}, {TT_GATE_SET, 0, 10}};
    static const struct tt_gate_entry new[] = {{TT_GATE_SET, 1, 1000}, {TT_GATE_SET, 0, 10}};
    struct tt_gate_list *lists[] = {make(0, old, 2), make(0, new, 2)};
    int64_t change_ns = INT64_C(9) * 3600 * 1000000000;
    struct tt_gate_timeline timeline = {lists[1], lists[0], change_ns};
    int64_t at_ns = 0;

    (void)state;
    lists[1]->base_tai_ns = change_ns;
    tt_trap_arm();
    assert_int_equal(tt_gate_next(&timeline, 0, 0, 500, &at_ns), 0);
    tt_trap_disarm();
    assert_int_equal(at_ns, change_ns);
    tt_gate_list_free(lists[0]);
    tt_gate_list_free(lists[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire_time),
        cmocka_unit_test(test_back_to_back),
        cmocka_unit_test(test_most_frames_a_second),
        cmocka_unit_test(test_goodput_2021),
        cmocka_unit_test(test_class_a_streams),
        cmocka_unit_test(test_61883_6),
        cmocka_unit_test(test_tas_example),
        cmocka_unit_test(test_cbs_guide),
        cmocka_unit_test(test_cbs_manual),
        cmocka_unit_test(test_credit),
        cmocka_unit_test(test_joined_windows),
        cmocka_unit_test(test_window_round_the_end),
        cmocka_unit_test(test_cycle_cut_and_stretched),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_long_wait_for_a_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
