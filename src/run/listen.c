/*
 * See listen.h.
 */
#include "run/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "os/memory.h"
#include "os/wake.h"
#include "run/listen_inside.h"

#define WAKE_MIN_NS        (250 * TT_NS_PER_US)
#define WAKE_MAX_NS        (4 * TT_NS_PER_MS)
#define HORIZON_DEFAULT_NS TT_NS_PER_S
#define PDU_RATE_MAX_HZ    20000

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
    listen->log.capacity = setup->event_capacity;
    listen->log.events = tt_memory_new(setup->event_capacity + 1, sizeof *listen->log.events);
    if (!listen->memory.ring || !listen->memory.holes || !listen->log.events) {
        return -ENOMEM;
    }
    return tt_listener_init(&listen->listener, &listen->config, &listen->memory,
                            setup->buffer_frames, &listen->log);
}

static int join_engine(struct tt_listen *listen, const struct tt_listen_setup *setup)
{
    int error = 0;

    listen->owns_engine = !setup->engine;
    listen->engine = setup->engine;
    if (!setup->engine) {
        error = tt_engine_new(setup->clock, &listen->engine);
    }
    if (error < 0) {
        return error;
    }
    listen->timebase = tt_engine_timebase(listen->engine);
    return tt_engine_add_listen(listen->engine, listen, setup->link, setup->config->stream_id);
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
    listen->device.buffer_frames = setup->buffer_frames;
    listen->device.wake_fd = tt_wake_open();
    listen->frame_bytes =
        (size_t)tt_aaf_sample_bytes(setup->config->format) * setup->config->channels;
    listen->wake_interval_ns = quarter_ns < WAKE_MIN_NS   ? WAKE_MIN_NS
                               : quarter_ns > WAKE_MAX_NS ? WAKE_MAX_NS
                                                          : quarter_ns;
    error = listen->device.wake_fd < 0 ? listen->device.wake_fd : allocate(listen, setup);
    if (error == 0) {
        error = join_engine(listen, setup);
    }
    if (error < 0) {
        tt_listen_free(listen);
        return error;
    }
    tt_listen_read_tai_offset(listen);
    *ret_listen = listen;
    return 0;
}

void tt_listen_free(struct tt_listen *listen)
{
    if (!listen) {
        return;
    }
    if (listen->engine) {
        tt_engine_stop(listen->engine);
        tt_engine_remove_listen(listen->engine, listen);
    }
    if (listen->owns_engine) {
        tt_engine_free(listen->engine);
    }
    tt_wake_close(listen->device.wake_fd);
    free(listen->memory.ring);
    free(listen->memory.holes);
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

void tt_listen_prepare(struct tt_listen *listen)
{
    tt_listen_stop(listen);
    atomic_store(&listen->device.engine_frame, atomic_load(&listen->device.program_frame));
    atomic_store(&listen->device.state, TT_DEVICE_STOPPED);
}

int tt_listen_start(struct tt_listen *listen, bool thread)
{
    return tt_engine_start(listen->engine, thread);
}

void tt_listen_stop(struct tt_listen *listen)
{
    tt_engine_stop(listen->engine);
}

int64_t tt_listen_step(struct tt_listen *listen)
{
    return tt_engine_step(listen->engine);
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
