/*
 * A media clock recovered from observations: which frame belongs to which time. Observations are a
 * stream's presentation times, the stamps of a clock reference, or a sound card's pointer.
 *
 * A delay-locked loop of second order follows phase and rate, for a wide band at first; where it is
 * told to be quiet it narrows as fast as a least-squares line through all that it saw would, clips
 * what is far off the usual, and opens up again where that goes on and on. Here time meets floating
 * point, only as differences to an anchor, so precision does not fade with the years.
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
    double quiet_omega; /* narrows down to this, rad/s; 0: stays wide */
    double followed_s;  /* for so long */
    double spread_ns;   /* of the observations about the clock: mean of the absolute */
    int astray;         /* so many in a row were clipped: late (positive) or early */
};

#define TT_MEDIA_CLOCK_DRIFT_MAX 1e-3

/* Frame `frame` is at `tai_ns`; the rate is nominal. */
void tt_media_clock_init(struct tt_media_clock *clock, uint32_t rate_hz, int64_t frame,
                         int64_t tai_ns);

/* For a source that is steady and observations that are not: the band becomes as narrow as
 * bandwidth_mhz (0.001 Hz). What a change of rate costs: a ramp of r s/s^2 is followed
 * r / (2 pi bandwidth)^2 seconds behind. */
void tt_media_clock_quieten(struct tt_media_clock *clock, unsigned bandwidth_mhz);

/* A new phase; the rate that was found is kept. A quiet clock opens up to what a second of
 * following gives. */
TT_RT void tt_media_clock_anchor(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns);

/* Follows an observation, frame >= the anchor's. */
TT_RT void tt_media_clock_follow(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns);

/* The time at which `frame` starts, and the last frame that starts at or before a time. */
TT_RT int64_t tt_media_clock_time(const struct tt_media_clock *clock, int64_t frame);
TT_RT int64_t tt_media_clock_frame(const struct tt_media_clock *clock, int64_t tai_ns);

/* Parts per billion that the source is fast (positive) or slow. */
int64_t tt_media_clock_drift_ppb(const struct tt_media_clock *clock);

#endif
