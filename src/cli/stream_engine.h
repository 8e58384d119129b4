/*
 * Engines and links, as the commands use them: this is the one place where they are made, started
 * and stopped.
 *
 * A group is one engine (run/engine): one thread of all its streams. Its streams share links as far
 * as they can: talkers of one interface and priority, and listeners of one interface. They come
 * before it starts.
 */
#ifndef TT_CLI_STREAM_ENGINE_H
#define TT_CLI_STREAM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "run/attach.h"
#include "run/engine.h"
#include "run/listen.h"
#include "run/talk.h"

struct tt_stream_group_link;

struct tt_stream_group {
    struct tt_engine *engine;
    unsigned streams; /* how many there will be */
    bool started;
    struct tt_stream_group_link *links; /* owned */
};

/* Its real-time work is done on processor `cpu`; -1: any. 0 or -ENOMEM. */
int tt_stream_group_init(struct tt_stream_group *group, unsigned streams, int cpu);
/* Once the engines of its streams are done. */
void tt_stream_group_done(struct tt_stream_group *group);
/* A link for the stream; it stays the group's. 0 or -errno with *ret_message. */
int tt_stream_group_attach(struct tt_stream_group *group, const struct tt_stream_config *config,
                           enum tt_role role, struct tt_attachment *ret_attachment,
                           struct tt_message *ret_message);
/* All its streams. 0 or -errno (-EINVAL: there is no such processor). */
int tt_stream_group_start(struct tt_stream_group *group);
/* Idempotent. */
void tt_stream_group_stop(struct tt_stream_group *group);

struct tt_stream_engine {
    struct tt_talk *talk;     /* either this … */
    struct tt_listen *listen; /* … or that; neither before _new */
    struct tt_device *device;
};

struct tt_stream_engine_setup {
    enum tt_role role;
    const struct tt_stream_config *config; /* complete */
    const struct tt_attachment *attachment;
    const struct tt_stream_group *group;
    int64_t buffer_frames;
    size_t event_capacity;
};

/* 0 or -errno. */
int tt_stream_engine_new(const struct tt_stream_engine_setup *setup,
                         struct tt_stream_engine *ret_engine);
/* This one stream ends, whatever the others of its group do. */
void tt_stream_engine_leave(struct tt_stream_engine *engine);
/* Its group does not run. Nothing where there is none. */
void tt_stream_engine_done(struct tt_stream_engine *engine);

/* enum tt_note bits. */
unsigned tt_stream_engine_notes(const struct tt_stream_engine *engine);
/* While its group does not run; NULL where there is no engine. */
const struct tt_hist *tt_stream_engine_lateness(const struct tt_stream_engine *engine);
const struct tt_event_log *tt_stream_engine_log(const struct tt_stream_engine *engine);

#endif
