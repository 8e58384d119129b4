/*
 * The engine: one thread, one clock and one batch for all the streams of a process.
 *
 * A wake-up sends what is due of every talker, in the order in which it is due, and takes what has
 * come for every listener of the interface's socket. Talkers that start together share a grid, so
 * that those of one rate share their wake-ups. tt_engine_step is the whole loop body and asks only
 * the clock seam for the time: it runs in virtual time in tests and in a real-time thread in life.
 *
 * A talker or listener of its own (struct tt_talk_setup without an engine) has an engine of one.
 *
 * Threads: all but _step belong to the program; streams come (tt_talk_new, tt_listen_new) and go
 * while it is stopped.
 */
#ifndef TT_RUN_ENGINE_H
#define TT_RUN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/timebase.h"
#include "os/clock.h"
#include "os/link.h"

struct tt_clock_in;
struct tt_clock_out;
struct tt_engine;
struct tt_talk;
struct tt_listen;

struct tt_engine_counters {
    uint64_t steps;
    uint64_t receive_calls; /* of the links' receive, which returns up to TT_LINK_BATCH packets */
    uint64_t send_calls;    /* of batches, each of up to TT_LINK_BATCH packets of one link */
    uint64_t packets_other; /* received, and for no listener here */
};

/* 0 or -ENOMEM. */
int tt_engine_new(struct tt_clock *clock, struct tt_engine **ret_engine);
/* Its streams are freed first. NULL is fine. */
void tt_engine_free(struct tt_engine *engine);

/* The thread's processor from the next start on; -1: any. */
void tt_engine_set_cpu(struct tt_engine *engine, int cpu);

/* While it is stopped: all its talkers run on this clock (NULL: on TAI), and begin to send once it
 * has locked. What holds for it holds for them: without its master, or with one that is uncertain
 * by its own word, they carry tu, and say so (TT_NOTE_MASTER_LOST, TT_NOTE_MASTER_UNCERTAIN). It
 * outlives the engine. */
void tt_engine_follow(struct tt_engine *engine, struct tt_clock_in *in);
/* While it is stopped: it tells its clock to others (NULL: it does not), which begins with the
 * talkers. It outlives the engine. */
void tt_engine_tell(struct tt_engine *engine, struct tt_clock_out *out);

/* While it is stopped: a packet that was taken from its listeners' link, such as the one that told
 * what the stream is. At the next start they begin when it arrived, and get it and all that the
 * link holds since. 0 or -ENOMEM. */
int tt_engine_hand(struct tt_engine *engine, struct tt_link *link,
                   const struct tt_link_packet *packet);

/* Starts all its streams at one time, each as tt_talk_start and tt_listen_start say. `thread`
 * false: the caller steps. 0 or -errno (-EINVAL: there is no such processor). */
int tt_engine_start(struct tt_engine *engine, bool thread);
/* Stops and joins; idempotent. */
void tt_engine_stop(struct tt_engine *engine);

/* Does what is due and returns the monotonic time of the next step. */
TT_RT int64_t tt_engine_step(struct tt_engine *engine);

/* After _stop, or from the stepping thread. */
struct tt_engine_counters tt_engine_counters(const struct tt_engine *engine);

/* ---- for its streams ---- */

/* Joins; the link may be shared with others of its kind. 0 or -ENOMEM. */
int tt_engine_add_talk(struct tt_engine *engine, struct tt_talk *talk, size_t packet_bytes);
int tt_engine_add_listen(struct tt_engine *engine, struct tt_listen *listen, struct tt_link *link,
                         uint64_t stream_id);
/* Leaves; nothing where it is not in. */
void tt_engine_remove_talk(struct tt_engine *engine, const struct tt_talk *talk);
void tt_engine_remove_listen(struct tt_engine *engine, const struct tt_listen *listen);

const struct tt_timebase *tt_engine_timebase(const struct tt_engine *engine);
/* The monotonic time (any thread) … */
int64_t tt_engine_mono(const struct tt_engine *engine);
/* … and the same in TAI by the followed offset (the engine's thread). */
int64_t tt_engine_tai(const struct tt_engine *engine);
int tt_engine_tai_offset(const struct tt_engine *engine);
/* The clocks as they are. */
TT_RT void tt_engine_read(const struct tt_engine *engine, struct tt_clock_reading *ret_reading);

#endif
