/*
 * An engine's thread: steps until it is told to stop, asleep in between.
 *
 * A wake-up comes late, by about the same every time. Where the next step has to be on time, a
 * thread with real-time priority sleeps that much shorter, and waits out awake what is left: it
 * costs a few us of CPU a step, and takes the usual lateness of a wake-up out of what the engine
 * does.
 */
#ifndef TT_RUN_THREAD_H
#define TT_RUN_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/clock.h"
#include "base/attr.h"
#include "os/thread.h"

/* How to wait for a step. */
enum tt_wait {
    TT_WAIT_ASLEEP,   /* a late one loses nothing */
    TT_WAIT_ON_TIME,  /* see above */
    TT_WAIT_CATCH_UP, /* steps come too close for sleep: hardly any */
};

/* How late wake-ups come: their median, approached in steps, so that a rare long one counts no more
 * than any other. */
struct tt_wake_lateness {
    int64_t median_ns; /* 0 … TT_WAKE_LATENESS_MAX_NS */
};

#define TT_WAKE_LATENESS_MAX_NS INT64_C(30000)

TT_RT void tt_wake_lateness_add(struct tt_wake_lateness *lateness, int64_t late_ns);

struct tt_engine_thread {
    struct tt_thread thread;
    struct tt_clock *clock;
    int64_t (*step)(void *engine); /* returns the monotonic time of the next one */
    enum tt_wait (*wait)(void *engine);
    void *engine;
    struct tt_wake_lateness lateness;
    atomic_bool quit;
};

/* 0 or -errno. */
int tt_engine_thread_start(struct tt_engine_thread *thread, struct tt_clock *clock,
                           int64_t (*step)(void *engine), enum tt_wait (*wait)(void *engine),
                           void *engine);
/* Joins; nothing where it does not run. */
void tt_engine_thread_stop(struct tt_engine_thread *thread);

#endif
