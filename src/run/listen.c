/*
 * See listen.h.
 */
#include "run/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/eth.h"
#include "base/counters.h"
#include "base/ns.h"
#include "os/memory.h"
#include "os/wake.h"
#include "run/thread.h"

#define IDLE_NS            (10 * TT_NS_PER_MS)
#define WAKE_MIN_NS        (250 * TT_NS_PER_US)
#define WAKE_MAX_NS        (4 * TT_NS_PER_MS)
#define HORIZON_DEFAULT_NS TT_NS_PER_S
#define BATCHES_A_STEP     64 /* a step is bounded, whatever a long stall has left in the socket */
#define BACKLOG_BATCHES    1024 /* a full socket's */
#define PDU_RATE_MAX_HZ    20000
#define TAI_MINUS_UTC_S    37 /* since 2017; where the kernel does not know */

struct tt_listen {
    struct tt_device device;
    struct tt_stream_config config;
    struct tt_link *link;
    struct tt_clock *clock;
    struct tt_listener listener;
    struct tt_timebase timebase;
    struct tt_engine_thread thread;
    int64_t start_tai_ns; /* what arrived before is not for this run */
    struct tt_timeline_memory memory;
    int64_t wake_interval_ns;
    size_t frame_bytes;
    atomic_uint notes;

    uint8_t *packets; /* TT_LINK_BATCH x packet_bytes */
    size_t packet_bytes;

    struct tt_seqlock lock;
    struct tt_listen_counters shared;
    struct tt_listen_counters live;
    struct tt_event_log log;
};

static int allocate(struct tt_listen *listen, const struct tt_listen_setup *setup)
{
    int64_t horizon_ns = setup->horizon_ns > 0 ? setup->horizon_ns : HORIZON_DEFAULT_NS;
    int64_t horizon_frames = tt_ns_to_frames(horizon_ns, listen->config.rate_hz) + 1;

    listen->memory.ring_frames = setup->buffer_frames + horizon_frames;
    listen->memory.ring = tt_memory_new((size_t)listen->memory.ring_frames, listen->frame_bytes);
    /* Every second PDU missing at the highest rate of PDUs. */
    listen->memory.hole_capacity = (size_t)(horizon_ns * PDU_RATE_MAX_HZ / TT_NS_PER_S / 2 + 1);
    listen->memory.holes =
        tt_memory_new(listen->memory.hole_capacity, sizeof *listen->memory.holes);
    listen->packet_bytes = listen->link->mtu_bytes + TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES;
    listen->packets = tt_memory_new(TT_LINK_BATCH, listen->packet_bytes);
    listen->log.capacity = setup->event_capacity;
    listen->log.events = tt_memory_new(setup->event_capacity + 1, sizeof *listen->log.events);
    if (!listen->memory.ring || !listen->memory.holes || !listen->packets || !listen->log.events) {
        return -ENOMEM;
    }
    return tt_listener_init(&listen->listener, &listen->config, &listen->memory,
                            setup->buffer_frames, &listen->log);
}

/* The offset of the stamps; it may change when the clock steps. */
static void read_tai_offset(struct tt_listen *listen)
{
    int offset_s = listen->clock->ops->tai_offset_s(listen->clock);

    listen->listener.other_scale_ns = (offset_s != 0 ? offset_s : TAI_MINUS_UTC_S) * TT_NS_PER_S;
    if (listen->config.timescale == TT_TIMESCALE_UTC) {
        listen->listener.stamp_offset_ns = offset_s * TT_NS_PER_S;
        listen->listener.other_scale_ns = -listen->listener.other_scale_ns;
    } else if (offset_s == 0) {
        atomic_fetch_or(&listen->notes, TT_NOTE_TAI_UNSET);
    }
}

int tt_listen_new(const struct tt_listen_setup *setup, struct tt_listen **ret_listen)
{
    struct tt_listen *listen = tt_memory_new(1, sizeof *listen);
    int64_t quarter_ns = tt_frames_to_ns(setup->period_frames, setup->config->rate_hz) / 4;
    int error;

    if (!listen) {
        return -ENOMEM;
    }
    listen->config = *setup->config;
    listen->link = setup->link;
    listen->clock = setup->clock;
    listen->device.buffer_frames = setup->buffer_frames;
    listen->device.wake_fd = tt_wake_open();
    listen->frame_bytes =
        (size_t)tt_aaf_sample_bytes(setup->config->format) * setup->config->channels;
    listen->wake_interval_ns = quarter_ns < WAKE_MIN_NS   ? WAKE_MIN_NS
                               : quarter_ns > WAKE_MAX_NS ? WAKE_MAX_NS
                                                          : quarter_ns;
    error = listen->device.wake_fd < 0 ? listen->device.wake_fd : allocate(listen, setup);
    if (error < 0) {
        tt_listen_free(listen);
        return error;
    }
    read_tai_offset(listen);
    *ret_listen = listen;
    return 0;
}

void tt_listen_free(struct tt_listen *listen)
{
    if (!listen) {
        return;
    }
    tt_listen_stop(listen);
    tt_wake_close(listen->device.wake_fd);
    free(listen->memory.ring);
    free(listen->memory.holes);
    free(listen->packets);
    free(listen->log.events);
    free(listen);
}

struct tt_device *tt_listen_device(struct tt_listen *listen)
{
    return &listen->device;
}

void tt_listen_read(struct tt_listen *listen, int64_t frame, enum tt_pcm_format format,
                    const struct tt_pcm_area *areas, size_t frames)
{
    int64_t end = frame + (int64_t)frames;
    struct tt_pcm_area moved[TT_AAF_CHANNELS_MAX];
    unsigned channels = listen->config.channels;

    memcpy(moved, areas, channels * sizeof *areas);
    while (frame < end) {
        int64_t run;
        const uint8_t *wire = tt_timeline_frames(&listen->listener.timeline, frame, end, &run);

        tt_pcm_from_wire(format, wire, channels, (size_t)run, moved);
        for (unsigned c = 0; c < channels; c++) {
            moved[c].first += (size_t)run * moved[c].step_bytes;
        }
        frame += run;
    }
    atomic_store_explicit(&listen->device.program_frame, end, memory_order_release);
}

static int64_t step_of_engine(void *engine)
{
    return tt_listen_step(engine);
}

/* Now, by the followed offset; where TAI stepped, the timeline steps with it. */
static int64_t follow_tai(struct tt_listen *listen)
{
    struct tt_clock_reading reading;
    int64_t step_ns;
    int64_t now_tai_ns;

    listen->clock->ops->read(listen->clock, &reading);
    step_ns = tt_timebase_follow(&listen->timebase, &reading);
    now_tai_ns = tt_timebase_tai(&listen->timebase, reading.mono_after_ns);
    if (step_ns != 0) {
        tt_listener_clock_step(&listen->listener, step_ns);
        listen->start_tai_ns += step_ns;
        read_tai_offset(listen);
        listen->live.clock_steps++;
        atomic_fetch_or(&listen->notes, TT_NOTE_CLOCK_STEP);
        tt_event_log_add(&listen->log, (struct tt_event){.kind = TT_EVENT_CLOCK,
                                                         .frame = listen->listener.timeline.device,
                                                         .time_tai_ns = now_tai_ns});
    }
    return now_tai_ns;
}

static void publish(struct tt_listen *listen)
{
    listen->live.stream = tt_listener_counters(&listen->listener);
    listen->live.drift_ppb = tt_media_clock_drift_ppb(&listen->listener.clock);
    listen->live.talker_present = listen->listener.locked;
    tt_counters_begin(&listen->lock);
    listen->shared = listen->live;
    tt_counters_end(&listen->lock);
}

static int receive_batch(struct tt_listen *listen, struct tt_link_packet *ret_packets)
{
    for (int i = 0; i < TT_LINK_BATCH; i++) {
        ret_packets[i].data = listen->packets + (size_t)i * listen->packet_bytes;
        ret_packets[i].bytes = listen->packet_bytes;
    }
    return listen->link->ops->receive(listen->link, ret_packets, TT_LINK_BATCH);
}

/* Returns when it arrived. */
static int64_t take_packet(struct tt_listen *listen, const struct tt_link_packet *packet,
                           int64_t now_tai_ns)
{
    size_t bytes = packet->bytes < listen->packet_bytes ? packet->bytes : listen->packet_bytes;
    int64_t arrival_ns = packet->time_tai_ns < now_tai_ns ? packet->time_tai_ns : now_tai_ns;
    struct tt_eth eth;

    if (!packet->kernel_stamped) {
        atomic_fetch_or(&listen->notes, TT_NOTE_NO_KERNEL_STAMPS);
    }
    if (tt_eth_parse(packet->data, bytes, &eth) < 0 || eth.ethertype != TT_ETHERTYPE_AVTP ||
        memcmp(eth.dest, listen->config.dest, sizeof eth.dest) != 0 ||
        arrival_ns < listen->start_tai_ns) {
        return arrival_ns;
    }
    listen->live.packets++;
    tt_listener_receive(&listen->listener, packet->data + eth.header_bytes,
                        bytes - eth.header_bytes, eth.src, arrival_ns);
    return arrival_ns;
}

/* Everything that arrived before now goes in, in bounded steps. Returns the time up to which that
 * is done: now, or where more is waiting the arrival of the last one taken. */
static int64_t receive_all(struct tt_listen *listen, int64_t now_tai_ns)
{
    struct tt_link_packet packets[TT_LINK_BATCH];
    int64_t done_tai_ns = now_tai_ns;

    for (int batch = 0; batch < BATCHES_A_STEP; batch++) {
        int n = receive_batch(listen, packets);

        for (int i = 0; i < n; i++) {
            done_tai_ns = take_packet(listen, &packets[i], now_tai_ns);
        }
        if (n < TT_LINK_BATCH) {
            done_tai_ns = now_tai_ns;
            break;
        }
    }
    listen->live.receive_drops += listen->link->ops->receive_drops(listen->link);
    return done_tai_ns;
}

/* What came in while the device was stopped, and what was lost then, is not for it. */
static void empty_link(struct tt_listen *listen)
{
    struct tt_link_packet packets[TT_LINK_BATCH];

    for (int batch = 0; batch < BACKLOG_BATCHES && receive_batch(listen, packets) > 0; batch++) {
    }
    listen->link->ops->receive_drops(listen->link);
}

void tt_listen_prepare(struct tt_listen *listen)
{
    tt_listen_stop(listen);
    atomic_store(&listen->device.engine_frame, atomic_load(&listen->device.program_frame));
    atomic_store(&listen->device.state, TT_DEVICE_STOPPED);
}

int tt_listen_start(struct tt_listen *listen, bool thread)
{
    int error = 0;

    tt_listen_stop(listen);
    listen->timebase.valid = false; /* a step while it was stopped is none */
    empty_link(listen);
    listen->start_tai_ns = follow_tai(listen);
    tt_listener_start(&listen->listener, atomic_load(&listen->device.engine_frame),
                      listen->start_tai_ns);
    publish(listen);
    atomic_store(&listen->device.state, TT_DEVICE_RUNNING);
    if (thread) {
        error =
            tt_engine_thread_start(&listen->thread, listen->clock, step_of_engine, NULL, listen);
        if (error < 0) {
            atomic_store(&listen->device.state, TT_DEVICE_STOPPED);
        } else if (!listen->thread.thread.realtime) {
            atomic_fetch_or(&listen->notes, TT_NOTE_NO_REALTIME);
        }
    }
    return error;
}

void tt_listen_stop(struct tt_listen *listen)
{
    tt_engine_thread_stop(&listen->thread);
    if (atomic_load(&listen->device.state) == TT_DEVICE_RUNNING) {
        tt_listener_stop(&listen->listener, receive_all(listen, follow_tai(listen)));
        atomic_store(&listen->device.engine_frame, listen->listener.timeline.device);
        publish(listen);
        tt_device_leave(&listen->device, TT_DEVICE_RUNNING, TT_DEVICE_STOPPED);
    }
}

static void stop_by_itself(struct tt_listen *listen, int64_t now_tai_ns)
{
    int64_t unread = listen->listener.timeline.device - atomic_load(&listen->device.program_frame);

    listen->live.xruns++;
    tt_event_log_add(&listen->log, (struct tt_event){.kind = TT_EVENT_XRUN,
                                                     .frame = listen->device.program_frame,
                                                     .frames = unread,
                                                     .time_tai_ns = now_tai_ns});
    tt_device_leave(&listen->device, TT_DEVICE_RUNNING, TT_DEVICE_XRUN);
}

/* When to step again: the program waits for so many frames, and not longer than until they are
 * there. */
static int64_t next_step(const struct tt_listen *listen, int64_t mono_ns, int64_t ready)
{
    const struct tt_device *device = &listen->device;
    int64_t missing = atomic_load_explicit(&device->wake_frames, memory_order_relaxed) - ready;
    int64_t latest_ns = mono_ns + listen->wake_interval_ns;
    int64_t there_ns;

    if (missing <= 0) {
        return latest_ns;
    }
    there_ns = tt_timebase_mono(
        &listen->timebase,
        tt_listener_presentation(&listen->listener, atomic_load(&device->engine_frame) + missing));
    return there_ns > mono_ns && there_ns < latest_ns ? there_ns : latest_ns;
}

int64_t tt_listen_step(struct tt_listen *listen)
{
    struct tt_device *device = &listen->device;
    int64_t now_tai_ns = follow_tai(listen);
    int64_t mono_ns = tt_timebase_mono(&listen->timebase, now_tai_ns);
    uint64_t absences = listen->listener.counters.absences;
    int64_t done_tai_ns;
    int64_t position;
    int64_t ready;

    if (atomic_load(&device->state) != TT_DEVICE_RUNNING) {
        return mono_ns + IDLE_NS;
    }
    done_tai_ns = receive_all(listen, now_tai_ns);
    position = tt_listener_advance(&listen->listener, done_tai_ns);
    atomic_store_explicit(&device->engine_frame, position, memory_order_release);
    ready = position - atomic_load_explicit(&device->program_frame, memory_order_acquire);
    if ((ready > device->buffer_frames && !atomic_load(&device->endless)) ||
        (listen->listener.counters.absences != absences &&
         listen->config.on_absence == TT_ABSENCE_XRUN)) {
        stop_by_itself(listen, now_tai_ns);
    }
    publish(listen);
    tt_device_wake(device, ready);
    return done_tai_ns < now_tai_ns ? mono_ns : next_step(listen, mono_ns, ready);
}

int64_t tt_listen_delay(struct tt_listen *listen)
{
    return atomic_load(&listen->device.engine_frame) - atomic_load(&listen->device.program_frame);
}

void tt_listen_counters(struct tt_listen *listen, struct tt_listen_counters *ret_counters)
{
    tt_counters_read(&listen->lock, &listen->shared, sizeof *ret_counters, ret_counters);
}

const struct tt_hist *tt_listen_lateness(const struct tt_listen *listen)
{
    return &listen->listener.lateness;
}

const struct tt_event_log *tt_listen_log(const struct tt_listen *listen)
{
    return &listen->log;
}

unsigned tt_listen_notes(const struct tt_listen *listen)
{
    return atomic_load(&listen->notes);
}
