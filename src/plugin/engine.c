/*
 * See engine.h.
 */
#include "plugin/engine.h"

#include "base/ns.h"
#include "os/wake.h"
#include "report/note.h"
#include "report/stream_report.h"

/* Neighbours merge, so this is many more interruptions than a stream that anybody listens to has.
 */
#define EVENTS_KEPT 65536
/* A frame arrives up to a second (the longest transit) before its presentation. Stamps in UTC,
 * whose low 32 bits look like 1.65 s ahead, must not pass for that. */
#define HORIZON_NS (TT_NS_PER_S + TT_NS_PER_S / 4)

int tt_plugin_engine_new(const struct tt_plugin_engine *shape, enum tt_role role,
                         const struct tt_attachment *attachment,
                         struct tt_plugin_engine *ret_engine)
{
    struct tt_plugin_engine engine = *shape;
    int error;

    if (role == TT_ROLE_TALKER) {
        struct tt_talk_setup setup = {
            .config = &shape->config,
            .link = attachment->link,
            .clock = tt_clock_system(),
            .buffer_frames = shape->buffer_frames,
            .release_ns = attachment->release_ns,
            .offload = attachment->offload,
            .event_capacity = EVENTS_KEPT,
        };

        error = tt_talk_new(&setup, &engine.talk);
        engine.device = error < 0 ? NULL : tt_talk_device(engine.talk);
    } else {
        struct tt_listen_setup setup = {
            .config = &shape->config,
            .link = attachment->link,
            .clock = tt_clock_system(),
            .buffer_frames = shape->buffer_frames,
            .period_frames = shape->period_frames,
            .horizon_ns = HORIZON_NS + shape->config.playout_latency_ns,
            .event_capacity = EVENTS_KEPT,
        };

        error = tt_listen_new(&setup, &engine.listen);
        engine.device = error < 0 ? NULL : tt_listen_device(engine.listen);
    }
    if (error == 0) {
        *ret_engine = engine;
    }
    return error;
}

void tt_plugin_engine_done(struct tt_plugin_engine *engine)
{
    tt_plugin_engine_stop(engine);
    tt_talk_free(engine->talk);
    tt_listen_free(engine->listen);
    *engine = (struct tt_plugin_engine){.talk = NULL};
}

void tt_plugin_engine_abandon(struct tt_plugin_engine *engine)
{
    if (engine->device) {
        tt_wake_close(engine->device->wake_fd);
    }
    *engine = (struct tt_plugin_engine){.talk = NULL};
}

bool tt_plugin_engine_is(const struct tt_plugin_engine *engine,
                         const struct tt_plugin_engine *shape)
{
    const struct tt_stream_config *a = &engine->config;
    const struct tt_stream_config *b = &shape->config;

    return engine->device && a->format == b->format && a->rate_hz == b->rate_hz &&
           a->channels == b->channels && engine->buffer_frames == shape->buffer_frames &&
           engine->period_frames == shape->period_frames;
}

void tt_plugin_engine_prepare(struct tt_plugin_engine *engine)
{
    if (engine->talk) {
        tt_talk_prepare(engine->talk);
    } else {
        tt_listen_prepare(engine->listen);
    }
}

int tt_plugin_engine_start(struct tt_plugin_engine *engine)
{
    int error =
        engine->talk ? tt_talk_start(engine->talk, true) : tt_listen_start(engine->listen, true);

    engine->started = engine->started || error == 0;
    return error;
}

void tt_plugin_engine_stop(struct tt_plugin_engine *engine)
{
    if (engine->talk) {
        tt_talk_stop(engine->talk);
    } else if (engine->listen) {
        tt_listen_stop(engine->listen);
    }
}

int64_t tt_plugin_engine_delay(const struct tt_plugin_engine *engine)
{
    return engine->talk ? tt_talk_delay(engine->talk) : tt_listen_delay(engine->listen);
}

unsigned tt_plugin_engine_notes(const struct tt_plugin_engine *engine,
                                const struct tt_attachment *attachment)
{
    unsigned notes = attachment->notes;

    if (engine->talk) {
        notes |= tt_talk_notes(engine->talk);
    } else if (engine->listen) {
        notes |= tt_listen_notes(engine->listen);
    }
    return tt_note_causes(notes);
}

void tt_plugin_engine_loss(const struct tt_plugin_engine *engine, unsigned notes,
                           struct tt_loss_line *ret_line)
{
    if (engine->talk) {
        struct tt_talk_counters counters;

        tt_talk_counters(engine->talk, &counters);
        tt_loss_line_talk(&counters, notes, ret_line);
    } else {
        struct tt_listen_counters counters;

        tt_listen_counters(engine->listen, &counters);
        tt_loss_line_listen(&engine->config, &counters, ret_line);
    }
}

int tt_plugin_engine_report(struct tt_plugin_engine *engine, const char *path, unsigned notes)
{
    tt_plugin_engine_stop(engine);
    if (engine->talk) {
        struct tt_talk_counters counters;

        tt_talk_counters(engine->talk, &counters);
        return tt_stream_report_talk(path, &engine->config, &counters,
                                     tt_talk_lateness(engine->talk), tt_talk_log(engine->talk),
                                     notes);
    }
    struct tt_listen_counters counters;

    tt_listen_counters(engine->listen, &counters);
    return tt_stream_report_listen(path, &engine->config, &counters,
                                   tt_listen_lateness(engine->listen),
                                   tt_listen_log(engine->listen), notes);
}
