/*
 * The thread that keeps the buffers of all streams full, or empty. It is not real-time and may be
 * held up by a slow disk; the engines' threads never wait for it.
 */
#ifndef TT_CLI_FEEDER_H
#define TT_CLI_FEEDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/stream.h"
#include "os/thread.h"

struct tt_feeder {
    struct tt_stream *streams; /* open */
    size_t count;
    struct tt_stream_group *group; /* of those whose shape is known */
    int64_t first_ready_mono_ns;   /* 0: none is yet */
    atomic_bool quit;
    atomic_bool done;             /* all streams have ended */
    atomic_uint_least64_t rounds; /* grows while it is not held up */
    struct tt_thread thread;
};

/* 0 or -errno. */
int tt_feeder_start(struct tt_feeder *feeder);
/* All streams finish, and it ends; at most `patience_ns` is waited for that. False: it is held up,
 * and nothing that it uses may be put away. */
bool tt_feeder_stop(struct tt_feeder *feeder, int64_t patience_ns);

#endif
