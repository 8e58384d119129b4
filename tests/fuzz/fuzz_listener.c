/*
 * A script of PDUs through the listener. Eight bytes each: flags, step of the sequence number, step
 * of the arrival in 10 µs (2), what the stamp is off by in ns (4, signed); big-endian.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>

#include "audio/listener.h"
#include "base/bytes.h"

#define RATE   48000
#define BUFFER 480
#define RING   (BUFFER + RATE / 10)
#define HOLES  16

enum {
    FLAG_TV = 0x01,
    FLAG_MR = 0x02,
    FLAG_TU = 0x04,
    FLAG_OTHER_TALKER = 0x08,
    FLAG_OTHER_FORMAT = 0x10,
    FLAG_CORRUPT = 0x20,
    FLAG_CLOCK_STEP = 0x40,
    FLAG_NOTHING = 0x80, /* only time passes */
};

enum {
    PLACED,
    LATE,
    DUPLICATE,
    REORDERED,
    UNPLACED,
    EARLY,
    UNSTAMPED,
    UNCERTAIN,
    STAMP_OFF,
    RESYNC,
    RESTART,
    OTHER_TALKER,
    OTHER_FORMAT,
    REFUSED,
    LOST,
    LATE_FRAMES,
    ABSENT,
    REASONS
};

static struct fuzz_reason reasons[REASONS] = {
    [PLACED] = {"placed", 0},
    [LATE] = {"late", 0},
    [DUPLICATE] = {"duplicate", 0},
    [REORDERED] = {"reordered", 0},
    [UNPLACED] = {"unplaced", 0},
    [EARLY] = {"early", 0},
    [UNSTAMPED] = {"unstamped", 0},
    [UNCERTAIN] = {"uncertain", 0},
    [STAMP_OFF] = {"stamp off", 0},
    [RESYNC] = {"resynchronised", 0},
    [RESTART] = {"restarted", 0},
    [OTHER_TALKER] = {"other talker", 0},
    [OTHER_FORMAT] = {"other format", 0},
    [REFUSED] = {"refused", 0},
    [LOST] = {"frames lost", 0},
    [LATE_FRAMES] = {"frames late", 0},
    [ABSENT] = {"frames absent", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant) {
        abort();
    }
}

static void hold_timeline(const struct tt_timeline *timeline)
{
    int64_t end = timeline->device;
    uint64_t booked = timeline->silent[TT_EVENT_LOST] + timeline->silent[TT_EVENT_LATE] +
                      timeline->silent[TT_EVENT_ABSENT];

    hold(timeline->hole_count <= timeline->memory.hole_capacity);
    for (size_t i = 0; i < timeline->hole_count; i++) {
        const struct tt_hole *hole = &timeline->memory.holes[i];

        hold(hole->frame >= end && hole->frame < hole->end);
        end = hole->end;
    }
    hold(timeline->hole_count == 0 || end <= timeline->filled);
    hold(timeline->filled <= timeline->device + timeline->horizon_frames);
    /* Where holes do not fit they are booked ahead of the device. */
    hold(booked <= (uint64_t)(timeline->device + timeline->horizon_frames));
}

static void count(const struct tt_listener *listener)
{
    struct tt_listener_counters c = tt_listener_counters(listener);
    uint64_t reached[REASONS] = {
        [PLACED] = c.pdus_placed,
        [LATE] = c.pdus_late,
        [DUPLICATE] = c.pdus_duplicate,
        [REORDERED] = c.pdus_reordered,
        [UNPLACED] = c.pdus_unplaced,
        [EARLY] = c.pdus_early,
        [UNSTAMPED] = c.pdus_unstamped,
        [UNCERTAIN] = c.pdus_uncertain,
        [STAMP_OFF] = c.stamps_off,
        [RESYNC] = c.resyncs,
        [RESTART] = c.restarts,
        [OTHER_TALKER] = c.pdus_other_talker,
        [OTHER_FORMAT] = c.pdus_other_format,
        [LOST] = c.frames_lost,
        [LATE_FRAMES] = c.frames_late,
        [ABSENT] = c.frames_absent,
    };

    for (size_t i = 1; i < TT_AAF_REASONS; i++) {
        reached[REFUSED] += c.pdus_refused[i];
    }
    for (size_t i = 0; i < REASONS; i++) {
        reasons[i].reached += (unsigned)reached[i];
    }
}

static void one_pdu(struct tt_listener *listener, const uint8_t *step, uint8_t sequence,
                    int64_t arrival_ns)
{
    uint8_t flags = step[0];
    uint8_t src[6] = {2, 0, 0, 0, 0, flags & FLAG_OTHER_TALKER ? 2 : 1};
    uint8_t pdu[TT_AAF_HEADER_BYTES + 24] = {0};
    struct tt_aaf aaf = {
        .stream_id = 1,
        .sequence = sequence,
        .mr = flags & FLAG_MR,
        .tu = flags & FLAG_TU,
        .tv = flags & FLAG_TV,
        .timestamp = (uint32_t)(arrival_ns + 2000000) + tt_get_be32(step + 4),
        .format = TT_AAF_INT16,
        .rate_hz = flags & FLAG_OTHER_FORMAT ? 96000 : RATE,
        .channels = 2,
        .bit_depth = 16,
        .payload_bytes = 24,
    };

    tt_aaf_build_header(&aaf, pdu);
    if (flags & FLAG_CORRUPT) {
        pdu[16 + step[7] % 8] ^= step[6];
    }
    tt_listener_receive(listener, pdu, sizeof pdu, src, arrival_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tt_listener listener;
    static uint8_t ring[RING * 4];
    static struct tt_hole holes[HOLES];
    struct tt_stream_config config = {.stream_id = 1,
                                      .format = TT_AAF_INT16,
                                      .rate_hz = RATE,
                                      .channels = 2,
                                      .ptime_tolerance_ns = 100000};
    struct tt_timeline_memory memory = {ring, RING, holes, HOLES};
    int64_t now_ns = INT64_C(1800000000000000000);
    uint8_t sequence = 0;

    hold(tt_listener_init(&listener, &config, &memory, BUFFER, NULL) == 0);
    tt_listener_start(&listener, 0, now_ns);
    for (; size >= 8; data += 8, size -= 8) {
        int64_t device = listener.timeline.device;

        now_ns += (int64_t)tt_get_be16(data + 2) * 10000;
        sequence = (uint8_t)(sequence + data[1]);
        if (data[0] & FLAG_CLOCK_STEP) {
            tt_listener_clock_step(&listener, (int32_t)tt_get_be32(data + 4));
        } else if (data[0] & FLAG_NOTHING) {
            tt_listener_advance(&listener, now_ns);
        } else {
            one_pdu(&listener, data, sequence, now_ns);
        }
        hold(listener.timeline.device >= device);
        hold_timeline(&listener.timeline);
    }
    tt_listener_stop(&listener, now_ns);
    hold_timeline(&listener.timeline);
    count(&listener);
    return 0;
}
