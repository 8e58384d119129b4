/*
 * See stream.h: from a listener's buffer into a sink.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "audio/aaf.h"
#include "audio/avtp.h"
#include "audio/eth.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/say.h"
#include "cli/stream.h"

#define PACKET_BYTES 16384 /* jumbo frames */
/* A sink that runs by its own clock gets so long to take what is left at the end. */
#define LEAVE_NS (1 * TT_NS_PER_S)
#define NAP_NS   (5 * TT_NS_PER_MS)

static bool is_complete(const struct tt_stream_config *config)
{
    return config->format && config->rate_hz && config->channels;
}

static int open_sink(struct tt_stream *stream, struct tt_message *ret_message)
{
    const struct tt_stream_job *job = stream->job;
    struct tt_sink_setup setup = {
        .name = job->end,
        .raw = job->is_raw ? &job->raw : NULL,
        .config = &stream->config,
    };

    if (tt_cli_card_is(job->end)) {
        return tt_cli_card_open(stream, ret_message);
    }
    return tt_sink_open(&setup, &stream->sink, ret_message);
}

/* The shape is known: to work. */
static int begin(struct tt_stream *stream, struct tt_message *ret_message)
{
    int error = open_sink(stream, ret_message);

    if (error == 0) {
        error = tt_stream_engine_open(stream, ret_message);
    }
    if (error == 0 && stream->card) {
        error = tt_cli_card_join(stream, ret_message);
    }
    stream->live.state = TT_STREAM_FILLING;
    return error;
}

int tt_stream_listen_open(struct tt_stream *stream, struct tt_message *ret_message)
{
    bool complete = is_complete(&stream->config);
    int error = tt_cli_card_is(stream->job->end)
                    ? complete ? 0 : tt_cli_card_check(stream, ret_message)
                    : tt_sink_check(stream->job->end, stream->job->is_raw, stream->job->overwrite,
                                    ret_message);

    stream->live.state = TT_STREAM_WAITING;
    if (error == 0 && !complete) {
        error = tt_stream_group_init(&stream->own, 1, stream->cpu);
        stream->has_own = error == 0;
        if (error < 0) {
            return tt_say(error, ret_message, "out of memory");
        }
    }
    if (error == 0) {
        stream->part = TT_STREAM_PART_INTERFACE;
        error = tt_stream_group_attach(complete ? stream->group : &stream->own, &stream->config,
                                       TT_ROLE_LISTENER, &stream->attachment, ret_message);
    }
    if (error == 0 && complete) {
        stream->part = TT_STREAM_PART_END;
        error = begin(stream, ret_message);
    }
    return error;
}

/* It had to wait, for this packet: what is left of the time is for the recording, which begins
 * there. */
static void start(struct tt_stream *stream, const struct tt_link_packet *packet)
{
    int error = tt_engine_hand(stream->own.engine, stream->attachment.link, packet);

    error = error < 0 ? error : tt_stream_group_start(&stream->own);
    if (error < 0) {
        tt_stream_not_started(stream, error);
        return;
    }
    tt_stream_started(stream);
}

static void begin_with(struct tt_stream *stream, const struct tt_link_packet *packet)
{
    struct tt_message message;
    int error;

    if (stream->duration_ns < INT64_MAX) {
        stream->duration_ns = tt_max64(tt_stream_time_left(stream), 0);
    }
    error = begin(stream, &message);
    if (error < 0) {
        tt_stream_fail(stream, error, "%s", message.text);
    } else {
        start(stream, packet);
    }
}

static bool is_of_stream(const struct tt_stream_config *config, const struct tt_link_packet *packet,
                         struct tt_aaf *ret_aaf)
{
    struct tt_eth eth;

    return tt_eth_parse(packet->data, packet->bytes, &eth) == 0 &&
           eth.ethertype == TT_ETHERTYPE_AVTP &&
           memcmp(eth.dest, config->dest, sizeof(eth.dest)) == 0 &&
           tt_aaf_parse(packet->data + eth.header_bytes, packet->bytes - eth.header_bytes,
                        ret_aaf) == TT_AAF_OK &&
           ret_aaf->stream_id == config->stream_id;
}

/* Takes from the packet what nobody has fixed, where the rest is as it was fixed. */
static bool take_shape(struct tt_stream *stream, const struct tt_link_packet *packet)
{
    struct tt_stream_config *config = &stream->config;
    struct tt_aaf aaf;

    if (!is_of_stream(config, packet, &aaf)) {
        return false;
    }
    if ((config->format && config->format != aaf.format) ||
        (config->rate_hz && config->rate_hz != aaf.rate_hz) ||
        (config->channels && config->channels != aaf.channels)) {
        stream->live.listen.packets++;
        stream->live.listen.stream.pdus_other_format++;
        return false;
    }
    config->format = aaf.format;
    config->rate_hz = aaf.rate_hz;
    config->channels = aaf.channels;
    return true;
}

/* Until the first packet says what the stream is. The engine is not there yet, so the link is ours.
 */
static void wait_for_shape(struct tt_stream *stream)
{
    struct tt_link *link = stream->attachment.link;
    uint8_t data[PACKET_BYTES];
    struct tt_link_packet packet = {.data = data, .bytes = sizeof(data)};

    if (tt_stream_time_left(stream) <= 0) {
        tt_stream_finish(stream);
        return;
    }
    while (link->ops->receive(link, &packet, 1) == 1) {
        packet.bytes = packet.bytes < sizeof(data) ? packet.bytes : sizeof(data);
        if (take_shape(stream, &packet)) {
            begin_with(stream, &packet);
            return;
        }
        packet.bytes = sizeof(data);
    }
}

/* The block's frames to the sink, as far as it takes them. False: not now, or it failed. */
static bool push_held(struct tt_stream *stream)
{
    while (stream->held_begin < stream->held_end) {
        uint32_t *patterns = stream->patterns + stream->held_begin * stream->config.channels;
        int64_t n =
            stream->sink->ops->write(stream->sink, patterns, stream->held_end - stream->held_begin);

        if (n <= 0) {
            stream->live.error = (int)n;
            return false;
        }
        stream->held_begin += n;
        stream->live.frames += n;
    }
    return true;
}

static void hold_silence(struct tt_stream *stream)
{
    int64_t n = stream->silence_frames < TT_STREAM_BLOCK_FRAMES ? stream->silence_frames
                                                                : TT_STREAM_BLOCK_FRAMES;

    memset(stream->patterns, 0, (size_t)n * stream->config.channels * sizeof(*stream->patterns));
    stream->silence_frames -= n;
    stream->held_begin = 0;
    stream->held_end = n;
}

static void hold_frames(struct tt_stream *stream, int64_t frame, int64_t n)
{
    struct tt_pattern wire = tt_pattern_of(stream->config.format);
    unsigned channels = stream->config.channels;
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    enum tt_pcm_format format =
        tt_pattern_areas(stream->config.format, stream->patterns, channels, areas);

    memset(stream->patterns, 0, (size_t)n * channels * sizeof(*stream->patterns));
    tt_listen_read(stream->engine.listen, frame, format, areas, (size_t)n);
    tt_pattern_peaks(wire, stream->patterns, channels, (size_t)n, stream->live.peaks);
    stream->live.clipped +=
        tt_pattern_convert(wire, stream->sink->pattern, stream->patterns, (size_t)n * channels);
    stream->held_begin = 0;
    stream->held_end = n;
    if (stream->frames_left < INT64_MAX) {
        stream->frames_left -= n;
    }
}

/* The sink has left so much that the engine has run over it. What a file does not get is silence
 * there. */
static void skip(struct tt_stream *stream, int64_t frame, int64_t n)
{
    n = n < stream->frames_left ? n : stream->frames_left;
    if (stream->frames_left < INT64_MAX) {
        stream->frames_left -= n;
    }
    atomic_store_explicit(&stream->engine.device->program_frame, frame + n, memory_order_release);
    stream->live.xruns++;
    stream->live.frames_skipped += n;
    stream->silence_frames += stream->sink->is_live ? 0 : n;
}

/* True while there is more for the sink and it takes it. */
static bool empty_once(struct tt_stream *stream)
{
    struct tt_device *device = stream->engine.device;
    int64_t frame = atomic_load_explicit(&device->program_frame, memory_order_relaxed);
    int64_t there = atomic_load_explicit(&device->engine_frame, memory_order_acquire) - frame;

    if (there > stream->buffer_frames && stream->frames_left > 0) {
        skip(stream, frame, there - stream->buffer_frames / 2);
        return true;
    }
    if (!push_held(stream)) {
        return false;
    }
    if (stream->silence_frames > 0) {
        hold_silence(stream);
        return true;
    }
    there = there < stream->frames_left ? there : stream->frames_left;
    if (there <= 0) {
        return false;
    }
    hold_frames(stream, frame, there < TT_STREAM_BLOCK_FRAMES ? there : TT_STREAM_BLOCK_FRAMES);
    return true;
}

static void look_at_error(struct tt_stream *stream)
{
    int error = stream->live.error;

    if (error == -EPIPE) { /* nobody reads any more: a good end */
        stream->live.error = 0;
        stream->held_end = stream->held_begin;
        stream->frames_left = 0;
        tt_stream_finish(stream);
    } else if (error < 0) {
        stream->live.error = 0;
        stream->held_end = stream->held_begin;
        stream->frames_left = 0;
        tt_stream_fail(stream, error, "%s cannot be written any further: %s", stream->job->end,
                       strerror(-error));
    }
}

/* All that was asked for is in the sink, or the sink has had its time to take it. */
static bool is_through(struct tt_stream *stream)
{
    if (stream->frames_left > 0) {
        return false;
    }
    if (stream->held_begin == stream->held_end && stream->silence_frames == 0) {
        return true;
    }
    if (stream->leave_mono_ns == 0) {
        stream->leave_mono_ns = tt_cli_now_mono_ns() + LEAVE_NS;
    }
    if (!stream->sink->is_live || tt_cli_now_mono_ns() < stream->leave_mono_ns) {
        return false;
    }
    stream->live.xruns++;
    stream->live.frames_skipped += stream->held_end - stream->held_begin;
    stream->held_begin = stream->held_end;
    return true;
}

/* The bridge empties. */
static void look_at_card(struct tt_stream *stream)
{
    int error = tt_cli_card_look(stream);

    if (error < 0) {
        tt_stream_fail(stream, error, "%s cannot be written any further: %s", stream->job->end,
                       strerror(-error));
    } else if (stream->live.frames >= stream->frames_left ||
               atomic_load(&stream->engine.device->state) != TT_DEVICE_RUNNING) {
        tt_stream_finish(stream);
    }
}

static void run(struct tt_stream *stream)
{
    if (stream->bridge) {
        look_at_card(stream);
        return;
    }
    while (empty_once(stream)) {
    }
    if (stream->live.error < 0) {
        look_at_error(stream);
    } else if (is_through(stream) ||
               atomic_load(&stream->engine.device->state) != TT_DEVICE_RUNNING) {
        tt_stream_finish(stream); /* or the talker is gone, and on_absence says xrun */
    }
}

void tt_stream_listen_step(struct tt_stream *stream)
{
    switch (stream->live.state) {
    case TT_STREAM_WAITING:
        wait_for_shape(stream);
        break;
    case TT_STREAM_FILLING:
        stream->is_ready = true;
        break;
    case TT_STREAM_RUNNING:
        run(stream);
        break;
    default:
        break;
    }
}

/* What was presented and is not in the sink yet. */
static void empty_the_rest(struct tt_stream *stream)
{
    int64_t until_ns = tt_cli_now_mono_ns() + LEAVE_NS;

    while (stream->live.error == 0) {
        while (empty_once(stream)) {
        }
        if (stream->held_begin == stream->held_end || stream->live.error < 0 ||
            stream->sink->unread || tt_cli_now_mono_ns() > until_ns) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    if (stream->live.error == -EPIPE) {
        stream->live.error = 0;
    }
}

void tt_stream_listen_finish(struct tt_stream *stream)
{
    bool unread;
    int error;

    if (stream->engine.listen && stream->sink && stream->live.error == 0) {
        empty_the_rest(stream);
    }
    unread = stream->sink && stream->sink->unread;
    error = tt_sink_close(stream->sink);
    stream->sink = NULL;
    if (unread && stream->live.error == 0) {
        stream->live.error = tt_say(-ENXIO, &stream->live.message,
                                    "%s is a FIFO that nobody has opened for reading: nothing was "
                                    "written",
                                    stream->job->end);
    }
    if (error < 0 && error != -EPIPE && stream->live.error == 0) {
        stream->live.error = error;
        tt_say(error, &stream->live.message, "%s cannot be finished: %s", stream->job->end,
               strerror(-error));
    }
}
