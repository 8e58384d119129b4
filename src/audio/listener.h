/*
 * An AAF listener: PDUs and arrival times become a timeline of frames.
 *
 * Pure. The timeline is a ring of wire frames in the caller's memory, addressed by device position:
 * the frames that a capture device has run through since it first started. Position p is presented
 * at its presentation time + playout_latency; tt_listener_advance moves the device there.
 *
 * Invariants:
 * - The device runs from its start, talker or not; the number of frames always equals the media
 * time that passed. What is missing is silence of its exact length, and is in the event log.
 * - Frames follow the sequence number. A gap is as long as the PDUs missing when sequence and stamp
 * agree (modulo 256 PDUs, the stamp decides). Stamps off by more than ptime_tolerance are counted;
 * eight in a row that agree with each other place the stream anew; where they cannot be met here
 * (past, or beyond the horizon), the stream goes on where it was, and stamps are read relative to
 * that. Eight that do not agree, and uncertain ones, say nothing: the sequence decides alone.
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
#include "audio/headroom.h"
#include "audio/media_clock.h"
#include "audio/stream_config.h"
#include "audio/timeline.h"
#include "base/attr.h"
#include "base/hist.h"

#define TT_LISTENER_RESYNC_STAMPS 8
#define TT_LISTENER_ABSENCE_NS                                                                     \
    INT64_C(1000000000) /* without a PDU for so long, the talker is gone */

struct tt_listener_counters {
    uint64_t pdus;          /* valid PDUs of this stream and talker */
    uint64_t pdus_placed;   /* whose frames stand in the timeline */
    uint64_t frames_lost;   /* presented as silence: missing in the sequence (or came behind later
                               PDUs,   and after their presentation) */
    uint64_t frames_late;   /* presented as silence: arrived in sequence after their presentation */
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
    uint64_t restarts;                     /* mr toggled */
    uint64_t absences;                     /* times that the talker went away */
    uint64_t pdus_other_timescale;         /* presentation makes no sense in our time scale, and
                                              does in the other one (UTC instead of TAI) */
    uint64_t pdus_other_talker;            /* same stream ID from another source address */
    uint64_t pdus_other_format;            /* format, rate or channels do not match */
    uint64_t pdus_refused[TT_AAF_REASONS]; /* by tt_aaf_reason; [TT_AAF_OK] stays 0 */
};

struct tt_listener {
    struct tt_stream_config config;
    struct tt_timeline timeline;
    struct tt_media_clock clock;          /* device position <-> presentation time */
    struct tt_listener_counters counters; /* frames_lost, _late, _absent: see the timeline */
    struct tt_hist lateness; /* arrival - presentation of every stamped PDU; negative is early */
    int64_t start_frame;     /* where the device last started */
    int64_t stamp_offset_ns; /* added to stamps from the wire (a UTC time scale) */
    int64_t other_scale_ns;  /* what another time scale would add to that; 0: none is thought of */

    bool locked;     /* a talker is being followed */
    bool restarting; /* mr toggled: the next stamp places the stream anew */
    bool unsure;     /* after a long pause only a stamp tells how much is missing: */
    bool ever_locked;
    bool certain; /* the talker's stamps were, once since it is followed */
    bool mr;
    int64_t pause_pdus;   /* the pause, until the first PDU behind it is placed … */
    int64_t unsure_frame; /* … here, by arrival and sequence alone */
    uint8_t src[6];       /* the talker's address */
    int64_t last_arrival_tai_ns;
    uint8_t sequence;     /* of the latest PDU in sequence order … */
    int64_t sequence_end; /* … and the position behind it */
    int64_t pdu_frames;

    int64_t jump_ns;             /* added to stamps since the talker's clock jumped out of reach */
    struct tt_headroom headroom; /* of stamps on the timeline */

    unsigned off_stamps; /* in a row, off the timeline … */
    unsigned odd_stamps; /* … and the last of them agreeing with each other; the latest: */
    uint8_t odd_sequence;
    int64_t odd_tai_ns;
};

/* `config` complete (format, rate_hz, channels). `buffer_frames`: how many presented frames stay
 * readable; the rest of the ring is the horizon ahead. `log` may be NULL. 0, or -EINVAL where the
 * memory is too small. */
int tt_listener_init(struct tt_listener *listener, const struct tt_stream_config *config,
                     const struct tt_timeline_memory *memory, int64_t buffer_frames,
                     struct tt_event_log *log);

/* The device starts at `frame` (frames delivered so far): its presentation begins now. */
void tt_listener_start(struct tt_listener *listener, int64_t frame, int64_t now_tai_ns);

/* A packet's AVTPDU (subtype first), its source address and arrival stamp, not after now. PDUs of
 * other streams are ignored. The device moves on to the time of arrival first: what is late does
 * not depend on when we read. */
TT_RT void tt_listener_receive(struct tt_listener *listener, const uint8_t *pdu, size_t bytes,
                               const uint8_t src[6], int64_t arrival_tai_ns);

/* Presents everything due by now (receive first what arrived before now). Returns the device
 * position: frames in [position - buffer_frames, position) may be read. */
TT_RT int64_t tt_listener_advance(struct tt_listener *listener, int64_t now_tai_ns);

/* The device stops: what is still open (frames without a talker) is booked. */
void tt_listener_stop(struct tt_listener *listener, int64_t now_tai_ns);

/* The time at which the device reaches position `frame`. */
TT_RT int64_t tt_listener_presentation(const struct tt_listener *listener, int64_t frame);

/* The local TAI clock stepped by step_ns; the device goes on without a step of its position. */
TT_RT void tt_listener_clock_step(struct tt_listener *listener, int64_t step_ns);

/* The counters with the timeline's among them. */
struct tt_listener_counters tt_listener_counters(const struct tt_listener *listener);

#endif
