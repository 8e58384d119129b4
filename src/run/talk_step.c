/*
 * See talk.h and talk_inside.h: the loop body of the talker engine.
 */
#include "run/talk_inside.h"

#include <errno.h>
#include <string.h>

#include "base/ns.h"
#include "run/send.h"

#define IDLE_NS (10 * TT_NS_PER_MS)

/* How many frames the next PDU gets from the program (the rest is silence), or -1: none for now. */
static int64_t supply(struct tt_talk *talk, int64_t now_tai_ns, int64_t earliest_tai_ns)
{
    int64_t frame = talk->talker.next_frame;
    int64_t wanted = talk->config.frames_per_pdu;
    int64_t there = atomic_load_explicit(&talk->device.program_frame, memory_order_acquire) - frame;

    if (there >= wanted) {
        return wanted;
    }
    if (atomic_load(&talk->device.state) == TT_DEVICE_DRAINING) {
        if (there > 0) {
            return there;
        }
        if (now_tai_ns >= talk->last_launch_tai_ns) {
            tt_device_leave(&talk->device, TT_DEVICE_DRAINING, TT_DEVICE_DRAINED);
        }
        return -1;
    }
    if (tt_talker_next_launch(&talk->talker) > earliest_tai_ns) {
        return -1; /* there is time yet */
    }
    if (atomic_load_explicit(&talk->device.endless, memory_order_relaxed)) {
        return there > 0 ? there : 0;
    }
    talk->live.counters.xruns++;
    tt_talk_log_event(talk, TT_EVENT_XRUN, frame, there, now_tai_ns);
    tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_XRUN);
    return -1;
}

/* Builds the packet; `frames` come from the buffer, the rest is silence. */
static void fill_packet(struct tt_talk *talk, const struct tt_talker_pdu *pdu, int64_t frames,
                        uint8_t *ret_packet)
{
    uint8_t *payload = ret_packet + tt_talker_build(&talk->talker, pdu, ret_packet);
    uint8_t *end = tt_ring_copy(&talk->ring, pdu->frame, (size_t)frames, payload);

    memset(end, 0, (size_t)(ret_packet + talk->packet_bytes - end));
}

/* Takes the next PDU, which gets `frames` frames of the program's. */
static void take(struct tt_talk *talk, int64_t frames, int64_t now_tai_ns, int64_t earliest_ns,
                 struct tt_talk_batch *batch)
{
    struct tt_talker_pdu *pdu = &batch->pdus[batch->n];
    uint8_t *data = talk->packets + (size_t)batch->n * talk->packet_bytes;
    unsigned frames_per_pdu = talk->config.frames_per_pdu;

    if (tt_talker_next(&talk->talker, earliest_ns, pdu) == TT_TALKER_DROP) {
        talk->live.counters.pdus_dropped++;
        tt_talk_log_event(talk, TT_EVENT_DROPPED, pdu->frame, frames_per_pdu, now_tai_ns);
        return;
    }
    fill_packet(talk, pdu, frames, data);
    batch->frames[batch->n] = frames;
    batch->packets[batch->n++] = (struct tt_link_packet){
        .data = data, .bytes = talk->packet_bytes, .time_tai_ns = pdu->launch_tai_ns};
    talk->last_launch_tai_ns = pdu->launch_tai_ns;
}

static void gather(struct tt_talk *talk, int64_t now_tai_ns, struct tt_talk_batch *batch)
{
    int64_t until_ns = now_tai_ns + (talk->kernel_pace ? talk->plan.lead_ns : 0);
    int64_t earliest_ns = now_tai_ns + (talk->kernel_pace ? tt_launch_margin(&talk->plan) : 0);
    int most = talk->kernel_pace ? talk->plan.batch : TT_LINK_BATCH;

    batch->n = 0;
    batch->starved = false;
    for (int taken = 0; taken < most && tt_talker_next_launch(&talk->talker) <= until_ns; taken++) {
        int64_t frames = supply(talk, now_tai_ns, earliest_ns);

        if (frames < 0) {
            batch->starved = true;
            return;
        }
        take(talk, frames, now_tai_ns, earliest_ns, batch);
        /* A padded last PDU must not carry the position past what the program wrote. */
        atomic_fetch_add_explicit(&talk->device.engine_frame,
                                  atomic_load(&talk->device.state) == TT_DEVICE_DRAINING
                                      ? frames
                                      : talk->config.frames_per_pdu,
                                  memory_order_release);
    }
}

/* Frames that the program may write. */
static int64_t room(const struct tt_talk *talk)
{
    return talk->device.buffer_frames -
           (atomic_load(&talk->device.program_frame) - atomic_load(&talk->device.engine_frame));
}

/* When there is something to do again, in TAI. */
static int64_t next_step(const struct tt_talk *talk, int64_t now_tai_ns, bool starved)
{
    int64_t launch_ns = tt_talker_next_launch(&talk->talker);

    return talk->kernel_pace ? tt_launch_next_step(&talk->plan, launch_ns, now_tai_ns, starved)
                             : launch_ns;
}

int64_t tt_talk_step(struct tt_talk *talk)
{
    struct tt_talk_batch batch;
    int64_t now_tai_ns = tt_talk_follow_tai(talk);
    int64_t launch_tai_ns = talk->last_launch_tai_ns;
    int state = atomic_load(&talk->device.state);
    unsigned refused = 0;
    bool link_down;
    int error;

    if (state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) {
        return tt_timebase_mono(&talk->timebase, now_tai_ns) + IDLE_NS;
    }
    if (now_tai_ns < talk->reports_until_tai_ns) {
        refused = tt_talk_collect_errors(talk, &launch_tai_ns);
    }
    gather(talk, now_tai_ns, &batch);
    error = tt_send_batch(talk->link, batch.packets, batch.n, batch.refused);
    link_down = error == -ENETDOWN || error == -ENODEV || error == -ENXIO;
    atomic_fetch_or(&talk->notes, link_down ? TT_NOTE_LINK_DOWN : 0);
    now_tai_ns = tt_timebase_tai(&talk->timebase, tt_talk_mono(talk));
    refused += tt_talk_book(talk, &batch, now_tai_ns);
    if (!link_down) { /* which says nothing of launch times */
        tt_talk_judge_kernel(talk, (unsigned)batch.n, refused, launch_tai_ns);
    }
    tt_talk_publish(talk);
    tt_device_wake(&talk->device, room(talk));
    return tt_timebase_mono(&talk->timebase, next_step(talk, now_tai_ns, batch.starved));
}
