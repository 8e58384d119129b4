/*
 * See ring.h.
 */
#include "run/ring.h"

#include <string.h>

#include "audio/aaf.h"

/* Of `frames` frames from `frame` on, how many lie before the ring's end. */
static size_t before_end(const struct tt_ring *ring, int64_t frame, size_t frames)
{
    size_t left = (size_t)(ring->frames - frame % ring->frames);

    return left < frames ? left : frames;
}

static uint8_t *place(const struct tt_ring *ring, int64_t frame)
{
    return ring->bytes + (size_t)(frame % ring->frames) * ring->frame_bytes;
}

void tt_ring_write(struct tt_ring *ring, int64_t frame, enum tt_pcm_format format,
                   const struct tt_pcm_area *areas, size_t frames)
{
    struct tt_pcm_area rest[TT_AAF_CHANNELS_MAX];
    size_t first = before_end(ring, frame, frames);

    tt_pcm_to_wire(format, areas, ring->channels, first, place(ring, frame));
    if (first < frames) {
        for (unsigned c = 0; c < ring->channels; c++) {
            rest[c] = areas[c];
            rest[c].first += first * areas[c].step_bytes;
        }
        tt_pcm_to_wire(format, rest, ring->channels, frames - first, ring->bytes);
    }
}

uint8_t *tt_ring_copy(const struct tt_ring *ring, int64_t frame, size_t frames, uint8_t *ret_bytes)
{
    size_t first_bytes = before_end(ring, frame, frames) * ring->frame_bytes;
    size_t bytes = frames * ring->frame_bytes;

    memcpy(ret_bytes, place(ring, frame), first_bytes);
    memcpy(ret_bytes + first_bytes, ring->bytes, bytes - first_bytes);
    return ret_bytes + bytes;
}
