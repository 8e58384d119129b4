/*
 * See crf_listener.h.
 */
#include "audio/crf_listener.h"

#include <stdlib.h>
#include <string.h>

#include "audio/avtp.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "base/ns.h"

#define STAMP_MAX_NS   (INT64_C(1) << 62) /* until 2116; beyond it sums would overflow */
#define LEAP_MAX_NS    TT_NS_PER_S        /* of the stamps, beyond the time that passed */
#define ABSENCE_PDUS   10
#define ABSENCE_MIN_NS (50 * TT_NS_PER_MS)

void tt_crf_listener_init(struct tt_crf_listener *listener, uint64_t stream_id,
                          struct tt_event_log *log, int64_t now_tai_ns)
{
    memset(listener, 0, sizeof *listener);
    tt_media_grid_init(&listener->grid);
    listener->grid.uncertain = true;
    listener->stream_id = stream_id;
    listener->log = log;
    listener->advanced_tai_ns = now_tai_ns;
}

static void log_event(struct tt_crf_listener *listener, enum tt_event_kind kind, int64_t now_tai_ns)
{
    if (listener->log) {
        tt_event_log_add(listener->log, (struct tt_event){.kind = kind,
                                                          .frame = listener->last_event,
                                                          .time_tai_ns = now_tai_ns});
    }
}

static void set_state(struct tt_crf_listener *listener, enum tt_crf_state state, int64_t now_tai_ns)
{
    if (state == listener->state) {
        return;
    }
    listener->state = state;
    listener->counters.holdovers += state == TT_CRF_HOLDOVER;
    log_event(listener, state == TT_CRF_LOCKED ? TT_EVENT_CLOCK_LOCKED : TT_EVENT_CLOCK_LOST,
              now_tai_ns);
}

enum tt_crf_state tt_crf_listener_advance(struct tt_crf_listener *listener, int64_t now_tai_ns)
{
    if (now_tai_ns > listener->advanced_tai_ns) {
        if (listener->state == TT_CRF_HOLDOVER) {
            listener->counters.holdover_ns += now_tai_ns - listener->advanced_tai_ns;
        }
        listener->advanced_tai_ns = now_tai_ns;
    }
    if (listener->present && now_tai_ns - listener->followed_tai_ns > listener->absence_ns) {
        listener->present = false;
    }
    if (!listener->present && listener->state == TT_CRF_LOCKED) {
        set_state(listener, TT_CRF_HOLDOVER, now_tai_ns);
    }
    listener->grid.uncertain = listener->state != TT_CRF_LOCKED || listener->tu;
    return listener->state;
}

void tt_crf_listener_clock_step(struct tt_crf_listener *listener, int64_t step_ns)
{
    listener->advanced_tai_ns += step_ns;
    listener->followed_tai_ns += step_ns;
    listener->since_tai_ns += step_ns;
}

static bool has_format(const struct tt_crf_listener *listener, const struct tt_crf *crf)
{
    const struct tt_crf *format = &listener->format;

    return crf->base_hz == format->base_hz && crf->pull == format->pull &&
           crf->timestamp_interval == format->timestamp_interval &&
           crf->timestamp_count == format->timestamp_count;
}

/* The first PDU of a talker decides how the clock is told. */
static void take_format(struct tt_crf_listener *listener, const struct tt_crf *crf,
                        struct tt_crf_rate rate)
{
    listener->format = *crf;
    listener->format.timestamps = NULL;
    listener->grid.pull_by = rate.hz / crf->base_hz;
    listener->grid.pull_over = rate.divisor;
    listener->rate = (struct tt_media_rate){.ticks_hz = rate.hz, .frame_ticks = rate.divisor};
    listener->interval_ns = tt_media_rate_ns(listener->rate, crf->timestamp_interval);
    listener->absence_ns = tt_max64(
        ABSENCE_PDUS * listener->interval_ns * (int64_t)crf->timestamp_count, ABSENCE_MIN_NS);
    listener->is_told_anew = true;
}

/* A successor may tell the clock in other steps; another pull is another clock. */
static bool is_our_clock(struct tt_crf_listener *listener, const struct tt_crf *crf,
                         struct tt_crf_rate rate)
{
    if (!has_format(listener, crf) &&
        (listener->format.base_hz == 0 ||
         (!listener->present && crf->pull == listener->format.pull))) {
        take_format(listener, crf, rate);
    }
    return has_format(listener, crf);
}

/* The event nearest to a media time. */
static int64_t nearest_event(const struct tt_crf_listener *listener, int64_t media_ns)
{
    int64_t half_ns = tt_media_rate_ns(listener->rate, 1) / 2;

    return tt_floor_div(tt_ns_to_frames(media_ns + half_ns, listener->rate.ticks_hz),
                        listener->rate.frame_ticks);
}

static void follow_event(struct tt_crf_listener *listener, int64_t event, int64_t stamp_ns)
{
    tt_media_clock_follow(&listener->grid.clock, tt_media_rate_ns(listener->rate, event), stamp_ns);
    listener->last_event = event;
    listener->counters.stamps++;
}

/* A new phase: the event that was nearest to the stamp's time is now at it. */
static void place(struct tt_crf_listener *listener, int64_t stamp_ns, int64_t now_tai_ns)
{
    struct tt_media_clock *clock = &listener->grid.clock;
    int64_t media_ns = listener->placed ? tt_media_clock_frame(clock, stamp_ns) : stamp_ns;

    listener->last_event = nearest_event(listener, media_ns);
    tt_media_clock_anchor(clock, tt_media_rate_ns(listener->rate, listener->last_event), stamp_ns);
    if (listener->placed) {
        listener->grid.epoch++;
        listener->counters.resyncs++;
    }
    listener->placed = true;
    listener->is_told_anew = false;
    listener->odd_pdus = 0;
    listener->since_tai_ns = now_tai_ns;
    listener->counters.stamps++;
}

/* Follows a stamp that lies on the grid; false where it does not. */
static bool follow_stamp(struct tt_crf_listener *listener, int64_t stamp_ns, int64_t now_tai_ns)
{
    const struct tt_media_clock *clock = &listener->grid.clock;
    int64_t tolerance_ns = tt_min64(TT_CRF_TOLERANCE_NS, listener->interval_ns / 4);
    int64_t last_ns = tt_media_rate_ns(listener->rate, listener->last_event);
    int64_t media_ns = tt_media_clock_frame(clock, stamp_ns);
    int64_t intervals =
        tt_floor_div(media_ns - last_ns + listener->interval_ns / 2, listener->interval_ns);
    int64_t event = listener->last_event + intervals * listener->format.timestamp_interval;
    int64_t expected_ns = tt_media_clock_time(clock, tt_media_rate_ns(listener->rate, event));

    if (intervals <= 0 ||
        media_ns - last_ns > now_tai_ns - listener->followed_tai_ns + LEAP_MAX_NS ||
        llabs(stamp_ns - expected_ns) > tolerance_ns) {
        return false;
    }
    follow_event(listener, event, stamp_ns);
    return true;
}

static bool odd_pdus_agree(struct tt_crf_listener *listener, const struct tt_crf *crf,
                           int64_t stamp_ns)
{
    int64_t pdus = (uint8_t)(crf->sequence - listener->odd_sequence);
    int64_t expected_ns =
        listener->odd_tai_ns + pdus * (int64_t)crf->timestamp_count * listener->interval_ns;

    if (listener->odd_pdus > 0 && llabs(stamp_ns - expected_ns) <= TT_CRF_TOLERANCE_NS) {
        listener->odd_pdus++;
    } else {
        listener->odd_pdus = 1;
    }
    listener->odd_sequence = crf->sequence;
    listener->odd_tai_ns = stamp_ns;
    return listener->odd_pdus >= TT_CRF_RESYNC_PDUS;
}

/* The time of a PDU's stamp; false where it is none that we can reckon with. */
static bool stamp_of(const struct tt_crf *crf, size_t i, int64_t *ret_stamp_ns)
{
    uint64_t stamp_ns = tt_get_be64(crf->timestamps + i * TT_CRF_STAMP_BYTES);

    if (stamp_ns > STAMP_MAX_NS) {
        return false;
    }
    *ret_stamp_ns = (int64_t)stamp_ns;
    return true;
}

/* The first stamp decides about the PDU; `anew`: it is where the grid is to be. */
static bool take_first_stamp(struct tt_crf_listener *listener, const struct tt_crf *crf, bool anew,
                             int64_t now_tai_ns)
{
    int64_t stamp_ns;

    if (!stamp_of(crf, 0, &stamp_ns)) {
        return false;
    }
    if (!anew && follow_stamp(listener, stamp_ns, now_tai_ns)) {
        listener->odd_pdus = 0;
        return true;
    }
    if (anew || odd_pdus_agree(listener, crf, stamp_ns)) {
        place(listener, stamp_ns, now_tai_ns);
        return true;
    }
    return false;
}

/* False where the PDU is off the grid. */
static bool take_stamps(struct tt_crf_listener *listener, const struct tt_crf *crf, bool anew,
                        int64_t now_tai_ns)
{
    int64_t stamp_ns;

    if (!take_first_stamp(listener, crf, anew, now_tai_ns)) {
        listener->counters.pdus_off++;
        listener->since_tai_ns = now_tai_ns;
        return false;
    }
    for (size_t i = 1; i < crf->timestamp_count; i++) {
        if (!stamp_of(crf, i, &stamp_ns) || !follow_stamp(listener, stamp_ns, now_tai_ns)) {
            listener->counters.stamps_off++;
        }
    }
    return true;
}

/* Whether a PDU is the next or a later one of the talker that is followed. */
static bool is_news(struct tt_crf_listener *listener, const struct tt_crf *crf)
{
    uint8_t ahead = (uint8_t)(crf->sequence - listener->sequence);

    if (!listener->present) {
        return true;
    }
    if (ahead == 0 || ahead > INT8_MAX) {
        listener->counters.pdus_duplicate += ahead == 0;
        listener->counters.pdus_reordered += ahead != 0;
        return false;
    }
    listener->counters.pdus_lost += ahead - 1U;
    return true;
}

static void take(struct tt_crf_listener *listener, const struct tt_crf *crf, const uint8_t src[6],
                 int64_t arrival_tai_ns)
{
    bool restart = listener->present && crf->mr != listener->mr;

    listener->counters.restarts += restart;
    listener->counters.pdus_uncertain += crf->tu;
    if (!listener->present) {
        listener->since_tai_ns = arrival_tai_ns;
        memcpy(listener->src, src, sizeof listener->src);
    }
    listener->sequence = crf->sequence;
    listener->mr = crf->mr;
    listener->tu = crf->tu;
    listener->present = true;
    if (take_stamps(listener, crf, restart || listener->is_told_anew, arrival_tai_ns)) {
        listener->followed_tai_ns = arrival_tai_ns;
        if (arrival_tai_ns - listener->since_tai_ns >= TT_CRF_LOCK_NS) {
            listener->grid.ready = true;
            set_state(listener, TT_CRF_LOCKED, arrival_tai_ns);
        }
    }
    listener->grid.uncertain = listener->state != TT_CRF_LOCKED || listener->tu;
}

void tt_crf_listener_receive(struct tt_crf_listener *listener, const uint8_t *pdu, size_t bytes,
                             const uint8_t src[6], int64_t arrival_tai_ns)
{
    struct tt_crf_counters *counters = &listener->counters;
    struct tt_avtp avtp;
    struct tt_crf crf;
    struct tt_crf_rate rate;
    enum tt_crf_reason reason;

    if (tt_avtp_parse(pdu, bytes, &avtp) < 0 || avtp.subtype != TT_AVTP_SUBTYPE_CRF ||
        avtp.stream_id != listener->stream_id) {
        return;
    }
    reason = tt_crf_parse(pdu, bytes, &crf);
    if (reason == TT_CRF_OK) {
        reason = tt_crf_audio(&crf, &rate);
    }
    if (reason != TT_CRF_OK) {
        counters->pdus_refused[reason]++;
        return;
    }
    tt_crf_listener_advance(listener, arrival_tai_ns);
    if (listener->present && memcmp(src, listener->src, sizeof listener->src) != 0) {
        counters->pdus_other_talker++;
        return;
    }
    if (!is_our_clock(listener, &crf, rate)) {
        counters->pdus_other_format++;
        return;
    }
    counters->pdus++;
    if (is_news(listener, &crf)) {
        take(listener, &crf, src, arrival_tai_ns);
    }
}

const char *tt_crf_state_name(enum tt_crf_state state)
{
    static const char *const names[] = {
        [TT_CRF_SEARCHING] = "searching",
        [TT_CRF_LOCKED] = "locked",
        [TT_CRF_HOLDOVER] = "holdover",
    };

    return names[state];
}
