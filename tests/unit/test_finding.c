/*
 * Findings about stamps: each threshold from both sides in made streams, and none in clean ones.
 */
#include "made_stream.h"

#include "audio/talker.h"

#define PACKET_MAX 1600

static size_t random_frames(uint64_t *seed, const struct tt_aaf *aaf)
{
    size_t most = 1476 / (aaf->channels * tt_aaf_sample_bytes(aaf->format));

    return random_below(seed, 4) == 0 ? 1 : 1 + random_size(seed, most < 64 ? most : 64);
}

static void random_shape(uint64_t *seed, struct sender *sender)
{
    static const enum tt_aaf_format formats[] = {TT_AAF_FLOAT32, TT_AAF_INT32, TT_AAF_INT24,
                                                 TT_AAF_INT16};
    struct tt_aaf *aaf = &sender->aaf;

    aaf->format = formats[random_below(seed, 4)];
    aaf->bit_depth = tt_aaf_sample_bytes(aaf->format) * 8;
    aaf->rate_hz = tt_aaf_rates[random_below(seed, TT_AAF_RATES)];
    aaf->channels = 1 + (unsigned)random_below(seed, 8);
    aaf->sp = random_below(seed, 3) == 0;
    sender->frames = random_frames(seed, aaf);
    sender->eth.pcp = 2 + (int)random_below(seed, 2);
}

/* A media clock off by up to 100 ppm, launch times kept within 3 us, transit times up to class B's,
 * and stamps that cross 2^32. */
static void send_clean(struct tt_observer *observer, uint64_t *seed, struct sender *sender)
{
    int64_t margin_ns = TT_NS_PER_MS * (1 + (int64_t)random_below(seed, 49));
    int64_t ppb = (int64_t)random_below(seed, 200001) - 100000;
    int64_t first = (int64_t)random_below(seed, 256);
    int64_t start_ns = UTC_NS + (int64_t)random_below(seed, UINT64_C(1) << 32);
    int64_t arrival_ns = 0;

    for (int64_t i = 0; i < 3000; i++) {
        int64_t media_ns = tt_frames_to_ns(i * (int64_t)sender->frames, sender->aaf.rate_hz);
        int64_t due_ns = start_ns + media_ns + media_ns / 1000 * ppb / 1000000;
        int64_t came_ns = due_ns + (int64_t)random_below(seed, 6001) - 3000;

        arrival_ns = came_ns > arrival_ns ? came_ns : arrival_ns;
        sender->aaf.tv = !sender->aaf.sp || (first + i) % 8 == 3;
        send_pdu(observer, sender, first + i, due_ns + TAI_NS + margin_ns, arrival_ns);
    }
}

static void test_clean(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= 400; round++) {
        struct tt_finding findings[TT_FINDINGS_MAX];
        struct sender sender = class_a();
        struct tt_observer observer;
        uint64_t seed = round;
        uint64_t kinds;

        start(&observer);
        random_shape(&seed, &sender);
        send_clean(&observer, &seed, &sender);
        kinds = found(&observer, findings);
        if (kinds != 0) {
            print_error("seed %llu: %u Hz, %zu frames, sp %d: found %#llx\n",
                        (unsigned long long)round, (unsigned)sender.aaf.rate_hz, sender.frames,
                        sender.aaf.sp, (unsigned long long)kinds);
        }
        assert_true(kinds == 0);
        tt_observer_done(&observer);
    }
}

/* Our own talker, launched when it asks for it and, now and then, held up for less than its transit
 * time: what it does to catch up is no burst. */
static void test_own_talker(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= 2 * TT_AAF_RATES; round++) {
        struct tt_stream_config config;
        struct tt_observer observer;
        struct tt_talker talker;
        int64_t held_until_ns = 0;
        int64_t arrival_ns = 0;
        uint64_t seed = round;

        tt_stream_config_init(&config);
        config.format = TT_AAF_INT24;
        config.rate_hz = tt_aaf_rates[round % TT_AAF_RATES];
        config.channels = 2;
        config.frames_per_pdu = config.rate_hz / 8000 + 1;
        config.vlan_id = 2;
        config.sparse = round > TT_AAF_RATES;
        start(&observer);
        tt_talker_init(&talker, &config, class_a().eth.src, 0);
        tt_talker_start(&talker, 0, UTC_NS + TAI_NS);
        for (int i = 0; i < 5000; i++) {
            uint8_t packet[PACKET_MAX] = {0};
            int64_t launch_ns = tt_talker_next_launch(&talker);
            struct tt_talker_pdu pdu;

            if (random_below(&seed, 500) == 0) {
                held_until_ns = launch_ns + TT_NS_PER_MS;
            }
            launch_ns = launch_ns > held_until_ns ? launch_ns : held_until_ns;
            assert_int_equal(tt_talker_next(&talker, launch_ns, &pdu), TT_TALKER_SEND);
            tt_talker_build(&talker, &pdu, packet);
            launch_ns = pdu.launch_tai_ns - TAI_NS + (int64_t)random_below(&seed, 3000);
            arrival_ns = launch_ns > arrival_ns ? launch_ns : arrival_ns;
            tt_observer_packet(&observer, packet, tt_talker_packet_bytes(&talker),
                               tt_talker_packet_bytes(&talker), arrival_ns);
        }
        expect(&observer, 0);
    }
}

/* All PDUs moved alike. */
static void send_scale(struct tt_observer *observer, int tai_seconds, int64_t stamp_ns)
{
    struct sender sender = class_a();

    start(observer);
    tt_observer_set_tai_offset(observer, tai_seconds);
    for (int64_t i = 0; i < 100; i++) {
        send_moved(observer, &sender, i, stamp_ns, 0);
    }
}

static void test_scale(void **state)
{
    struct tt_observer observer;

    (void)state;
    send_scale(&observer, 37, -TAI_NS);
    expect_figure(&observer, BIT(STAMPS_UTC), TT_FIGURE_OFFSET_NS, TAI_NS);
    send_scale(&observer, 37, TT_CONDUCT_NEAR_NS - MARGIN_NS);
    expect(&observer, BIT(MARGIN_LARGE));
    send_scale(&observer, 37, TT_CONDUCT_NEAR_NS - MARGIN_NS + 1);
    expect_figure(&observer, BIT(STAMPS_FOREIGN), TT_FIGURE_LEAST_NS, TT_CONDUCT_NEAR_NS + 1);
    /* Unset on this machine: UTC cannot be told from TAI, and what is neither still is. */
    send_scale(&observer, 0, -TAI_NS);
    expect(&observer, 0);
    send_scale(&observer, 0, 0);
    expect(&observer, 0);
    send_scale(&observer, 0, -TAI_NS - MARGIN_NS - 5);
    expect_figure(&observer, BIT(LATE), TT_FIGURE_WORST_NS, 5);
    send_scale(&observer, 0, TT_NS_PER_S);
    expect(&observer, BIT(STAMPS_FOREIGN));
}

/* The scale is what most stamps are in. */
static void test_scale_of_most(void **state)
{
    (void)state;
    for (int64_t utc = 50; utc <= 51; utc++) {
        struct sender sender = class_a();
        struct tt_observer observer;

        start(&observer);
        for (int64_t i = 0; i < 100; i++) {
            sender.aaf.mr = i >= utc; /* announced: no jump */
            send_moved(&observer, &sender, i, i < utc ? -TAI_NS : 0, 0);
        }
        /* What is in TAI is 1.65 s early in UTC (modulo 2^32 ns: late). */
        expect(&observer, BIT(CLOCK_RESTARTS) |
                              (utc == 50 ? BIT(STAMPS_FOREIGN) : BIT(STAMPS_UTC) | BIT(LATE)));
    }
}

static void test_late(void **state)
{
    struct tt_observer observer;

    (void)state;
    for (int64_t late = 0; late <= 1; late++) {
        struct sender sender = class_a();

        start(&observer);
        send_run(&observer, &sender, 0, 99);
        send_moved(&observer, &sender, 99, 0, MARGIN_NS + late);
        if (late > 0) {
            expect_figure(&observer, BIT(LATE), TT_FIGURE_WORST_NS, late);
        } else {
            expect(&observer, 0);
        }
    }
    send_scale(&observer, 37, TT_MARGIN_LARGE_NS - MARGIN_NS);
    expect(&observer, 0);
    send_scale(&observer, 37, TT_MARGIN_LARGE_NS - MARGIN_NS + 1);
    expect_figure(&observer, BIT(MARGIN_LARGE), TT_FIGURE_LEAST_NS, TT_MARGIN_LARGE_NS + 1);
}

/* 1 us + 200 ppm of 125 us. */
static void test_stamp_jump(void **state)
{
    static const int64_t offs_ns[] = {1025, -1025, 1026, -1026};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(offs_ns); k++) {
        for (int excuse = 0; excuse < 3; excuse++) {
            struct sender sender = class_a();
            struct tt_observer observer;
            bool off = offs_ns[k] * offs_ns[k] > 1025 * 1025;

            start(&observer);
            send_run(&observer, &sender, 0, 50);
            sender.aaf.mr = excuse == 1;
            sender.aaf.tu = excuse == 2;
            for (int64_t i = 50; i < 100; i++) {
                send_moved(&observer, &sender, i, offs_ns[k], 0);
            }
            sender.aaf.tu = false;
            for (int64_t i = 100; i < 120 && excuse == 2; i++) {
                send_moved(&observer, &sender, i, 0, 0); /* synchronised again */
            }
            if (excuse == 0 && off) {
                expect_figure(&observer, BIT(STAMPS_JUMP), TT_FIGURE_WORST_NS, offs_ns[k]);
            } else {
                expect(&observer, excuse == 1   ? BIT(CLOCK_RESTARTS)
                                  : excuse == 2 ? BIT(CLOCK_UNCERTAIN)
                                                : 0);
            }
        }
    }
}

/* The first `follow` of `steps` stamps are 20 us late each after the one before, and their arrivals
 * arrival_ns. */
static uint64_t follow_kinds(int64_t steps, int64_t follow, int64_t arrival_ns)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    struct sender sender = class_a();
    struct tt_observer observer;
    uint64_t kinds;

    start(&observer);
    for (int64_t i = 0; i <= steps; i++) {
        int64_t so_far = i < follow ? i : follow;

        send_moved(&observer, &sender, i, 20000 * so_far, arrival_ns * so_far);
    }
    kinds = found(&observer, findings);
    tt_observer_done(&observer);
    return kinds;
}

static void test_stamps_follow(void **state)
{
    struct sender sender = class_a();
    struct tt_observer observer;

    (void)state;
    assert_true(follow_kinds(TT_FOLLOW_STEPS, TT_FOLLOW_STEPS, 20000) == BIT(STAMPS_FOLLOW));
    assert_true(follow_kinds(TT_FOLLOW_STEPS - 1, TT_FOLLOW_STEPS - 1, 20000) == BIT(STAMPS_JUMP));
    assert_true(follow_kinds(100, 51, 20000) == BIT(STAMPS_FOLLOW));
    assert_true(follow_kinds(100, 50, 20000) == BIT(STAMPS_JUMP));
    /* Four times as close to the arrival as to the media, and not quite. */
    assert_true(follow_kinds(100, 100, 15001) == BIT(STAMPS_FOLLOW));
    assert_true(follow_kinds(100, 100, 15000) == BIT(STAMPS_JUMP));
    /* A media clock whose packets hesitate so follows nothing. */
    start(&observer);
    for (int64_t i = 0; i < 100; i++) {
        send_moved(&observer, &sender, i, 0, 20000 * (i % 2));
    }
    expect(&observer, 0);
}

/* A stamp after `distance` PDUs of a sparse stream. */
static uint64_t sparse_kinds(int64_t distance, int64_t lost)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    struct sender sender = class_a();
    struct tt_observer observer;
    uint64_t kinds;

    sender.aaf.sp = true;
    start(&observer);
    for (int64_t i = 0; i <= 16 + distance; i++) {
        sender.aaf.tv = i == 0 || i == 8 || i == 16 || i == 16 + distance;
        if (i != lost) {
            send_moved(&observer, &sender, i, 0, 0);
        }
    }
    kinds = found(&observer, findings);
    tt_observer_done(&observer);
    return kinds;
}

static void test_sparse_and_missing(void **state)
{
    struct sender sender = class_a();
    struct tt_observer observer;

    (void)state;
    assert_true(sparse_kinds(8, -1) == 0);
    assert_true(sparse_kinds(7, -1) == BIT(SPARSE_MISUSED));
    assert_true(sparse_kinds(9, -1) == (BIT(SPARSE_MISUSED) | BIT(STAMPS_MISSING)));
    assert_true(sparse_kinds(16, -1) == BIT(STAMPS_MISSING));
    assert_true(sparse_kinds(16, 24) == BIT(LOST)); /* the stamp may have been there */
    start(&observer);
    send_run(&observer, &sender, 0, 10);
    sender.aaf.tv = false;
    send_run(&observer, &sender, 10, 12);
    expect_figure(&observer, BIT(STAMPS_MISSING), TT_FIGURE_COUNT, 2);
}

/* 44.1 kHz, 6 frames: 136,054.42 ns. Stamps advance by the whole ns, and are right again after each
 * `every` PDUs; then come `wobbly` stamps that are off by 20 ns either way. */
static void send_cut(struct tt_observer *observer, int64_t every, int64_t times, int64_t wobbly)
{
    struct sender sender = class_a();

    sender.aaf.rate_hz = 44100;
    start(observer);
    for (int64_t i = 0; i <= every * times; i++) {
        int64_t right_ns = tt_frames_to_ns(i * 6, 44100);
        int64_t cut_ns = tt_frames_to_ns(i / every * every * 6, 44100) + i % every * 136054;

        send_moved(observer, &sender, i, cut_ns - right_ns, 0);
    }
    for (int64_t i = 1; i <= wobbly; i++) {
        send_moved(observer, &sender, every * times + i, i % 2 ? 20 : -20, 0);
    }
}

static void test_period_cut(void **state)
{
    struct tt_observer observer;

    (void)state;
    send_cut(&observer, 100, 3, 0); /* before the first step nobody knows since when it was cut */
    expect_figure(&observer, BIT(PERIOD_CUT), TT_FIGURE_EVERY_PDUS, 100);
    send_cut(&observer, 100, 4, 2);
    expect(&observer, BIT(PERIOD_CUT));
    send_cut(&observer, 100, 4, 3); /* as often otherwise */
    expect(&observer, 0);
    send_cut(&observer, 100, 2, 0);
    expect(&observer, 0);
    send_cut(&observer, 5, 40, 0); /* owes 2.1 ns */
    expect(&observer, BIT(PERIOD_CUT));
    send_cut(&observer, 4, 50, 0); /* 1.7 ns: rounding does as much */
    expect(&observer, 0);
    send_cut(&observer, 1, 5000, 0);
    expect(&observer, 0);
}

/* What is missing may be this machine's own doing. */
static void test_lost_here(void **state)
{
    struct sender sender = class_a();
    struct tt_observer observer;

    (void)state;
    start(&observer);
    for (int64_t i = 0; i < 100; i++) {
        if (i < 50 || i > 52) {
            send_moved(&observer, &sender, i, 0, 0);
        }
    }
    expect_figure(&observer, BIT(LOST), TT_FIGURE_COUNT, 3);
    start(&observer);
    observer.dropped_here = 7;
    for (int64_t i = 0; i < 100; i++) {
        if (i < 50 || i > 52) {
            send_moved(&observer, &sender, i, 0, 0);
        }
    }
    expect_figure(&observer, BIT(LOST_HERE), TT_FIGURE_DROPPED_HERE, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_own_talker),
        cmocka_unit_test(test_lost_here),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_scale_of_most),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_stamp_jump),
        cmocka_unit_test(test_stamps_follow),
        cmocka_unit_test(test_sparse_and_missing),
        cmocka_unit_test(test_period_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
