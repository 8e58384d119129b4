/*
 * See talk.h.
 */
#include "run/talk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "os/memory.h"
#include "os/wake.h"
#include "run/talk_inside.h"

/* The first PDU is due so long after the start: its thread must have come up. */
#define START_NS (1 * TT_NS_PER_MS)

/* What is ahead of its launch, and what is behind until its report was read. */
static size_t flight_capacity(const struct tt_talk *talk)
{
    return 1 + (size_t)(2 * talk->plan.lead_ns / talk->plan.interval_ns) + 4 * TT_LINK_BATCH;
}

static int join_engine(struct tt_talk *talk, const struct tt_talk_setup *setup)
{
    int error = 0;

    talk->owns_engine = !setup->engine;
    talk->engine = setup->engine;
    if (!setup->engine) {
        error = tt_engine_new(setup->clock, &talk->engine);
    }
    if (error < 0) {
        return error;
    }
    talk->timebase = tt_engine_timebase(talk->engine);
    return tt_engine_add_talk(talk->engine, talk, talk->packet_bytes);
}

int tt_talk_new(const struct tt_talk_setup *setup, struct tt_talk **ret_talk)
{
    struct tt_talk *talk = tt_memory_new(1, sizeof *talk);
    int64_t wire_ns = 0;
    int error;

    if (!talk) {
        return -ENOMEM;
    }
    talk->config = *setup->config;
    talk->link = setup->link;
    talk->kernel_pace = setup->link->keeps_launch_times;
    talk->reports_until_tai_ns = talk->kernel_pace ? INT64_MAX : INT64_MIN;
    talk->device.buffer_frames = setup->buffer_frames;
    talk->device.wake_fd = tt_wake_open();
    tt_hist_init(&talk->lateness);
    tt_talker_init(&talk->talker, setup->config, setup->link->mac, 0);
    talk->packet_bytes = tt_talker_packet_bytes(&talk->talker);
    if (setup->link->speed_mbps > 0) {
        /* FCS, preamble and gap: 24 bytes more. */
        wire_ns = (int64_t)(talk->packet_bytes + 24) * 8000 / setup->link->speed_mbps;
    }
    talk->talker.wire_ns = wire_ns;
    tt_launch_plan_init(&talk->plan, setup->config->launch_lead_ns, setup->release_ns,
                        talk->talker.interval_ns, setup->offload);
    talk->ring = (struct tt_ring){
        .bytes = tt_memory_new((size_t)setup->buffer_frames, talk->talker.frame_bytes),
        .frames = setup->buffer_frames,
        .frame_bytes = talk->talker.frame_bytes,
        .channels = setup->config->channels,
    };
    talk->flight.capacity = flight_capacity(talk);
    talk->flight.pdus = tt_memory_new(talk->flight.capacity, sizeof *talk->flight.pdus);
    talk->log.capacity = setup->event_capacity;
    talk->log.events = tt_memory_new(setup->event_capacity + 1, sizeof *talk->log.events);
    if (talk->device.wake_fd < 0) {
        error = talk->device.wake_fd;
    } else if (!talk->ring.bytes || !talk->flight.pdus || !talk->log.events) {
        error = -ENOMEM;
    } else {
        error = join_engine(talk, setup);
    }
    if (error < 0) {
        tt_talk_free(talk);
        return error;
    }
    if (!talk->kernel_pace) {
        talk->notes |= TT_NOTE_SOFTWARE_PACE;
    }
    tt_talk_read_tai_offset(talk);
    *ret_talk = talk;
    return 0;
}

void tt_talk_free(struct tt_talk *talk)
{
    if (!talk) {
        return;
    }
    if (talk->engine) {
        tt_engine_stop(talk->engine);
        tt_engine_remove_talk(talk->engine, talk);
    }
    if (talk->owns_engine) {
        tt_engine_free(talk->engine);
    }
    tt_wake_close(talk->device.wake_fd);
    free(talk->ring.bytes);
    free(talk->flight.pdus);
    free(talk->log.events);
    free(talk);
}

struct tt_device *tt_talk_device(struct tt_talk *talk)
{
    return &talk->device;
}

void tt_talk_write(struct tt_talk *talk, int64_t frame, enum tt_pcm_format format,
                   const struct tt_pcm_area *areas, size_t frames)
{
    tt_ring_write(&talk->ring, frame, format, areas, frames);
    atomic_store_explicit(&talk->device.program_frame, frame + (int64_t)frames,
                          memory_order_release);
}

void tt_talk_prepare(struct tt_talk *talk)
{
    int64_t frame = atomic_load(&talk->device.program_frame);

    tt_talk_stop(talk);
    if (atomic_load(&talk->device.state) == TT_DEVICE_XRUN) { /* written before it was heard of */
        tt_talk_log_lost(talk, TT_EVENT_XRUN, talk->xrun_frame, frame - talk->xrun_frame,
                         tt_engine_tai(talk->engine));
    }
    atomic_store(&talk->device.engine_frame, frame);
    atomic_store(&talk->device.state, TT_DEVICE_STOPPED);
    atomic_store(&talk->ends, false);
}

int64_t tt_talk_start_lead(const struct tt_talk *talk)
{
    return START_NS + (talk->kernel_pace ? talk->plan.release_ns : 0);
}

void tt_talk_begin(struct tt_talk *talk, int64_t media_tai_ns, int64_t now_tai_ns)
{
    int64_t frame = atomic_load(&talk->device.engine_frame);

    tt_talker_start(&talk->talker, frame, media_tai_ns);
    tt_launch_trial_start(&talk->trial, now_tai_ns);
    talk->next_tai_ns = now_tai_ns;
    talk->live.shift_frames = 0;
    talk->silent = false;
    talk->live.start_frame = frame;
    talk->live.start_mono_ns =
        tt_timebase_mono(talk->timebase, talk->talker.start_tai_ns + talk->config.mtt_ns);
    tt_talk_publish(talk);
    tt_talk_log_event(talk, TT_EVENT_START, frame, 0, now_tai_ns);
    atomic_store(&talk->device.state, TT_DEVICE_RUNNING);
    if (atomic_load(&talk->ends)) {
        tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_DRAINING);
    }
}

void tt_talk_end(struct tt_talk *talk)
{
    if (talk->reports_until_tai_ns > INT64_MIN) {
        tt_talk_collect_errors(talk, tt_engine_tai(talk->engine));
        tt_talk_publish(talk);
    }
    tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_STOPPED);
    tt_device_leave(&talk->device, TT_DEVICE_DRAINING, TT_DEVICE_STOPPED);
}

int tt_talk_start(struct tt_talk *talk, bool thread)
{
    return tt_engine_start(talk->engine, thread);
}

int64_t tt_talk_step(struct tt_talk *talk)
{
    return tt_engine_step(talk->engine);
}

void tt_talk_stop(struct tt_talk *talk)
{
    tt_engine_stop(talk->engine);
}

void tt_talk_drain(struct tt_talk *talk)
{
    atomic_store(&talk->ends, true);
    tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_DRAINING);
}

int64_t tt_talk_delay(struct tt_talk *talk)
{
    int64_t program_frame = atomic_load(&talk->device.program_frame);
    int state = atomic_load(&talk->device.state);
    struct tt_talk_public copy;
    int64_t presented;

    tt_counters_read(&talk->lock, &talk->shared, sizeof copy, &copy);
    if (state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) {
        return program_frame - atomic_load(&talk->device.engine_frame);
    }
    presented =
        copy.start_frame - copy.shift_frames +
        tt_ns_to_frames(tt_engine_mono(talk->engine) - copy.start_mono_ns, talk->config.rate_hz);
    return program_frame > presented ? program_frame - presented : 0;
}

void tt_talk_counters(struct tt_talk *talk, struct tt_talk_counters *ret_counters)
{
    struct tt_talk_public copy;

    tt_counters_read(&talk->lock, &talk->shared, sizeof copy, &copy);
    *ret_counters = copy.counters;
}

void tt_talk_follow(struct tt_talk *talk, const struct tt_media_grid *grid)
{
    tt_talker_follow(&talk->talker, grid);
}

void tt_talk_clock(struct tt_talk *talk, int64_t *ret_frame, int64_t *ret_due_tai_ns)
{
    struct tt_talk_public copy;

    tt_counters_read(&talk->lock, &talk->shared, sizeof copy, &copy);
    *ret_frame = copy.next_frame;
    *ret_due_tai_ns = copy.next_due_tai_ns;
}

const struct tt_hist *tt_talk_lateness(const struct tt_talk *talk)
{
    return &talk->lateness;
}

const struct tt_event_log *tt_talk_log(const struct tt_talk *talk)
{
    return &talk->log;
}

unsigned tt_talk_notes(const struct tt_talk *talk)
{
    return atomic_load(&talk->notes);
}
