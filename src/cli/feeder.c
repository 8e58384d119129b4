/*
 * See feeder.h.
 */
#include "cli/feeder.h"

#include "base/ns.h"
#include "cli/cmd.h"
#include "os/clock.h"

#define PAUSE_MIN_NS  (1 * TT_NS_PER_MS)
#define PAUSE_MAX_NS  (50 * TT_NS_PER_MS)
#define STRAGGLERS_NS (2 * TT_NS_PER_S)
#define WAIT_NS       (10 * TT_NS_PER_MS)

/* An eighth of what the stream's buffer holds; little while a listener waits for its stream, so
 * that it starts soon. */
static int64_t pause_of(const struct tt_stream *stream)
{
    int64_t ns;

    if (stream->live.state == TT_STREAM_WAITING || stream->live.state == TT_STREAM_FILLING) {
        return PAUSE_MIN_NS;
    }
    ns = tt_frames_to_ns(stream->buffer_frames, stream->config.rate_hz) / 8;
    return ns < PAUSE_MIN_NS ? PAUSE_MIN_NS : ns > PAUSE_MAX_NS ? PAUSE_MAX_NS : ns;
}

static void pause_until(int64_t mono_ns)
{
    tt_clock_system()->ops->sleep_until(tt_clock_system(), mono_ns);
}

/* Returns how long to pause; 0: all have ended. */
static int64_t go_round(struct tt_feeder *feeder)
{
    int64_t pause_ns = 0;

    for (size_t i = 0; i < feeder->count && !atomic_load(&feeder->quit); i++) {
        struct tt_stream *stream = &feeder->streams[i];
        int64_t ns;

        if (stream->live.state == TT_STREAM_ENDED) {
            continue;
        }
        tt_stream_step(stream);
        tt_stream_publish(stream);
        atomic_fetch_add(&feeder->rounds, 1);
        if (stream->live.state != TT_STREAM_ENDED) {
            ns = pause_of(stream);
            pause_ns = pause_ns == 0 || ns < pause_ns ? ns : pause_ns;
        }
    }
    return pause_ns;
}

/* Streams of a group start together, on one grid. Whoever is not ready some time after the first is
 * started as it is: its source is too slow. */
static bool is_time_to_start(struct tt_feeder *feeder)
{
    size_t filling = 0;
    size_t ready = 0;

    for (size_t i = 0; i < feeder->count; i++) {
        const struct tt_stream *stream = &feeder->streams[i];

        if (stream->live.state == TT_STREAM_FILLING) {
            filling++;
            ready += stream->is_ready;
        }
    }
    if (ready > 0 && feeder->first_ready_mono_ns == 0) {
        feeder->first_ready_mono_ns = tt_cli_now_mono_ns();
    }
    return ready > 0 &&
           (ready == filling || tt_cli_now_mono_ns() > feeder->first_ready_mono_ns + STRAGGLERS_NS);
}

static void start_group(struct tt_feeder *feeder)
{
    int error;

    if (feeder->group->started || !is_time_to_start(feeder)) {
        return;
    }
    error = tt_stream_group_start(feeder->group);
    for (size_t i = 0; i < feeder->count; i++) {
        struct tt_stream *stream = &feeder->streams[i];

        if (stream->live.state != TT_STREAM_FILLING) {
            continue;
        }
        if (error < 0) {
            tt_stream_not_started(stream, error);
        } else {
            tt_stream_started(stream);
        }
    }
}

static void run(void *context)
{
    struct tt_feeder *feeder = context;

    while (!atomic_load(&feeder->quit)) {
        int64_t pause_ns = go_round(feeder);

        start_group(feeder);
        if (pause_ns == 0) {
            break;
        }
        pause_until(tt_cli_now_mono_ns() + pause_ns);
    }
    tt_stream_group_stop(feeder->group);
    for (size_t i = 0; i < feeder->count; i++) {
        if (feeder->streams[i].live.state != TT_STREAM_ENDED) {
            tt_stream_finish(&feeder->streams[i]);
        }
        tt_stream_publish(&feeder->streams[i]);
    }
    atomic_store(&feeder->done, true);
}

int tt_feeder_start(struct tt_feeder *feeder)
{
    atomic_store(&feeder->quit, false);
    atomic_store(&feeder->done, false);
    return tt_thread_start_plain(&feeder->thread, run, feeder);
}

bool tt_feeder_stop(struct tt_feeder *feeder, int64_t patience_ns)
{
    int64_t until_ns = tt_cli_now_mono_ns() + patience_ns;

    atomic_store(&feeder->quit, true);
    while (!atomic_load(&feeder->done)) {
        if (tt_cli_now_mono_ns() > until_ns) {
            return false;
        }
        pause_until(tt_cli_now_mono_ns() + WAIT_NS);
    }
    tt_thread_join(&feeder->thread);
    return true;
}
