/*
 * A followed clock that many streams share: nominal media time to presentation time in TAI.
 *
 * Frame f of a stream of any rate is at media time f / rate, and the clock says when that is. So
 * streams of one grid keep each other's phase for ever, whatever their rates. Whoever follows the
 * clock (a CRF listener) is the one writer; talkers of the same thread read.
 *
 * Invariant: where the clock is placed anew, what was at a time stays there within half an event of
 * the clock; `epoch` counts it.
 */
#ifndef TT_AUDIO_MEDIA_GRID_H
#define TT_AUDIO_MEDIA_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/media_clock.h"
#include "base/attr.h"
#include "base/ns.h"

struct tt_media_grid {
    struct tt_media_clock clock; /* its frames are ns of media time */
    uint32_t pull_by;            /* nominal rates are to be taken times pull_by / pull_over */
    uint32_t pull_over;
    bool ready;     /* followed for long enough to start a stream on it */
    bool uncertain; /* its master is gone, or says itself that it is uncertain */
    uint32_t epoch;
};

/* ticks_hz / frame_ticks frames a second, exactly; ticks_hz, with any pull, 1 … 2^30. */
struct tt_media_rate {
    uint32_t ticks_hz;
    uint32_t frame_ticks;
};

void tt_media_grid_init(struct tt_media_grid *grid);

/* When `frame` is presented. */
TT_RT int64_t tt_media_grid_time(const struct tt_media_grid *grid, struct tt_media_rate rate,
                                 int64_t frame);

/* The first frame that is presented at or after a time. */
TT_RT int64_t tt_media_grid_frame(const struct tt_media_grid *grid, struct tt_media_rate rate,
                                  int64_t tai_ns);

/* Nominal media time of a frame, exact to the ns. */
static inline int64_t tt_media_rate_ns(struct tt_media_rate rate, int64_t frame)
{
    return tt_frames_to_ns(frame * rate.frame_ticks, rate.ticks_hz);
}

#endif
