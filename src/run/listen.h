/*
 * The listener engine: takes packets from a link and runs a capture device in the talker's media
 * time.
 *
 * As talk.h: tt_listen_step is the loop body, in virtual time or in a thread of its own. It wakes
 * by the clock alone; arrival stamps are the kernel's, so reading late loses nothing.
 */
#ifndef TT_RUN_LISTEN_H
#define TT_RUN_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/event.h"
#include "audio/listener.h"
#include "audio/pcm.h"
#include "audio/stream_config.h"
#include "os/clock.h"
#include "os/link.h"
#include "run/device.h"
#include "run/note.h"

struct tt_listen_counters {
    struct tt_listener_counters stream;
    uint64_t packets;       /* taken from the link */
    uint64_t receive_drops; /* lost in the socket's buffer */
    uint64_t xruns;
    uint64_t clock_steps;
    int64_t lateness_max_ns;     /* arrival - presentation of stamped PDUs, once there was one: the
                                     worst yet */
    int64_t drift_ppb;           /* of the talker's media clock against TAI */
    struct tt_media_clock clock; /* device position <-> presentation time */
    bool talker_present;
};

struct tt_listen_setup {
    const struct tt_stream_config *config; /* complete */
    struct tt_link *link; /* stays the caller's; an engine's listeners may share it */
    struct tt_clock *clock;
    struct tt_engine *engine; /* it joins this one, whose clock counts; NULL: one of its own */
    int64_t buffer_frames;
    int64_t period_frames; /* the program's; sets how often the engine wakes */
    int64_t horizon_ns; /* how far ahead of its presentation a frame may arrive; 0: the default of 1
                           s */
    size_t event_capacity;
};

struct tt_listen;

int tt_listen_new(const struct tt_listen_setup *setup, struct tt_listen **ret_listen);
void tt_listen_free(struct tt_listen *listen);

struct tt_device *tt_listen_device(struct tt_listen *listen);

/* Converts presented frames from device position `frame` into the program's memory and moves its
 * position behind them. The caller keeps to what is available. */
void tt_listen_read(struct tt_listen *listen, int64_t frame, enum tt_pcm_format format,
                    const struct tt_pcm_area *areas, size_t frames);

/* Stops, and drops what was not read yet: the engine stands at the program's position. */
void tt_listen_prepare(struct tt_listen *listen);
/* Starts the device where it stands; packets that arrived before are dropped, but for
 * tt_engine_hand. `thread` false: the caller steps. 0 or -errno. */
int tt_listen_start(struct tt_listen *listen, bool thread);
/* Stops and joins; idempotent. */
void tt_listen_stop(struct tt_listen *listen);

TT_RT int64_t tt_listen_step(struct tt_listen *listen);

/* Frames that wait to be read: from the program's position to what is being presented now. */
int64_t tt_listen_delay(struct tt_listen *listen);

void tt_listen_counters(struct tt_listen *listen, struct tt_listen_counters *ret_counters);
/* After _stop only: arrival - presentation (negative: in time), and the events. */
const struct tt_hist *tt_listen_lateness(const struct tt_listen *listen);
const struct tt_event_log *tt_listen_log(const struct tt_listen *listen);
unsigned tt_listen_notes(const struct tt_listen *listen);

#endif
