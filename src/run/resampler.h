/*
 * Resampling by a ratio that varies: libsamplerate, which is linked here only.
 *
 * Invariant: within a call the ratio is constant, and output frame k stands exactly 1 / ratio
 * source frames behind frame k - 1; so whoever adds that up (audio/servo) knows to a fraction of a
 * frame how far the source has been heard. What is not heard yet is kept in hand: half a filter.
 */
#ifndef TT_RUN_RESAMPLER_H
#define TT_RUN_RESAMPLER_H

#include <stddef.h>

#include "base/attr.h"

enum tt_quality {
    TT_QUALITY_BEST,   /* noise of -144 dB, 97 % of the band, three times the work of … */
    TT_QUALITY_MEDIUM, /* … -121 dB, 90 % */
};

struct tt_resampler;

/* 0 or -ENOMEM. */
int tt_resampler_new(enum tt_quality quality, unsigned channels,
                     struct tt_resampler **ret_resampler);
void tt_resampler_free(struct tt_resampler *resampler);

/* Forgets what it has in hand: the next frame that comes out is the next one that goes in. */
TT_RT void tt_resampler_reset(struct tt_resampler *resampler);

/* Source frames that are kept in hand, at most. */
size_t tt_resampler_latency(enum tt_quality quality, double ratio);

struct tt_resampler_block {
    const float *source; /* interleaved */
    size_t source_frames;
    float *sink;
    size_t sink_frames; /* room */
    size_t used;        /* set: of the source, … */
    size_t made;        /* … of the sink */
};

/* ratio: sink frames for a source frame. Takes what is there until the room is full. */
TT_RT void tt_resampler_run(struct tt_resampler *resampler, double ratio,
                            struct tt_resampler_block *block);

#endif
