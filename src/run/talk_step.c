/*
 * See talk_inside.h: what a step does for one talker.
 */
#include "run/talk_inside.h"

#include <errno.h>
#include <string.h>

#include "base/ns.h"
#include "run/send.h"

/* PDUs that leave when they are handed over are so in handfuls: the first are on the wire while the
 * last are made, and when each left is known to the time that so many take. */
#define HANDFUL 16

/* What the next PDU gets of the program's frames, the rest is silence; and how far that takes the
 * device. */
struct portion {
    int64_t frames;
    int64_t advance;
};

/* Silence stands in, and the program's frames follow later. */
static void insert_silence(struct tt_talk *talk, int64_t at, int64_t frames, int64_t now_tai_ns)
{
    talk->live.counters.underruns += !talk->silent;
    talk->live.counters.frames_inserted += (uint64_t)frames;
    talk->silent = true;
    tt_talk_log_event(talk, TT_EVENT_SILENCE, at, frames, now_tai_ns);
}

/* The program has not written all of the next PDU, and there is no more time to wait. False: the
 * device stops. */
static bool make_do(struct tt_talk *talk, int64_t there, int64_t now_tai_ns,
                    struct portion *ret_portion)
{
    int64_t at = tt_talk_position(talk);
    int64_t wanted = talk->config.frames_per_pdu;
    int64_t frames = there > 0 ? there : 0; /* it may have gone back behind what was sent */

    *ret_portion = (struct portion){.frames = frames, .advance = frames};
    if (atomic_load_explicit(&talk->device.endless, memory_order_relaxed)) {
        ret_portion->advance = wanted;
        tt_talk_log_event(talk, TT_EVENT_LATE, at + frames, wanted - frames, now_tai_ns);
        return true;
    }
    if (talk->config.on_underrun == TT_UNDERRUN_SILENCE) {
        insert_silence(talk, at + frames, wanted - frames, now_tai_ns);
        return true;
    }
    talk->live.counters.xruns++;
    tt_talk_log_event(talk, TT_EVENT_XRUN, at, there, now_tai_ns);
    talk->xrun_frame = at + there;
    tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_XRUN);
    return false;
}

/* How far ahead of the last moment silence is decided on: in kernel pacing steps are far apart, and
 * silence shall keep the grid. */
static int64_t silence_ahead_ns(const struct tt_talk *talk)
{
    return talk->kernel_pace && talk->config.on_underrun == TT_UNDERRUN_SILENCE
               ? 2 * talk->plan.batch * talk->plan.interval_ns
               : 0;
}

/* False: nothing for now. */
static bool supply(struct tt_talk *talk, int64_t now_tai_ns, int64_t earliest_tai_ns,
                   struct portion *ret_portion)
{
    int64_t wanted = talk->config.frames_per_pdu;
    int64_t there = atomic_load_explicit(&talk->device.program_frame, memory_order_acquire) -
                    tt_talk_position(talk);

    if (there >= wanted) {
        *ret_portion = (struct portion){.frames = wanted, .advance = wanted};
        talk->silent = false;
        return true;
    }
    if (atomic_load(&talk->device.state) == TT_DEVICE_DRAINING) {
        /* A padded last PDU must not carry the position past what the program wrote. */
        *ret_portion = (struct portion){.frames = there, .advance = there};
        if (there <= 0 && now_tai_ns >= talk->last_launch_tai_ns) {
            tt_device_leave(&talk->device, TT_DEVICE_DRAINING, TT_DEVICE_DRAINED);
        }
        return there > 0;
    }
    return tt_talker_next_launch(&talk->talker) <= earliest_tai_ns + silence_ahead_ns(talk) &&
           make_do(talk, there, now_tai_ns, ret_portion);
}

/* Builds the packet; `frames` come from the buffer, the rest is silence. */
static void fill_packet(struct tt_talk *talk, const struct tt_talker_pdu *pdu, int64_t frames,
                        uint8_t *ret_packet)
{
    uint8_t *payload = ret_packet + tt_talker_build(&talk->talker, pdu, ret_packet);
    uint8_t *end = tt_ring_copy(&talk->ring, pdu->frame, (size_t)frames, payload);

    if (frames < talk->config.frames_per_pdu) {
        memset(end, 0, (size_t)(ret_packet + talk->packet_bytes - end));
    }
}

/* Takes the next PDU, which gets `frames` frames of the program's. */
static void take(struct tt_talk *talk, int64_t frames, int64_t now_tai_ns, int64_t earliest_ns,
                 struct tt_talk_batch *batch)
{
    struct tt_talker_pdu *pdu = &batch->pdus[batch->n];
    uint8_t *data = batch->data + (size_t)batch->n * batch->packet_bytes;
    int64_t position = tt_talk_position(talk);
    enum tt_talker_verdict verdict = tt_talker_next(&talk->talker, earliest_ns, pdu);

    pdu->frame = position;
    if (verdict == TT_TALKER_DROP) {
        talk->live.counters.pdus_dropped++;
        tt_talk_log_lost(talk, TT_EVENT_DROPPED, position, frames, now_tai_ns);
        return;
    }
    fill_packet(talk, pdu, frames, data);
    batch->talks[batch->n] = talk;
    batch->frames[batch->n] = frames;
    batch->packets[batch->n++] = (struct tt_link_packet){
        .data = data, .bytes = talk->packet_bytes, .time_tai_ns = pdu->launch_tai_ns};
    talk->last_launch_tai_ns = pdu->launch_tai_ns;
    talk->found.handed++;
}

bool tt_talk_runs(const struct tt_talk *talk)
{
    int state = atomic_load(&talk->device.state);

    return state == TT_DEVICE_RUNNING || state == TT_DEVICE_DRAINING;
}

int64_t tt_talk_flush(struct tt_engine *engine, struct tt_talk_batch *batch)
{
    int error = tt_send_batch(batch->link, batch->packets, batch->n, batch->refused);
    bool link_gone = error == -ENODEV || error == -ENXIO;
    int64_t done_tai_ns = tt_engine_tai(engine);

    for (int i = 0; i < batch->n; i++) {
        batch->talks[i]->found.link_down |= error == -ENETDOWN;
        batch->talks[i]->found.link_gone |= link_gone;
        tt_talk_book(batch, i, done_tai_ns);
    }
    batch->calls += batch->n > 0;
    batch->n = 0;
    return done_tai_ns;
}

/* While it runs nobody else writes it: no read-modify-write, which would wait for all that was
 * written before. */
static void advance(struct tt_device *device, int64_t frames)
{
    int64_t frame = atomic_load_explicit(&device->engine_frame, memory_order_relaxed);

    atomic_store_explicit(&device->engine_frame, frame + frames, memory_order_release);
}

void tt_talk_gather(struct tt_talk *talk, int64_t now_tai_ns, struct tt_talk_batch *batch)
{
    int64_t until_ns = now_tai_ns + (talk->kernel_pace ? talk->plan.lead_ns : 0);
    int64_t earliest_ns = now_tai_ns + (talk->kernel_pace ? tt_launch_margin(&talk->plan) : 0);
    int most = talk->kernel_pace ? talk->plan.batch : TT_LINK_BATCH;

    talk->found = (struct tt_talk_found){.refused_tai_ns = talk->last_launch_tai_ns};
    if (now_tai_ns < talk->reports_until_tai_ns) {
        tt_talk_collect_errors(talk, now_tai_ns);
    }
    if (talk->kernel_pace) {
        tt_talk_find_unkept(talk);
    }
    if (batch->link != talk->link) {
        if (batch->n > 0) {
            tt_talk_flush(talk->engine, batch);
        }
        batch->link = talk->link;
        tt_talk_look_at_link(talk->link, tt_timebase_mono(talk->timebase, now_tai_ns));
    }
    talk->found.link_down = !talk->link->was_up;
    talk->found.next_launch_tai_ns = tt_talker_next_launch(&talk->talker);
    for (int taken = 0; taken < most && talk->found.next_launch_tai_ns <= until_ns; taken++) {
        struct portion portion;

        if (!supply(talk, now_tai_ns, earliest_ns, &portion)) {
            talk->found.starved = true;
            return;
        }
        if (batch->n >= (talk->kernel_pace ? TT_LINK_BATCH : HANDFUL)) {
            tt_talk_flush(talk->engine, batch);
        }
        take(talk, portion.frames, now_tai_ns, earliest_ns, batch);
        talk->live.shift_frames += talk->config.frames_per_pdu - portion.advance;
        advance(&talk->device, portion.advance);
        talk->found.next_launch_tai_ns = tt_talker_next_launch(&talk->talker);
    }
}

/* Frames that the program may write. */
static int64_t room(const struct tt_talk *talk)
{
    return talk->device.buffer_frames -
           (atomic_load(&talk->device.program_frame) - atomic_load(&talk->device.engine_frame));
}

void tt_talk_conclude(struct tt_talk *talk, int64_t now_tai_ns)
{
    int64_t launch_ns = talk->found.next_launch_tai_ns;

    if (talk->found.link_gone) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LINK_GONE);
        tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_GONE);
        tt_device_leave(&talk->device, TT_DEVICE_DRAINING, TT_DEVICE_GONE);
    } else if (talk->found.link_down) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LINK_DOWN);
    } else { /* a link that is down says nothing of launch times */
        tt_talk_judge_kernel(talk);
    }
    tt_talk_publish(talk);
    tt_device_wake(&talk->device, room(talk));
    talk->next_tai_ns = talk->kernel_pace ? tt_launch_next_step(&talk->plan, launch_ns, now_tai_ns,
                                                                talk->found.starved)
                                          : launch_ns;
}

bool tt_talk_is_paced(const struct tt_talk *talk)
{
    return !talk->kernel_pace && tt_talk_runs(talk);
}

bool tt_talk_is_behind(const struct tt_talk *talk)
{
    return tt_talk_is_paced(talk) && tt_talker_is_behind(&talk->talker);
}
