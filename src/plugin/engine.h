/*
 * A talker or a listener behind one face, for the ioplug callbacks, and the report of what it did.
 */
#ifndef TT_PLUGIN_ENGINE_H
#define TT_PLUGIN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/pcm.h"
#include "audio/stream_config.h"
#include "report/loss_line.h"
#include "run/attach.h"
#include "run/listen.h"
#include "run/talk.h"

struct tt_plugin_engine {
    struct tt_talk *talk;     /* playback, … */
    struct tt_listen *listen; /* … or capture */
    struct tt_device *device;
    struct tt_stream_config config; /* complete */
    int64_t buffer_frames;
    int64_t period_frames;
    bool started; /* at least once */
};

/* `config` complete; what `attachment` holds stays the caller's. Owns talk or listen. 0 or -errno.
 */
int tt_plugin_engine_new(const struct tt_plugin_engine *shape, enum tt_role role,
                         const struct tt_attachment *attachment,
                         struct tt_plugin_engine *ret_engine);
/* Stops it; nothing where there is none. */
void tt_plugin_engine_done(struct tt_plugin_engine *engine);
/* For a forked child: forgets the engine, whose thread is the parent's and was somewhere in a step.
 * Closes what is the child's own; the memory stays as it is, a copy that nobody touches. */
void tt_plugin_engine_abandon(struct tt_plugin_engine *engine);

/* Whether there is one, of this shape. */
bool tt_plugin_engine_is(const struct tt_plugin_engine *engine,
                         const struct tt_plugin_engine *shape);
/* Stops it and drops what the program has not read, or what was not sent yet. */
void tt_plugin_engine_prepare(struct tt_plugin_engine *engine);
int tt_plugin_engine_start(struct tt_plugin_engine *engine);
void tt_plugin_engine_stop(struct tt_plugin_engine *engine);
/* Frames between the program and what is presented now. */
int64_t tt_plugin_engine_delay(const struct tt_plugin_engine *engine);
/* Of the link and of the engine: enum tt_note. */
unsigned tt_plugin_engine_notes(const struct tt_plugin_engine *engine,
                                const struct tt_attachment *attachment);
/* What was lost, for people. */
void tt_plugin_engine_loss(const struct tt_plugin_engine *engine, unsigned notes,
                           struct tt_loss_line *ret_line);
/* Stops it and writes what happened to `path`. 0 or -errno. */
int tt_plugin_engine_report(struct tt_plugin_engine *engine, const char *path, unsigned notes);

#endif
