/*
 * Where two audio clocks meet: at which ratio frames are to be resampled so that what one clock
 * delivers is just what the other takes.
 *
 * Pure. Both clocks are followed (media_clock.h); that gives the ratio. The level, the time from a
 * frame's place at the source to its place at the sink, is held by a small correction. Both come
 * from the followed clocks and from how far the resampler has come to a fraction of a frame, so the
 * ratio moves by parts in 10^9 and not with the buffer's steps. Like media_clock, this is a filter,
 * and reckons in floating point; what goes in and out of it does not, but for the ratio.
 *
 * Invariants:
 * - The source's frame of the next output frame is the sum of output frames / ratio, exactly as the
 *   resampler steps: run it at `ratio` and say how many frames it made (tt_servo_made).
 * - Where a clock is not seen (holdover) the ratio is frozen. Only a level that leaves its band, by
 *   what the frozen ratio is wrong, moves it.
 * - A level that is further off than SLIP is not steered back but set, in frames that are skipped
 * or added (a slip, which is heard, and counted).
 */
#ifndef TT_AUDIO_SERVO_H
#define TT_AUDIO_SERVO_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/media_clock.h"
#include "base/attr.h"

#define TT_SERVO_BAND_NS    INT64_C(250000) /* locked: the level is so near to where it should be */
#define TT_SERVO_SLIP_NS    INT64_C(5000000)   /* … and further off than this it slips */
#define TT_SERVO_ABSENCE_NS INT64_C(300000000) /* a clock unseen for so long is gone */
#define TT_SERVO_PPB_MAX    1000000            /* of ratio against nominal */

enum tt_servo_state {
    TT_SERVO_WAITING, /* for both clocks to be seen */
    TT_SERVO_ACQUIRING,
    TT_SERVO_LOCKED,
    TT_SERVO_HOLDOVER, /* was locked; a clock is not seen */
};

/* One of the two clocks, as it was last seen: `frame` was at `tai_ns`. */
struct tt_servo_sight {
    bool seen;
    int64_t frame;
    int64_t tai_ns;
};

struct tt_servo_side {
    struct tt_media_clock clock;
    bool started;
    int jumps; /* sights in a row that are far off the clock */
    int64_t seen_tai_ns;
    int64_t frame;   /* next: of the source to be heard, of the sink to be made … */
    double fraction; /* … and behind it, 0 … 1 (of the source only) */
};

struct tt_servo {
    struct tt_servo_side source;
    struct tt_servo_side sink;
    enum tt_servo_state state;
    double ratio;        /* sink frames for a source frame; constant between two steps */
    int64_t target_ns;   /* the level to be held */
    int64_t level_ns;    /* as of the last step */
    int64_t near_tai_ns; /* since when the level is in its band; INT64_MAX: it is not */
    int64_t step_tai_ns; /* of the last step */
    uint64_t holdovers;
    uint64_t slips;
};

void tt_servo_init(struct tt_servo *servo, uint32_t source_hz, uint32_t sink_hz, int64_t target_ns);

/* The next source frame to go into the resampler is `source_frame`, the next that comes out of it
 * is the sink's `sink_frame`. At the start, and where a side starts again elsewhere (the sink after
 * an xrun); rates that were found are kept. */
void tt_servo_place(struct tt_servo *servo, int64_t source_frame, int64_t sink_frame);

/* The source or the sink counts anew (its pointer was reset). */
void tt_servo_forget_source(struct tt_servo *servo);
void tt_servo_forget_sink(struct tt_servo *servo);

/* Time passes: what was seen of the clocks since the last step. Sets `ratio`. Returns 0, or a slip:
 * so many frames of silence are to be added to the sink (positive), or of the source to be left out
 * (negative), before anything else; the servo has reckoned with it. */
TT_RT int64_t tt_servo_step(struct tt_servo *servo, const struct tt_servo_sight *source,
                            const struct tt_servo_sight *sink, int64_t now_tai_ns);

/* The resampler made `frames` frames at `ratio`. */
TT_RT void tt_servo_made(struct tt_servo *servo, int64_t frames);

/* Both clocks' time steps. */
void tt_servo_clock_step(struct tt_servo *servo, int64_t step_ns);

/* The ratio against nominal. */
int64_t tt_servo_ratio_ppb(const struct tt_servo *servo);

/* "waiting", "acquiring", "locked", "holdover". */
const char *tt_servo_state_name(enum tt_servo_state state);

#endif
