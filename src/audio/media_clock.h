/*
 * A media clock recovered from presentation times: which frame belongs to which TAI time.
 *
 * A delay-locked loop of second order follows phase and rate. This is the one place where time
 * meets floating point: only differences to an anchor do, so precision does not fade with the
 * years.
 */
#ifndef TT_AUDIO_MEDIA_CLOCK_H
#define TT_AUDIO_MEDIA_CLOCK_H

#include <stdint.h>

#include "base/attr.h"

struct tt_media_clock {
    uint32_t rate_hz;   /* nominal */
    int64_t frame;      /* the anchor: this frame … */
    int64_t tai_ns;     /* … at this time, */
    double fraction_ns; /* plus this, 0 … 1 */
    double drift;       /* true frame length / nominal - 1; within ±TT_MEDIA_CLOCK_DRIFT_MAX */
};

#define TT_MEDIA_CLOCK_DRIFT_MAX 1e-3

/* Frame `frame` is at `tai_ns`; the rate is nominal. */
void tt_media_clock_init(struct tt_media_clock *clock, uint32_t rate_hz, int64_t frame,
                         int64_t tai_ns);

/* A new phase; the rate that was found is kept. */
TT_RT void tt_media_clock_anchor(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns);

/* Follows an observation, frame >= the anchor's. */
TT_RT void tt_media_clock_follow(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns);

/* The time at which `frame` starts, and the last frame that starts at or before a time. */
TT_RT int64_t tt_media_clock_time(const struct tt_media_clock *clock, int64_t frame);
TT_RT int64_t tt_media_clock_frame(const struct tt_media_clock *clock, int64_t tai_ns);

/* Parts per billion that the source is fast (positive) or slow. */
int64_t tt_media_clock_drift_ppb(const struct tt_media_clock *clock);

#endif
