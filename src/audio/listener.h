/*
 * An AAF listener: PDUs and arrival times become a timeline of frames.
 *
 * Pure. The timeline is a ring of wire frames in the caller's memory, addressed by device position: the
 * frames that a capture device has run through since it first started. Position p is presented at its
 * presentation time + playout_latency; tt_listener_advance moves the device there.
 *
 * Invariants:
 * - The device runs from its start, talker or not; the number of frames always equals the media time
 *   that passed. What is missing is silence of its exact length, and is in the event log.
 * - Frames follow the sequence number. A gap is as long as the PDUs missing when sequence and stamp agree
 *   (modulo 256 PDUs, the stamp decides). Stamps off by more than ptime_tolerance are counted; eight in a
 *   row that agree with each other place the stream anew.
 * - The media rate is followed, never assumed.
 * - A PDU is late when its arrival stamp, not our reading, is after its presentation.
 * Source: IEEE 1722-2016, 7.3 and 4.4.4.
 */
#ifndef TT_AUDIO_LISTENER_H
#define TT_AUDIO_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"
#include "audio/event.h"
#include "audio/media_clock.h"
#include "audio/stream_config.h"
#include "base/attr.h"
#include "base/hist.h"

#define TT_LISTENER_RESYNC_STAMPS 8

struct tt_listener_counters {
    uint64_t pdus;          /* valid PDUs of this stream and talker */
    uint64_t pdus_placed;   /* whose frames stand in the timeline */
    uint64_t frames_lost;   /* presented as silence: never arrived */
    uint64_t frames_late;   /* presented as silence: arrived after presentation */
    uint64_t frames_absent; /* presented as silence: no talker */
    uint64_t pdus_late;
    uint64_t pdus_duplicate;
    uint64_t pdus_reordered; /* came behind a later one and were put in place */
    uint64_t pdus_unplaced;  /* sequence and stamp disagreed, before a resynchronisation */
    uint64_t pdus_early;     /* presentation beyond the timeline's horizon */
    uint64_t pdus_unstamped; /* no valid stamp where one was due */
    uint64_t pdus_uncertain; /* tu was set */
    uint64_t stamps_off;     /* beyond ptime_tolerance, frames placed by sequence */
    uint64_t resyncs;
    uint64_t restarts; /* mr toggled */
    uint64_t pdus_other_talker;  /* same stream ID from another source address */
    uint64_t pdus_other_format;  /* format, rate, channels or depth do not match */
    uint64_t pdus_refused[TT_AAF_REASONS]; /* by tt_aaf_reason; [TT_AAF_OK] stays 0 */
};

/* A run of frames of the timeline for which nothing has arrived (yet). */
struct tt_hole {
    int64_t frame;
    int64_t end;
    enum tt_event_kind kind;
};

struct tt_listener_memory {
    uint8_t *ring; /* ring_frames x wire frame bytes */
    int64_t ring_frames;
    struct tt_hole *holes;
    size_t hole_capacity;
};

struct tt_listener {
    struct tt_stream_config config;
    struct tt_listener_memory memory;
    struct tt_event_log *log;
    struct tt_listener_counters counters;
    struct tt_hist lateness; /* arrival - presentation of every stamped PDU; negative is early */

    size_t frame_bytes;
    int64_t horizon_frames; /* how far ahead of the device a frame may be placed */
    int64_t stamp_offset_ns; /* added to stamps from the wire (a UTC time scale) */

    struct tt_media_clock clock; /* device position <-> presentation time */
    int64_t device;              /* frames presented so far */
    int64_t filled;              /* end of what is placed; holes lie before it */
    size_t hole_count;           /* sorted by position */

    bool locked;             /* a talker is being followed */
    uint8_t src[6];          /* its address */
    int64_t last_arrival_tai_ns;
    uint8_t sequence;        /* of the latest PDU in sequence order … */
    int64_t sequence_end;    /* … and the position behind it */
    size_t pdu_frames;
    bool mr;
    unsigned odd_stamps;     /* in a row, off the timeline and agreeing with each other */
    uint8_t odd_sequence;
    int64_t odd_frame;
    int64_t odd_tai_ns;
};

/* `config` complete (format, rate_hz, channels). `buffer_frames`: how many presented frames stay
 * readable; the rest of the ring is the horizon ahead. `log` may be NULL. 0, or -EINVAL where the memory
 * is too small (ring_frames > buffer_frames, at least one hole). */
int tt_listener_init(struct tt_listener *listener, const struct tt_stream_config *config,
                     const struct tt_listener_memory *memory, int64_t buffer_frames,
                     struct tt_event_log *log);

/* The device starts at `frame` (frames delivered so far): its presentation begins now. */
void tt_listener_start(struct tt_listener *listener, int64_t frame, int64_t now_tai_ns);

/* A packet's AVTPDU (subtype first), its source address and arrival stamp. PDUs of other streams are
 * ignored. */
TT_RT void tt_listener_receive(struct tt_listener *listener, const uint8_t *pdu, size_t bytes,
                               const uint8_t src[6], int64_t arrival_tai_ns);

/* Presents everything due by now (receive first what arrived before now). Returns the device position:
 * frames in [position - buffer_frames, position) may be read. */
TT_RT int64_t tt_listener_advance(struct tt_listener *listener, int64_t now_tai_ns);

/* The longest run of presented frames from `frame` without a wrap of the ring: at most *ret_frames = up
 * to `end`. */
const uint8_t *tt_listener_frames(const struct tt_listener *listener, int64_t frame, int64_t end,
                                  int64_t *ret_frames);

/* The time at which position `frame` is presented. */
TT_RT int64_t tt_listener_presentation(const struct tt_listener *listener, int64_t frame);

/* The local TAI clock stepped by step_ns; the device goes on without a step of its position. */
TT_RT void tt_listener_clock_step(struct tt_listener *listener, int64_t step_ns);

#endif
