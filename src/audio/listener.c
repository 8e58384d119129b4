/*
 * See listener.h.
 */
#include "audio/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/avtp.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "base/ns.h"

#define FADE_NS        TT_NS_PER_MS /* on_loss fade: a ramp */
#define SEQUENCE_RANGE 256
/* With a gap in the sequence, a stamp within so many PDU intervals of it still confirms the gap. */
#define ROUGH_PDUS 8

int tt_listener_init(struct tt_listener *listener, const struct tt_stream_config *config,
                     const struct tt_timeline_memory *memory, int64_t buffer_frames,
                     struct tt_event_log *log)
{
    size_t frame_bytes = (size_t)tt_aaf_sample_bytes(config->format) * config->channels;
    int error;

    memset(listener, 0, sizeof *listener);
    listener->config = *config;
    tt_hist_init(&listener->lateness);
    tt_media_clock_init(&listener->clock, config->rate_hz, 0, 0);
    error = tt_timeline_init(&listener->timeline, memory, frame_bytes, buffer_frames, log);
    if (error == 0 && config->on_loss == TT_LOSS_FADE) {
        listener->timeline.fade = (struct tt_fade){
            .format = config->format,
            .channels = config->channels,
            .ramp_frames = tt_min64(tt_ns_to_frames(FADE_NS, config->rate_hz), buffer_frames),
        };
    }
    return error;
}

static void log_event(struct tt_listener *listener, enum tt_event_kind kind, int64_t frame,
                      int64_t frames, int64_t now_tai_ns)
{
    if (listener->timeline.log) {
        tt_event_log_add(listener->timeline.log, (struct tt_event){.kind = kind,
                                                                   .frame = frame,
                                                                   .frames = frames,
                                                                   .time_tai_ns = now_tai_ns});
    }
}

static void stamp_fits(struct tt_listener *listener)
{
    listener->off_stamps = 0;
    listener->odd_stamps = 0;
}

void tt_listener_start(struct tt_listener *listener, int64_t frame, int64_t now_tai_ns)
{
    tt_timeline_start(&listener->timeline, frame);
    listener->start_frame = frame;
    tt_media_clock_anchor(&listener->clock, frame,
                          now_tai_ns - listener->config.playout_latency_ns);
    listener->locked = false;
    stamp_fits(listener);
    listener->last_arrival_tai_ns = now_tai_ns;
    log_event(listener, TT_EVENT_START, frame, 0, now_tai_ns);
}

int64_t tt_listener_presentation(const struct tt_listener *listener, int64_t frame)
{
    return tt_media_clock_time(&listener->clock, frame) + listener->config.playout_latency_ns;
}

int64_t tt_listener_advance(struct tt_listener *listener, int64_t now_tai_ns)
{
    struct tt_timeline *timeline = &listener->timeline;

    tt_timeline_advance(
        timeline,
        tt_media_clock_frame(&listener->clock, now_tai_ns - listener->config.playout_latency_ns),
        now_tai_ns);
    if (listener->locked && now_tai_ns - listener->last_arrival_tai_ns > TT_LISTENER_ABSENCE_NS) {
        listener->locked = false;
        listener->counters.absences++;
    }
    /* Without a talker silence has its reason at once; otherwise the next PDU tells. */
    if (!listener->locked || tt_frames_to_ns(timeline->device - timeline->filled,
                                             listener->config.rate_hz) > TT_LISTENER_ABSENCE_NS) {
        tt_timeline_close(timeline, TT_EVENT_ABSENT, now_tai_ns);
    }
    return timeline->device;
}

void tt_listener_stop(struct tt_listener *listener, int64_t now_tai_ns)
{
    tt_listener_advance(listener, now_tai_ns);
    tt_timeline_close(&listener->timeline, TT_EVENT_ABSENT, now_tai_ns);
}

void tt_listener_clock_step(struct tt_listener *listener, int64_t step_ns)
{
    listener->clock.tai_ns += step_ns;
    listener->last_arrival_tai_ns += step_ns;
    listener->odd_tai_ns += step_ns;
}

struct tt_listener_counters tt_listener_counters(const struct tt_listener *listener)
{
    struct tt_listener_counters counters = listener->counters;

    counters.frames_lost = listener->timeline.silent[TT_EVENT_LOST];
    counters.frames_late = listener->timeline.silent[TT_EVENT_LATE];
    counters.frames_absent = listener->timeline.silent[TT_EVENT_ABSENT];
    return counters;
}

/* The frame of the timeline whose presentation time is nearest. */
static int64_t nearest_frame(const struct tt_listener *listener, int64_t tai_ns)
{
    return tt_media_clock_frame(&listener->clock,
                                tai_ns + TT_NS_PER_S / listener->config.rate_hz / 2);
}

static void place(struct tt_listener *listener, const struct tt_aaf *aaf, int64_t frame,
                  enum tt_event_kind gap, int64_t now_tai_ns)
{
    struct tt_listener_counters *counters = &listener->counters;
    int64_t frames = (int64_t)aaf->frames;

    switch (tt_timeline_place(&listener->timeline, frame, frames, aaf->payload, gap, now_tai_ns)) {
    case TT_PLACED:
        counters->pdus_placed++;
        break;
    case TT_PLACED_REORDERED:
        counters->pdus_placed++;
        counters->pdus_reordered++;
        break;
    case TT_PLACED_DUPLICATE:
        counters->pdus_duplicate++;
        break;
    case TT_PLACED_LATE:
        counters->pdus_late++;
        break;
    case TT_PLACED_EARLY:
        counters->pdus_early++;
        return; /* it does not move the sequence: a sane one will */
    }
    if (frame + frames > listener->sequence_end) {
        listener->sequence = aaf->sequence;
        listener->sequence_end = frame + frames;
        listener->pdu_frames = frames;
    }
}

/* Whether a PDU at `frame` could still be presented: 0, or > 0 early (beyond the horizon), < 0
 * late. */
static int off_timeline(const struct tt_listener *listener, int64_t frame, int64_t frames)
{
    const struct tt_timeline *timeline = &listener->timeline;

    if (frame + frames > timeline->device + timeline->horizon_frames) {
        return 1;
    }
    return frame + frames <= timeline->device ? -1 : 0;
}

/* Places the stream where its stamp says, whatever was before. False where that is no place in the
 * timeline. */
static bool synchronise(struct tt_listener *listener, const struct tt_aaf *aaf,
                        const uint8_t src[6], int64_t presentation_ns, enum tt_event_kind gap,
                        int64_t now_tai_ns)
{
    int64_t frame = nearest_frame(listener, presentation_ns);

    if (off_timeline(listener, frame, (int64_t)aaf->frames) != 0) {
        return false;
    }
    stamp_fits(listener);
    if (listener->ever_locked) {
        listener->counters.resyncs++;
    }
    tt_media_clock_anchor(&listener->clock, frame, presentation_ns);
    /* What was placed by a pause and without a stamp is in the wrong place. */
    tt_timeline_truncate(&listener->timeline,
                         listener->unsure ? tt_min64(frame, listener->unsure_frame) : frame);
    log_event(listener, TT_EVENT_RESYNC, frame, 0, now_tai_ns);
    memcpy(listener->src, src, sizeof listener->src);
    listener->locked = true;
    listener->ever_locked = true;
    tt_headroom_set(&listener->headroom, presentation_ns - now_tai_ns);
    listener->restarting = false;
    listener->unsure = false;
    listener->pause_pdus = 0;
    listener->mr = aaf->mr;
    listener->sequence_end = frame;
    place(listener, aaf, frame, gap, now_tai_ns);
    return true;
}

/* The same, for a stamp that jumped once: the talker may have set its clock right again. */
static bool synchronise_again(struct tt_listener *listener, const struct tt_aaf *aaf,
                              const uint8_t src[6], int64_t stamp_ns, enum tt_event_kind gap,
                              int64_t now_tai_ns)
{
    if (listener->jump_ns != 0 &&
        synchronise(listener, aaf, src, stamp_ns - listener->jump_ns, gap, now_tai_ns)) {
        listener->jump_ns = 0;
        return true;
    }
    return synchronise(listener, aaf, src, stamp_ns, gap, now_tai_ns);
}

/* What lies before the device's start was never to be presented by it. */
static void log_late(struct tt_listener *listener, int64_t frame, int64_t end, int64_t now_tai_ns)
{
    if (frame < listener->start_frame) {
        frame = listener->start_frame;
    }
    if (frame < end) {
        log_event(listener, TT_EVENT_LATE, frame, end - frame, now_tai_ns);
    }
}

/* Another stamp that does not fit: true when there are enough that agree with each other, in
 * whichever order they came. */
static bool odd_stamps_agree(struct tt_listener *listener, const struct tt_aaf *aaf,
                             int64_t presentation_ns)
{
    int64_t pdus = (int8_t)(aaf->sequence - listener->odd_sequence);
    int64_t expected_ns =
        listener->odd_tai_ns + tt_frames_to_ns(pdus * (int64_t)aaf->frames, aaf->rate_hz);
    bool agrees = llabs(presentation_ns - expected_ns) <= listener->config.ptime_tolerance_ns;

    agrees = agrees && listener->odd_stamps > 0;
    if (pdus == 0 && agrees) {
        return listener->odd_stamps >= TT_LISTENER_RESYNC_STAMPS; /* the same once more */
    }
    listener->off_stamps++;
    listener->odd_stamps = pdus != 0 && agrees ? listener->odd_stamps + 1 : 1;
    listener->odd_sequence = aaf->sequence;
    listener->odd_tai_ns = presentation_ns;
    return listener->odd_stamps >= TT_LISTENER_RESYNC_STAMPS;
}

/* A stamp tells where the PDUs belong that came after a long pause and had none. */
static void settle(struct tt_listener *listener, int64_t ahead, int64_t now_tai_ns)
{
    if (listener->unsure && ahead != 0 && listener->unsure_frame < listener->sequence_end) {
        tt_timeline_shift(&listener->timeline, listener->unsure_frame, ahead, now_tai_ns);
        listener->sequence_end += ahead;
    }
    listener->unsure = false;
}

/* How many PDUs after the latest one the one is that should arrive now. */
static int64_t expected_ahead(const struct tt_listener *listener, int64_t arrival_tai_ns)
{
    int64_t frame = nearest_frame(listener, arrival_tai_ns + listener->headroom.usual_ns);

    return 1 + tt_floor_div(frame - listener->sequence_end, listener->pdu_frames);
}

/* How many PDUs after the latest one a sequence number is, by that and the time of its arrival: up
 * to half its range back (reordered) or ahead, or turns later, where by then that is due: more are
 * missing than eight bits can tell. Only a stamp makes sure of it. */
static int64_t pdus_ahead(struct tt_listener *listener, uint8_t sequence, bool stamped,
                          int64_t arrival_tai_ns)
{
    int64_t ahead = (int8_t)(sequence - listener->sequence);
    bool paused = listener->pause_pdus > 0;
    int64_t expected = paused ? listener->pause_pdus : expected_ahead(listener, arrival_tai_ns);
    int64_t turns = tt_floor_div(expected - ahead + SEQUENCE_RANGE / 2, SEQUENCE_RANGE);
    int64_t turned = ahead + SEQUENCE_RANGE * tt_max64(turns, 0);

    if (paused && turned <= 0) {
        turned += SEQUENCE_RANGE;
    }
    if (paused || (turned > ahead && !stamped && !listener->unsure)) {
        listener->pause_pdus = 0;
        listener->unsure = true;
        listener->unsure_frame = listener->sequence_end + (turned - 1) * listener->pdu_frames;
    }
    return turned;
}

/* The talker's clock jumped to where its stamps cannot be met. The stream goes on where the
 * sequence says (`by_sequence`), or, where that went on from nothing, as long before its
 * presentation as it used to arrive; what its stamps are off by belongs to them from now on. */
static bool read_relative(struct tt_listener *listener, const struct tt_aaf *aaf,
                          const int64_t *by_sequence, int64_t stamp_ns, int64_t now_tai_ns)
{
    int64_t presentation_ns = by_sequence ? tt_media_clock_time(&listener->clock, *by_sequence)
                                          : now_tai_ns + listener->headroom.latest_ns;
    enum tt_event_kind gap = by_sequence ? TT_EVENT_LOST : TT_EVENT_ABSENT;

    if (!synchronise(listener, aaf, listener->src, presentation_ns, gap, now_tai_ns)) {
        return false;
    }
    listener->jump_ns += presentation_ns - stamp_ns;
    return true;
}

/* How many PDUs behind the latest one count as its continuation. */
static bool continues(const struct tt_listener *listener, int64_t ahead)
{
    return !listener->unsure && ahead >= 1 && ahead <= SEQUENCE_RANGE / 4;
}

/* A stamp that contradicts the sequence: after a pause the talker was started again; otherwise
 * eight that agree with each other are believed, and what came before them is lost. True: placed
 * anew. */
static bool starts_anew(struct tt_listener *listener, const struct tt_aaf *aaf, int64_t ahead,
                        int64_t stamp_ns, int64_t now_tai_ns)
{
    bool agree = odd_stamps_agree(listener, aaf, stamp_ns);
    int64_t by_sequence = listener->sequence_end + (ahead - 1) * listener->pdu_frames;

    if (aaf->tu || (!agree && !listener->unsure)) {
        return false;
    }
    if (synchronise_again(listener, aaf, listener->src, stamp_ns,
                          listener->unsure ? TT_EVENT_ABSENT : TT_EVENT_LOST, now_tai_ns)) {
        return true;
    }
    return agree && (ahead > 0 || listener->unsure) &&
           read_relative(listener, aaf, continues(listener, ahead) ? &by_sequence : NULL, stamp_ns,
                         now_tai_ns);
}

/* A stamp with which no stream can be placed. */
static void count_off(struct tt_listener *listener, const struct tt_aaf *aaf, int64_t stamp_ns,
                      int64_t now_tai_ns)
{
    int64_t frames = (int64_t)aaf->frames;
    int64_t frame = nearest_frame(listener, stamp_ns);
    int64_t other_ns = tt_widen32((uint32_t)(stamp_ns + listener->other_scale_ns), now_tai_ns);

    if (listener->other_scale_ns != 0 &&
        off_timeline(listener, nearest_frame(listener, other_ns), frames) == 0) {
        listener->counters.pdus_other_timescale++;
    }
    if (off_timeline(listener, frame, frames) > 0) {
        listener->counters.pdus_early++;
    } else {
        listener->counters.pdus_late++;
        log_late(listener, frame, frame + frames, now_tai_ns);
    }
}

/* A stamped PDU while no talker is followed, or after a restart of its media clock. */
static void acquire(struct tt_listener *listener, const struct tt_aaf *aaf, const uint8_t src[6],
                    int64_t stamp_ns, int64_t now_tai_ns)
{
    /* A restart that goes on counting tells what is missing. */
    int64_t ahead = listener->locked ? pdus_ahead(listener, aaf->sequence, true, now_tai_ns) : 0;
    bool lost = listener->locked && ahead > 1 && continues(listener, ahead);
    enum tt_event_kind gap = lost ? TT_EVENT_LOST : TT_EVENT_ABSENT;

    if (synchronise_again(listener, aaf, src, stamp_ns, gap, now_tai_ns)) {
        return;
    }
    if (listener->locked && odd_stamps_agree(listener, aaf, stamp_ns) &&
        read_relative(listener, aaf, NULL, stamp_ns, now_tai_ns)) {
        return;
    }
    count_off(listener, aaf, stamp_ns, now_tai_ns);
}

/* A PDU of the talker that is being followed. `stamp`: NULL where it has none. */
static void follow(struct tt_listener *listener, const struct tt_aaf *aaf, const int64_t *stamp,
                   int64_t now_tai_ns)
{
    int64_t ahead = pdus_ahead(listener, aaf->sequence, stamp != NULL, now_tai_ns);
    int64_t range = SEQUENCE_RANGE * listener->pdu_frames;
    int64_t by_sequence = listener->sequence_end + (ahead - 1) * listener->pdu_frames;
    int64_t frame;
    int64_t error_ns;
    bool near;

    if (!stamp) {
        place(listener, aaf, by_sequence, TT_EVENT_LOST, now_tai_ns);
        return;
    }
    /* Of all positions that the eight bits allow, the one nearest to the stamp. */
    frame = by_sequence +
            range * tt_floor_div(nearest_frame(listener, *stamp) - by_sequence + range / 2, range);
    error_ns = *stamp - tt_media_clock_time(&listener->clock, frame);
    if (llabs(error_ns) <= listener->config.ptime_tolerance_ns) {
        stamp_fits(listener);
        settle(listener, frame - by_sequence, now_tai_ns);
        if (frame >= listener->sequence_end) {
            tt_headroom_add(&listener->headroom, *stamp - now_tai_ns);
        }
        tt_media_clock_follow(&listener->clock, frame, *stamp);
        place(listener, aaf, frame, TT_EVENT_LOST, now_tai_ns);
        return;
    }
    listener->counters.stamps_off++;
    if (starts_anew(listener, aaf, ahead, *stamp, now_tai_ns)) {
        return;
    }
    near = frame == by_sequence &&
           llabs(error_ns) <= tt_frames_to_ns(ROUGH_PDUS * listener->pdu_frames, aaf->rate_hz);
    if (aaf->tu || listener->off_stamps > TT_LISTENER_RESYNC_STAMPS ||
        (!listener->unsure && (ahead == 1 || near))) {
        place(listener, aaf, by_sequence, TT_EVENT_LOST, now_tai_ns);
    } else {
        listener->counters.pdus_unplaced++;
    }
}

/* After a long pause more may be missing than eight bits can tell. */
static void note_pause(struct tt_listener *listener, int64_t arrival_tai_ns)
{
    int64_t pause_ns = arrival_tai_ns - listener->last_arrival_tai_ns;
    int64_t interval_ns = tt_frames_to_ns(listener->pdu_frames, listener->config.rate_hz);

    if (listener->locked && pause_ns > SEQUENCE_RANGE / 4 * interval_ns) {
        listener->unsure = true;
        listener->pause_pdus = pause_ns / interval_ns;
    }
}

static bool is_ours(const struct tt_listener *listener, const uint8_t *pdu, size_t bytes)
{
    return bytes >= 12 && pdu[0] == TT_AVTP_SUBTYPE_AAF &&
           tt_get_be64(pdu + 4) == listener->config.stream_id;
}

static bool has_our_format(const struct tt_listener *listener, const struct tt_aaf *aaf)
{
    return aaf->format == listener->config.format && aaf->rate_hz == listener->config.rate_hz &&
           aaf->channels == listener->config.channels;
}

/* Stamps that turn uncertain (tu) place nothing anew: the order of before is better. Of a talker
 * that never was certain there is none. */
static bool is_doubtful(struct tt_listener *listener, bool tu)
{
    listener->certain = !tu || (listener->locked && listener->certain);
    return tu && listener->certain;
}

void tt_listener_receive(struct tt_listener *listener, const uint8_t *pdu, size_t bytes,
                         const uint8_t src[6], int64_t arrival_tai_ns)
{
    struct tt_listener_counters *counters = &listener->counters;
    struct tt_aaf aaf;
    enum tt_aaf_reason reason;
    int64_t offset_ns;
    int64_t stamp_ns;

    if (!is_ours(listener, pdu, bytes)) {
        return;
    }
    reason = tt_aaf_parse(pdu, bytes, &aaf);
    if (reason != TT_AAF_OK) {
        counters->pdus_refused[reason]++;
        return;
    }
    if (!has_our_format(listener, &aaf)) {
        counters->pdus_other_format++;
        return;
    }
    tt_listener_advance(listener, arrival_tai_ns);
    if (listener->locked && memcmp(src, listener->src, sizeof listener->src) != 0) {
        counters->pdus_other_talker++;
        return;
    }
    counters->pdus++;
    note_pause(listener, arrival_tai_ns);
    listener->last_arrival_tai_ns = arrival_tai_ns;
    offset_ns = listener->stamp_offset_ns + listener->jump_ns;
    stamp_ns = tt_widen32(aaf.timestamp, arrival_tai_ns - offset_ns) + offset_ns;
    if (aaf.tv) {
        tt_hist_record(&listener->lateness, arrival_tai_ns - stamp_ns);
    } else if (!aaf.sp) {
        counters->pdus_unstamped++;
    }
    counters->pdus_uncertain += aaf.tu;
    aaf.tu = is_doubtful(listener, aaf.tu);
    if (listener->locked && aaf.mr != listener->mr) {
        counters->restarts++;
        listener->mr = aaf.mr;
        listener->restarting = true;
    }
    if (listener->locked && !listener->restarting) {
        follow(listener, &aaf, aaf.tv ? &stamp_ns : NULL, arrival_tai_ns);
    } else if (aaf.tv) {
        acquire(listener, &aaf, src, stamp_ns, arrival_tai_ns);
    } else {
        counters->pdus_unplaced++;
    }
}
