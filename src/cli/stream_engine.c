/*
 * See stream_engine.h.
 */
#include "cli/stream_engine.h"

#include "base/ns.h"
#include "os/thread.h"

/* A frame arrives up to a second (the longest transit) before its presentation, and may find the
 * listener's thread held up for another. */
#define HORIZON_NS (2 * TT_NS_PER_S)

static int new_talk(const struct tt_stream_engine_setup *setup, struct tt_stream_engine *engine)
{
    struct tt_talk_setup talk_setup = {
        .config = setup->config,
        .link = setup->attachment->link,
        .clock = tt_clock_system(),
        .buffer_frames = setup->buffer_frames,
        .release_ns = setup->attachment->release_ns,
        .offload = setup->attachment->offload,
        .event_capacity = setup->event_capacity,
    };
    int error = tt_talk_new(&talk_setup, &engine->talk);

    if (error == 0) {
        engine->device = tt_talk_device(engine->talk);
    }
    return error;
}

static int new_listen(const struct tt_stream_engine_setup *setup, struct tt_stream_engine *engine)
{
    struct tt_listen_setup listen_setup = {
        .config = setup->config,
        .link = setup->attachment->link,
        .clock = tt_clock_system(),
        .buffer_frames = setup->buffer_frames,
        .period_frames = setup->buffer_frames / 4,
        .horizon_ns = HORIZON_NS + setup->config->playout_latency_ns,
        .event_capacity = setup->event_capacity,
    };
    int error = tt_listen_new(&listen_setup, &engine->listen);

    if (error == 0) {
        engine->device = tt_listen_device(engine->listen);
    }
    return error;
}

int tt_stream_engine_new(const struct tt_stream_engine_setup *setup,
                         struct tt_stream_engine *ret_engine)
{
    struct tt_stream_engine engine = {.talk = NULL};
    int error =
        setup->role == TT_ROLE_TALKER ? new_talk(setup, &engine) : new_listen(setup, &engine);

    if (error < 0) {
        return error;
    }
    /* A source or sink that is too slow costs silence and is counted; the stream goes on. */
    atomic_store(&engine.device->endless, true);
    /* The feeder looks by itself, and need not be woken. */
    atomic_store(&engine.device->wake_frames, setup->buffer_frames);
    *ret_engine = engine;
    return 0;
}

static int start(struct tt_stream_engine *engine)
{
    return engine->talk ? tt_talk_start(engine->talk, true) : tt_listen_start(engine->listen, true);
}

int tt_stream_engine_start(struct tt_stream_engine *engine, int cpu)
{
    struct tt_thread_cpus before;
    int error;

    if (cpu < 0) {
        return start(engine);
    }
    /* A thread stays where the one that started it was. */
    error = tt_thread_pin(cpu, &before);
    if (error == 0) {
        error = start(engine);
        tt_thread_unpin(&before);
    }
    return error;
}

void tt_stream_engine_stop(struct tt_stream_engine *engine)
{
    if (engine->talk) {
        tt_talk_stop(engine->talk);
    } else if (engine->listen) {
        tt_listen_stop(engine->listen);
    }
}

void tt_stream_engine_done(struct tt_stream_engine *engine)
{
    tt_talk_free(engine->talk);
    tt_listen_free(engine->listen);
    *engine = (struct tt_stream_engine){.talk = NULL};
}

unsigned tt_stream_engine_notes(const struct tt_stream_engine *engine)
{
    return engine->talk     ? tt_talk_notes(engine->talk)
           : engine->listen ? tt_listen_notes(engine->listen)
                            : 0;
}

const struct tt_hist *tt_stream_engine_lateness(const struct tt_stream_engine *engine)
{
    return engine->talk     ? tt_talk_lateness(engine->talk)
           : engine->listen ? tt_listen_lateness(engine->listen)
                            : NULL;
}

const struct tt_event_log *tt_stream_engine_log(const struct tt_stream_engine *engine)
{
    return engine->talk     ? tt_talk_log(engine->talk)
           : engine->listen ? tt_listen_log(engine->listen)
                            : NULL;
}
