/*
 * The listener, PDU by PDU: what it does with stamps, sequences, talkers and formats that do not
 * fit. (Whole streams with random faults are in tests/sim.)
 */
#include "test.h"

#include <inttypes.h>
#include <string.h>

#include "audio/listener.h"
#include "base/bytes.h"
#include "base/ns.h"

#define RATE      48000
#define PDU       6
#define PDU_NS    125000
#define TRANSIT   (2 * TT_NS_PER_MS)
#define BUFFER    9600
#define RING      (BUFFER + RATE)
#define EVENTS    1000
#define STREAM_ID UINT64_C(0xAABBCCDDEEFF0001)

static const uint8_t talker_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t other_mac[6] = {2, 0, 0, 0, 0, 2};

/* A listener, and a talker whose PDUs carry their number (1 … ) as samples. */
struct bench {
    struct tt_listener listener;
    uint8_t ring[RING * 4];
    struct tt_hole holes[RING];
    struct tt_event events[EVENTS];
    struct tt_event_log log;
    int64_t start_ns;        /* device start */
    int64_t arrival_ns;      /* of the next PDU */
    int64_t stamp_offset_ns; /* presentation - arrival */
    uint8_t sequence;
    uint16_t number;
    bool mr;
    bool tu;
    bool tv;
    bool sp;
    const uint8_t *src;
};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct tt_stream_config config = {
        .stream_id = STREAM_ID,
        .format = TT_AAF_INT16,
        .rate_hz = RATE,
        .channels = 2,
        .ptime_tolerance_ns = 100000,
    };

    b->log = (struct tt_event_log){.events = b->events, .capacity = EVENTS};
    b->start_ns = INT64_C(1800000000000000000);
    b->arrival_ns = b->start_ns + 10 * TT_NS_PER_MS;
    b->stamp_offset_ns = TRANSIT;
    b->sequence = 77;
    b->number = 1;
    b->tv = true;
    b->src = talker_mac;
    assert_int_equal(tt_listener_init(&b->listener, &config,
                                      &(struct tt_timeline_memory){b->ring, RING, b->holes, RING},
                                      BUFFER, &b->log),
                     0);
    tt_listener_start(&b->listener, 0, b->start_ns);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void send_shaped(struct bench *b, struct tt_aaf aaf)
{
    uint8_t pdu[TT_AAF_HEADER_BYTES + 4 * 64];

    tt_aaf_build_header(&aaf, pdu);
    for (size_t i = 0; i + 1 < aaf.payload_bytes; i += 2) {
        tt_put_be16(pdu + TT_AAF_HEADER_BYTES + i, b->number);
    }
    tt_listener_receive(&b->listener, pdu, TT_AAF_HEADER_BYTES + aaf.payload_bytes, b->src,
                        b->arrival_ns);
}

static struct tt_aaf shape(const struct bench *b)
{
    return (struct tt_aaf){
        .stream_id = STREAM_ID,
        .sequence = b->sequence,
        .mr = b->mr,
        .tu = b->tu,
        .tv = b->tv,
        .sp = b->sp,
        .timestamp = (uint32_t)(b->arrival_ns + b->stamp_offset_ns),
        .format = TT_AAF_INT16,
        .rate_hz = RATE,
        .channels = 2,
        .bit_depth = 16,
        .payload_bytes = PDU * 4,
    };
}

static void miss(struct bench *b, int pdus)
{
    b->arrival_ns += (int64_t)pdus * PDU_NS;
    b->sequence = (uint8_t)(b->sequence + pdus);
    b->number = (uint16_t)(b->number + pdus);
}

static void send(struct bench *b, int pdus)
{
    for (int i = 0; i < pdus; i++) {
        send_shaped(b, shape(b));
        miss(b, 1);
    }
}

/* The PDU number that stands at a position (0: silence). */
static unsigned number_at(const struct bench *b, int64_t position)
{
    int64_t run;

    return tt_get_be16(tt_timeline_frames(&b->listener.timeline, position, position + 1, &run));
}

/* Position of frame 0 of the PDU sent when arrival_ns was `arrival_ns`, by time alone. */
static int64_t position_of(const struct bench *b, int64_t arrival_ns)
{
    return tt_ns_to_frames(arrival_ns + b->stamp_offset_ns - b->start_ns + 10000, RATE);
}

static void starts_where_the_stamp_says(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 100);
    tt_listener_stop(&b->listener, b->arrival_ns + TRANSIT + TT_NS_PER_MS);
    for (int64_t p = 0; p < first; p++) {
        assert_int_equal(number_at(b, p), 0);
    }
    for (int64_t p = 0; p < 600; p++) {
        assert_int_equal(number_at(b, first + p), 1 + p / PDU);
    }
    assert_int_equal(b->listener.counters.pdus_placed, 100);
    assert_int_equal(tt_listener_counters(&b->listener).frames_lost, 0);
    assert_int_equal(tt_listener_counters(&b->listener).frames_absent,
                     b->listener.timeline.device - 600);
}

static void one_stamp_off_moves_nothing(void **state)
{
    struct bench *b = *state;
    static const int64_t errors_ns[] = {-1000000, -100001, 100001, 20000000, -1900000};
    int64_t first = position_of(b, b->arrival_ns);

    for (size_t i = 0; i < TT_COUNT_OF(errors_ns); i++) {
        send(b, 50);
        b->stamp_offset_ns = TRANSIT + errors_ns[i];
        send(b, 1);
        b->stamp_offset_ns = TRANSIT;
    }
    send(b, 45);
    for (int64_t p = 0; p < 300 * PDU; p++) {
        assert_int_equal(number_at(b, first + p), 1 + p / PDU);
    }
    assert_int_equal(b->listener.counters.stamps_off, 5);
    assert_int_equal(b->listener.counters.resyncs, 0);
}

static void within_tolerance_is_not_off(void **state)
{
    struct bench *b = *state;

    send(b, 50);
    b->stamp_offset_ns = TRANSIT + 99000;
    send(b, 1);
    b->stamp_offset_ns = TRANSIT - 99000;
    send(b, 1);
    assert_int_equal(b->listener.counters.stamps_off, 0);
}

/* The talker's clock jumps: eight stamps that agree with each other, and the stream stands anew. */
static void a_jump_resynchronises(void **state)
{
    static const int64_t jumps_ns[] = {3000000, -1500000, 500000000};

    for (size_t i = 0; i < TT_COUNT_OF(jumps_ns); i++) {
        struct bench *b;
        int64_t eighth;

        setup((void **)&b);
        send(b, 100);
        b->stamp_offset_ns = TRANSIT + jumps_ns[i];
        send(b, 7);
        assert_int_equal(b->listener.counters.resyncs, 0);
        eighth = position_of(b, b->arrival_ns);
        send(b, 50);
        assert_int_equal(b->listener.counters.resyncs, 1);
        assert_int_equal(b->listener.counters.stamps_off, 8);
        for (int64_t p = 0; p < 50 * PDU; p++) {
            assert_int_equal(number_at(b, eighth + p), 108 + p / PDU);
        }
        free(b);
    }
    (void)state;
}

/* Stamps beyond the horizon, or in the past: no place in the timeline; the sequence carries on, and
 * stamps are read relative to that. */
static void a_jump_out_of_reach_is_followed(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 100);
    b->stamp_offset_ns = TRANSIT + 37 * TT_NS_PER_S;
    send(b, 100);
    b->stamp_offset_ns = TRANSIT - 37 * TT_NS_PER_S;
    send(b, 100);
    assert_int_equal(b->listener.counters.resyncs, 2);
    assert_int_equal(b->listener.counters.stamps_off, 16);
    for (int64_t p = 0; p < 300 * PDU; p++) {
        assert_int_equal(number_at(b, first + p), 1 + p / PDU);
    }
}

/* Another program plays: the sequence starts anew, and so does the media clock. After a pause, or
 * with mr, the first stamp is believed; at once and without mr, the eighth, and what came before is
 * lost. */
static void a_restarted_talker(void **state)
{
    static const struct {
        int64_t pause_ns;
        bool mr;
        int unplaced;
    } cases[] = {
        {200 * TT_NS_PER_MS + 12345, false, 0},
        {200 * TT_NS_PER_MS + 12345, true, 0},
        {1 * TT_NS_PER_MS + 12345, true, 0},
        {1 * TT_NS_PER_MS + 312345, false, 7},
    };

    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct bench *b;
        int64_t end;
        int64_t placed;

        setup((void **)&b);
        end = position_of(b, b->arrival_ns);
        send(b, 100);
        end += 100 * PDU;
        b->arrival_ns += cases[i].pause_ns; /* off the old grid of frames */
        b->sequence = 3;
        b->mr = cases[i].mr;
        send(b, cases[i].unplaced);
        assert_int_equal(b->listener.counters.pdus_unplaced, cases[i].unplaced);
        placed = position_of(b, b->arrival_ns);
        send(b, 50);
        assert_int_equal(b->listener.counters.resyncs, 1);
        assert_int_equal(b->listener.counters.restarts, cases[i].mr);
        for (int64_t p = 0; p < 50 * PDU; p++) {
            assert_int_equal(number_at(b, placed + p), 101 + cases[i].unplaced + p / PDU);
        }
        tt_listener_stop(&b->listener, b->arrival_ns + TRANSIT);
        assert_int_equal(tt_listener_counters(&b->listener).frames_lost,
                         cases[i].unplaced > 0 ? placed - end : 0);
        free(b);
    }
    (void)state;
}

/* A restart of the media clock (TAI stepped) that goes on counting tells what is missing; one that
 * counts on by more than a quarter of the sequence, or backwards, does not. */
static void what_a_restart_says_is_lost(void **state)
{
    static const struct {
        int missing; /* PDUs, by the sequence */
        int ahead;   /* PDUs, by the stamp */
        bool lost;
    } cases[] = {{0, 0, false},   {0, 20, false},   {1, 1, true},
                 {1, 20, true},   {63, 63, true},   {64, 64, false},
                 {65, 65, false}, {200, 20, false}, {255, 20, false}};

    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct bench *b;
        struct tt_listener_counters counters;
        int64_t first;

        setup((void **)&b);
        first = position_of(b, b->arrival_ns);
        send(b, 100);
        b->mr = true;
        b->sequence = (uint8_t)(b->sequence + cases[i].missing);
        b->stamp_offset_ns += (int64_t)cases[i].ahead * PDU_NS;
        send(b, 1);
        tt_listener_stop(&b->listener, b->arrival_ns + b->stamp_offset_ns);
        counters = tt_listener_counters(&b->listener);
        assert_int_equal(counters.restarts, 1);
        assert_int_equal(counters.frames_lost, cases[i].lost ? cases[i].ahead * PDU : 0);
        assert_int_equal(counters.frames_absent,
                         first + (cases[i].lost ? 0 : cases[i].ahead * PDU) +
                             b->listener.timeline.device - first - (101 + cases[i].ahead) * PDU);
        free(b);
    }
    (void)state;
}

/* The last margin is what a jump out of reach after a pause is placed by; a PDU that is late on the
 * wire, or comes twice, does not spoil it. */
static void a_jump_in_a_pause_keeps_the_margin(void **state)
{
    struct bench *b = *state;
    int64_t first;

    send(b, 100);
    b->arrival_ns -= PDU_NS; /* the last one once more, a little later */
    b->sequence--;
    b->number--;
    b->arrival_ns += 50000;
    b->stamp_offset_ns -= 50000;
    send(b, 1);
    b->stamp_offset_ns += 50000;
    b->arrival_ns += 50 * TT_NS_PER_MS - 50000;
    b->sequence = 9;
    first = position_of(b, b->arrival_ns);
    b->stamp_offset_ns -= 37 * TT_NS_PER_S;
    send(b, 50);
    assert_int_equal(b->listener.counters.resyncs, 1);
    for (int64_t p = 7 * PDU; p < 50 * PDU; p++) {
        assert_in_range(number_at(b, first + p), 101 + p / PDU - (p % PDU == 0), 101 + p / PDU);
    }
}

/* Numbers [first, first + count) stand from `position` on. */
static void assert_numbers(const struct bench *b, int64_t position, unsigned first, int count)
{
    for (int64_t p = 0; p < (int64_t)count * PDU; p++) {
        assert_int_equal(number_at(b, position + p), first + (unsigned)(p / PDU));
    }
}

/* A loss where stamps are off and uncertain: the sequence alone says how long. */
static void a_gap_among_uncertain_stamps(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 20);
    b->tu = true;
    b->stamp_offset_ns += 5 * TT_NS_PER_MS;
    miss(b, 1);
    send(b, 3);
    assert_int_equal(b->listener.counters.pdus_unplaced, 0);
    assert_numbers(b, first + 21 * PDU, 22, 3);
}

/* Among the first stamps behind a jump out of reach an older PDU comes once more: it is not what
 * the stream goes on from. */
static void an_old_pdu_behind_a_jump(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 100);
    b->stamp_offset_ns -= 37 * TT_NS_PER_S;
    send(b, 7);
    miss(b, -3);
    send(b, 1);
    miss(b, 2);
    send(b, 50);
    assert_int_equal(b->listener.counters.resyncs, 1);
    assert_numbers(b, first, 1, 157);
}

/* 250 PDUs are lost, and the clock jumps out of reach meanwhile: what the eight bits say then is no
 * place. */
static void a_jump_behind_a_long_loss(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 100);
    miss(b, 250);
    b->stamp_offset_ns -= 37 * TT_NS_PER_S;
    send(b, 50);
    assert_int_equal(b->listener.counters.pdus_late, 0);
    assert_int_equal(b->listener.counters.pdus_unplaced, 7);
    assert_numbers(b, first + 357 * PDU, 358, 43);
}

/* A restart behind a pause, and the first PDUs have no stamp: where arrival and sequence put them
 * is forgotten when the stamp comes. */
static void unstamped_pdus_behind_a_pause(void **state)
{
    struct bench *b = *state;
    int64_t first;

    b->sp = true;
    b->stamp_offset_ns = 100 * TT_NS_PER_MS;
    send(b, 100);
    b->arrival_ns += 60 * TT_NS_PER_MS + 30000;
    b->sequence = (uint8_t)(b->sequence + 143); /* which looks like 400 lost, 80 too few */
    b->tv = false;
    send(b, 5);
    b->tv = true;
    first = position_of(b, b->arrival_ns);
    send(b, 20);
    assert_numbers(b, first, 106, 20);
    for (int64_t p = first - 1000; p < first; p++) {
        assert_false(number_at(b, p) > 100);
    }
}

/* The talker's clock is set right again while nobody listens. */
static void after_an_absence_stamps_may_be_right_again(void **state)
{
    struct bench *b = *state;
    int64_t first;

    send(b, 100);
    b->stamp_offset_ns = TRANSIT - 37 * TT_NS_PER_S;
    send(b, 100);
    for (int right = 0; right < 2; right++) {
        b->stamp_offset_ns = right ? TRANSIT : TRANSIT - 37 * TT_NS_PER_S;
        b->arrival_ns += 2 * TT_NS_PER_S;
        send(b, 10);
        b->stamp_offset_ns = TRANSIT;
        first = position_of(b, b->arrival_ns - 10 * PDU_NS);
        assert_int_equal(number_at(b, first + PDU), b->number - 9);
    }
    assert_int_equal(b->listener.counters.absences, 2);
}

/* Stamps of another time scale place nothing, and are told apart from nonsense. */
static void the_other_time_scale_is_named(void **state)
{
    struct bench *b = *state;

    b->listener.other_scale_ns = 37 * TT_NS_PER_S;
    b->stamp_offset_ns = TRANSIT - 37 * TT_NS_PER_S;
    send(b, 10);
    b->stamp_offset_ns = TRANSIT - 20 * TT_NS_PER_S;
    send(b, 10);
    assert_int_equal(b->listener.counters.pdus_other_timescale, 10);
    assert_int_equal(b->listener.counters.pdus_early + b->listener.counters.pdus_late, 20);
    b->listener.other_scale_ns = 0;
    b->stamp_offset_ns = TRANSIT - 37 * TT_NS_PER_S;
    send(b, 10);
    assert_int_equal(b->listener.counters.pdus_other_timescale, 10);
    assert_int_equal(b->listener.counters.pdus_placed, 0);
}

static void a_second_talker_is_told_apart(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    for (int i = 0; i < 100; i++) {
        struct tt_aaf theirs = shape(b);

        send(b, 1);
        b->src = other_mac;
        theirs.sequence = (uint8_t)(i * 7);
        b->number = (uint16_t)(b->number + 1000);
        send_shaped(b, theirs);
        b->number = (uint16_t)(b->number - 1000);
        b->src = talker_mac;
    }
    for (int64_t p = 0; p < 100 * PDU; p++) {
        assert_int_equal(number_at(b, first + p), 1 + p / PDU);
    }
    assert_int_equal(b->listener.counters.pdus_other_talker, 100);
    /* Once the first is gone, the second is welcome. */
    b->arrival_ns += 2 * TT_NS_PER_S;
    tt_listener_advance(&b->listener, b->arrival_ns);
    assert_false(b->listener.locked);
    b->src = other_mac;
    first = position_of(b, b->arrival_ns);
    send(b, 10);
    assert_int_equal(number_at(b, first), 101);
}

static void another_format_for_a_while(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 20);
    for (int i = 0; i < 30; i++) {
        struct tt_aaf aaf = shape(b);

        aaf.rate_hz = i % 3 == 0 ? 96000 : RATE;
        aaf.channels = i % 3 == 1 ? 1 : 2;
        if (i % 3 == 2) {
            aaf.format = TT_AAF_INT32;
            aaf.bit_depth = 32;
        }
        send_shaped(b, aaf);
        miss(b, 1);
    }
    send(b, 50);
    assert_int_equal(b->listener.counters.pdus_other_format, 30);
    tt_listener_stop(&b->listener, b->arrival_ns + TRANSIT);
    assert_int_equal(tt_listener_counters(&b->listener).frames_lost, 30 * PDU);
    assert_int_equal(number_at(b, first + 49 * PDU), 0);
    assert_int_equal(number_at(b, first + 50 * PDU), 51);
}

static void a_timestamp_that_is_uncertain_places_nothing_anew(void **state)
{
    struct bench *b = *state;
    int64_t first = position_of(b, b->arrival_ns);

    send(b, 20);
    b->tu = true;
    b->stamp_offset_ns = TRANSIT + 5 * TT_NS_PER_MS;
    send(b, 100);
    assert_int_equal(b->listener.counters.pdus_uncertain, 100);
    assert_int_equal(b->listener.counters.resyncs, 0);
    assert_int_equal(number_at(b, first + 119 * PDU), 120);
}

/* Where they always were there is nothing better to go by: a new start is followed. */
static void a_talker_that_is_always_uncertain_is_followed(void **state)
{
    struct bench *b = *state;

    b->tu = true;
    send(b, 20);
    b->stamp_offset_ns = TRANSIT + 5 * TT_NS_PER_MS;
    send(b, 100);
    assert_int_equal(b->listener.counters.pdus_uncertain, 120);
    assert_int_equal(b->listener.counters.resyncs, 1);
    b->tu = false; /* it has found its time */
    send(b, 20);
    b->tu = true;
    b->stamp_offset_ns = TRANSIT;
    send(b, 100);
    assert_int_equal(b->listener.counters.resyncs, 1);
}

static void nothing_stamped_is_never_placed(void **state)
{
    struct bench *b = *state;

    b->tv = false;
    send(b, 100);
    assert_int_equal(b->listener.counters.pdus_unstamped, 100);
    assert_int_equal(b->listener.counters.pdus_unplaced, 100);
    assert_false(b->listener.locked);
}

/* Sparse, and 256 PDUs lost or the like: what follows has no stamp at first, and is put in its
 * place by the next one. A talker that was only late is not taken for one that lost 256. */
static void sparse_and_long_losses(void **state)
{
    static const int losses[] = {1, 100, 127, 128, 200, 255, 256, 257, 260, 511, 512, 519, 1000};

    (void)state;
    for (size_t l = 0; l < TT_COUNT_OF(losses) * 2; l++) {
        struct bench *b;
        int64_t first;
        int lost = losses[l / 2];
        bool another = l % 2 == 1; /* one more is lost before the next stamp */

        setup((void **)&b);
        first = position_of(b, b->arrival_ns);
        b->sequence = 0;
        b->sp = true;
        for (int i = 0; i < 1300; i++) {
            b->tv = b->sequence % 8 == 0;
            if ((i >= 100 && i < 100 + lost) || (another && i == 101 + lost)) {
                miss(b, 1);
            } else {
                send(b, 1);
            }
        }
        for (int64_t p = 0; p < 1300 * PDU; p++) {
            int64_t i = p / PDU;
            bool missing = (i >= 100 && i < 100 + lost) || (another && i == 101 + lost);

            assert_int_equal(number_at(b, first + p), missing ? 0 : i + 1);
        }
        tt_listener_stop(&b->listener, b->arrival_ns + TRANSIT);
        assert_int_equal(tt_listener_counters(&b->listener).frames_lost, (lost + another) * PDU);
        assert_int_equal(b->listener.counters.pdus_unplaced, 0);
        assert_int_equal(b->listener.counters.resyncs, 0);
        free(b);
    }
}

/* With `before` and `after` PDUs lost beside the stall (0: none). */
static void stall_sparse(int stall, int before, int after)
{
    struct bench *b;
    int64_t first;
    int lost = (before > 0) + (after > 0 && after != before);

    setup((void **)&b);
    b->sequence = 0;
    b->sp = true;
    b->stamp_offset_ns = 100 * TT_NS_PER_MS;
    first = position_of(b, b->arrival_ns);
    for (int i = 0; i < 600; i++) {
        b->tv = b->sequence % 8 == 0;
        if (i == stall) {
            b->arrival_ns += 50 * TT_NS_PER_MS; /* stamps do not know of it */
            b->stamp_offset_ns -= 50 * TT_NS_PER_MS;
        }
        if (i > 0 && (i == before || i == after)) {
            miss(b, 1);
        } else {
            send(b, 1);
        }
    }
    for (int64_t p = 0; p < 600 * PDU; p++) {
        int64_t i = p / PDU;

        assert_int_equal(number_at(b, first + p), i > 0 && (i == before || i == after) ? 0 : i + 1);
    }
    tt_listener_stop(&b->listener, b->arrival_ns + 100 * TT_NS_PER_MS);
    assert_int_equal(tt_listener_counters(&b->listener).frames_lost, lost * PDU);
    free(b);
}

static void sparse_and_a_late_talker(void **state)
{
    (void)state;
    for (int stall = 97; stall < 106; stall++) {
        stall_sparse(stall, 0, 0);
        for (int before = stall - 3; before <= stall; before++) {
            for (int after = stall; after < stall + 4; after++) {
                stall_sparse(stall, before, after);
            }
        }
    }
}

/* The network holds some packets back, less than half a turn of the sequence, until shortly before
 * the first one behind the loss: there is no pause in which to see how many are missing, and no
 * stamp behind it at first. */
static void sparse_losses_behind_held_packets(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t random = seed;
        int lost = 128 + (int)random_below(&random, 40);
        int held = 1 + (int)random_below(&random, 15);
        int gap = 63 - (int)random_below(&random, (uint64_t)(184 - lost - held));
        int begin = 100 + (int)random_below(&random, 16);
        int end = begin + lost;
        int64_t released_ns; /* after the first PDU's arrival */
        int64_t first;
        int64_t first_ns;
        struct bench *b;

        setup((void **)&b);
        b->sequence = 0;
        b->sp = true;
        b->stamp_offset_ns = 200 * TT_NS_PER_MS;
        first = position_of(b, b->arrival_ns);
        first_ns = b->arrival_ns;
        released_ns = (int64_t)(end - gap) * PDU_NS;
        for (int i = 0; i < 700; i++) {
            int64_t late_ns =
                i >= begin - held && i < begin ? first_ns + released_ns - b->arrival_ns : 0;

            b->tv = b->sequence % 8 == 0;
            b->arrival_ns += late_ns;
            b->stamp_offset_ns -= late_ns;
            if (i < begin || i >= end) {
                send_shaped(b, shape(b));
            }
            b->arrival_ns -= late_ns;
            b->stamp_offset_ns += late_ns;
            miss(b, 1);
        }
        for (int64_t p = 0; p < 700 * PDU; p++) {
            int64_t i = p / PDU;

            if (number_at(b, first + p) != (i >= begin && i < end ? 0 : i + 1)) {
                fail_msg("seed %" PRIu64 ": PDU %u stands where %" PRId64
                         " belongs (lost %d to %d)",
                         seed, number_at(b, first + p), i + 1, begin + 1, end);
            }
        }
        assert_int_equal(b->listener.counters.resyncs, 0);
        tt_listener_stop(&b->listener, b->arrival_ns + 200 * TT_NS_PER_MS);
        assert_int_equal(tt_listener_counters(&b->listener).frames_lost, lost * PDU);
        free(b);
    }
}

static void the_media_rate_is_followed(void **state)
{
    static const int64_t drifts_ppm[] = {-200, 200};

    for (size_t i = 0; i < TT_COUNT_OF(drifts_ppm); i++) {
        struct bench *b;
        int64_t first;
        int64_t base_ns;

        setup((void **)&b);
        first = position_of(b, b->arrival_ns);
        base_ns = b->arrival_ns;
        for (int64_t n = 0; n < 8000 * 60; n++) {
            b->arrival_ns = base_ns + n * PDU_NS - n * PDU_NS / 1000000 * drifts_ppm[i];
            send_shaped(b, shape(b));
            b->sequence++;
            b->number++;
        }
        assert_int_equal(b->listener.counters.stamps_off, 0);
        assert_int_equal(b->listener.counters.resyncs, 0);
        /* One minute of the talker's media time went by, not of ours. */
        tt_listener_advance(&b->listener, b->arrival_ns + TRANSIT);
        assert_in_range(b->listener.timeline.device - first - 8000 * 60 * PDU + PDU * 2, 0,
                        PDU * 2);
        assert_in_range(tt_media_clock_drift_ppb(&b->listener.clock) - drifts_ppm[i] * 1000 + 1500,
                        0, 3000);
        free(b);
    }
    (void)state;
}

static void playout_latency_repairs_what_comes_late(void **state)
{
    struct bench *b = *state;
    int64_t late_ns = TRANSIT + 3 * TT_NS_PER_MS;
    int64_t first;

    b->listener.config.playout_latency_ns = 5 * TT_NS_PER_MS;
    tt_listener_start(&b->listener, 0, b->start_ns);
    b->stamp_offset_ns = TRANSIT - late_ns; /* each arrives 3 ms after its presentation */
    first = tt_ns_to_frames(
        b->arrival_ns + b->stamp_offset_ns + 5 * TT_NS_PER_MS - b->start_ns + 10000, RATE);
    send(b, 200);
    assert_int_equal(number_at(b, first), 1);
    assert_int_equal(number_at(b, first + 199 * PDU), 200);
    assert_int_equal(b->listener.counters.pdus_late, 0);
}

/* Odd stamps go on across a step of the local clock that moved the talker's as well. */
static void a_clock_step_among_odd_stamps(void **state)
{
    struct bench *b = *state;

    send(b, 100);
    b->stamp_offset_ns = TRANSIT + 3 * TT_NS_PER_MS;
    send(b, 4);
    tt_listener_clock_step(&b->listener, 37 * TT_NS_PER_S);
    b->arrival_ns += 37 * TT_NS_PER_S;
    send(b, 3);
    assert_int_equal(b->listener.counters.resyncs, 0);
    send(b, 1);
    assert_int_equal(b->listener.counters.resyncs, 1);
}

/* A gap in the sequence and a stamp that is off by about 256 PDUs do not confirm each other. */
static void a_gap_and_a_stamp_that_disagree(void **state)
{
    struct bench *b = *state;

    send(b, 100);
    b->sequence = (uint8_t)(b->sequence + 4);
    b->stamp_offset_ns = TRANSIT + (256 + 4) * PDU_NS + 300 * TT_NS_PER_US;
    send(b, 1);
    assert_int_equal(b->listener.counters.pdus_unplaced, 1);
    assert_int_equal(b->listener.counters.stamps_off, 1);
}

/* After an xrun the device starts again: PDUs of before are no loss of the new run. */
static void what_was_due_before_the_start_is_no_loss(void **state)
{
    struct bench *b = *state;
    size_t events;

    send(b, 100);
    tt_listener_start(&b->listener, 2000, b->arrival_ns + 10 * TT_NS_PER_MS);
    events = b->log.n;
    b->stamp_offset_ns = -5 * TT_NS_PER_MS;
    send(b, 20); /* 2.5 ms: presented before the start */
    for (size_t i = events; i < b->log.n; i++) {
        assert_true(b->events[i].frame >= 2000);
        assert_int_not_equal(b->events[i].kind, TT_EVENT_LATE);
    }
    assert_int_equal(b->listener.counters.pdus_late, 20);
}

/* Any bytes, at any time: counted, never a crash, and the device runs on. */
static void any_bytes(void **state)
{
    struct bench *b = *state;
    uint64_t random = 5;

    for (int i = 0; i < 200000; i++) {
        size_t bytes = random_size(&random, 120);
        uint8_t *pdu = malloc(bytes + 1);

        if (random_below(&random, 4) != 0 && bytes >= TT_AAF_HEADER_BYTES) {
            struct tt_aaf aaf = shape(b);

            aaf.sequence = (uint8_t)random_next(&random);
            aaf.timestamp = (uint32_t)random_next(&random);
            tt_aaf_build_header(&aaf, pdu);
        }
        for (size_t k = 0; k < bytes; k++) {
            if (random_below(&random, 16) == 0) {
                pdu[k] = (uint8_t)random_next(&random);
            } else if (bytes < TT_AAF_HEADER_BYTES || k >= TT_AAF_HEADER_BYTES) {
                pdu[k] = 0;
            }
        }
        if (random_below(&random, 4) == 0) {
            send(b, 1);
        }
        tt_listener_receive(&b->listener, pdu, bytes, b->src, b->arrival_ns);
        free(pdu);
    }
    tt_listener_stop(&b->listener, b->arrival_ns);
    assert_in_range(b->listener.timeline.device -
                        tt_ns_to_frames(b->arrival_ns - b->start_ns, RATE) + RATE,
                    0, 2 * RATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(starts_where_the_stamp_says),
        TEST(one_stamp_off_moves_nothing),
        TEST(within_tolerance_is_not_off),
        TEST(a_jump_resynchronises),
        TEST(a_jump_out_of_reach_is_followed),
        TEST(a_restarted_talker),
        TEST(what_a_restart_says_is_lost),
        TEST(a_jump_in_a_pause_keeps_the_margin),
        TEST(a_gap_among_uncertain_stamps),
        TEST(an_old_pdu_behind_a_jump),
        TEST(a_jump_behind_a_long_loss),
        TEST(unstamped_pdus_behind_a_pause),
        TEST(after_an_absence_stamps_may_be_right_again),
        TEST(the_other_time_scale_is_named),
        TEST(a_second_talker_is_told_apart),
        TEST(another_format_for_a_while),
        TEST(a_timestamp_that_is_uncertain_places_nothing_anew),
        TEST(a_talker_that_is_always_uncertain_is_followed),
        TEST(nothing_stamped_is_never_placed),
        TEST(sparse_and_long_losses),
        TEST(sparse_and_a_late_talker),
        TEST(sparse_losses_behind_held_packets),
        TEST(the_media_rate_is_followed),
        TEST(playout_latency_repairs_what_comes_late),
        TEST(a_clock_step_among_odd_stamps),
        TEST(a_gap_and_a_stamp_that_disagree),
        TEST(what_was_due_before_the_start_is_no_loss),
        TEST(any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
