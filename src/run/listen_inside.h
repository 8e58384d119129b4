/*
 * What the listener's files and the engine share; nobody else includes it.
 *
 * listen.c is the program's side; listen_step.c what a step does for one listener, on the engine's
 * thread: no lock and no allocation. run/engine.c drives any number of listeners through it.
 */
#ifndef TT_RUN_LISTEN_INSIDE_H
#define TT_RUN_LISTEN_INSIDE_H

#include "audio/listener.h"
#include "base/counters.h"
#include "run/engine.h"
#include "run/listen.h"

struct tt_listen {
    struct tt_device device;
    struct tt_stream_config config;
    struct tt_engine *engine;
    bool owns_engine;
    const struct tt_timebase *timebase; /* the engine's */
    struct tt_listener listener;
    int64_t start_tai_ns; /* what arrived before is not for this run */
    int64_t next_tai_ns;  /* when there is something to do again */
    struct tt_timeline_memory memory;
    int64_t wake_interval_ns;
    size_t frame_bytes;
    atomic_uint notes;

    struct tt_seqlock lock;
    struct tt_listen_counters shared;
    struct tt_listen_counters live;
    struct tt_event_log log;
};

/* The offset of the stamps; it may change when the clock steps. */
void tt_listen_read_tai_offset(struct tt_listen *listen);
/* TAI stepped: the timeline steps with it. */
TT_RT void tt_listen_clock_step(struct tt_listen *listen, int64_t step_ns, int64_t now_tai_ns);

/* The device runs from now on. */
void tt_listen_begin(struct tt_listen *listen, int64_t now_tai_ns);
/* The engine has stopped; what arrived up to done_tai_ns was taken. */
void tt_listen_end(struct tt_listen *listen, int64_t done_tai_ns);

/* Whether the device runs; only then: */
TT_RT bool tt_listen_runs(const struct tt_listen *listen);
/* A packet of the link; others' are ignored. */
TT_RT void tt_listen_take(struct tt_listen *listen, const struct tt_link_packet *packet,
                          int64_t now_tai_ns);
/* All that arrived up to done_tai_ns <= now was taken, and the link's socket had lost `drops`:
 * presents, publishes, wakes the program, and sets next_tai_ns. */
TT_RT void tt_listen_conclude(struct tt_listen *listen, int64_t now_tai_ns, int64_t done_tai_ns,
                              uint64_t drops);
/* The link's interface is gone: so is the device. */
TT_RT void tt_listen_lose_link(struct tt_listen *listen);

#endif
