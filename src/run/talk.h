/*
 * The talker engine: takes frames from a program's buffer and releases PDUs on time.
 *
 * tt_talk_step is the whole loop body and asks only the clock seam for the time, so it runs in
 * virtual time in tests and in a real-time thread of its own (tt_talk_start) in life. One instance
 * per stream.
 *
 * Threads: _new, _write, _start, _drain, _stop, _free and the getters belong to the program;
 * _step to the engine. They share struct tt_device.
 */
#ifndef TT_RUN_TALK_H
#define TT_RUN_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/event.h"
#include "audio/media_grid.h"
#include "audio/pcm.h"
#include "audio/stream_config.h"
#include "base/hist.h"
#include "os/clock.h"
#include "os/link.h"
#include "run/device.h"
#include "run/note.h"

struct tt_talk_counters {
    uint64_t pdus_sent;
    uint64_t pdus_late;    /* sent, more than one PDU interval after due */
    uint64_t pdus_dropped; /* could not meet their presentation time any more */
    uint64_t pdus_refused; /* by the link, or dropped by the kernel after it took them */
    uint64_t frames_sent;
    uint64_t frames_padded; /* silence that filled the last PDU, or stood in for frames that were
                               not there */
    uint64_t xruns;
    uint64_t clock_steps;
    uint64_t launch_missed; /* of pdus_refused: the kernel's reports of a launch time that passed */
    uint64_t launch_invalid; /* its reports of one that it would not take */
    uint64_t launch_unkept; /* no longer in the kernel before their launch time, without a report */
    uint64_t underruns;     /* on_underrun silence: times that the program was too slow … */
    uint64_t frames_inserted; /* … and how much later its frames are for that */
    int64_t lateness_max_ns;  /* departure - due, once a PDU was sent: the worst yet */
};

struct tt_talk_setup {
    const struct tt_stream_config *config; /* complete: format, rate_hz, channels too */
    struct tt_link *link; /* stays the caller's, closed by it after _free; talkers of one engine may
                             share it where it keeps no launch times */
    struct tt_clock *clock;
    struct tt_engine *engine; /* it joins this one, whose clock counts; NULL: one of its own */
    int64_t buffer_frames;
    int64_t release_ns; /* kernel pacing: the qdisc lets go of a packet so long before its launch */
    bool offload;       /* … and the hardware keeps it until then */
    size_t event_capacity; /* of the event log; 0: none */
};

struct tt_talk;

/* 0, -ENOMEM or -errno. */
int tt_talk_new(const struct tt_talk_setup *setup, struct tt_talk **ret_talk);
void tt_talk_free(struct tt_talk *talk);

struct tt_device *tt_talk_device(struct tt_talk *talk);

/* Converts `frames` frames into the buffer at device position `frame` (which wraps inside it) and
 * moves the program's position behind them. The caller keeps to the room there is. */
void tt_talk_write(struct tt_talk *talk, int64_t frame, enum tt_pcm_format format,
                   const struct tt_pcm_area *areas, size_t frames);

/* Stops, and drops what was not sent yet: the buffer is empty, the engine stands at the program's
 * position. */
void tt_talk_prepare(struct tt_talk *talk);
/* From the next start on the stream runs on a followed clock (NULL: on TAI itself), which must be
 * ready by then, outlives the talker, and is written by the engine's thread only. */
void tt_talk_follow(struct tt_talk *talk, const struct tt_media_grid *grid);
/* Starts the media clock: the first frame in the buffer is due about now + time_uncertainty.
 * `thread` false: the caller steps. 0 or -errno. */
int tt_talk_start(struct tt_talk *talk, bool thread);
/* From now on, or from the start on, the end of what was written is the end of the stream, until
 * _prepare. */
void tt_talk_drain(struct tt_talk *talk);
/* Stops and joins; idempotent. What was not sent yet stays in the buffer: _start goes on with it
 * (pause). */
void tt_talk_stop(struct tt_talk *talk);

/* Does what is due and returns the monotonic time of the next step. */
TT_RT int64_t tt_talk_step(struct tt_talk *talk);

/* Frames between what would be written next and what a listener presents now (ALSA's delay), >= 0.
 */
int64_t tt_talk_delay(struct tt_talk *talk);

/* The clock that the stream runs on: the device position of the next PDU, and when that is due. */
void tt_talk_clock(struct tt_talk *talk, int64_t *ret_frame, int64_t *ret_due_tai_ns);

void tt_talk_counters(struct tt_talk *talk, struct tt_talk_counters *ret_counters);
/* After _stop only: departure - due of every PDU (software pacing: when it was handed over;
 * kernel pacing: launch), and the events. */
const struct tt_hist *tt_talk_lateness(const struct tt_talk *talk);
const struct tt_event_log *tt_talk_log(const struct tt_talk *talk);
/* enum tt_note bits. */
unsigned tt_talk_notes(const struct tt_talk *talk);

#endif
