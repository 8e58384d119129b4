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
#include "os/wake.h"
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
    int64_t launch_margin_ns;
    bool kernel_pace; /* launch times are handed over */
    int64_t last_launch_tai_ns;
    atomic_uint notes;

    size_t frame_bytes;
    size_t packet_bytes;
    uint8_t *ring;    /* buffer_frames */
    uint8_t *packets; /* TT_LINK_BATCH */

    struct tt_seqlock lock;
    struct talk_public shared;
    struct talk_public live; /* the engine's own copy */
    struct tt_hist lateness;
    struct tt_event_log log;
};

int tt_talk_new(const struct tt_talk_setup *setup, struct tt_talk **ret_talk)
{
    struct tt_talk *talk = calloc(1, sizeof *talk);
    int64_t wire_ns = 0;
    int tai_offset_s = 0;

    if (!talk) {
        return -ENOMEM;
    }
    talk->config = *setup->config;
    talk->link = setup->link;
    talk->clock = setup->clock;
    talk->launch_margin_ns = setup->launch_margin_ns;
    talk->kernel_pace = setup->link->keeps_launch_times;
    talk->device.buffer_frames = setup->buffer_frames;
    talk->device.wake_fd = tt_wake_open();
    tt_hist_init(&talk->lateness);
    tt_talker_init(&talk->talker, setup->config, setup->link->mac, 0);
    talk->frame_bytes = talk->talker.frame_bytes;
    talk->packet_bytes = tt_talker_packet_bytes(&talk->talker);
    if (setup->link->speed_mbps > 0) {
        /* FCS, preamble and gap: 24 bytes more. */
        wire_ns = (int64_t)(talk->packet_bytes + 24) * 8000 / setup->link->speed_mbps;
    }
    talk->talker.wire_ns = wire_ns;
    talk->ring = calloc((size_t)setup->buffer_frames, talk->frame_bytes);
    talk->packets = calloc(TT_LINK_BATCH, talk->packet_bytes);
    talk->log.capacity = setup->event_capacity;
    talk->log.events = calloc(setup->event_capacity + 1, sizeof *talk->log.events);
    if (!talk->ring || !talk->packets || !talk->log.events || talk->device.wake_fd < 0) {
        tt_talk_free(talk);
        return -ENOMEM;
    }
    if (!talk->kernel_pace) {
        talk->notes |= TT_NOTE_SOFTWARE_PACE;
    }
    if (tt_clock_tai_offset(&tai_offset_s) < 0 || tai_offset_s == 0) {
        talk->notes |= TT_NOTE_TAI_UNSET;
    }
    if (setup->config->timescale == TT_TIMESCALE_UTC) {
        talk->talker.stamp_offset_ns = -tai_offset_s * TT_NS_PER_S;
    }
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
    free(talk->ring);
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
    unsigned channels = talk->config.channels;
    struct tt_pcm_area rest[TT_AAF_CHANNELS_MAX];
    size_t index = (size_t)(frame % talk->device.buffer_frames);
    size_t first = (size_t)talk->device.buffer_frames - index;

    if (first > frames) {
        first = frames;
    }
    tt_pcm_to_wire(format, areas, channels, first, talk->ring + index * talk->frame_bytes);
    if (first < frames) {
        for (unsigned c = 0; c < channels; c++) {
            rest[c] = areas[c];
            rest[c].first += first * areas[c].step_bytes;
        }
        tt_pcm_to_wire(format, rest, channels, frames - first, talk->ring);
    }
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
        talk->last_launch_tai_ns += step_ns;
        talk->live.counters.clock_steps++;
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
    int64_t lead_ns = START_NS + (talk->kernel_pace ? talk->launch_margin_ns : 0);
    int64_t now_tai_ns;
    int error = 0;

    tt_talk_stop(talk);
    talk->timebase.valid = false; /* a step while it was stopped is none */
    now_tai_ns = follow_tai(talk);
    tt_talker_start(&talk->talker, frame, now_tai_ns + lead_ns);
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

/* Moves the state from one of the running ones, unless the program was quicker. */
static void leave(struct tt_talk *talk, int from, int to)
{
    atomic_compare_exchange_strong(&talk->device.state, &from, to);
}

void tt_talk_drain(struct tt_talk *talk)
{
    leave(talk, TT_DEVICE_RUNNING, TT_DEVICE_DRAINING);
}

void tt_talk_stop(struct tt_talk *talk)
{
    tt_engine_thread_stop(&talk->thread);
    leave(talk, TT_DEVICE_RUNNING, TT_DEVICE_STOPPED);
    leave(talk, TT_DEVICE_DRAINING, TT_DEVICE_STOPPED);
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
            leave(talk, TT_DEVICE_DRAINING, TT_DEVICE_DRAINED);
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
    leave(talk, TT_DEVICE_RUNNING, TT_DEVICE_XRUN);
    return -1;
}

/* Builds the packet; `frames` come from the buffer, the rest is silence. */
static void fill_packet(struct tt_talk *talk, const struct tt_talker_pdu *pdu, int64_t frames,
                        uint8_t *ret_packet)
{
    size_t at = tt_talker_build(&talk->talker, pdu, ret_packet);
    int64_t index = pdu->frame % talk->device.buffer_frames;
    int64_t first = talk->device.buffer_frames - index;

    if (first > frames) {
        first = frames;
    }
    memcpy(ret_packet + at, talk->ring + (size_t)index * talk->frame_bytes,
           (size_t)first * talk->frame_bytes);
    at += (size_t)first * talk->frame_bytes;
    memcpy(ret_packet + at, talk->ring, (size_t)(frames - first) * talk->frame_bytes);
    at += (size_t)(frames - first) * talk->frame_bytes;
    memset(ret_packet + at, 0, talk->packet_bytes - at);
}

/* Takes what is due into packets; returns how many. */
static int gather(struct tt_talk *talk, int64_t now_tai_ns, struct tt_talker_pdu *ret_pdus,
                  struct tt_link_packet *ret_packets)
{
    int64_t until_ns = now_tai_ns + (talk->kernel_pace ? talk->config.launch_lead_ns : 0);
    int64_t earliest_ns = now_tai_ns + (talk->kernel_pace ? talk->launch_margin_ns : 0);
    unsigned frames_per_pdu = talk->config.frames_per_pdu;
    int n = 0;

    for (int taken = 0; taken < TT_LINK_BATCH && tt_talker_next_launch(&talk->talker) <= until_ns;
         taken++) {
        int64_t frames = supply(talk, now_tai_ns, earliest_ns);

        if (frames < 0) {
            break;
        }
        if (tt_talker_next(&talk->talker, earliest_ns, &ret_pdus[n]) == TT_TALKER_SEND) {
            uint8_t *data = talk->packets + (size_t)n * talk->packet_bytes;

            fill_packet(talk, &ret_pdus[n], frames, data);
            ret_packets[n] = (struct tt_link_packet){
                .data = data,
                .bytes = talk->packet_bytes,
                .time_tai_ns = ret_pdus[n].launch_tai_ns,
            };
            talk->live.counters.frames_sent += (uint64_t)frames;
            talk->live.counters.frames_padded += frames_per_pdu - (uint64_t)frames;
            talk->last_launch_tai_ns = ret_pdus[n].launch_tai_ns;
            n++;
        } else {
            talk->live.counters.pdus_dropped++;
            log_event(talk, TT_EVENT_DROPPED, ret_pdus[n].frame, frames_per_pdu, now_tai_ns);
        }
        /* A padded last PDU must not carry the position past what the program wrote. */
        atomic_fetch_add_explicit(
            &talk->device.engine_frame,
            atomic_load(&talk->device.state) == TT_DEVICE_DRAINING ? frames : frames_per_pdu,
            memory_order_release);
    }
    return n;
}

static void send_all(struct tt_talk *talk, const struct tt_talker_pdu *pdus,
                     const struct tt_link_packet *packets, int n, int64_t now_tai_ns)
{
    struct tt_talk_counters *counters = &talk->live.counters;
    int result = n > 0 ? talk->link->ops->send(talk->link, packets, n) : 0;
    int sent = result > 0 ? result : 0;
    int64_t done_ns = tt_timebase_tai(&talk->timebase, read_mono(talk));

    if (result == -ENETDOWN || result == -ENODEV || result == -ENXIO) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LINK_DOWN);
    }
    for (int i = 0; i < n; i++) {
        int64_t departure_ns = talk->kernel_pace ? pdus[i].launch_tai_ns : done_ns;

        if (i >= sent) {
            counters->pdus_refused++;
            log_event(talk, TT_EVENT_REFUSED, pdus[i].frame, talk->config.frames_per_pdu,
                      now_tai_ns);
            continue;
        }
        counters->pdus_sent++;
        tt_hist_record(&talk->lateness, departure_ns - pdus[i].due_tai_ns);
        if (departure_ns - pdus[i].due_tai_ns > talk->talker.interval_ns) {
            counters->pdus_late++;
        }
    }
}

static void collect_errors(struct tt_talk *talk)
{
    struct tt_link_errors errors = {0};
    uint64_t launch_errors;

    talk->link->ops->collect_errors(talk->link, &errors);
    launch_errors = errors.launch_missed + errors.launch_invalid;
    talk->live.counters.launch_missed += errors.launch_missed;
    talk->live.counters.launch_invalid += errors.launch_invalid;
    talk->live.counters.pdus_refused += launch_errors;
    if (launch_errors > 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_REFUSED);
    }
}

/* The program is woken once enough room is there, and when the engine stopped by itself. */
static void wake_program(struct tt_talk *talk)
{
    struct tt_device *device = &talk->device;
    int state = atomic_load(&device->state);
    int64_t room = device->buffer_frames -
                   (atomic_load(&device->program_frame) - atomic_load(&device->engine_frame));

    if ((state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) ||
        room >= atomic_load_explicit(&device->wake_frames, memory_order_relaxed)) {
        tt_wake_kick(device->wake_fd);
    }
}

/* When there is something to do again. */
static int64_t next_step(const struct tt_talk *talk, int64_t mono_ns)
{
    int64_t launch_ns = tt_timebase_mono(&talk->timebase, tt_talker_next_launch(&talk->talker));
    int64_t batch_ns = mono_ns + talk->config.launch_lead_ns / 2;

    if (!talk->kernel_pace) {
        return launch_ns;
    }
    /* Half a lead at a time makes batches; waiting for the program, its last moment counts. */
    if (launch_ns - talk->config.launch_lead_ns <= mono_ns) {
        int64_t last_ns = launch_ns - talk->launch_margin_ns;

        return last_ns < batch_ns ? last_ns : batch_ns;
    }
    return launch_ns - talk->config.launch_lead_ns > batch_ns
               ? launch_ns - talk->config.launch_lead_ns
               : batch_ns;
}

int64_t tt_talk_step(struct tt_talk *talk)
{
    struct tt_talker_pdu pdus[TT_LINK_BATCH];
    struct tt_link_packet packets[TT_LINK_BATCH];
    int64_t now_tai_ns = follow_tai(talk);
    int64_t mono_ns = tt_timebase_mono(&talk->timebase, now_tai_ns);
    int state = atomic_load(&talk->device.state);
    int n;

    if (state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) {
        return mono_ns + IDLE_NS;
    }
    if (talk->kernel_pace) {
        collect_errors(talk);
    }
    n = gather(talk, now_tai_ns, pdus, packets);
    send_all(talk, pdus, packets, n, now_tai_ns);
    publish(talk);
    wake_program(talk);
    return next_step(talk, mono_ns);
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
