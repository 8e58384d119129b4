/*
 * See stream.h: from a source into a talker's buffer.
 */
#include <errno.h>
#include <string.h>

#include "base/ns.h"
#include "cli/say.h"
#include "cli/stream.h"

static int check_shape(const struct tt_stream *stream, struct tt_message *ret_message)
{
    const struct tt_stream_config *config = &stream->config;
    const char *name = stream->job->end;

    if (tt_aaf_nsr(config->rate_hz) == 0) {
        return tt_say(-EINVAL, ret_message,
                      "%s has %u Hz, which AAF does not carry; convert the audio first (sox IN -r "
                      "48000 OUT)",
                      name, (unsigned)config->rate_hz);
    }
    if (config->channels > TT_AAF_CHANNELS_MAX) {
        return tt_say(-EINVAL, ret_message, "%s has %u channels, and AAF carries at most %d", name,
                      config->channels, TT_AAF_CHANNELS_MAX);
    }
    return 0;
}

/* What the job leaves open is the source's; what it fixes the source must have. */
static int agree(struct tt_stream *stream, struct tt_message *ret_message)
{
    const struct tt_source *source = stream->source;
    struct tt_stream_config *config = &stream->config;
    const char *name = stream->job->end;

    config->rate_hz = config->rate_hz ? config->rate_hz : source->rate_hz;
    config->channels = config->channels ? config->channels : source->channels;
    config->format = config->format ? config->format : tt_pattern_wire_format(source->pattern);
    if (config->rate_hz != source->rate_hz) {
        return tt_say(-EINVAL, ret_message,
                      "%s has %u Hz, and the stream's rate is %u; leave rate out, or convert the "
                      "audio first (sox IN -r %u OUT)",
                      name, (unsigned)source->rate_hz, (unsigned)config->rate_hz,
                      (unsigned)config->rate_hz);
    }
    if (config->channels != source->channels && source->channels != 1) {
        return tt_say(-EINVAL, ret_message,
                      "%s has %u channels, and the stream %u; leave channels out, or choose some "
                      "first (sox IN OUT remix ...)",
                      name, source->channels, config->channels);
    }
    return 0;
}

static int open_source(struct tt_stream *stream, struct tt_message *ret_message)
{
    const struct tt_stream_job *job = stream->job;
    struct tt_source_setup setup = {
        .name = job->end,
        .loop = job->loop,
        .raw = job->is_raw ? &job->raw : NULL,
        .config = &stream->config,
    };
    int error;

    if (tt_cli_card_is(job->end)) {
        return tt_cli_card_open(stream, ret_message);
    }
    error = tt_source_open(&setup, &stream->source, ret_message);
    return error < 0 ? error : agree(stream, ret_message);
}

int tt_stream_talk_open(struct tt_stream *stream, struct tt_message *ret_message)
{
    const struct tt_stream_job *job = stream->job;
    int error = open_source(stream, ret_message);

    error = error < 0 ? error : check_shape(stream, ret_message);
    if (error == 0) {
        tt_stream_class_apply(job->class, job->by_hand, &stream->config);
        stream->part = TT_STREAM_PART_INTERFACE;
        error = tt_stream_group_attach(stream->group, &stream->config, TT_ROLE_TALKER,
                                       &stream->attachment, ret_message);
    }
    if (error == 0) {
        stream->part = TT_STREAM_PART_WHOLE;
        error =
            tt_stream_config_fits(&stream->config, stream->config.format, stream->config.channels,
                                  stream->attachment.link->mtu_bytes, ret_message);
    }
    if (error == 0) {
        error = tt_stream_engine_open(stream, ret_message);
    }
    if (error == 0 && stream->card) {
        error = tt_cli_card_join(stream, ret_message);
    }
    if (error == 0 && stream->duration_ns < INT64_MAX) {
        stream->frames_left = tt_ns_to_frames(stream->duration_ns, stream->config.rate_hz);
    }
    stream->live.state = TT_STREAM_FILLING;
    return error;
}

/* One channel becomes as many as the stream has; in place, from the end. */
static void spread(uint32_t *patterns, unsigned channels, int64_t frames)
{
    for (int64_t i = frames - 1; i >= 0; i--) {
        for (unsigned c = 0; c < channels; c++) {
            patterns[i * channels + c] = patterns[i];
        }
    }
}

/* The source has ended, or fails. */
static void end_source(struct tt_stream *stream, int error)
{
    stream->source_ended = true;
    if (stream->source->is_pipe) {
        stream->live.remark = stream->source->remark;
    }
    if (error != TT_SOURCE_END) {
        stream->live.error =
            tt_say(error, &stream->live.message, "%s cannot be read any further: %s",
                   stream->job->end, strerror(-error));
    } else if (stream->live.frames == 0 && stream->frames_left > 0) {
        stream->live.error =
            tt_say(error, &stream->live.message, "%s holds no frames", stream->job->end);
    }
}

/* Up to `frames` frames into the block, as the wire has them. Returns how many, or 0. */
static int64_t read_block(struct tt_stream *stream, int64_t frames)
{
    struct tt_source *source = stream->source;
    unsigned channels = stream->config.channels;
    int64_t n;

    frames = frames < TT_STREAM_BLOCK_FRAMES ? frames : TT_STREAM_BLOCK_FRAMES;
    frames = frames < stream->frames_left ? frames : stream->frames_left;
    n = frames > 0 ? source->ops->read(source, stream->patterns, frames) : TT_SOURCE_END;
    if (n < 0) {
        end_source(stream, (int)n);
        return 0;
    }
    if (source->channels < channels) {
        spread(stream->patterns, channels, n);
    }
    tt_pattern_peaks(source->pattern, stream->patterns, channels, (size_t)n, stream->live.peaks);
    stream->live.clipped +=
        tt_pattern_convert(source->pattern, tt_pattern_of(stream->config.format), stream->patterns,
                           (size_t)n * channels);
    stream->live.frames += n;
    if (stream->frames_left < INT64_MAX) {
        stream->frames_left -= n;
    }
    return n;
}

static void write_block(struct tt_stream *stream, int64_t frame, int64_t frames)
{
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    enum tt_pcm_format format =
        tt_pattern_areas(stream->config.format, stream->patterns, stream->config.channels, areas);

    tt_talk_write(stream->engine.talk, frame, format, areas, (size_t)frames);
}

/* The engine has sent silence where frames should have been: a new start, half a buffer ahead of
 * it. */
static void catch_up(struct tt_stream *stream)
{
    struct tt_device *device = stream->engine.device;
    int64_t frame = atomic_load_explicit(&device->engine_frame, memory_order_acquire);
    uint32_t silence = 0;
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    enum tt_pcm_format format = tt_pattern_areas(stream->config.format, &silence, 1, areas);

    for (unsigned c = 0; c < stream->config.channels; c++) {
        areas[c] = (struct tt_pcm_area){.first = areas[0].first, .step_bytes = 0};
    }
    tt_talk_write(stream->engine.talk, frame, format, areas, (size_t)stream->buffer_frames / 2);
    stream->live.frames_skipped += stream->buffer_frames / 2;
}

/* A starved talker sends silence by itself, and counts that. */
static void look_for_starving(struct tt_stream *stream)
{
    struct tt_talk_counters counters;
    uint64_t silent;

    tt_talk_counters(stream->engine.talk, &counters);
    silent = counters.frames_padded - stream->padded;
    stream->padded = counters.frames_padded;
    stream->live.frames_skipped += (int64_t)silent;
    if (silent > 0 && !stream->live.starved) {
        stream->live.starved = true;
        stream->live.xruns++;
    }
}

/* Frames that the engine has and has not sent; negative where it had to do without. */
static int64_t filled(const struct tt_stream *stream)
{
    struct tt_device *device = stream->engine.device;

    return atomic_load_explicit(&device->program_frame, memory_order_relaxed) -
           atomic_load_explicit(&device->engine_frame, memory_order_acquire);
}

static void fill(struct tt_stream *stream)
{
    struct tt_device *device = stream->engine.device;

    while (!stream->source_ended) {
        int64_t there = filled(stream);
        int64_t room = stream->buffer_frames - (there < 0 ? stream->buffer_frames / 2 : there);
        int64_t n = room > 0 ? read_block(stream, room) : 0;

        if (n == 0) {
            break;
        }
        if (there < 0) {
            catch_up(stream);
        }
        stream->live.starved = false;
        write_block(stream, atomic_load(&device->program_frame), n);
    }
}

/* The bridge fills. */
static void look_at_card(struct tt_stream *stream)
{
    int error = tt_cli_card_look(stream);

    stream->source_ended = error < 0 || stream->live.frames >= stream->frames_left;
    if (error < 0) {
        stream->live.error = error;
        tt_say(error, &stream->live.message, "%s cannot be read any further: %s", stream->job->end,
               strerror(-error));
    }
    if (stream->source_ended) {
        tt_cli_card_stop(stream);
    }
}

static bool is_time_up(const struct tt_stream *stream)
{
    return tt_stream_time_left(stream) <= 0;
}

/* Its clock has not come yet. */
static bool has_not_begun(const struct tt_stream *stream)
{
    return atomic_load(&stream->engine.device->state) == TT_DEVICE_STOPPED;
}

static void run(struct tt_stream *stream)
{
    if (stream->bridge) {
        look_at_card(stream);
    } else if (!stream->source_ended) { /* or what fills the last packet would count as missing */
        look_for_starving(stream);
        fill(stream);
    }
    stream->source_ended |= is_time_up(stream) && (stream->live.starved || has_not_begun(stream));
    if (stream->source_ended) {
        tt_talk_drain(stream->engine.talk);
        stream->live.state = TT_STREAM_DRAINING;
    }
}

/* Before its group starts. */
static void get_ready(struct tt_stream *stream)
{
    if (!stream->card) {
        fill(stream);
    }
    if (stream->live.frames == 0 &&
        (stream->live.error < 0 || (!stream->card && is_time_up(stream)))) {
        tt_stream_finish(stream);
        tt_stream_engine_close(stream); /* or it would start with the others */
        return;
    }
    if (stream->source_ended) {
        tt_talk_drain(stream->engine.talk);
    }
    stream->is_ready = stream->card || stream->source_ended || is_time_up(stream) ||
                       filled(stream) >= stream->buffer_frames / 2;
}

void tt_stream_talk_step(struct tt_stream *stream)
{
    switch (stream->live.state) {
    case TT_STREAM_FILLING:
        get_ready(stream);
        break;
    case TT_STREAM_RUNNING:
        run(stream);
        break;
    case TT_STREAM_DRAINING:
        if (atomic_load(&stream->engine.device->state) == TT_DEVICE_DRAINED ||
            (has_not_begun(stream) && is_time_up(stream))) {
            tt_stream_finish(stream);
        }
        break;
    default:
        break;
    }
}
