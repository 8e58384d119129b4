/*
 * See stream.h.
 */
#include "cli/stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/say.h"

#define BUFFER_NS      (500 * TT_NS_PER_MS)
#define EVENTS_OF_FILE 65536 /* kept where a report is written */

int tt_stream_open(struct tt_stream *stream, struct tt_message *ret_message)
{
    pthread_mutex_init(&stream->mutex, NULL);
    stream->config = stream->job->config;
    stream->frames_left = INT64_MAX;
    return stream->role == TT_ROLE_TALKER ? tt_stream_talk_open(stream, ret_message)
                                          : tt_stream_listen_open(stream, ret_message);
}

void tt_stream_close(struct tt_stream *stream)
{
    tt_cli_card_close(stream);
    tt_stream_engine_done(&stream->engine);
    tt_source_close(stream->source);
    tt_sink_close(stream->sink);
    if (stream->has_own) {
        tt_stream_group_done(&stream->own);
    }
    free(stream->patterns);
    pthread_mutex_destroy(&stream->mutex);
}

static int64_t buffer_frames(const struct tt_stream *stream)
{
    int64_t ns = stream->job->buffer_ns > 0 ? stream->job->buffer_ns : BUFFER_NS;
    int64_t frames = tt_ns_to_frames(ns, stream->config.rate_hz);
    int64_t least = 4 * (int64_t)stream->config.frames_per_pdu;

    return frames > least ? frames : least;
}

int tt_stream_engine_open(struct tt_stream *stream, struct tt_message *ret_message)
{
    struct tt_stream_engine_setup setup = {
        .role = stream->role,
        .config = &stream->config,
        .attachment = &stream->attachment,
        .group = stream->has_own ? &stream->own : stream->group,
        .buffer_frames = buffer_frames(stream),
        .event_capacity = stream->job->report ? EVENTS_OF_FILE : 0,
    };
    struct tt_stream_engine engine = {.talk = NULL};
    int error = tt_stream_engine_new(&setup, &engine);

    pthread_mutex_lock(&stream->mutex);
    stream->engine = engine;
    pthread_mutex_unlock(&stream->mutex);
    if (error == 0) {
        stream->buffer_frames = setup.buffer_frames;
        stream->patterns =
            calloc(TT_STREAM_BLOCK_FRAMES * (size_t)stream->config.channels, sizeof(uint32_t));
        error = stream->patterns ? 0 : -ENOMEM;
    }
    if (error < 0) {
        return tt_say(error, ret_message, "the stream cannot be set up: %s", strerror(-error));
    }
    return 0;
}

void tt_stream_engine_close(struct tt_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    tt_stream_engine_done(&stream->engine);
    pthread_mutex_unlock(&stream->mutex);
}

const struct tt_hist *tt_stream_lateness_hold(struct tt_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    return tt_stream_engine_lateness(&stream->engine);
}

void tt_stream_lateness_release(struct tt_stream *stream)
{
    pthread_mutex_unlock(&stream->mutex);
}

static const char *kind_text(struct tt_pattern pattern)
{
    return pattern.is_float     ? "32-bit floats"
           : pattern.bits <= 16 ? "16-bit integers"
           : pattern.bits <= 24 ? "24-bit integers"
                                : "32-bit integers";
}

void tt_stream_conversion(const struct tt_stream *stream, struct tt_message *ret_message)
{
    struct tt_pattern wire = tt_pattern_of(stream->config.format);
    struct tt_pattern from = stream->source ? stream->source->pattern : wire;
    struct tt_pattern to = stream->sink ? stream->sink->pattern : wire;

    ret_message->text[0] = 0;
    if (stream->card && stream->card->rate_hz != stream->config.rate_hz) {
        tt_say(0, ret_message, "%s runs at %u Hz: resampled", stream->job->end,
               (unsigned)stream->card->rate_hz);
    }
    if (!tt_pattern_is_exact(from, to)) {
        tt_say(0, ret_message, "%s: %s become %s: rounded, and clipped beyond full scale",
               stream->job->end, kind_text(from), kind_text(to));
    }
}

int64_t tt_stream_time_left(const struct tt_stream *stream)
{
    return stream->duration_ns == INT64_MAX
               ? INT64_MAX
               : stream->begin_mono_ns + stream->duration_ns - tt_cli_now_mono_ns();
}

/* An engine that has yet to start, or waits for its clock, does not look at the link. */
static bool has_lost_interface(const struct tt_stream *stream)
{
    const struct tt_device *device = stream->engine.device;
    struct tt_link *link = stream->attachment.link;
    int state = device ? atomic_load(&device->state) : TT_DEVICE_STOPPED;

    return state == TT_DEVICE_GONE || (state == TT_DEVICE_STOPPED && link->ops->is_gone(link));
}

static void lose_interface(struct tt_stream *stream)
{
    bool was_filling = stream->live.state == TT_STREAM_FILLING;

    stream->attachment.notes |= TT_NOTE_LINK_GONE;
    tt_stream_fail(stream, -ENODEV,
                   "interface %s is gone: deleted, or moved to another network namespace",
                   stream->config.ifname);
    if (was_filling && !stream->card) {
        tt_stream_engine_close(stream); /* or it would start with the others */
    }
}

void tt_stream_step(struct tt_stream *stream)
{
    if (has_lost_interface(stream)) {
        lose_interface(stream);
    } else if (stream->role == TT_ROLE_TALKER) {
        tt_stream_talk_step(stream);
    } else {
        tt_stream_listen_step(stream);
    }
}

void tt_stream_started(struct tt_stream *stream)
{
    if (stream->duration_ns < INT64_MAX) {
        stream->frames_left =
            tt_ns_to_frames(stream->duration_ns, stream->config.rate_hz) - stream->live.frames;
    }
    stream->live.state = TT_STREAM_RUNNING;
}

void tt_stream_not_started(struct tt_stream *stream, int error)
{
    tt_stream_fail(stream, error, "the stream cannot be started: %s%s", strerror(-error),
                   stream->cpu >= 0 && error == -EINVAL ? " (is there such a processor?)" : "");
}

void tt_stream_finish(struct tt_stream *stream)
{
    tt_cli_card_stop(stream);
    if (stream->has_own) {
        tt_stream_group_stop(&stream->own);
    } else {
        tt_stream_engine_leave(&stream->engine);
    }
    if (stream->role == TT_ROLE_LISTENER) {
        tt_stream_listen_finish(stream);
    }
    stream->live.state = TT_STREAM_ENDED;
}

void tt_stream_fail(struct tt_stream *stream, int error, const char *format, ...)
{
    va_list args;

    if (stream->live.error == 0) {
        stream->live.error = error;
        va_start(args, format);
        vsnprintf(stream->live.message.text, sizeof(stream->live.message.text), format, args);
        va_end(args);
    }
    tt_stream_finish(stream);
}

static void raise_peaks(const float *by, float *peaks, unsigned channels)
{
    for (unsigned c = 0; c < channels; c++) {
        peaks[c] = by[c] > peaks[c] ? by[c] : peaks[c];
    }
}

void tt_stream_publish(struct tt_stream *stream)
{
    struct tt_stream_status *live = &stream->live;

    live->config = stream->config;
    live->notes = stream->attachment.notes | tt_stream_engine_notes(&stream->engine);
    if (stream->engine.talk) {
        tt_talk_counters(stream->engine.talk, &live->talk);
    } else if (stream->engine.listen) {
        tt_listen_counters(stream->engine.listen, &live->listen);
    }
    if (stream->engine.device) {
        live->without_clock = live->state == TT_STREAM_RUNNING &&
                              atomic_load(&stream->engine.device->state) == TT_DEVICE_STOPPED;
        live->engine_frame = atomic_load(&stream->engine.device->engine_frame);
    }
    pthread_mutex_lock(&stream->mutex);
    raise_peaks(live->peaks, live->peaks_ever, stream->config.channels);
    raise_peaks(stream->shared.peaks, live->peaks, stream->config.channels);
    stream->shared = *live;
    pthread_mutex_unlock(&stream->mutex);
    memset(live->peaks, 0, sizeof(live->peaks));
}

void tt_stream_status_read(struct tt_stream *stream, bool anew, struct tt_stream_status *ret_status)
{
    pthread_mutex_lock(&stream->mutex);
    *ret_status = stream->shared;
    if (anew) {
        memset(stream->shared.peaks, 0, sizeof(stream->shared.peaks));
    }
    pthread_mutex_unlock(&stream->mutex);
}
