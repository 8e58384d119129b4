/*
 * The listener's timeline: a ring of wire frames addressed by device position, with holes.
 *
 * [device - buffer, device) is presented and may be read, [device, filled) holds what has been
 * placed and the holes in it, up to `horizon` frames ahead of the device. Frames of a hole are zero
 * (silence, in every PCM format), and where it is asked for their edges fade when they are
 * presented. Where the device runs beyond `filled`, frames are silence whose reason is still open:
 * it is known when the next PDU comes, or does not.
 *
 * Invariants: holes are sorted, disjoint, and lie in [device, filled); every frame presented as
 * silence is booked exactly once, with a reason; a frame that was placed is never changed.
 */
#ifndef TT_AUDIO_TIMELINE_H
#define TT_AUDIO_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "audio/event.h"
#include "audio/fade.h"
#include "base/attr.h"

struct tt_hole {
    int64_t frame;
    int64_t end;
    enum tt_event_kind kind; /* TT_EVENT_LOST or TT_EVENT_ABSENT */
};

struct tt_timeline_memory {
    uint8_t *ring; /* ring_frames x wire frame bytes */
    int64_t ring_frames;
    struct tt_hole *holes; /* half as many as PDUs fit the horizon are always enough */
    size_t hole_capacity;
};

struct tt_timeline {
    struct tt_timeline_memory memory;
    struct tt_event_log *log; /* may be NULL */
    size_t frame_bytes;
    int64_t horizon_frames;
    struct tt_fade fade; /* may be set after init; ramps not longer than the buffer */
    int64_t device;
    int64_t filled;
    int64_t
        heard; /* behind the last placed frame that was presented; INT64_MIN: none since start */
    size_t hole_count;
    uint64_t silent[TT_EVENT_KINDS]; /* frames booked as silence: LOST, LATE, ABSENT */
};

enum tt_placed {
    TT_PLACED,           /* all or part of it stands in the timeline */
    TT_PLACED_REORDERED, /* it filled a hole */
    TT_PLACED_DUPLICATE, /* its place was taken */
    TT_PLACED_LATE,      /* all of it, or its start, had been presented */
    TT_PLACED_EARLY,     /* beyond the horizon */
};

/* 0, or -EINVAL where the memory is too small for the buffer. */
int tt_timeline_init(struct tt_timeline *timeline, const struct tt_timeline_memory *memory,
                     size_t frame_bytes, int64_t buffer_frames, struct tt_event_log *log);

/* Empties it: the device stands at `frame`. */
void tt_timeline_start(struct tt_timeline *timeline, int64_t frame);

/* The device moves on to `device` (nothing where that is behind). */
TT_RT void tt_timeline_advance(struct tt_timeline *timeline, int64_t device, int64_t now_tai_ns);

/* Puts `frames` frames at `frame`. What is skipped before them becomes a hole of `gap`. */
TT_RT enum tt_placed tt_timeline_place(struct tt_timeline *timeline, int64_t frame, int64_t frames,
                                       const uint8_t *payload, enum tt_event_kind gap,
                                       int64_t now_tai_ns);

/* Forgets what was placed from `frame` on and not presented yet. */
TT_RT void tt_timeline_truncate(struct tt_timeline *timeline, int64_t frame);

/* What was placed from `frame` on and is not presented yet belongs `shift` frames later, or
 * (negative) earlier, by at least its length. The place that it leaves becomes a hole of
 * TT_EVENT_LOST, or the end. */
TT_RT void tt_timeline_shift(struct tt_timeline *timeline, int64_t frame, int64_t shift,
                             int64_t now_tai_ns);

/* Books the silence between `filled` and the device as `kind`. */
TT_RT void tt_timeline_close(struct tt_timeline *timeline, enum tt_event_kind kind,
                             int64_t now_tai_ns);

/* The longest run from `frame` up to `end` that does not wrap. */
const uint8_t *tt_timeline_frames(const struct tt_timeline *timeline, int64_t frame, int64_t end,
                                  int64_t *ret_frames);

#endif
