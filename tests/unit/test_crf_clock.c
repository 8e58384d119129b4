/*
 * CRF from talker to listener, and AAF streams on the clock that is followed: exact where the
 * source is, quiet where it jitters, through loss, repetition, disorder, restarts and holdover.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "audio/crf_listener.h"
#include "audio/crf_talker.h"
#include "base/bytes.h"
#include "base/ns.h"

#define START_NS  INT64_C(1800000000123456789)
#define STREAM_ID UINT64_C(0x001B21AABBCC0007)

static const uint8_t talker_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t other_mac[6] = {2, 0, 0, 0, 0, 2};

static struct tt_crf_config config_of(uint32_t base_hz, uint8_t pull)
{
    struct tt_crf_config config;

    tt_crf_config_init(&config, base_hz);
    config.stream_id = STREAM_ID;
    config.pull = pull;
    return config;
}

/* ---- the talker */

static void milan_on_the_wire(void **state)
{
    static const uint8_t expected[] = {
        0x91, 0xE0, 0xF0, 0x00, 0xFE, 0x09, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01,
        0x81, 0x00, 0x60, 0x02, 0x22, 0xF0, 0x04, 0x80, 0x00, 0x01, 0x00, 0x1B,
        0x21, 0xAA, 0xBB, 0xCC, 0x00, 0x07, 0x00, 0x00, 0xBB, 0x80, 0x00, 0x08,
        0x00, 0x60, 0x18, 0xFA, 0xE2, 0x76, 0x9B, 0x2E, 0x51, 0x95,
    };
    static const uint8_t dest[6] = {0x91, 0xE0, 0xF0, 0, 0xFE, 9};
    struct tt_crf_config config = config_of(48000, 0);
    struct tt_crf_talker talker;
    struct tt_talker_pdu pdu;
    uint8_t packet[128];

    (void)state;
    memcpy(config.dest, dest, sizeof dest);
    config.vlan_id = 2;
    assert_int_equal(tt_crf_talker_init(&talker, &config, NULL, talker_mac), 0);
    tt_talker_start(&talker.talker, 0, START_NS);
    assert_int_equal(tt_talker_next(&talker.talker, START_NS, &pdu), TT_TALKER_SEND);
    assert_int_equal(tt_crf_talker_packet_bytes(&talker), sizeof expected);
    assert_int_equal(tt_crf_talker_build(&talker, &pdu, packet), sizeof expected);
    assert_int_equal(tt_get_be64(packet + 38), START_NS + 2000000);
    assert_memory_equal(packet, expected, sizeof expected);
    for (int k = 1; k < 501; k++) {
        assert_int_equal(tt_talker_next(&talker.talker, START_NS, &pdu), TT_TALKER_SEND);
        assert_int_equal(pdu.due_tai_ns, START_NS + k * 2 * TT_NS_PER_MS);
        assert_int_equal(pdu.sequence, k & 255);
        tt_crf_talker_build(&talker, &pdu, packet);
        assert_int_equal(tt_get_be64(packet + 38), pdu.presentation_tai_ns);
    }
}

/* A day of every base frequency and pull: no stamp is ever a ns from where it belongs. */
static void the_grid_is_exact(void **state)
{
    static const uint32_t bases[] = {44100, 48000, 88200, 96000, 176400, 192000};
    static const long double pulls[] = {1,          1000 / 1001.0L, 1001 / 1000.0L,
                                        24 / 25.0L, 25 / 24.0L,     1 / 8.0L};

    (void)state;
    for (size_t b = 0; b < TT_COUNT_OF(bases); b++) {
        for (uint8_t pull = 0; pull < TT_COUNT_OF(pulls); pull++) {
            struct tt_crf_config config = config_of(bases[b], pull);
            long double rate = (long double)bases[b] * pulls[pull];
            struct tt_crf_talker talker;

            assert_int_equal(tt_crf_talker_init(&talker, &config, NULL, talker_mac), 0);
            tt_talker_start(&talker.talker, 0, START_NS);
            for (int64_t event = 0; event < (int64_t)(rate * 86400); event += 86399999) {
                int64_t due_ns = (int64_t)((long double)event * 1e9L / rate + 0.5L);

                assert_in_range(tt_talker_due(&talker.talker, event) - START_NS - due_ns + 1, 0, 2);
            }
        }
    }
}

static void bad_numbers_are_refused(void **state)
{
    struct tt_crf_talker talker;

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct tt_crf_config config = config_of(48000, 0);

        config.base_hz = i == 0 ? 10 : config.base_hz;
        config.pull = i == 1 ? 6 : 0;
        config.timestamp_interval = i == 2 ? 0 : 96;
        config.timestamps_per_pdu = i == 3 ? 0 : i == 4 ? TT_CRF_STAMPS_MAX + 1 : 1;
        assert_int_equal(tt_crf_talker_init(&talker, &config, NULL, talker_mac), -EINVAL);
    }
}

/* ---- talker to listener */

/* A talker whose time runs `ppb` fast against ours, and the listener. */
struct wire {
    struct tt_crf_talker talker;
    struct tt_crf_listener listener;
    struct tt_event events[64];
    struct tt_event_log log;
    int64_t drift_ppb;
    int64_t offset_ns; /* of its stamps */
    int64_t jitter_ns; /* of its stamps: up to so much, either way */
    uint64_t random;
    int64_t now_ns; /* the arrival of the last PDU */
    const uint8_t *src;
};

static void wire_init(struct wire *wire, const struct tt_crf_config *config, int64_t drift_ppb)
{
    memset(wire, 0, sizeof *wire);
    wire->log.events = wire->events;
    wire->log.capacity = TT_COUNT_OF(wire->events);
    wire->drift_ppb = drift_ppb;
    wire->random = 5;
    wire->src = talker_mac;
    assert_int_equal(tt_crf_talker_init(&wire->talker, config, NULL, talker_mac), 0);
    tt_talker_start(&wire->talker.talker, 0, 0);
    tt_crf_listener_init(&wire->listener, STREAM_ID, &wire->log, START_NS);
}

/* The talker's time to ours, and to what it stamps. */
static int64_t true_time(const struct wire *wire, int64_t talker_ns)
{
    return START_NS + talker_ns -
           (int64_t)((long double)talker_ns * (long double)wire->drift_ppb /
                     (1e9L + (long double)wire->drift_ppb));
}

static size_t wire_build(struct wire *wire, uint8_t *ret_packet)
{
    struct tt_talker_pdu pdu;
    size_t bytes;

    assert_int_equal(tt_talker_next(&wire->talker.talker, 0, &pdu), TT_TALKER_SEND);
    bytes = tt_crf_talker_build(&wire->talker, &pdu, ret_packet);
    for (size_t i = 0; i < wire->talker.crf.timestamp_count; i++) {
        uint8_t *stamp = ret_packet + 14 + TT_CRF_HEADER_BYTES + i * TT_CRF_STAMP_BYTES;
        int64_t jitter_ns =
            (int64_t)random_below(&wire->random, (uint64_t)wire->jitter_ns * 2 + 1) -
            wire->jitter_ns;

        tt_put_be64(stamp, (uint64_t)(true_time(wire, (int64_t)tt_get_be64(stamp)) +
                                      wire->offset_ns + jitter_ns));
    }
    wire->now_ns = true_time(wire, pdu.due_tai_ns) + 30000;
    return bytes;
}

static void wire_receive(struct wire *wire, const uint8_t *packet, size_t bytes)
{
    tt_crf_listener_receive(&wire->listener, packet + 14, bytes - 14, wire->src, wire->now_ns);
}

static void wire_run(struct wire *wire, int pdus)
{
    uint8_t packet[1500];

    while (pdus-- > 0) {
        wire_receive(wire, packet, wire_build(wire, packet));
    }
}

/* Time passes; the PDUs are lost. */
static enum tt_crf_state wire_lose(struct wire *wire, int pdus)
{
    uint8_t packet[1500];

    while (pdus-- > 0) {
        wire_build(wire, packet);
        tt_crf_listener_advance(&wire->listener, wire->now_ns);
    }
    return wire->listener.state;
}

/* How far the grid is from the talker's true clock at its event `event`. */
static int64_t grid_error(const struct wire *wire, int64_t event)
{
    const struct tt_crf_listener *listener = &wire->listener;
    int64_t stamp_ns = tt_talker_due(&wire->talker.talker, event) + 2 * TT_NS_PER_MS;
    int64_t true_ns = true_time(wire, stamp_ns) + wire->offset_ns;
    int64_t phase_ns = tt_media_rate_ns(listener->rate, 1);
    int64_t media_ns = tt_media_clock_frame(&listener->grid.clock, true_ns + phase_ns / 2);
    int64_t ticks = tt_ns_to_frames(media_ns, listener->rate.ticks_hz);
    int64_t nearest = tt_floor_div(ticks, listener->rate.frame_ticks);

    return tt_media_clock_time(&listener->grid.clock, tt_media_rate_ns(listener->rate, nearest)) -
           true_ns;
}

static void assert_grid(const struct wire *wire, int64_t most_ns)
{
    int64_t error_ns = grid_error(wire, wire->talker.talker.next_frame);

    if (llabs(error_ns) > most_ns) {
        fail_msg("the grid is %lld ns off, at most %lld were to be", (long long)error_ns,
                 (long long)most_ns);
    }
}

static void every_family_is_followed(void **state)
{
    static const uint32_t bases[] = {44100, 48000, 88200, 96000, 176400, 192000};
    static const int64_t drifts_ppb[] = {-100000, 0, 73000};

    (void)state;
    for (size_t b = 0; b < TT_COUNT_OF(bases); b++) {
        for (uint8_t pull = 0; pull < 6; pull++) {
            for (size_t d = 0; d < TT_COUNT_OF(drifts_ppb); d++) {
                struct tt_crf_config config = config_of(bases[b], pull);
                struct wire wire;
                int64_t drift_ppb;

                wire_init(&wire, &config, drifts_ppb[d]);
                wire_run(&wire, 8000);
                assert_int_equal(wire.listener.state, TT_CRF_LOCKED);
                assert_int_equal(wire.listener.counters.pdus, 8000);
                assert_int_equal(wire.listener.counters.stamps, 8000 * config.timestamps_per_pdu);
                assert_false(wire.listener.grid.uncertain);
                assert_grid(&wire, 3);
                drift_ppb = tt_media_clock_drift_ppb(&wire.listener.grid.clock);
                assert_in_range(drift_ppb - drifts_ppb[d] + 20, 0, 40);
            }
        }
    }
}

/* Stamps that jitter by 1 us: locked within a second, and after ten the clock is twenty times as
 * quiet. */
static void jitter_is_smoothed(void **state)
{
    struct tt_crf_config config = config_of(48000, 0);
    struct wire wire;

    (void)state;
    wire_init(&wire, &config, 50000);
    wire.jitter_ns = 1000;
    wire_run(&wire, 500);
    assert_int_equal(wire.listener.state, TT_CRF_LOCKED);
    assert_grid(&wire, 1000);
    wire_run(&wire, 4500);
    for (int i = 0; i < 5000; i++) {
        wire_run(&wire, 1);
        assert_grid(&wire, 100);
    }
}

static void loss_of_the_master(void **state)
{
    struct tt_crf_config config = config_of(48000, 0);
    struct wire wire;
    const struct tt_crf_counters *counters = &wire.listener.counters;

    (void)state;
    wire_init(&wire, &config, -60000);
    wire.jitter_ns = 500;
    assert_int_equal(tt_crf_listener_advance(&wire.listener, START_NS + 1), TT_CRF_SEARCHING);
    assert_true(wire.listener.grid.uncertain && !wire.listener.grid.ready);
    wire_run(&wire, 5000);
    assert_true(!wire.listener.grid.uncertain && wire.listener.grid.ready);
    assert_int_equal(wire_lose(&wire, 20), TT_CRF_LOCKED); /* 40 ms: within what may be lost */
    wire_run(&wire, 1);
    assert_int_equal(counters->pdus_lost, 20);
    assert_int_equal(wire_lose(&wire, 2500), TT_CRF_HOLDOVER);
    assert_true(wire.listener.grid.uncertain && wire.listener.grid.ready);
    assert_grid(&wire, 500); /* 5 s later: 0.1 ppm */
    assert_int_equal(counters->holdovers, 1);
    assert_in_range(counters->holdover_ns, 4940000000, 4955000000);
    wire_run(&wire, 240);
    assert_int_equal(wire.listener.state, TT_CRF_HOLDOVER);
    wire_run(&wire, 20);
    assert_int_equal(wire.listener.state, TT_CRF_LOCKED);
    assert_false(wire.listener.grid.uncertain);
    assert_int_equal(counters->resyncs, 0);
    assert_int_equal(counters->pdus_off, 0);
    assert_int_equal(wire.listener.grid.epoch, 0);
    assert_int_equal(wire.log.n, 3);
    assert_int_equal(wire.events[0].kind, TT_EVENT_CLOCK_LOCKED);
    assert_int_equal(wire.events[1].kind, TT_EVENT_CLOCK_LOST);
    assert_int_equal(wire.events[2].kind, TT_EVENT_CLOCK_LOCKED);
}

static void repeated_and_reordered(void **state)
{
    struct tt_crf_config config = config_of(48000, 0);
    struct wire wire;
    uint8_t first[128];
    uint8_t second[128];
    size_t bytes;

    (void)state;
    wire_init(&wire, &config, 1000);
    wire_run(&wire, 1000);
    for (int i = 0; i < 100; i++) {
        bytes = wire_build(&wire, first);
        wire_build(&wire, second);
        wire_receive(&wire, second, bytes);
        wire_receive(&wire, second, bytes);
        wire_receive(&wire, first, bytes);
    }
    assert_int_equal(wire.listener.counters.pdus, 1300);
    assert_int_equal(wire.listener.counters.stamps, 1100);
    assert_int_equal(wire.listener.counters.pdus_duplicate, 100);
    assert_int_equal(wire.listener.counters.pdus_reordered, 100);
    assert_int_equal(wire.listener.counters.pdus_lost, 100);
    assert_int_equal(wire.listener.counters.pdus_off, 0);
    assert_grid(&wire, 3);
}

/* Its clock restarts elsewhere: at once with mr, after eight PDUs without. Time on our grid goes on
 * within half an event. */
static void placed_anew(void **state)
{
    (void)state;
    for (int with_mr = 0; with_mr < 2; with_mr++) {
        struct tt_crf_config config = config_of(48000, 0);
        struct wire wire;
        int64_t media_ns;

        wire_init(&wire, &config, 20000);
        wire_run(&wire, 5000);
        media_ns = tt_media_clock_frame(&wire.listener.grid.clock, wire.now_ns);
        wire.offset_ns = -37 * TT_NS_PER_S + 777777;
        wire.talker.talker.mr = with_mr != 0;
        wire_run(&wire, 7);
        assert_int_equal(wire.listener.counters.resyncs, with_mr);
        assert_int_equal(wire.listener.counters.pdus_off, with_mr ? 0 : 7);
        wire_run(&wire, 1);
        assert_int_equal(wire.listener.counters.resyncs, 1);
        assert_int_equal(wire.listener.counters.restarts, with_mr);
        assert_int_equal(wire.listener.grid.epoch, 1);
        assert_int_equal(wire.listener.state, TT_CRF_LOCKED);
        assert_grid(&wire, 30);
        media_ns += 16 * TT_NS_PER_MS;
        assert_in_range(tt_media_clock_frame(&wire.listener.grid.clock, wire.now_ns) - media_ns +
                            11000,
                        0, 22000);
        wire_run(&wire, 5000);
        assert_grid(&wire, 3);
    }
}

static void a_wild_stamp_moves_nothing(void **state)
{
    static const int64_t offs_ns[] = {
        150000, -150000, 1500000, -5000000000, 3600000000000, INT64_MAX - START_NS - 100000000000};
    struct tt_crf_config config = config_of(48000, 0);
    struct wire wire;

    (void)state;
    wire_init(&wire, &config, 20000);
    wire_run(&wire, 5000);
    for (size_t i = 0; i < 120; i++) {
        wire.offset_ns = offs_ns[i % TT_COUNT_OF(offs_ns)];
        wire_run(&wire, 1);
        wire.offset_ns = 0;
        assert_grid(&wire, 3);
        wire_run(&wire, i % 3 == 0);
    }
    assert_int_equal(wire.listener.counters.pdus_off, 120);
    assert_int_equal(wire.listener.counters.resyncs, 0);
}

static void what_is_not_used_has_its_reason(void **state)
{
    struct tt_crf_config config = config_of(48000, 0);
    struct wire wire;
    const struct tt_crf_counters *counters = &wire.listener.counters;
    uint8_t packet[128];
    size_t bytes;

    (void)state;
    wire_init(&wire, &config, 0);
    wire_run(&wire, 300);
    bytes = wire_build(&wire, packet);
    wire.src = other_mac;
    wire_receive(&wire, packet, bytes);
    wire.src = talker_mac;
    assert_int_equal(counters->pdus_other_talker, 1);
    tt_put_be16(packet + 14 + 18, 160);
    wire_receive(&wire, packet, bytes);
    assert_int_equal(counters->pdus_other_format, 1);
    packet[14 + 3] = 2;
    wire_receive(&wire, packet, bytes);
    assert_int_equal(counters->pdus_refused[TT_CRF_TYPE], 1);
    wire_receive(&wire, packet, 14 + 20);
    assert_int_equal(counters->pdus_refused[TT_CRF_TRUNCATED], 1);
    packet[14 + 11] ^= 1; /* another stream: not ours to count */
    wire_receive(&wire, packet, bytes);
    assert_int_equal(counters->pdus, 300);
    assert_int_equal(counters->pdus_refused[TT_CRF_TYPE], 1);
    /* its master is uncertain: used, and handed on */
    tt_talker_set_uncertain(&wire.talker.talker, true);
    wire_run(&wire, 2);
    assert_true(wire.listener.state == TT_CRF_LOCKED && wire.listener.grid.uncertain);
    assert_int_equal(counters->pdus_uncertain, 2);
    tt_talker_set_uncertain(&wire.talker.talker, false);
    wire_run(&wire, 1);
    assert_false(wire.listener.grid.uncertain);
}

/* Our clock stepped: what was there goes on, and is not taken for gone. */
static void our_clock_steps(void **state)
{
    struct tt_crf_config config = config_of(48000, 0);
    struct wire wire;

    (void)state;
    wire_init(&wire, &config, 0);
    wire_run(&wire, 500);
    tt_crf_listener_clock_step(&wire.listener, 37 * TT_NS_PER_S);
    assert_int_equal(
        tt_crf_listener_advance(&wire.listener, wire.now_ns + 37 * TT_NS_PER_S + 2000000),
        TT_CRF_LOCKED);
    assert_int_equal(wire.listener.counters.holdover_ns, 0);
}

/* ---- AAF streams on the followed clock */

#define STREAMS 4

static const uint32_t stream_rates[STREAMS] = {48000, 96000, 44100, 48000};

static void start_streams(struct tt_talker *talkers, const struct tt_media_grid *grid,
                          int64_t now_ns)
{
    for (size_t i = 0; i < STREAMS; i++) {
        struct tt_stream_config config = {
            .stream_id = i + 1,
            .format = TT_AAF_INT32,
            .rate_hz = stream_rates[i],
            .channels = 2,
            .frames_per_pdu = stream_rates[i] / 8000 + (stream_rates[i] % 8000 != 0),
            .vlan_id = -1,
            .mtt_ns = 2 * TT_NS_PER_MS,
        };

        tt_talker_init(&talkers[i], &config, talker_mac, 0);
        tt_talker_follow(&talkers[i], grid);
        tt_talker_start(&talkers[i], 0, now_ns + (int64_t)i * 12345);
    }
}

/* Every stream sends what is due; presentation times lie on the master's grid within most_ns. */
static void send_streams(struct tt_talker *talkers, const struct wire *wire, bool tu,
                         int64_t most_ns)
{
    for (size_t i = 0; i < STREAMS; i++) {
        while (tt_talker_next_launch(&talkers[i]) <= wire->now_ns) {
            uint32_t rate = stream_rates[i];
            uint8_t packet[TT_ETH_HEADER_BYTES + TT_AAF_HEADER_BYTES];
            struct tt_talker_pdu pdu;
            long double frames;
            long double off;
            struct tt_aaf aaf;

            assert_int_equal(tt_talker_next(&talkers[i], 0, &pdu), TT_TALKER_SEND);
            frames = (long double)(pdu.presentation_tai_ns - START_NS) *
                     (1 + (long double)wire->drift_ppb * 1e-9L) * (long double)rate * 1e-9L;
            /* the master's first stamp was at 2 ms, an event: its grid of 48 kHz goes on from there
             */
            off = frames - (long double)(int64_t)(frames + 0.5L);
            if (rate % 48000 == 0 && off * 1e9L / rate > (long double)most_ns) {
                fail_msg("stream %zu is %Lf ns off the master's grid", i, off * 1e9L / rate);
            }
            tt_talker_build(&talkers[i], &pdu, packet);
            aaf = (struct tt_aaf){.tu = (packet[14 + 3] & 1) != 0};
            assert_int_equal(aaf.tu, tu);
        }
    }
}

static void one_clock_drives_many_streams(void **state)
{
    struct tt_crf_config config = config_of(48000, 0);
    struct tt_talker talkers[STREAMS];
    struct wire wire;
    uint8_t packet[128];

    (void)state;
    wire_init(&wire, &config, 73000);
    wire.jitter_ns = 100;
    wire_run(&wire, 1000);
    start_streams(talkers, &wire.listener.grid, wire.now_ns);
    for (int i = 0; i < 15000; i++) { /* 30 s */
        wire_run(&wire, 1);
        send_streams(talkers, &wire, false, 60);
    }
    for (int i = 0; i < 2500; i++) {
        wire_build(&wire, packet);
        tt_crf_listener_advance(&wire.listener, wire.now_ns);
        send_streams(talkers, &wire, wire.listener.state == TT_CRF_HOLDOVER, 150);
    }
    for (int i = 0; i < 5000; i++) {
        wire_run(&wire, 1);
        send_streams(talkers, &wire, wire.listener.state == TT_CRF_HOLDOVER, 150);
    }
    assert_int_equal(wire.listener.state, TT_CRF_LOCKED);
    /* 37 s and 3 ms: every stream kept exactly the rate of the clock and no mr was toggled */
    for (size_t i = 0; i < STREAMS; i++) {
        int64_t ns = wire.now_ns - talkers[i].start_tai_ns;
        int64_t frames = tt_ns_to_frames(ns + ns * 73 / 1000000, stream_rates[i]);

        assert_in_range(talkers[i].next_frame - frames, 0, talkers[i].frames_per_pdu + 1);
        assert_false(talkers[i].mr);
    }
    /* the same rate: the same phase, whenever it started */
    assert_int_equal((tt_talker_due(&talkers[0], talkers[0].next_frame) -
                      tt_talker_due(&talkers[3], talkers[3].next_frame)) /
                         125000 * 125000 / 20833,
                     (talkers[0].start_grid_frame + talkers[0].next_frame -
                      talkers[3].start_grid_frame - talkers[3].next_frame) /
                         6 * 6);
}

static void streams_go_on_where_the_clock_is_placed_anew(void **state)
{
    struct tt_crf_config config = config_of(48000, 1);
    struct tt_talker talkers[STREAMS];
    struct wire wire;
    int64_t due_ns[STREAMS];

    (void)state;
    wire_init(&wire, &config, 0);
    wire_run(&wire, 1000);
    start_streams(talkers, &wire.listener.grid, wire.now_ns);
    /* pulled down: 48 kHz is 47952.05 */
    assert_in_range(tt_talker_due(&talkers[0], 48000000) - tt_talker_due(&talkers[0], 0) -
                        INT64_C(1001000000000) + 20000,
                    0, 40000);
    for (size_t i = 0; i < STREAMS; i++) {
        due_ns[i] = tt_talker_due(&talkers[i], 0);
    }
    wire.offset_ns = 1234567;
    wire_run(&wire, 8);
    for (size_t i = 0; i < STREAMS; i++) {
        struct tt_talker_pdu pdu;

        assert_in_range(tt_talker_due(&talkers[i], 0) - due_ns[i] + 11000, 0, 22000);
        assert_int_equal(tt_talker_next(&talkers[i], 0, &pdu), TT_TALKER_SEND);
        assert_true(talkers[i].mr);
        due_ns[i] = tt_talker_next_launch(&talkers[i]);
        tt_talker_clock_step(&talkers[i], 5000000001);
        assert_false(talkers[i].mr);
        assert_in_range(tt_talker_next_launch(&talkers[i]) - due_ns[i] - 5000000001, 0, 23000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milan_on_the_wire),
        cmocka_unit_test(the_grid_is_exact),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(every_family_is_followed),
        cmocka_unit_test(jitter_is_smoothed),
        cmocka_unit_test(loss_of_the_master),
        cmocka_unit_test(repeated_and_reordered),
        cmocka_unit_test(placed_anew),
        cmocka_unit_test(a_wild_stamp_moves_nothing),
        cmocka_unit_test(what_is_not_used_has_its_reason),
        cmocka_unit_test(our_clock_steps),
        cmocka_unit_test(one_clock_drives_many_streams),
        cmocka_unit_test(streams_go_on_where_the_clock_is_placed_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
