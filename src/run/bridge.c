/*
 * See bridge.h.
 */
#include "run/bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/pcm_float.h"
#include "base/counters.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "os/memory.h"
#include "run/peaks.h"
#include "run/thread.h"

#define BLOCK_FRAMES 512 /* source frames that are resampled at once, and room for the sink's */
#define WAKE_MIN_NS  TT_NS_PER_MS
#define WAKE_MAX_NS  (5 * TT_NS_PER_MS)
#define MARGIN_NS    (10 * TT_NS_PER_MS) /* of the default level: for late wake-ups */
#define RETRY_NS     (20 * TT_NS_PER_MS)

struct tt_bridge {
    struct tt_stream_config config;
    struct tt_card *card;
    struct tt_listen *listen;
    struct tt_talk *talk;
    struct tt_device *device; /* of one of them */
    struct tt_clock *clock;
    enum tt_pcm_format
        stream_format; /* how the device is read and written, as wide as the wire's */
    enum tt_pcm_format card_format;
    enum tt_quality quality;
    uint32_t source_hz;
    uint32_t sink_hz;
    int64_t wake_ns;
    int64_t stream_buffer_frames;

    struct tt_engine_thread thread;
    struct tt_timebase timebase;
    struct tt_servo servo;
    struct tt_resampler *resampler;
    int64_t drop_frames;     /* of the source, still to be left out */
    int64_t stream_tai_ns;   /* of the stream's clock as it was last seen */
    int64_t holdover_tai_ns; /* up to here it is counted */

    float *source_samples; /* BLOCK_FRAMES, as all of these */
    float *sink_samples;
    uint8_t *wire_bytes;
    uint8_t *frame_bytes; /* in a program's format */

    struct tt_seqlock lock;
    struct tt_bridge_counters shared;
    struct tt_bridge_counters live;
    _Atomic float *peaks; /* one a channel; the reader sets them to 0 */
};

static bool is_capture(const struct tt_bridge *bridge)
{
    return bridge->card->capture;
}

/* The program's format that is the wire's in the machine's order. */
static enum tt_pcm_format plain_format(enum tt_aaf_format wire)
{
    switch (wire) {
    case TT_AAF_INT16:
        return TT_PCM_S16_BE;
    case TT_AAF_INT24:
        return TT_PCM_S24_3BE;
    case TT_AAF_INT32:
        return TT_PCM_S32_BE;
    default:
        return TT_PCM_FLOAT_BE;
    }
}

static int64_t default_level(const struct tt_bridge *bridge)
{
    double ratio = (double)bridge->sink_hz / (double)bridge->source_hz;
    int64_t latency = (int64_t)tt_resampler_latency(bridge->quality, ratio);

    return tt_frames_to_ns(latency, bridge->source_hz) +
           tt_frames_to_ns(2 * bridge->card->period_frames, bridge->card->rate_hz) + MARGIN_NS;
}

static int set_up(struct tt_bridge *bridge, const struct tt_bridge_setup *setup)
{
    struct tt_card *card = setup->card;
    int64_t period_ns = tt_frames_to_ns(card->period_frames, card->rate_hz);
    int64_t room_frames = is_capture(bridge) ? setup->stream_buffer_frames : card->buffer_frames;
    int64_t room_ns;
    int64_t level_ns;

    bridge->source_hz = is_capture(bridge) ? card->rate_hz : setup->config->rate_hz;
    bridge->sink_hz = is_capture(bridge) ? setup->config->rate_hz : card->rate_hz;
    room_ns = tt_frames_to_ns(room_frames, bridge->sink_hz);
    level_ns = setup->level_ns > 0 ? setup->level_ns : default_level(bridge);
    bridge->wake_ns = tt_max64(tt_min64(period_ns / 2, WAKE_MAX_NS), WAKE_MIN_NS);
    if (card->channels != setup->config->channels || level_ns > room_ns) {
        return -EINVAL;
    }
    tt_servo_init(&bridge->servo, bridge->source_hz, bridge->sink_hz, level_ns);
    return 0;
}

static int allocate(struct tt_bridge *bridge)
{
    size_t samples = (size_t)BLOCK_FRAMES * bridge->config.channels;

    bridge->source_samples = tt_memory_new(samples, sizeof *bridge->source_samples);
    bridge->sink_samples = tt_memory_new(samples, sizeof *bridge->sink_samples);
    bridge->wire_bytes = tt_memory_new(samples, 4);
    bridge->frame_bytes = tt_memory_new(samples, 4);
    bridge->peaks = tt_memory_new(bridge->config.channels, sizeof *bridge->peaks);
    if (!bridge->peaks || !bridge->source_samples || !bridge->sink_samples || !bridge->wire_bytes ||
        !bridge->frame_bytes) {
        return -ENOMEM;
    }
    return tt_resampler_new(bridge->quality, bridge->config.channels, &bridge->resampler);
}

int tt_bridge_new(const struct tt_bridge_setup *setup, struct tt_bridge **ret_bridge)
{
    struct tt_bridge *bridge = tt_memory_new(1, sizeof *bridge);
    int error;

    if (!bridge) {
        return -ENOMEM;
    }
    bridge->config = *setup->config;
    bridge->card = setup->card;
    bridge->card_format = setup->card_format;
    bridge->listen = setup->listen;
    bridge->talk = setup->talk;
    bridge->device =
        setup->card->capture ? tt_talk_device(setup->talk) : tt_listen_device(setup->listen);
    /* The bridge sets its level itself: the device runs on, whatever comes. */
    atomic_store(&bridge->device->endless, true);
    bridge->clock = setup->clock;
    bridge->quality = setup->quality;
    bridge->stream_buffer_frames = setup->stream_buffer_frames;
    bridge->stream_format = plain_format(setup->config->format);
    error = set_up(bridge, setup);
    error = error < 0 ? error : allocate(bridge);
    if (error < 0) {
        tt_bridge_free(bridge);
        return error;
    }
    *ret_bridge = bridge;
    return 0;
}

void tt_bridge_free(struct tt_bridge *bridge)
{
    if (!bridge) {
        return;
    }
    tt_bridge_stop(bridge);
    tt_resampler_free(bridge->resampler);
    free(bridge->peaks);
    free(bridge->source_samples);
    free(bridge->sink_samples);
    free(bridge->wire_bytes);
    free(bridge->frame_bytes);
    free(bridge);
}

/* Interleaved frames in a program's memory, as areas. */
static void lay_out(uint8_t *frames, enum tt_pcm_format format, unsigned channels,
                    struct tt_pcm_area *ret_areas)
{
    unsigned bytes = tt_pcm_sample_bytes(format);

    for (unsigned c = 0; c < channels; c++) {
        ret_areas[c].first = frames + (size_t)c * bytes;
        ret_areas[c].step_bytes = (size_t)channels * bytes;
    }
}

/* Up to `count` frames from the card, as samples, or -errno. */
static int64_t read_card(struct tt_bridge *bridge, int64_t count)
{
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    unsigned channels = bridge->config.channels;
    int n = bridge->card->ops->read(bridge->card, bridge->frame_bytes, (int)count);

    if (n > 0) {
        lay_out(bridge->frame_bytes, bridge->card_format, channels, areas);
        tt_pcm_to_wire(bridge->card_format, areas, channels, (size_t)n, bridge->wire_bytes);
        tt_pcm_to_float(tt_pcm_wire_format(bridge->card_format), bridge->wire_bytes,
                        (size_t)n * channels, bridge->source_samples);
    }
    return n;
}

/* From what the listener has presented. */
static int64_t read_stream(struct tt_bridge *bridge, int64_t count)
{
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    unsigned channels = bridge->config.channels;

    lay_out(bridge->frame_bytes, bridge->stream_format, channels, areas);
    tt_listen_read(bridge->listen, atomic_load(&bridge->device->program_frame),
                   bridge->stream_format, areas, (size_t)count);
    /* a program's big-endian frames are the wire's */
    tt_pcm_to_float(bridge->config.format, bridge->frame_bytes, (size_t)count * channels,
                    bridge->source_samples);
    return count;
}

/* The samples of the sink, to the card: 0, or -errno; -EPIPE too where it has no room. */
static int write_card(struct tt_bridge *bridge, size_t count)
{
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    unsigned channels = bridge->config.channels;
    int n;

    bridge->live.samples_clipped +=
        tt_pcm_from_float(tt_pcm_wire_format(bridge->card_format), bridge->sink_samples,
                          count * channels, bridge->wire_bytes);
    lay_out(bridge->frame_bytes, bridge->card_format, channels, areas);
    tt_pcm_from_wire(bridge->card_format, bridge->wire_bytes, channels, count, areas);
    n = bridge->card->ops->write(bridge->card, bridge->frame_bytes, (int)count);
    return n < 0 ? n : n < (int)count ? -EPIPE : 0;
}

static int write_stream(struct tt_bridge *bridge, size_t count)
{
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    unsigned channels = bridge->config.channels;
    int64_t frame = atomic_load(&bridge->device->program_frame);

    if (frame + (int64_t)count - atomic_load(&bridge->device->engine_frame) >
        bridge->stream_buffer_frames) {
        return -EPIPE;
    }
    bridge->live.samples_clipped += tt_pcm_from_float(bridge->config.format, bridge->sink_samples,
                                                      count * channels, bridge->frame_bytes);
    lay_out(bridge->frame_bytes, bridge->stream_format, channels, areas);
    tt_talk_write(bridge->talk, frame, bridge->stream_format, areas, count);
    return 0;
}

static int write_sink(struct tt_bridge *bridge, size_t count)
{
    bridge->live.frames_out += count;
    return is_capture(bridge) ? write_stream(bridge, count) : write_card(bridge, count);
}

static int write_silence(struct tt_bridge *bridge, int64_t frames)
{
    int error = 0;

    memset(bridge->sink_samples, 0,
           (size_t)BLOCK_FRAMES * bridge->config.channels * sizeof *bridge->sink_samples);
    while (frames > 0 && error == 0) {
        int64_t n = tt_min64(frames, BLOCK_FRAMES);

        error = write_sink(bridge, (size_t)n);
        frames -= n;
    }
    return error;
}

/* What is in source_samples goes through the resampler to the sink. */
static int resample(struct tt_bridge *bridge, size_t frames)
{
    unsigned channels = bridge->config.channels;
    struct tt_resampler_block block = {
        .source = bridge->source_samples,
        .source_frames = frames,
        .sink = bridge->sink_samples,
        .sink_frames = BLOCK_FRAMES,
    };
    int error = 0;

    bridge->live.frames_in += frames;
    do {
        tt_resampler_run(bridge->resampler, bridge->servo.ratio, &block);
        tt_servo_made(&bridge->servo, (int64_t)block.made);
        error = block.made > 0 ? write_sink(bridge, block.made) : 0;
        block.source += block.used * channels;
        block.source_frames -= block.used;
    } while (error == 0 && (block.source_frames > 0 || block.made == BLOCK_FRAMES));
    return error;
}

/* Moves the `ready` frames that the source has. 0 or -errno. */
static int move(struct tt_bridge *bridge, int64_t ready)
{
    int error = 0;

    while (ready > 0 && error == 0) {
        int64_t count = tt_min64(ready, BLOCK_FRAMES);
        int64_t n = is_capture(bridge) ? read_card(bridge, count) : read_stream(bridge, count);
        int64_t dropped = tt_max64(tt_min64(bridge->drop_frames, n), 0);

        if (n <= 0) {
            return (int)n;
        }
        ready -= n;
        tt_peaks_raise(bridge->peaks, bridge->config.channels, bridge->source_samples, (size_t)n);
        bridge->drop_frames -= dropped;
        memmove(bridge->source_samples,
                bridge->source_samples + (size_t)dropped * bridge->config.channels,
                (size_t)(n - dropped) * bridge->config.channels * sizeof *bridge->source_samples);
        error = n > dropped ? resample(bridge, (size_t)(n - dropped)) : 0;
    }
    return error;
}

static int64_t level_frames(const struct tt_bridge *bridge)
{
    return tt_ns_to_frames(bridge->servo.target_ns, bridge->sink_hz);
}

/* The card, and with it the bridge, begins: the sink holds silence up to the level. 0 or -errno. */
static int begin(struct tt_bridge *bridge)
{
    struct tt_card *card = bridge->card;
    struct tt_device *device = bridge->device;
    int64_t filled = level_frames(bridge);
    int error = card->ops->prepare(card);

    tt_resampler_reset(bridge->resampler);
    bridge->drop_frames = 0;
    if (is_capture(bridge)) {
        tt_servo_forget_source(&bridge->servo);
        atomic_store(&device->program_frame, tt_max64(atomic_load(&device->program_frame),
                                                      atomic_load(&device->engine_frame)));
        filled -= atomic_load(&device->program_frame) - atomic_load(&device->engine_frame);
        error = error < 0 ? error : write_silence(bridge, filled);
        error = error < 0 ? error : card->ops->start(card);
        tt_servo_place(&bridge->servo, 0, atomic_load(&device->program_frame));
        return error;
    }
    tt_servo_forget_sink(&bridge->servo);
    error = error < 0 ? error : write_silence(bridge, filled);
    error = error < 0 ? error : card->ops->start(card);
    /* what was presented meanwhile would be too late */
    atomic_store(&device->program_frame, atomic_load(&device->engine_frame));
    tt_servo_place(&bridge->servo, atomic_load(&device->program_frame), filled);
    return error;
}

static int64_t follow_tai(struct tt_bridge *bridge)
{
    struct tt_clock_reading reading;
    int64_t step_ns;

    bridge->clock->ops->read(bridge->clock, &reading);
    step_ns = tt_timebase_follow(&bridge->timebase, &reading);
    if (step_ns != 0) {
        tt_servo_clock_step(&bridge->servo, step_ns);
        bridge->holdover_tai_ns += step_ns;
        bridge->live.clock_steps++;
    }
    return tt_timebase_tai(&bridge->timebase, reading.mono_after_ns);
}

/* The stream's clock: a listener's is that of presentation, a talker's that of its due times. */
static struct tt_servo_sight see_stream(struct tt_bridge *bridge)
{
    struct tt_servo_sight sight = {.seen = false};

    if (is_capture(bridge)) {
        tt_talk_clock(bridge->talk, &sight.frame, &sight.tai_ns);
        sight.seen = sight.tai_ns != bridge->stream_tai_ns;
    } else {
        struct tt_listen_counters counters;

        tt_listen_counters(bridge->listen, &counters);
        sight.frame = counters.clock.frame;
        sight.tai_ns = counters.clock.tai_ns + bridge->config.playout_latency_ns;
        sight.seen = counters.talker_present && sight.tai_ns != bridge->stream_tai_ns;
    }
    bridge->stream_tai_ns = sight.tai_ns;
    return sight;
}

static void count(struct tt_bridge *bridge, int64_t now_tai_ns)
{
    struct tt_bridge_counters *live = &bridge->live;
    const struct tt_servo *servo = &bridge->servo;
    int64_t source_ppb = tt_media_clock_drift_ppb(&servo->source.clock);
    int64_t sink_ppb = tt_media_clock_drift_ppb(&servo->sink.clock);

    if (servo->state == TT_SERVO_HOLDOVER) {
        live->holdover_ns += now_tai_ns - bridge->holdover_tai_ns;
    }
    bridge->holdover_tai_ns = now_tai_ns;
    live->state = servo->state;
    live->level_ns = servo->level_ns;
    live->target_ns = servo->target_ns;
    live->ratio_ppb = tt_servo_ratio_ppb(servo);
    live->network_ppb = is_capture(bridge) ? sink_ppb : source_ppb;
    live->card_ppb = is_capture(bridge) ? source_ppb : sink_ppb;
    live->slips = servo->slips;
    live->holdovers = servo->holdovers;
    tt_counters_begin(&bridge->lock);
    bridge->shared = *live;
    tt_counters_end(&bridge->lock);
}

/* One pass: what is seen sets the ratio, what is there is moved. 0 or -errno. */
static int pass(struct tt_bridge *bridge, int64_t now_tai_ns)
{
    struct tt_device *device = bridge->device;
    struct tt_servo_sight stream = see_stream(bridge);
    struct tt_servo_sight card = {.seen = true};
    struct tt_card_sight sight;
    int error = bridge->card->ops->see(bridge->card, &sight);
    int64_t slip;

    if (error < 0) {
        return error;
    }
    card.frame = sight.frame;
    card.tai_ns = tt_timebase_tai(&bridge->timebase, sight.mono_ns);
    slip = is_capture(bridge) ? tt_servo_step(&bridge->servo, &card, &stream, now_tai_ns)
                              : tt_servo_step(&bridge->servo, &stream, &card, now_tai_ns);
    bridge->drop_frames -= tt_min64(slip, 0);
    error = write_silence(bridge, slip);
    if (error == 0) {
        error = move(bridge, is_capture(bridge) ? sight.ready
                                                : atomic_load(&device->engine_frame) -
                                                      atomic_load(&device->program_frame));
    }
    bridge->live.buffer_frames = is_capture(bridge) ? atomic_load(&device->program_frame) -
                                                          atomic_load(&device->engine_frame)
                                                    : bridge->card->buffer_frames - sight.ready;
    return error;
}

int64_t tt_bridge_step(struct tt_bridge *bridge)
{
    int64_t now_tai_ns = follow_tai(bridge);
    int64_t mono_ns = tt_timebase_mono(&bridge->timebase, now_tai_ns);
    int error = pass(bridge, now_tai_ns);

    if (error == -EPIPE) {
        bridge->live.xruns++;
        error = begin(bridge);
    }
    bridge->live.error = error;
    count(bridge, now_tai_ns);
    return mono_ns + (error < 0 ? RETRY_NS : bridge->wake_ns);
}

static int64_t step_of_bridge(void *bridge)
{
    return tt_bridge_step(bridge);
}

/* A late step loses nothing: the level is made for it. */
static enum tt_wait wait_of_bridge(void *bridge)
{
    (void)bridge;
    return TT_WAIT_ASLEEP;
}

int tt_bridge_start(struct tt_bridge *bridge, bool thread)
{
    int error;

    tt_bridge_stop(bridge);
    bridge->timebase.valid = false;
    bridge->holdover_tai_ns = follow_tai(bridge);
    error = begin(bridge);
    if (error == 0 && thread) {
        error = tt_engine_thread_start(&bridge->thread, bridge->clock, step_of_bridge,
                                       wait_of_bridge, bridge);
    }
    return error;
}

void tt_bridge_stop(struct tt_bridge *bridge)
{
    tt_engine_thread_stop(&bridge->thread);
}

void tt_bridge_counters(struct tt_bridge *bridge, struct tt_bridge_counters *ret_counters)
{
    tt_counters_read(&bridge->lock, &bridge->shared, sizeof *ret_counters, ret_counters);
}

void tt_bridge_peaks(struct tt_bridge *bridge, float *peaks)
{
    tt_peaks_take(bridge->peaks, bridge->config.channels, peaks);
}
