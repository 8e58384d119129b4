/*
 * The engine of one stream, as the commands use it: this is the one place where they make, start
 * and stop engines.
 */
#ifndef TT_CLI_STREAM_ENGINE_H
#define TT_CLI_STREAM_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "run/attach.h"
#include "run/listen.h"
#include "run/talk.h"

struct tt_stream_engine {
    struct tt_talk *talk;     /* either this … */
    struct tt_listen *listen; /* … or that; neither before _new */
    struct tt_device *device;
};

struct tt_stream_engine_setup {
    enum tt_role role;
    const struct tt_stream_config *config; /* complete */
    const struct tt_attachment *attachment;
    int64_t buffer_frames;
    size_t event_capacity;
};

/* 0 or -errno. */
int tt_stream_engine_new(const struct tt_stream_engine_setup *setup,
                         struct tt_stream_engine *ret_engine);
/* Its real-time work is done on processor `cpu`; -1: any. 0 or -errno. */
int tt_stream_engine_start(struct tt_stream_engine *engine, int cpu);
/* Both: nothing where there is none. */
void tt_stream_engine_stop(struct tt_stream_engine *engine);
void tt_stream_engine_done(struct tt_stream_engine *engine);

/* enum tt_note bits. */
unsigned tt_stream_engine_notes(const struct tt_stream_engine *engine);
/* After _stop only; NULL where there is no engine. */
const struct tt_hist *tt_stream_engine_lateness(const struct tt_stream_engine *engine);
const struct tt_event_log *tt_stream_engine_log(const struct tt_stream_engine *engine);

#endif
