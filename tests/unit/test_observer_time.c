/*
 * The observer where time or numbers are not what they should be: silences, a clock that is set,
 * PDUs that cannot be read, a talker that miscounts. Seeded.
 */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "audio/finding.h"
#include "audio/observer.h"
#include "base/ns.h"
#include "base/random.h"

#define FRAMES       6
#define INTERVAL_NS  INT64_C(125000)
#define PACKET_BYTES (TT_ETH_HEADER_BYTES + TT_AAF_HEADER_BYTES + FRAMES * 4)
#define START_NS     INT64_C(1796025585000000000)
#define TAI_NS       (37 * TT_NS_PER_S)
#define MARGIN_NS    (2 * TT_NS_PER_MS)
#define BEFORE       2000
#define AFTER        2000

struct pdu {
    uint8_t sequence;
    int64_t media_ns; /* presented MARGIN_NS later */
    int64_t arrival_ns;
    bool unreadable;
};

static void send_pdu(struct tt_observer *observer, const struct pdu *pdu)
{
    uint8_t packet[PACKET_BYTES] = {0};
    struct tt_eth eth = {.dest = {0x91, 0xE0, 0xF0, 0, 0, 1},
                         .src = {2, 0, 0, 0, 0, 1},
                         .vlan_id = 2,
                         .pcp = 3,
                         .ethertype = TT_ETHERTYPE_AVTP};
    struct tt_aaf aaf = {.stream_id = 1,
                         .sequence = pdu->sequence,
                         .tv = true,
                         .timestamp = (uint32_t)(pdu->media_ns + MARGIN_NS + TAI_NS),
                         .format = TT_AAF_INT16,
                         .rate_hz = 48000,
                         .channels = 2,
                         .bit_depth = 16,
                         .payload_bytes = FRAMES * 4 + (pdu->unreadable ? 1000 : 0)};
    size_t at = tt_eth_build(&eth, packet);

    tt_aaf_build_header(&aaf, packet + at);
    tt_observer_packet(observer, packet, sizeof(packet) - TT_ETH_HEADER_BYTES + at,
                       sizeof(packet) - TT_ETH_HEADER_BYTES + at, pdu->arrival_ns);
}

/* PDU `index` of a talker that does all as it should. */
static struct pdu clean(int64_t index)
{
    int64_t due_ns = START_NS + index * INTERVAL_NS;

    return (struct pdu){.sequence = (uint8_t)index, .media_ns = due_ns, .arrival_ns = due_ns};
}

static int64_t random_ns(uint64_t *seed, int64_t from_ns, int64_t to_ns)
{
    return from_ns + (int64_t)(tt_random_next(seed) % (uint64_t)(to_ns - from_ns));
}

static struct tt_observer *observer_new(void)
{
    static struct tt_observer observer;

    assert_int_equal(tt_observer_init(&observer, 2), 0);
    for (int64_t i = 0; i < BEFORE; i++) {
        struct pdu pdu = clean(i);

        send_pdu(&observer, &pdu);
    }
    return &observer;
}

/* The codes found, as bits of the kinds. */
static uint64_t found(struct tt_observer *observer)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    uint64_t bits = 0;

    for (size_t n = tt_findings(observer, observer->streams[0], findings); n > 0; n--) {
        bits |= UINT64_C(1) << findings[n - 1].kind;
    }
    return bits;
}

#define BIT(kind) (UINT64_C(1) << TT_FINDING_##kind)

/* A talker that is silent and begins anew, with any number and any grid. */
static void test_restart_after_silence(void **state)
{
    int short_ones = 0;
    int invented = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint64_t random = seed;
        int64_t silence_ns = random_ns(&random, 100 * TT_NS_PER_MS,
                                       seed % 3 == 0 ? 2 * TT_NS_PER_S : 60 * TT_NS_PER_S);
        uint8_t sequence = (uint8_t)tt_random_next(&random);
        struct tt_observer *observer = observer_new();
        const struct tt_observed *o = observer->streams[0];
        int64_t start_ns = o->last_ns + silence_ns;

        for (int64_t i = 0; i < AFTER; i++) {
            int64_t due_ns = start_ns + i * INTERVAL_NS;
            struct pdu pdu = {
                .sequence = (uint8_t)(sequence + i), .media_ns = due_ns, .arrival_ns = due_ns};

            send_pdu(observer, &pdu);
        }
        assert_int_equal(o->duplicated + o->reordered + o->sequence_jumps + o->set_forward, 0);
        if (silence_ns > 2 * TT_NS_PER_S) {
            assert_int_equal(o->lost, 0);
            assert_int_equal(o->silences, 1);
            assert_int_equal(o->silence_longest_ns, silence_ns);
            assert_true((found(observer) & ~BIT(RESTARTED)) == BIT(SILENCE));
        } else {
            short_ones++;
            invented += o->lost > 0;
            assert_true(o->restarts <= 1);
            assert_true((int64_t)o->lost < silence_ns / INTERVAL_NS + 128);
        }
        tt_observer_done(observer);
    }
    assert_true(short_ones > 150 && invented * 40 < short_ones);
}

/* A link that is down while the talker goes on. */
static void test_link_down(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        int64_t lost = random_ns(&random, 1, seed % 2 ? 15900 : 480000);
        struct tt_observer *observer = observer_new();
        const struct tt_observed *o = observer->streams[0];

        for (int64_t i = 0; i < AFTER; i++) {
            struct pdu pdu = clean(BEFORE + lost + i);

            send_pdu(observer, &pdu);
        }
        if (lost > 16000) {
            assert_int_equal(o->lost, 0);
            assert_int_equal(o->restarts, 0);
            assert_true(found(observer) == BIT(SILENCE) ||
                        found(observer) == BIT(ARRIVALS_SET_FORWARD));
        } else {
            assert_int_equal(o->lost, lost);
            assert_true(found(observer) == BIT(LOST));
        }
        tt_observer_done(observer);
    }
}

/* The clock of the capture is set, forward by more than 2 s or back: the stream goes on. */
static void test_clock_is_set(void **state)
{
    static const int64_t some_ns[] = {3 * TT_NS_PER_S,  5 * TT_NS_PER_S,  37 * TT_NS_PER_S,
                                      -1 * TT_NS_PER_S, -5 * TT_NS_PER_S, -37 * TT_NS_PER_S};

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        int64_t at = random_ns(&random, 0, AFTER);
        int64_t set_ns = seed <= TT_COUNT_OF(some_ns)
                             ? some_ns[seed - 1]
                             : random_ns(&random, 2001 * TT_NS_PER_MS, 60 * TT_NS_PER_S);
        struct tt_observer *observer = observer_new();
        const struct tt_observed *o = observer->streams[0];
        struct tt_summary s;

        set_ns = seed > TT_COUNT_OF(some_ns) && seed % 2 ? -set_ns : set_ns;
        for (int64_t i = 0; i < AFTER; i++) {
            struct pdu pdu = clean(BEFORE + i);

            pdu.arrival_ns += i >= at ? set_ns : 0;
            send_pdu(observer, &pdu);
        }
        assert_int_equal(o->lost + o->duplicated + o->reordered + o->restarts + o->silences, 0);
        assert_int_equal(o->set_forward, set_ns > 0);
        assert_int_equal(o->set_back, set_ns < 0);
        assert_int_equal(o->set_forward_most_ns, set_ns > 0 ? set_ns : 0);
        assert_int_equal(found(observer),
                         set_ns > 0 ? BIT(ARRIVALS_SET_FORWARD) : BIT(ARRIVALS_SET_BACK));
        tt_hist_summarize(&o->interval, &s);
        assert_true(s.min == INTERVAL_NS && s.max == INTERVAL_NS);
        tt_hist_summarize(&o->lateness, &s);
        assert_true(s.min == 0 && s.max == 0);
        assert_int_equal(o->margin.n, AFTER - at);
        tt_observer_done(observer);
    }
}

/* What cannot be read came all the same, when it was due: the figures are those of a clean stream.
 */
static void test_unreadable(void **state)
{
    (void)state;
    for (int every = 10; every <= 1000; every *= 10) {
        struct tt_observer *observer = observer_new();
        const struct tt_observed *o = observer->streams[0];
        uint64_t seed = (uint64_t)every;
        uint64_t unreadable = 0;
        struct tt_summary s;

        for (int64_t i = 0; i < 10 * AFTER; i++) {
            struct pdu pdu = clean(BEFORE + i);

            pdu.unreadable = tt_random_next(&seed) % (uint64_t)every == 0;
            unreadable += pdu.unreadable;
            send_pdu(observer, &pdu);
        }
        assert_true(unreadable > 0);
        assert_int_equal(o->refused[TT_AAF_TRUNCATED], unreadable);
        assert_true(found(observer) == BIT(REFUSED));
        assert_int_equal(o->margin.n, o->pdus - unreadable);
        tt_hist_summarize(&o->margin, &s);
        assert_true(s.min == MARGIN_NS && s.max == MARGIN_NS);
        tt_hist_summarize(&o->lateness, &s);
        assert_true(s.min == 0 && s.max == 0);
        assert_int_equal(o->grid.moves, 0);
        assert_int_equal(tt_media_clock_drift_ppb(&o->grid.clock), 0);
        tt_observer_done(observer);
    }
}

/* Numbers that stand still, go in steps, backward or anyhow, while the stamps are those of each. */
static void test_miscounts(void **state)
{
    static const int steps[] = {0, 2, 3, 7, 128, 200, 254, 255, -1};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(steps); k++) {
        struct tt_observer observer;
        const struct tt_observed *o;
        uint64_t seed = k + 1;

        assert_int_equal(tt_observer_init(&observer, 2), 0);
        for (int64_t i = 0; i < AFTER; i++) {
            struct pdu pdu = clean(i);

            pdu.sequence = (uint8_t)(k + 1 < TT_COUNT_OF(steps) ? (int64_t)steps[k] * i
                                                                : (int64_t)tt_random_next(&seed));
            send_pdu(&observer, &pdu);
        }
        o = observer.streams[0];
        assert_int_equal(o->lost + o->duplicated + o->reordered + o->restarts, 0);
        assert_true(o->sequence_jumps > AFTER - 50);
        assert_true(found(&observer) == BIT(SEQUENCE_JUMPS));
        tt_observer_done(&observer);
    }
}

/* A media clock beyond what audio allows is found, unless jitter could be it. */
static void test_drift(void **state)
{
    static const struct {
        int64_t ppm;
        int64_t jitter_ns;
        bool found;
    } cases[] = {{500, 1000, true},
                 {-500, 100000, true},
                 {200, 1000, true},
                 {100, 1000, false},
                 {-100, 50000, false},
                 {0, 6 * TT_NS_PER_MS, false},
                 {200, 6 * TT_NS_PER_MS, false}};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(cases); k++) {
        struct tt_observer observer;
        uint64_t seed = k + 1;

        assert_int_equal(tt_observer_init(&observer, 2), 0);
        for (int64_t i = 0; i < 8 * AFTER; i++) {
            struct pdu pdu = clean(i);

            pdu.arrival_ns += i * INTERVAL_NS / 1000000 * cases[k].ppm;
            pdu.media_ns = pdu.arrival_ns;
            pdu.arrival_ns += random_ns(&seed, 0, cases[k].jitter_ns);
            send_pdu(&observer, &pdu);
        }
        assert_int_equal((found(&observer) & BIT(DRIFT)) != 0, cases[k].found);
        tt_observer_done(&observer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart_after_silence),
        cmocka_unit_test(test_link_down),
        cmocka_unit_test(test_clock_is_set),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_miscounts),
        cmocka_unit_test(test_drift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
