/*
 * See talk.h.
 */
#include "run/talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/talker.h"
#include "base/counters.h"
#include "base/ns.h"
#include "os/memory.h"
#include "os/wake.h"
#include "run/launch.h"
#include "run/ring.h"
#include "run/send.h"
#include "run/thread.h"

#define IDLE_NS (10 * TT_NS_PER_MS)
/* The first PDU is due so long after the start: its thread must have come up. */
#define START_NS (1 * TT_NS_PER_MS)

/* What other threads read, under the sequence lock. */
struct talk_public {
    struct tt_talk_counters counters;
    int64_t start_frame; /* presented at start_mono_ns */
    int64_t start_mono_ns;
};

struct tt_talk {
    struct tt_device device;
    struct tt_stream_config config;
    struct tt_link *link;
    struct tt_clock *clock;
    struct tt_talker talker;
    struct tt_timebase timebase;
    struct tt_engine_thread thread;
    bool kernel_pace; /* launch times are handed over */
    struct tt_launch_plan plan;
    struct tt_launch_trial trial;
    int64_t reports_until_tai_ns; /* after that the kernel has nothing more to report */
    int64_t last_launch_tai_ns;
    atomic_uint notes;

    size_t packet_bytes;
    struct tt_ring ring;
    uint8_t *packets; /* TT_LINK_BATCH */

    struct tt_seqlock lock;
    struct talk_public shared;
    struct talk_public live; /* the engine's own copy */
    struct tt_hist lateness;
    struct tt_event_log log;
};

/* The offset of the stamps; it may change when the clock steps. */
static void read_tai_offset(struct tt_talk *talk)
{
    int offset_s = talk->clock->ops->tai_offset_s(talk->clock);

    if (talk->config.timescale == TT_TIMESCALE_UTC) {
        talk->talker.stamp_offset_ns = -offset_s * TT_NS_PER_S;
    } else if (offset_s == 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_TAI_UNSET);
    }
}

int tt_talk_new(const struct tt_talk_setup *setup, struct tt_talk **ret_talk)
{
    struct tt_talk *talk = tt_memory_new(1, sizeof *talk);
    int64_t wire_ns = 0;

    if (!talk) {
        return -ENOMEM;
    }
    talk->config = *setup->config;
    talk->link = setup->link;
    talk->clock = setup->clock;
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
    talk->packets = tt_memory_new(TT_LINK_BATCH, talk->packet_bytes);
    talk->log.capacity = setup->event_capacity;
    talk->log.events = tt_memory_new(setup->event_capacity + 1, sizeof *talk->log.events);
    if (!talk->ring.bytes || !talk->packets || !talk->log.events || talk->device.wake_fd < 0) {
        tt_talk_free(talk);
        return -ENOMEM;
    }
    if (!talk->kernel_pace) {
        talk->notes |= TT_NOTE_SOFTWARE_PACE;
    }
    read_tai_offset(talk);
    *ret_talk = talk;
    return 0;
}

void tt_talk_free(struct tt_talk *talk)
{
    if (!talk) {
        return;
    }
    tt_talk_stop(talk);
    tt_wake_close(talk->device.wake_fd);
    free(talk->ring.bytes);
    free(talk->packets);
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

static void publish(struct tt_talk *talk)
{
    tt_counters_begin(&talk->lock);
    talk->shared = talk->live;
    tt_counters_end(&talk->lock);
}

static void log_event(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame, int64_t frames,
                      int64_t now_tai_ns)
{
    tt_event_log_add(
        &talk->log, (struct tt_event){
                        .kind = kind, .frame = frame, .frames = frames, .time_tai_ns = now_tai_ns});
}

static void set_presentation(struct tt_talk *talk)
{
    talk->live.start_frame = talk->talker.start_frame;
    talk->live.start_mono_ns =
        tt_timebase_mono(&talk->timebase, talk->talker.start_tai_ns + talk->config.mtt_ns);
}

static int64_t read_mono(struct tt_talk *talk)
{
    struct tt_clock_reading reading;

    talk->clock->ops->read(talk->clock, &reading);
    return reading.mono_after_ns;
}

/* Now, by the followed offset; where TAI stepped, the stamps step with it. */
static int64_t follow_tai(struct tt_talk *talk)
{
    struct tt_clock_reading reading;
    int64_t step_ns;
    int64_t now_tai_ns;

    talk->clock->ops->read(talk->clock, &reading);
    step_ns = tt_timebase_follow(&talk->timebase, &reading);
    now_tai_ns = tt_timebase_tai(&talk->timebase, reading.mono_after_ns);
    if (step_ns != 0) {
        tt_talker_clock_step(&talk->talker, step_ns);
        read_tai_offset(talk);
        talk->last_launch_tai_ns += step_ns;
        tt_launch_trial_start(&talk->trial, tt_talker_next_launch(&talk->talker));
        talk->live.counters.clock_steps++;
        atomic_fetch_or(&talk->notes, TT_NOTE_CLOCK_STEP);
        log_event(talk, TT_EVENT_CLOCK, talk->talker.next_frame, 0, now_tai_ns);
    }
    return now_tai_ns;
}

static int64_t step_of_engine(void *engine)
{
    return tt_talk_step(engine);
}

static bool engine_is_behind(void *engine)
{
    const struct tt_talk *talk = engine;

    return !talk->kernel_pace && tt_talker_is_behind(&talk->talker);
}

void tt_talk_prepare(struct tt_talk *talk)
{
    tt_talk_stop(talk);
    atomic_store(&talk->device.engine_frame, atomic_load(&talk->device.program_frame));
    atomic_store(&talk->device.state, TT_DEVICE_STOPPED);
}

int tt_talk_start(struct tt_talk *talk, bool thread)
{
    int64_t frame = atomic_load(&talk->device.engine_frame);
    int64_t lead_ns = START_NS + (talk->kernel_pace ? talk->plan.release_ns : 0);
    int64_t now_tai_ns;
    int error = 0;

    tt_talk_stop(talk);
    talk->timebase.valid = false; /* a step while it was stopped is none */
    now_tai_ns = follow_tai(talk);
    tt_talker_start(&talk->talker, frame, now_tai_ns + lead_ns);
    tt_launch_trial_start(&talk->trial, now_tai_ns);
    set_presentation(talk);
    publish(talk);
    log_event(talk, TT_EVENT_START, frame, 0, now_tai_ns);
    atomic_store(&talk->device.state, TT_DEVICE_RUNNING);
    if (thread) {
        error = tt_engine_thread_start(&talk->thread, talk->clock, step_of_engine, engine_is_behind,
                                       talk);
        if (error < 0) {
            atomic_store(&talk->device.state, TT_DEVICE_STOPPED);
        } else if (!talk->thread.thread.realtime) {
            atomic_fetch_or(&talk->notes, TT_NOTE_NO_REALTIME);
        }
    }
    return error;
}

void tt_talk_drain(struct tt_talk *talk)
{
    tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_DRAINING);
}

/* Returns how many the kernel dropped after it had taken them. */
static unsigned collect_errors(struct tt_talk *talk, int64_t *launch_tai_ns)
{
    struct tt_link_errors errors = {.last_launch_tai_ns = *launch_tai_ns};

    talk->link->ops->collect_errors(talk->link, &errors);
    talk->live.counters.launch_missed += errors.launch_missed;
    talk->live.counters.launch_invalid += errors.launch_invalid;
    /* They were counted as sent; the invalid ones were refused at once. */
    talk->live.counters.pdus_refused += errors.launch_missed;
    talk->live.counters.pdus_sent -= errors.launch_missed;
    talk->live.counters.frames_sent -= errors.launch_missed * talk->config.frames_per_pdu;
    if (errors.launch_missed + errors.launch_invalid > 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_LOST);
    }
    *launch_tai_ns = errors.last_launch_tai_ns;
    return (unsigned)errors.launch_missed;
}

void tt_talk_stop(struct tt_talk *talk)
{
    int64_t launch_tai_ns = 0;

    tt_engine_thread_stop(&talk->thread);
    if (talk->reports_until_tai_ns > INT64_MIN) {
        collect_errors(talk, &launch_tai_ns);
        publish(talk);
    }
    tt_device_leave(&talk->device, TT_DEVICE_RUNNING, TT_DEVICE_STOPPED);
    tt_device_leave(&talk->device, TT_DEVICE_DRAINING, TT_DEVICE_STOPPED);
}

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
    log_event(talk, TT_EVENT_XRUN, frame, there, now_tai_ns);
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

/* What one step takes from the buffer. */
struct talk_batch {
    struct tt_talker_pdu pdus[TT_LINK_BATCH];
    struct tt_link_packet packets[TT_LINK_BATCH];
    int64_t frames[TT_LINK_BATCH]; /* of the program's in each */
    bool refused[TT_LINK_BATCH];
    int n;
    bool starved; /* the program has not written the next one */
};

/* Takes the next PDU, which gets `frames` frames of the program's. */
static void take(struct tt_talk *talk, int64_t frames, int64_t now_tai_ns, int64_t earliest_ns,
                 struct talk_batch *batch)
{
    struct tt_talker_pdu *pdu = &batch->pdus[batch->n];
    uint8_t *data = talk->packets + (size_t)batch->n * talk->packet_bytes;
    unsigned frames_per_pdu = talk->config.frames_per_pdu;

    if (tt_talker_next(&talk->talker, earliest_ns, pdu) == TT_TALKER_DROP) {
        talk->live.counters.pdus_dropped++;
        log_event(talk, TT_EVENT_DROPPED, pdu->frame, frames_per_pdu, now_tai_ns);
        return;
    }
    fill_packet(talk, pdu, frames, data);
    batch->frames[batch->n] = frames;
    batch->packets[batch->n++] = (struct tt_link_packet){
        .data = data, .bytes = talk->packet_bytes, .time_tai_ns = pdu->launch_tai_ns};
    talk->last_launch_tai_ns = pdu->launch_tai_ns;
}

static void gather(struct tt_talk *talk, int64_t now_tai_ns, struct talk_batch *batch)
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

/* Books what became of the batch; returns how many were refused. */
static unsigned book(struct tt_talk *talk, const struct talk_batch *batch, int64_t done_tai_ns)
{
    struct tt_talk_counters *counters = &talk->live.counters;
    unsigned refused = 0;

    for (int i = 0; i < batch->n; i++) {
        const struct tt_talker_pdu *pdu = &batch->pdus[i];
        int64_t departure_ns = talk->kernel_pace ? pdu->launch_tai_ns : done_tai_ns;

        if (batch->refused[i]) {
            refused++;
            counters->pdus_refused++;
            log_event(talk, TT_EVENT_REFUSED, pdu->frame, talk->config.frames_per_pdu, done_tai_ns);
            continue;
        }
        counters->pdus_sent++;
        counters->frames_sent += (uint64_t)batch->frames[i];
        counters->frames_padded += talk->config.frames_per_pdu - (uint64_t)batch->frames[i];
        tt_hist_record(&talk->lateness, departure_ns - pdu->due_tai_ns);
        counters->lateness_max_ns = talk->lateness.max;
        if (departure_ns - pdu->due_tai_ns > talk->talker.interval_ns) {
            counters->pdus_late++;
        }
    }
    return refused;
}

/* Where the qdiscs refuse most of what they get, packets go past them from here on, and software
 * keeps their time. */
static void judge_kernel(struct tt_talk *talk, unsigned handed, unsigned refused,
                         int64_t launch_tai_ns)
{
    if (!tt_launch_trial_add(&talk->trial, handed, refused, launch_tai_ns)) {
        return;
    }
    tt_launch_trial_start(&talk->trial, launch_tai_ns);
    if (talk->link->ops->bypass(talk->link) == 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_REFUSED);
        talk->kernel_pace = false;
        talk->reports_until_tai_ns = talk->last_launch_tai_ns + TT_NS_PER_MS;
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
    struct talk_batch batch;
    int64_t now_tai_ns = follow_tai(talk);
    int64_t launch_tai_ns = talk->last_launch_tai_ns;
    int state = atomic_load(&talk->device.state);
    unsigned refused = 0;
    bool link_down;
    int error;

    if (state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) {
        return tt_timebase_mono(&talk->timebase, now_tai_ns) + IDLE_NS;
    }
    if (now_tai_ns < talk->reports_until_tai_ns) {
        refused = collect_errors(talk, &launch_tai_ns);
    }
    gather(talk, now_tai_ns, &batch);
    error = tt_send_batch(talk->link, batch.packets, batch.n, batch.refused);
    link_down = error == -ENETDOWN || error == -ENODEV || error == -ENXIO;
    atomic_fetch_or(&talk->notes, link_down ? TT_NOTE_LINK_DOWN : 0);
    now_tai_ns = tt_timebase_tai(&talk->timebase, read_mono(talk));
    refused += book(talk, &batch, now_tai_ns);
    if (!link_down) { /* which says nothing of launch times */
        judge_kernel(talk, (unsigned)batch.n, refused, launch_tai_ns);
    }
    publish(talk);
    tt_device_wake(&talk->device, room(talk));
    return tt_timebase_mono(&talk->timebase, next_step(talk, now_tai_ns, batch.starved));
}

int64_t tt_talk_delay(struct tt_talk *talk)
{
    int64_t program_frame = atomic_load(&talk->device.program_frame);
    int state = atomic_load(&talk->device.state);
    struct talk_public copy;
    int64_t presented;

    tt_counters_read(&talk->lock, &talk->shared, sizeof copy, &copy);
    if (state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) {
        return program_frame - atomic_load(&talk->device.engine_frame);
    }
    presented = copy.start_frame +
                tt_ns_to_frames(read_mono(talk) - copy.start_mono_ns, talk->config.rate_hz);
    return program_frame > presented ? program_frame - presented : 0;
}

void tt_talk_counters(struct tt_talk *talk, struct tt_talk_counters *ret_counters)
{
    struct talk_public copy;

    tt_counters_read(&talk->lock, &talk->shared, sizeof copy, &copy);
    *ret_counters = copy.counters;
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
