/*
 * The edges of a hole: frames between the last one before it and the first one behind it.
 *
 * A hole begins with the last frame held and ramped to silence, and ends with the frame behind it
 * ramped up; a hole not longer than a ramp is a straight crossfade. Only frames of the hole are
 * made, so what arrived stays as it is.
 *
 * Invariant: the two weights never add up to more than the whole, so nothing overflows, and a
 * signal that is constant on either side gives monotone ramps.
 */
#ifndef TT_AUDIO_FADE_H
#define TT_AUDIO_FADE_H

#include <stdint.h>

#include "audio/aaf.h"
#include "base/attr.h"

struct tt_fade {
    enum tt_aaf_format format; /* a PCM format; frames are as on the wire */
    unsigned channels;
    int64_t ramp_frames; /* 0: a hole is silence */
};

/* The frames beside a hole; NULL where there is none (yet). */
struct tt_fade_edges {
    const uint8_t *last;
    const uint8_t *next;
    int64_t since_last; /* frames from the last one to the frame that is made, >= 1 */
    int64_t until_next; /* and from that to the next one, >= 1 */
};

/* Makes one frame of the hole. */
TT_RT void tt_fade_frame(const struct tt_fade *fade, const struct tt_fade_edges *edges,
                         uint8_t *ret_frame);

#endif
