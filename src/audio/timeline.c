/*
 * See timeline.h.
 */
#include "audio/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/min_max.h"

int tt_timeline_init(struct tt_timeline *timeline, const struct tt_timeline_memory *memory,
                     size_t frame_bytes, int64_t buffer_frames, struct tt_event_log *log)
{
    if (memory->ring_frames <= buffer_frames || memory->hole_capacity < 1 || frame_bytes < 1) {
        return -EINVAL;
    }
    memset(timeline, 0, sizeof *timeline);
    timeline->memory = *memory;
    timeline->log = log;
    timeline->frame_bytes = frame_bytes;
    timeline->horizon_frames = memory->ring_frames - buffer_frames;
    return 0;
}

void tt_timeline_start(struct tt_timeline *timeline, int64_t frame)
{
    timeline->device = frame;
    timeline->filled = frame;
    timeline->heard = INT64_MIN;
    timeline->hole_count = 0;
}

const uint8_t *tt_timeline_frames(const struct tt_timeline *timeline, int64_t frame, int64_t end,
                                  int64_t *ret_frames)
{
    int64_t index = frame % timeline->memory.ring_frames;

    *ret_frames = tt_min64(end - frame, timeline->memory.ring_frames - index);
    return timeline->memory.ring + (size_t)index * timeline->frame_bytes;
}

static uint8_t *frame_at(const struct tt_timeline *timeline, int64_t frame)
{
    return timeline->memory.ring +
           (size_t)(frame % timeline->memory.ring_frames) * timeline->frame_bytes;
}

/* Copies `payload` (NULL: silence) to [frame, end). */
static void write_frames(struct tt_timeline *timeline, int64_t frame, int64_t end,
                         const uint8_t *payload)
{
    /* A stall may ask for more silence than the ring holds: once around is all of it. */
    frame = tt_max64(frame, end - timeline->memory.ring_frames);
    while (frame < end) {
        int64_t index = frame % timeline->memory.ring_frames;
        int64_t frames = tt_min64(end - frame, timeline->memory.ring_frames - index);
        size_t bytes = (size_t)frames * timeline->frame_bytes;
        uint8_t *to = timeline->memory.ring + (size_t)index * timeline->frame_bytes;

        if (payload) {
            memcpy(to, payload, bytes);
            payload += bytes;
        } else {
            memset(to, 0, bytes);
        }
        frame += frames;
    }
}

static void book(struct tt_timeline *timeline, enum tt_event_kind kind, int64_t frame, int64_t end,
                 int64_t now_tai_ns)
{
    if (frame >= end) {
        return;
    }
    timeline->silent[kind] += (uint64_t)(end - frame);
    if (timeline->log) {
        tt_event_log_add(timeline->log, (struct tt_event){.kind = kind,
                                                          .frame = frame,
                                                          .frames = end - frame,
                                                          .time_tai_ns = now_tai_ns});
    }
}

static void remove_hole(struct tt_timeline *timeline, size_t i)
{
    timeline->hole_count--;
    memmove(timeline->memory.holes + i, timeline->memory.holes + i + 1,
            (timeline->hole_count - i) * sizeof *timeline->memory.holes);
}

static void insert_hole(struct tt_timeline *timeline, size_t i, struct tt_hole hole,
                        int64_t now_tai_ns)
{
    if (timeline->hole_count == timeline->memory.hole_capacity) {
        book(timeline, hole.kind, hole.frame, hole.end, now_tai_ns); /* can no longer be repaired */
        return;
    }
    memmove(timeline->memory.holes + i + 1, timeline->memory.holes + i,
            (timeline->hole_count - i) * sizeof *timeline->memory.holes);
    timeline->memory.holes[i] = hole;
    timeline->hole_count++;
}

/* [frame, end) is presented, and missing; `next` is where the timeline goes on (INT64_MAX: not
 * known). */
static void soften(struct tt_timeline *timeline, int64_t frame, int64_t end, int64_t next)
{
    int64_t ramp = timeline->fade.ramp_frames;
    int64_t heard = timeline->heard;
    bool has_last = heard != INT64_MIN;
    bool has_next = next != INT64_MAX;
    int64_t silence = has_last ? heard + ramp : INT64_MIN; /* up to … */
    int64_t rise = has_next ? next - ramp : INT64_MAX;

    for (int64_t f = frame; f < end; f++) {
        if (f >= silence && f < rise) {
            f = rise - 1;
            continue;
        }
        tt_fade_frame(&timeline->fade,
                      &(struct tt_fade_edges){
                          .last = has_last ? frame_at(timeline, heard - 1) : NULL,
                          .next = has_next ? frame_at(timeline, next) : NULL,
                          .since_last = has_last ? f - heard + 1 : 0,
                          .until_next = has_next ? next - f : 0,
                      },
                      frame_at(timeline, f));
    }
}

/* Where the timeline goes on behind hole i; INT64_MAX: nothing stands there. */
static int64_t next_placed(const struct tt_timeline *timeline, size_t i)
{
    const struct tt_hole *holes = timeline->memory.holes;

    while (i + 1 < timeline->hole_count && holes[i + 1].frame == holes[i].end) {
        i++;
    }
    return holes[i].end < timeline->filled ? holes[i].end : INT64_MAX;
}

/* What is missing between the device and `device`: silence, and its edges. A stall longer than the
 * ring leaves silence alone: the last frame is overwritten before it is held. */
static void soften_missing(struct tt_timeline *timeline, int64_t device)
{
    int64_t cursor = timeline->device;

    for (size_t i = 0; i < timeline->hole_count && timeline->memory.holes[i].frame < device; i++) {
        const struct tt_hole *hole = &timeline->memory.holes[i];

        if (hole->frame > cursor) {
            timeline->heard = hole->frame;
        }
        cursor = tt_min64(hole->end, device);
        soften(timeline, hole->frame, cursor, next_placed(timeline, i));
    }
    if (tt_min64(timeline->filled, device) > cursor) {
        cursor = tt_min64(timeline->filled, device);
        timeline->heard = cursor;
    }
    write_frames(timeline, cursor, device, NULL);
    soften(timeline, cursor, device, INT64_MAX);
}

void tt_timeline_advance(struct tt_timeline *timeline, int64_t device, int64_t now_tai_ns)
{
    size_t passed = 0;

    if (device <= timeline->device) {
        return;
    }
    soften_missing(timeline, device);
    while (passed < timeline->hole_count && timeline->memory.holes[passed].frame < device) {
        struct tt_hole *hole = &timeline->memory.holes[passed];

        book(timeline, hole->kind, hole->frame, tt_min64(hole->end, device), now_tai_ns);
        if (hole->end > device) {
            hole->frame = device;
            break;
        }
        passed++;
    }
    timeline->hole_count -= passed;
    memmove(timeline->memory.holes, timeline->memory.holes + passed,
            timeline->hole_count * sizeof *timeline->memory.holes);
    timeline->device = device;
}

void tt_timeline_close(struct tt_timeline *timeline, enum tt_event_kind kind, int64_t now_tai_ns)
{
    book(timeline, kind, timeline->filled, timeline->device, now_tai_ns);
    timeline->filled = tt_max64(timeline->filled, timeline->device);
}

void tt_timeline_truncate(struct tt_timeline *timeline, int64_t frame)
{
    int64_t keep = tt_max64(frame, timeline->device);
    size_t n = timeline->hole_count;

    if (timeline->filled <= keep) {
        return;
    }
    while (n > 0 && timeline->memory.holes[n - 1].frame >= keep) {
        n--;
    }
    timeline->hole_count = n;
    if (n > 0 && timeline->memory.holes[n - 1].end > keep) {
        timeline->memory.holes[n - 1].end = keep;
    }
    timeline->filled = keep;
}

/* Copies those parts of [frame, end) that are holes (and so not presented yet); returns how many
 * frames that were. */
static int64_t fill_holes(struct tt_timeline *timeline, int64_t frame, int64_t end,
                          const uint8_t *payload, int64_t now_tai_ns)
{
    int64_t filled = 0;

    for (size_t i = 0; i < timeline->hole_count && timeline->memory.holes[i].frame < end;) {
        struct tt_hole hole = timeline->memory.holes[i];
        int64_t from = tt_max64(hole.frame, frame);
        int64_t to = tt_min64(hole.end, end);

        if (from >= to) {
            i++;
            continue;
        }
        write_frames(timeline, from, to, payload + (size_t)(from - frame) * timeline->frame_bytes);
        filled += to - from;
        remove_hole(timeline, i);
        if (hole.frame < from) {
            insert_hole(timeline, i++, (struct tt_hole){hole.frame, from, hole.kind}, now_tai_ns);
        }
        if (to < hole.end) {
            insert_hole(timeline, i++, (struct tt_hole){to, hole.end, hole.kind}, now_tai_ns);
        }
    }
    return filled;
}

/* The part of the timeline behind `filled` up to the PDU is a gap; what the device has passed of it
 * is booked at once. */
static void open_gap(struct tt_timeline *timeline, int64_t frame, enum tt_event_kind gap,
                     int64_t now_tai_ns)
{
    int64_t passed = tt_min64(frame, timeline->device);
    int64_t start = tt_max64(timeline->filled, timeline->device);

    book(timeline, gap, timeline->filled, passed, now_tai_ns);
    if (start < frame) {
        write_frames(timeline, start, frame, NULL);
        insert_hole(timeline, timeline->hole_count, (struct tt_hole){start, frame, gap},
                    now_tai_ns);
    }
    timeline->filled = tt_max64(timeline->filled, frame);
}

enum tt_placed tt_timeline_place(struct tt_timeline *timeline, int64_t frame, int64_t frames,
                                 const uint8_t *payload, enum tt_event_kind gap, int64_t now_tai_ns)
{
    int64_t end = frame + frames;
    int64_t behind = timeline->filled; /* what lies before this is a hole or taken */
    int64_t start;
    int64_t repaired = 0;

    if (end > timeline->device + timeline->horizon_frames) {
        return TT_PLACED_EARLY;
    }
    if (frame > timeline->filled) {
        open_gap(timeline, frame, gap, now_tai_ns);
    }
    if (frame < behind) {
        repaired = fill_holes(timeline, frame, tt_min64(end, behind), payload, now_tai_ns);
    }
    if (end > timeline->filled) {
        book(timeline, TT_EVENT_LATE, timeline->filled, tt_min64(end, timeline->device),
             now_tai_ns);
        start = tt_max64(timeline->filled, timeline->device);
        if (start < end) {
            write_frames(timeline, start, end,
                         payload + (size_t)(start - frame) * timeline->frame_bytes);
        }
        timeline->filled = end;
    } else if (repaired == 0) {
        return frame < timeline->device ? TT_PLACED_LATE : TT_PLACED_DUPLICATE;
    }
    if (frame < timeline->device) {
        return TT_PLACED_LATE;
    }
    return repaired > 0 ? TT_PLACED_REORDERED : TT_PLACED;
}

static void copy_frames(struct tt_timeline *timeline, int64_t frame, int64_t end, int64_t shift,
                        int64_t now_tai_ns)
{
    while (frame < end) {
        int64_t frames;
        const uint8_t *payload = tt_timeline_frames(timeline, frame, end, &frames);

        tt_timeline_place(timeline, frame + shift, frames, payload, TT_EVENT_LOST, now_tai_ns);
        frame += frames;
    }
}

/* The index of the first hole that ends behind `frame`. */
static size_t first_hole_behind(const struct tt_timeline *timeline, int64_t frame)
{
    size_t i = 0;

    while (i < timeline->hole_count && timeline->memory.holes[i].end <= frame) {
        i++;
    }
    return i;
}

void tt_timeline_shift(struct tt_timeline *timeline, int64_t frame, int64_t shift,
                       int64_t now_tai_ns)
{
    struct tt_hole *holes = timeline->memory.holes;
    int64_t start = tt_max64(frame, timeline->device);
    int64_t end = timeline->filled;

    for (int64_t from = start; from < end;) {
        size_t i = first_hole_behind(timeline, from);

        if (i < timeline->hole_count && holes[i].frame < end) {
            struct tt_hole hole = holes[i];

            copy_frames(timeline, from, hole.frame, shift, now_tai_ns);
            /* Copying fills holes, and so moves the others in the list. */
            remove_hole(timeline, first_hole_behind(timeline, from));
            from = hole.end;
        } else {
            copy_frames(timeline, from, end, shift, now_tai_ns);
            from = end;
        }
    }
    if (shift < 0) {
        tt_timeline_truncate(timeline, end + shift);
    } else if (start < end) {
        write_frames(timeline, start, end, NULL);
        insert_hole(timeline, first_hole_behind(timeline, start),
                    (struct tt_hole){start, end, TT_EVENT_LOST}, now_tai_ns);
    }
}
