/*
 * An engine's thread: steps until it is told to stop, asleep in between.
 */
#ifndef TT_RUN_THREAD_H
#define TT_RUN_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/clock.h"
#include "os/thread.h"

struct tt_engine_thread {
    struct tt_thread thread;
    struct tt_clock *clock;
    int64_t (*step)(void *engine); /* returns the monotonic time of the next one */
    bool (*behind)(void *engine);  /* then a real-time thread does not sleep; NULL: it always may */
    void *engine;
    atomic_bool quit;
};

/* 0 or -errno. */
int tt_engine_thread_start(struct tt_engine_thread *thread, struct tt_clock *clock,
                           int64_t (*step)(void *engine), bool (*behind)(void *engine),
                           void *engine);
/* Joins; nothing where it does not run. */
void tt_engine_thread_stop(struct tt_engine_thread *thread);

#endif
