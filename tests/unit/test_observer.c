/*
 * The observer: known faults in made streams, against a model with unlimited memory.
 */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "audio/finding.h"
#include "audio/observer.h"
#include "base/ns.h"

#define FRAMES       6
#define RATE_HZ      48000
#define INTERVAL_NS  INT64_C(125000)
#define PACKET_BYTES (TT_ETH_HEADER_BYTES + TT_AAF_HEADER_BYTES + FRAMES * 4)
#define START_NS     INT64_C(1796025585000000000)

/* A talker whose PDU `index` has a stamp of its own, whenever it arrives. */
struct sender {
    uint64_t stream_id;
    bool unstamped;
    bool sparse;
    int64_t stamp_ns; /* of index 0 */
};

static size_t make_packet(const struct sender *sender, int64_t index, uint8_t *packet)
{
    struct tt_eth eth = {.dest = {0x91, 0xE0, 0xF0, 0, 0, 1},
                         .src = {2, 0, 0, 0, 0, 1},
                         .vlan_id = -1,
                         .pcp = -1,
                         .ethertype = TT_ETHERTYPE_AVTP};
    size_t at = tt_eth_build(&eth, packet);
    struct tt_aaf aaf = {
        .stream_id = sender->stream_id,
        .sequence = (uint8_t)index,
        .tv = !sender->unstamped && (!sender->sparse || index % 8 == 0),
        .sp = sender->sparse,
        .timestamp = (uint32_t)(sender->stamp_ns + index * INTERVAL_NS),
        .format = TT_AAF_INT16,
        .rate_hz = RATE_HZ,
        .channels = 2,
        .bit_depth = 16,
        .payload_bytes = FRAMES * 4,
    };

    tt_aaf_build_header(&aaf, packet + at);
    memset(packet + at + TT_AAF_HEADER_BYTES, 0, FRAMES * 4);
    return at + TT_AAF_HEADER_BYTES + FRAMES * 4;
}

static void send_at(struct tt_observer *observer, const struct sender *sender, int64_t index,
                    int64_t arrival_ns)
{
    uint8_t packet[PACKET_BYTES];
    size_t bytes = make_packet(sender, index, packet);

    tt_observer_packet(observer, packet, bytes, bytes, arrival_ns);
}

static void send_run(struct tt_observer *observer, const struct sender *sender, int64_t from,
                     int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        send_at(observer, sender, i, START_NS + i * INTERVAL_NS);
    }
}

static void assert_counts(const struct tt_observed *o, int64_t lost, int64_t duplicated,
                          int64_t reordered, int64_t restarts)
{
    assert_int_equal(o->lost, lost);
    assert_int_equal(o->duplicated, duplicated);
    assert_int_equal(o->reordered, reordered);
    assert_int_equal(o->restarts, restarts);
}

static void test_clean(void **state)
{
    struct sender sender = {.stream_id = UINT64_C(0xAABBCCDDEEFF0001), .stamp_ns = -1000};
    struct tt_observer observer;
    struct tt_summary s;
    const struct tt_observed *o;

    (void)state;
    assert_int_equal(tt_observer_init(&observer, 4), 0);
    send_run(&observer, &sender, 0, 100000); /* over three wraps of the stamp */
    assert_int_equal(observer.count, 1);
    o = observer.streams[0];
    assert_true(o->avtp.stream_id == sender.stream_id);
    assert_int_equal(o->aaf.rate_hz, RATE_HZ);
    assert_int_equal(o->aaf.frames, FRAMES);
    assert_int_equal(o->pdus, 100000);
    assert_counts(o, 0, 0, 0, 0);
    tt_hist_summarize(&o->interval, &s);
    assert_int_equal(s.n, 99999);
    assert_int_equal(s.min, INTERVAL_NS);
    assert_int_equal(s.max, INTERVAL_NS);
    assert_int_equal(o->first_ns, START_NS);
    assert_int_equal(o->last_ns, START_NS + 99999 * INTERVAL_NS);
    tt_observer_done(&observer);
}

#define FAULTY 50000

struct delivery {
    int64_t index;
    int64_t key; /* order of arrival, in twentieths of an interval */
};

static int by_key(const void *a, const void *b)
{
    const struct delivery *x = a;
    const struct delivery *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->index > y->index) - (x->index < y->index);
}

/* Loses, doubles and delays PDUs (up to 30 places); returns how many deliveries there are. */
static size_t make_faults(uint64_t *seed, struct delivery *deliveries)
{
    size_t n = 0;

    for (int64_t i = 0; i < FAULTY; i++) {
        int64_t delay = random_below(seed, 50) == 0 ? 20 * (int64_t)random_below(seed, 30) + 10 : 0;

        if (i > 0 && random_below(seed, 40) == 0) {
            i += (int64_t)random_below(seed, 60);
        }
        deliveries[n++] = (struct delivery){i, i * 20 + (i > 0 ? delay : 0)};
        if (random_below(seed, 60) == 0) {
            deliveries[n++] =
                (struct delivery){i, i * 20 + 5 + 20 * (int64_t)random_below(seed, 40)};
        }
    }
    qsort(deliveries, n, sizeof(*deliveries), by_key);
    return n;
}

static void test_seeded_faults(void **state)
{
    static struct delivery deliveries[2 * FAULTY];
    static bool seen[FAULTY + 100];

    (void)state;
    for (uint64_t round = 1; round <= 5; round++) {
        struct sender sender = {.stream_id = round, .unstamped = round == 2, .sparse = round == 3};
        struct tt_observer observer;
        uint64_t seed = round;
        size_t n = make_faults(&seed, deliveries);
        int64_t highest = 0;
        int64_t unique = 0;
        int64_t reordered = 0;

        memset(seen, 0, sizeof(seen));
        assert_int_equal(tt_observer_init(&observer, 1), 0);
        for (size_t i = 0; i < n; i++) {
            int64_t index = deliveries[i].index;

            send_at(&observer, &sender, index, START_NS + deliveries[i].key * INTERVAL_NS / 20);
            reordered += !seen[index] && index < highest;
            unique += !seen[index];
            seen[index] = true;
            highest = index > highest ? index : highest;
        }
        assert_int_equal(observer.streams[0]->pdus, n);
        assert_true(reordered > 100 && (int64_t)n - unique > 100);
        assert_counts(observer.streams[0], highest + 1 - unique, (int64_t)n - unique, reordered, 0);
        tt_observer_done(&observer);
    }
}

static const int64_t gaps[] = {1,   2,   126, 127, 128, 129, 254,  255,  256,
                               257, 258, 511, 512, 513, 768, 5000, 15000};

static void test_long_losses(void **state)
{
    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(gaps); i++) {
        for (int sparse = 0; sparse < 2; sparse++) {
            struct sender sender = {.stream_id = 1, .sparse = sparse > 0, .stamp_ns = 4294900000};
            struct tt_observer observer;

            assert_int_equal(tt_observer_init(&observer, 1), 0);
            send_run(&observer, &sender, 0, 1000);
            send_run(&observer, &sender, 1000 + gaps[i], 2000 + gaps[i]);
            assert_counts(observer.streams[0], gaps[i], 0, 0, 0);
            tt_observer_done(&observer);
        }
    }
}

/* Without stamps: what eight bits can tell, and not more. */
static void test_long_losses_unstamped(void **state)
{
    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(gaps); i++) {
        struct sender sender = {.stream_id = 1, .unstamped = true};
        struct tt_observer observer;

        assert_int_equal(tt_observer_init(&observer, 1), 0);
        send_run(&observer, &sender, 0, 1000);
        send_run(&observer, &sender, 1000 + gaps[i], 2000 + gaps[i]);
        assert_counts(observer.streams[0], gaps[i] % 256, 0, 0, 0);
        tt_observer_done(&observer);
    }
}

static void test_restart(void **state)
{
    struct sender sender = {.stream_id = 1};
    struct sender again = {.stream_id = 1, .stamp_ns = 3 * TT_NS_PER_S + 61803};
    struct tt_observer observer;

    (void)state;
    assert_int_equal(tt_observer_init(&observer, 1), 0);
    send_run(&observer, &sender, 0, 1000);
    for (int64_t i = 0; i < 1000; i++) {
        send_at(&observer, &again, i, START_NS + 10 * TT_NS_PER_S + i * INTERVAL_NS);
    }
    assert_counts(observer.streams[0], 0, 0, 0, 1);
    tt_observer_done(&observer);
}

/* A stalled network hands all over at once, later; a talker of bursts looks the same. */
static void test_stall_is_no_loss(void **state)
{
    struct sender sender = {.stream_id = 1};

    (void)state;
    for (int unstamped = 0; unstamped < 2; unstamped++) {
        struct tt_observer observer;

        sender.unstamped = unstamped > 0;
        assert_int_equal(tt_observer_init(&observer, 1), 0);
        for (int64_t i = 0; i < 20000; i++) {
            int64_t due_ns = START_NS + i * INTERVAL_NS;
            int64_t release_ns = START_NS + (i / 1600 + 1) * 1600 * INTERVAL_NS; /* 200 ms */

            send_at(&observer, &sender, i, i < 10000 ? due_ns : release_ns + i % 1600 * 1000);
        }
        assert_counts(observer.streams[0], 0, 0, 0, 0);
        tt_observer_done(&observer);
    }
}

static void test_cut_and_foreign(void **state)
{
    struct sender sender = {.stream_id = 1};
    uint8_t packet[PACKET_BYTES];
    size_t bytes = make_packet(&sender, 0, packet);
    struct tt_observer observer;
    const struct tt_observed *o;

    (void)state;
    assert_int_equal(tt_observer_init(&observer, 1), 0);
    tt_observer_packet(&observer, packet, 38, bytes, 1); /* the headers and no more */
    assert_int_equal(observer.count, 1);
    o = observer.streams[0];
    assert_true(o->known);
    assert_int_equal(o->aaf.frames, FRAMES);
    tt_observer_packet(&observer, packet, 37, bytes, 2);
    tt_observer_packet(&observer, packet, 10, bytes, 3);
    assert_int_equal(observer.cut, 2);
    tt_observer_packet(&observer, packet, 37, 37, 4);
    assert_int_equal(observer.malformed, 1);
    tt_observer_packet(&observer, packet, bytes - 1, bytes - 1, 5);
    assert_int_equal(o->refused[TT_AAF_TRUNCATED], 1);
    assert_int_equal(o->pdus, 2);
    packet[14] = 0xFA; /* ADP: no stream */
    tt_observer_packet(&observer, packet, bytes, bytes, 6);
    assert_int_equal(observer.by_subtype[0xFA], 1);
    assert_int_equal(observer.by_subtype[TT_AVTP_SUBTYPE_AAF], 2);
    packet[12] = 0x08; /* IPv4 */
    packet[13] = 0x00;
    tt_observer_packet(&observer, packet, bytes, bytes, 7);
    assert_int_equal(observer.not_avtp, 1);
    assert_int_equal(observer.packets, 7);
    assert_int_equal(observer.count, 1);
    tt_observer_done(&observer);
}

static void test_many_streams(void **state)
{
    struct tt_observer observer;

    (void)state;
    assert_int_equal(tt_observer_init(&observer, 300), 0);
    for (int64_t i = 0; i < 4; i++) {
        for (uint64_t id = 0; id < 310; id++) {
            struct sender sender = {.stream_id = id * 0x10000};

            send_at(&observer, &sender, i, START_NS + i * INTERVAL_NS);
        }
    }
    assert_int_equal(observer.count, 300);
    assert_int_equal(observer.beyond, 40);
    for (size_t i = 0; i < observer.count; i++) {
        assert_true(observer.streams[i]->avtp.stream_id == i * 0x10000);
        assert_int_equal(observer.streams[i]->pdus, 4);
        assert_counts(observer.streams[i], 0, 0, 0, 0);
    }
    tt_observer_done(&observer);
}

static void test_changes(void **state)
{
    struct sender sender = {.stream_id = 1};
    uint8_t packet[PACKET_BYTES];
    size_t bytes;
    struct tt_observer observer;

    (void)state;
    assert_int_equal(tt_observer_init(&observer, 2), 0);
    send_run(&observer, &sender, 0, 10);
    bytes = make_packet(&sender, 10, packet);
    packet[14 + 17] = 0x70; /* 96 kHz */
    tt_observer_packet(&observer, packet, bytes, bytes, START_NS + 10 * INTERVAL_NS);
    assert_int_equal(observer.streams[0]->frames_changed, 1);
    assert_int_equal(observer.streams[0]->aaf.rate_hz, 96000);
    packet[6] = 4; /* another talker with the same stream ID */
    tt_observer_packet(&observer, packet, bytes, bytes, START_NS + 10 * INTERVAL_NS);
    assert_int_equal(observer.count, 2);
    tt_observer_done(&observer);
}

/* A capture whose halves were swapped, and one whose clock was set back: the PDUs go on, and one is
 * missing. Neither is the talker's fault. */
static void test_arrivals_set_back(void **state)
{
    struct sender sender = {.stream_id = 1, .stamp_ns = START_NS};
    struct tt_finding findings[TT_FINDINGS_MAX];
    struct tt_observer observer;
    struct tt_summary s;
    const struct tt_observed *o;

    (void)state;
    for (int clock = 0; clock < 2; clock++) {
        assert_int_equal(tt_observer_init(&observer, 2), 0);
        for (int64_t i = 0; i < 16000; i++) {
            int64_t index = clock ? i + (i >= 8000) : (i + 8000) % 16000;
            int64_t back_ns = clock && i >= 8000 ? TT_NS_PER_S / 2 : 0;

            send_at(&observer, &sender, index, START_NS + index * INTERVAL_NS - back_ns);
        }
        o = observer.streams[0];
        assert_counts(o, clock, 0, 0, 0);
        assert_int_equal(o->set_back, 1);
        tt_hist_summarize(&o->interval, &s);
        assert_true(s.min == INTERVAL_NS && s.max == INTERVAL_NS);
        tt_hist_summarize(&o->lateness, &s);
        assert_true(s.min == 0 && s.max == 0 && s.n > 14000);
        assert_int_equal(o->grid.moves + o->conduct.steps_off + o->conduct.bursts, 0);
        assert_true(observer.first_ns <= o->first_ns && observer.last_ns >= o->last_ns);
        for (size_t k = tt_findings(&observer, o, findings); k > 0; k--) {
            const struct tt_finding *found = &findings[k - 1];

            assert_true(found->kind == TT_FINDING_ARRIVALS_SET_BACK ||
                        found->kind == TT_FINDING_UNTAGGED || found->kind == TT_FINDING_LOST ||
                        found->kind == TT_FINDING_STAMPS_UTC);
        }
        tt_observer_done(&observer);
    }
}

/* Records whose stamps are damaged are not missing, and bend nothing: also at the wrap, two in a
 * row, with a loss beside them, and before the first. */
static void test_untimed(void **state)
{
    struct sender sender = {.stream_id = 1, .stamp_ns = START_NS};
    uint8_t packet[PACKET_BYTES];
    struct tt_observer observer;
    struct tt_summary s;
    const struct tt_observed *o;

    (void)state;
    assert_int_equal(tt_observer_init(&observer, 2), 0);
    for (int64_t i = 0; i < 8000; i++) {
        if (i == 0 || i == 255 || i == 2000 || i == 2001 || i == 3000) {
            tt_observer_untimed(&observer, packet, make_packet(&sender, i, packet));
            assert_int_equal(observer.count, i > 0);
        } else if (i != 3001) {
            send_at(&observer, &sender, i, START_NS + i * INTERVAL_NS);
        }
    }
    o = observer.streams[0];
    assert_counts(o, 1, 0, 0, 0);
    assert_int_equal(o->untimed, 4);
    assert_int_equal(o->pdus, 7994);
    tt_hist_summarize(&o->interval, &s);
    assert_true(s.min == INTERVAL_NS && s.max == INTERVAL_NS);
    tt_hist_summarize(&o->lateness, &s);
    assert_true(s.min == 0 && s.max == 0);
    assert_int_equal(o->conduct.steps_off, 0);
    tt_observer_done(&observer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),           cmocka_unit_test(test_seeded_faults),
        cmocka_unit_test(test_long_losses),     cmocka_unit_test(test_long_losses_unstamped),
        cmocka_unit_test(test_restart),         cmocka_unit_test(test_stall_is_no_loss),
        cmocka_unit_test(test_cut_and_foreign), cmocka_unit_test(test_many_streams),
        cmocka_unit_test(test_changes),         cmocka_unit_test(test_arrivals_set_back),
        cmocka_unit_test(test_untimed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
