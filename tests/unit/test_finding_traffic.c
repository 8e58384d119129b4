/*
 * Findings about arrivals, sequence, flags, tags and CRF: each threshold from both sides.
 */
#include "made_stream.h"

#include <string.h>

#include "base/bytes.h"

/* `n` PDUs of 6 frames at 96 kHz (62.5 us) in `within_ns`, in the middle of a paced stream. */
static void send_burst(struct tt_observer *observer, int64_t n, int64_t within_ns)
{
    struct sender sender = class_a();

    sender.aaf.rate_hz = 96000;
    start(observer);
    send_run(observer, &sender, 0, 50);
    for (int64_t i = 0; i < n; i++) {
        int64_t held_ns = tt_frames_to_ns((n - 1 - i) * 6, 96000);

        send_moved(observer, &sender, 50 + i, 0,
                   held_ns - within_ns + (n > 1 ? within_ns * i / (n - 1) : 0));
    }
    send_run(observer, &sender, 50 + n, 100);
}

static void test_bursts(void **state)
{
    struct tt_observer observer;
    struct sender slow = class_a();

    (void)state;
    send_burst(&observer, 4, 62499);
    expect_figure(&observer, BIT(BURSTS), TT_FIGURE_LONGEST_PDUS, 4);
    send_burst(&observer, 4, 62500); /* 125 us ahead and no more */
    expect(&observer, 0);
    send_burst(&observer, 3, 0);
    expect(&observer, 0);
    send_burst(&observer, 10, 9 * 31250); /* half an interval apart */
    expect(&observer, 0);
    send_burst(&observer, 10, 9 * 31249);
    expect_figure(&observer, BIT(BURSTS), TT_FIGURE_COUNT, 10);
    for (int64_t n = 2; n <= 3; n++) { /* 48 frames: 1 ms */
        slow.frames = 48;
        start(&observer);
        for (int64_t i = 0; i < 30; i++) {
            send_moved(&observer, &slow, i, 0, (n - 1 - i % n) * TT_NS_PER_MS);
        }
        expect(&observer, n < 3 ? 0 : BIT(BURSTS));
    }
}

static void test_sequence(void **state)
{
    struct sender sender = class_a();
    struct tt_observer observer;

    (void)state;
    start(&observer);
    send_run(&observer, &sender, 0, 50);
    send_run(&observer, &sender, 55, 100);
    expect_figure(&observer, BIT(LOST), TT_FIGURE_LONGEST_PDUS, 5);
    start(&observer);
    send_run(&observer, &sender, 0, 50);
    send_moved(&observer, &sender, 49, 0, 10);
    send_run(&observer, &sender, 55, 100);
    expect_figure(&observer, BIT(LOST) | BIT(DUPLICATED), TT_FIGURE_OF, 100);
    start(&observer);
    send_run(&observer, &sender, 0, 50);
    send_moved(&observer, &sender, 49, 0, 10);
    send_run(&observer, &sender, 50, 100);
    expect_figure(&observer, BIT(DUPLICATED), TT_FIGURE_COUNT, 1);
    start(&observer);
    send_run(&observer, &sender, 0, 50);
    send_moved(&observer, &sender, 51, 0, 0);
    send_moved(&observer, &sender, 50, 0, INTERVAL_NS + 10);
    send_run(&observer, &sender, 52, 100);
    expect_figure(&observer, BIT(REORDERED), TT_FIGURE_COUNT, 1);
    start(&observer);
    send_run(&observer, &sender, 0, 50);
    for (int64_t i = 0; i < 50; i++) { /* after a second, and out of step by half a PDU */
        send_pdu(&observer, &sender, 200 + i,
                 UTC_NS + TT_NS_PER_S + TAI_NS + MARGIN_NS + i * INTERVAL_NS + INTERVAL_NS / 2,
                 UTC_NS + TT_NS_PER_S + i * INTERVAL_NS);
    }
    expect(&observer, BIT(RESTARTED));
}

/* The number after 49 is `to`, the stamps go on. */
static void test_sequence_jumps(void **state)
{
    static const int64_t to[] = {50, 52, 120, 177, 200, 300, 20, 48, 49};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(to); k++) {
        struct sender sender = class_a();
        struct tt_observer observer;

        start(&observer);
        for (int64_t i = 0; i < 100; i++) {
            int64_t due_ns = UTC_NS + i * INTERVAL_NS;

            send_pdu(&observer, &sender, i < 50 ? i : i - 50 + to[k], due_ns + TAI_NS + MARGIN_NS,
                     due_ns);
        }
        if (to[k] == 50) {
            expect(&observer, 0);
        } else {
            expect_figure(&observer, BIT(SEQUENCE_JUMPS), TT_FIGURE_COUNT, 1);
        }
    }
}

static void test_flags_and_shape(void **state)
{
    struct sender sender = class_a();
    struct tt_observer observer;
    uint8_t nothing[TT_AAF_HEADER_BYTES] = {TT_AVTP_SUBTYPE_AAF, 0x81, 50};

    (void)state;
    start(&observer);
    sender.aaf.mr = true; /* from the start: nothing restarted */
    send_run(&observer, &sender, 0, 50);
    tt_put_be64(nothing + 4, sender.aaf.stream_id);
    send_bytes(&observer, &sender, nothing, sizeof(nothing), UTC_NS + 50 * INTERVAL_NS);
    send_run(&observer, &sender, 51, 100);
    expect_figure(&observer, BIT(REFUSED), TT_FIGURE_COUNT, 1);
    start(&observer);
    send_run(&observer, &sender, 0, 50);
    sender.frames = 12; /* the media goes on, the PDUs are longer */
    for (int64_t i = 0; i < 50; i++) {
        int64_t due_ns = UTC_NS + (50 + 2 * i) * INTERVAL_NS;

        send_pdu(&observer, &sender, 50 + i, due_ns + TAI_NS + MARGIN_NS, due_ns);
    }
    expect_figure(&observer, BIT(SHAPE_CHANGED), TT_FIGURE_COUNT, 1);
    start(&observer);
    for (int64_t i = 0; i < 100; i++) {
        sender.aaf.mr = i / 30 % 2 > 0;
        send_moved(&observer, &sender, i, 0, 0);
    }
    expect_figure(&observer, BIT(CLOCK_RESTARTS), TT_FIGURE_COUNT, 3);
}

static void test_tag_and_identity(void **state)
{
    static const struct {
        int vlan_id;
        int pcp;
        uint64_t kinds;
    } tags[] = {{2, 3, 0},
                {2, 2, 0},
                {2, 4, BIT(PRIORITY)},
                {2, 1, BIT(PRIORITY)},
                {1, 3, BIT(VLAN)},
                {3, 0, BIT(VLAN) | BIT(PRIORITY)},
                {-1, -1, BIT(UNTAGGED)}};
    struct sender one = class_a();
    struct sender other = class_a();
    struct tt_observer observer;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(tags); i++) {
        struct sender sender = class_a();

        sender.eth.vlan_id = tags[i].vlan_id;
        sender.eth.pcp = tags[i].pcp;
        start(&observer);
        send_run(&observer, &sender, 0, 10);
        expect(&observer, tags[i].kinds);
    }
    other.eth.src[5] = 2;
    for (int same = 0; same < 2; same++) {
        other.aaf.stream_id = one.aaf.stream_id + (same ? 0 : 1);
        start(&observer);
        send_run(&observer, &one, 0, 10);
        send_run(&observer, &other, 0, 10);
        expect(&observer, same ? BIT(SHARED_ID) : 0);
    }
}

/* 48 kHz, interval 96, two stamps a PDU, the second one off by off_ns. */
static void send_crf(struct tt_observer *observer, int64_t i, int64_t off_ns, int64_t moved_ns)
{
    struct sender sender = class_a();
    uint8_t pdu[TT_CRF_HEADER_BYTES + 16] = {TT_AVTP_SUBTYPE_CRF, 0x80, (uint8_t)i, 1};
    int64_t due_ns = UTC_NS + i * 4 * TT_NS_PER_MS;
    uint64_t stamp_ns = (uint64_t)(due_ns + TAI_NS + moved_ns);

    tt_put_be64(pdu + 4, sender.aaf.stream_id);
    tt_put_be32(pdu + 12, 48000);
    tt_put_be16(pdu + 16, 16);
    tt_put_be16(pdu + 18, 96);
    tt_put_be64(pdu + 20, stamp_ns);
    tt_put_be64(pdu + 28, stamp_ns + (uint64_t)(2 * TT_NS_PER_MS + off_ns));
    send_bytes(observer, &sender, pdu, sizeof(pdu), due_ns);
}

static void test_crf(void **state)
{
    static const int64_t offs_ns[] = {0, 1400, -1400, 1401, -1401}; /* 1 us + 200 ppm of 2 ms */
    struct tt_observer observer;

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(offs_ns); k++) {
        start(&observer);
        for (int64_t i = 0; i < 600; i++) {
            send_crf(&observer, i, i == 300 ? offs_ns[k] : 0, 0);
        }
        expect(&observer, offs_ns[k] * offs_ns[k] > 1400 * 1400 ? BIT(CRF_UNEVEN) : 0);
    }
    start(&observer);
    for (int64_t i = 0; i < 100; i++) {
        send_crf(&observer, i, 0, -TAI_NS + (i < 50 ? 0 : 10000));
    }
    expect(&observer, BIT(STAMPS_UTC) | BIT(STAMPS_JUMP));
}

/* Damaged PDUs at any time at all: nothing overflows (the sanitizers watch), and the list holds. */
static void test_anything(void **state)
{
    uint64_t seed = 1;
    struct tt_observer observer;
    int64_t arrival_ns = UTC_NS;

    (void)state;
    start(&observer);
    for (int i = 0; i < 100000; i++) {
        struct tt_finding findings[TT_FINDINGS_MAX];
        struct sender sender = class_a();
        bool crf = random_below(&seed, 2) > 0;
        uint8_t pdu[64] = {crf ? TT_AVTP_SUBTYPE_CRF : TT_AVTP_SUBTYPE_AAF, 0x81, (uint8_t)i};

        tt_put_be16(pdu + (crf ? 16 : 20), 24);
        pdu[16] = crf ? 0 : TT_AAF_INT16;
        tt_put_be16(pdu + 17, crf ? 24 << 8 : 5 << 12 | 2);
        pdu[19] = 16;
        tt_put_be32(pdu + 12, crf ? 48000 : (uint32_t)(arrival_ns + TAI_NS));
        for (uint64_t damage = random_below(&seed, 4); damage > 0; damage--) {
            pdu[1 + random_below(&seed, 63)] = (uint8_t)random_next(&seed);
        }
        memset(pdu + 4, 0, 8); /* still the same stream */
        arrival_ns += (int64_t)random_below(&seed, 200000);
        if (random_below(&seed, 100) == 0) { /* as far as a capture can claim */
            arrival_ns = (int64_t)random_below(&seed, UINT64_C(8000000000000000000)) -
                         INT64_C(4000000000000000000);
        }
        send_bytes(&observer, &sender, pdu, 20 + random_size(&seed, 45), arrival_ns);
        assert_true(tt_findings(&observer, observer.streams[0], findings) <= TT_FINDINGS_MAX);
    }
    assert_int_equal(observer.count, 2);
    tt_observer_done(&observer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bursts),           cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_sequence_jumps),   cmocka_unit_test(test_flags_and_shape),
        cmocka_unit_test(test_tag_and_identity), cmocka_unit_test(test_crf),
        cmocka_unit_test(test_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
