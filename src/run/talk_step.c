/*
 * See talk_inside.h: what a step does for one talker.
 */
#include "run/talk_inside.h"

#include <errno.h>
#include <string.h>

#include "base/ns.h"
#include "run/send.h"

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
    uint8_t *data = batch->data + (size_t)batch->n * batch->packet_bytes;
    unsigned frames_per_pdu = talk->config.frames_per_pdu;

    if (tt_talker_next(&talk->talker, earliest_ns, pdu) == TT_TALKER_DROP) {
        talk->live.counters.pdus_dropped++;
        tt_talk_log_event(talk, TT_EVENT_DROPPED, pdu->frame, frames_per_pdu, now_tai_ns);
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
    bool link_down = error == -ENETDOWN || error == -ENODEV || error == -ENXIO;
    int64_t done_tai_ns = tt_engine_tai(engine);

    for (int i = 0; i < batch->n; i++) {
        batch->talks[i]->found.link_down |= link_down;
        tt_talk_book(batch, i, done_tai_ns);
    }
    batch->calls += batch->n > 0;
    batch->n = 0;
    return done_tai_ns;
}

void tt_talk_gather(struct tt_talk *talk, int64_t now_tai_ns, struct tt_talk_batch *batch)
{
    int64_t until_ns = now_tai_ns + (talk->kernel_pace ? talk->plan.lead_ns : 0);
    int64_t earliest_ns = now_tai_ns + (talk->kernel_pace ? tt_launch_margin(&talk->plan) : 0);
    int most = talk->kernel_pace ? talk->plan.batch : TT_LINK_BATCH;

    talk->found = (struct tt_talk_found){.refused_tai_ns = talk->last_launch_tai_ns};
    if (now_tai_ns < talk->reports_until_tai_ns) {
        tt_talk_collect_errors(talk);
    }
    if (batch->n > 0 && batch->link != talk->link) {
        tt_talk_flush(talk->engine, batch);
    }
    batch->link = talk->link;
    for (int taken = 0; taken < most && tt_talker_next_launch(&talk->talker) <= until_ns; taken++) {
        int64_t frames = supply(talk, now_tai_ns, earliest_ns);

        if (frames < 0) {
            talk->found.starved = true;
            return;
        }
        if (batch->n == TT_LINK_BATCH) {
            tt_talk_flush(talk->engine, batch);
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

void tt_talk_conclude(struct tt_talk *talk, int64_t now_tai_ns)
{
    int64_t launch_ns = tt_talker_next_launch(&talk->talker);

    if (talk->found.link_down) {
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
