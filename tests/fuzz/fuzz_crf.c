/*
 * A script of CRF PDUs through the listener, with a talker of our own on its clock. Eight bytes
 * each: flags, step of the sequence number, step of the arrival in 100 µs (2), what the stamps are
 * off by in ns (4, signed); big-endian.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>

#include "audio/crf_listener.h"
#include "audio/talker.h"
#include "base/bytes.h"

#define STAMPS 3

enum {
    FLAG_MR = 0x01,
    FLAG_TU = 0x02,
    FLAG_OTHER_TALKER = 0x04,
    FLAG_OTHER_FORMAT = 0x08,
    FLAG_CORRUPT = 0x10,
    FLAG_CLOCK_STEP = 0x20,
    FLAG_NOTHING = 0x40, /* only time passes */
    FLAG_FAR = 0x80,     /* the stamps are off by 2^31 times as much */
};

enum {
    FOLLOWED,
    LOST,
    DUPLICATE,
    REORDERED,
    OFF,
    STAMP_OFF,
    UNCERTAIN,
    OTHER_TALKER,
    OTHER_FORMAT,
    REFUSED,
    RESTART,
    RESYNC,
    LOCKED,
    HOLDOVER,
    REASONS
};

static struct fuzz_reason reasons[REASONS] = {
    [FOLLOWED] = {"stamps followed", 0},
    [LOST] = {"lost", 0},
    [DUPLICATE] = {"duplicate", 0},
    [REORDERED] = {"reordered", 0},
    [OFF] = {"off the grid", 0},
    [STAMP_OFF] = {"a later stamp off the grid", 0},
    [UNCERTAIN] = {"uncertain", 0},
    [OTHER_TALKER] = {"other talker", 0},
    [OTHER_FORMAT] = {"other format", 0},
    [REFUSED] = {"refused", 0},
    [RESTART] = {"restarted", 0},
    [RESYNC] = {"placed anew", 0},
    [LOCKED] = {"locked", 0},
    [HOLDOVER] = {"holdover", 0},
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

static void count(const struct tt_crf_listener *listener)
{
    const struct tt_crf_counters *c = &listener->counters;
    uint64_t reached[REASONS] = {
        [FOLLOWED] = c->stamps,
        [LOST] = c->pdus_lost,
        [DUPLICATE] = c->pdus_duplicate,
        [REORDERED] = c->pdus_reordered,
        [OFF] = c->pdus_off,
        [STAMP_OFF] = c->stamps_off,
        [UNCERTAIN] = c->pdus_uncertain,
        [OTHER_TALKER] = c->pdus_other_talker,
        [OTHER_FORMAT] = c->pdus_other_format,
        [RESTART] = c->restarts,
        [RESYNC] = c->resyncs,
        [LOCKED] = listener->grid.ready,
        [HOLDOVER] = c->holdovers,
    };

    for (size_t i = 1; i < TT_CRF_REASONS; i++) {
        reached[REFUSED] += c->pdus_refused[i];
    }
    for (size_t i = 0; i < REASONS; i++) {
        reasons[i].reached += (unsigned)reached[i];
    }
}

/* Every PDU that was used followed at least its first stamp; every other has its reason. */
static void hold_counters(const struct tt_crf_listener *listener)
{
    const struct tt_crf_counters *c = &listener->counters;
    uint64_t used = c->pdus - c->pdus_duplicate - c->pdus_reordered - c->pdus_off;

    hold(used <= c->pdus && c->stamps + c->stamps_off >= used);
    hold(c->holdover_ns >= 0 && (c->holdover_ns == 0 || c->holdovers > 0));
    hold(listener->grid.uncertain || listener->state == TT_CRF_LOCKED);
    hold(listener->state == TT_CRF_SEARCHING || listener->grid.ready);
}

static void one_pdu(struct tt_crf_listener *listener, const uint8_t *step, uint8_t sequence,
                    int64_t arrival_ns)
{
    uint8_t flags = step[0];
    uint8_t src[6] = {2, 0, 0, 0, 0, flags & FLAG_OTHER_TALKER ? 2 : 1};
    uint8_t pdu[TT_CRF_HEADER_BYTES + STAMPS * TT_CRF_STAMP_BYTES];
    uint64_t off_ns = (uint64_t)(int64_t)(int32_t)tt_get_be32(step + 4);
    struct tt_crf crf = {
        .stream_id = 1,
        .sequence = sequence,
        .mr = flags & FLAG_MR,
        .tu = flags & FLAG_TU,
        .type = TT_CRF_TYPE_AUDIO,
        .base_hz = 48000,
        .timestamp_interval = flags & FLAG_OTHER_FORMAT ? 160 : 480,
        .timestamp_count = STAMPS,
    };

    tt_crf_build_header(&crf, pdu);
    for (uint64_t i = 0; i < STAMPS; i++) {
        tt_put_be64(pdu + TT_CRF_HEADER_BYTES + i * TT_CRF_STAMP_BYTES,
                    (uint64_t)arrival_ns + (flags & FLAG_FAR ? off_ns << 31 : off_ns) +
                        i * 10000000);
    }
    if (flags & FLAG_CORRUPT) {
        pdu[step[7] % sizeof pdu] ^= step[6];
    }
    tt_crf_listener_receive(listener, pdu, sizeof pdu, src, arrival_ns);
}

/* Our talker starts on the clock once there is one, and sends as time goes by. */
static void run_talker(struct tt_talker *talker, const struct tt_crf_listener *listener,
                       int64_t now_ns)
{
    struct tt_talker_pdu pdu;

    if (!listener->grid.ready) {
        return;
    }
    if (!talker->started) {
        tt_talker_follow(talker, &listener->grid);
        tt_talker_start(talker, 0, now_ns);
        hold(tt_talker_next_launch(talker) >= now_ns);
    }
    tt_talker_next(talker, now_ns, &pdu);
    hold(pdu.launch_tai_ns >= now_ns);
    hold(tt_talker_is_uncertain(talker) == listener->grid.uncertain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_talker_schedule schedule = {.rate = {44100, 1}, .frames_per_pdu = 6};
    struct tt_crf_listener listener;
    struct tt_talker talker;
    int64_t now_ns = INT64_C(1800000000000000000);
    uint8_t sequence = 0;

    tt_crf_listener_init(&listener, 1, NULL, now_ns);
    tt_talker_init_schedule(&talker, &schedule);
    for (; size >= 8; data += 8, size -= 8) {
        now_ns += (int64_t)tt_get_be16(data + 2) * 100000;
        sequence = (uint8_t)(sequence + data[1]);
        if (data[0] & FLAG_CLOCK_STEP) {
            tt_crf_listener_clock_step(&listener, (int32_t)tt_get_be32(data + 4));
        } else if (data[0] & FLAG_NOTHING) {
            tt_crf_listener_advance(&listener, now_ns);
        } else {
            one_pdu(&listener, data, sequence, now_ns);
        }
        hold_counters(&listener);
        run_talker(&talker, &listener, now_ns);
    }
    count(&listener);
    return 0;
}
