/*
 * See ring.h.
 */
#include "run/ring.h"

#include <string.h>

#include "audio/aaf.h"

/* Of `frames` frames from `frame` on, how many lie before the ring's end. */
/* A stretch of frames from position `frame` on, up to the end of the ring. */
struct stretch {
    uint8_t *bytes;
    size_t frames;
};

static struct stretch stretch_from(const struct tt_ring *ring, int64_t frame, size_t frames)
{
    size_t at = (size_t)(frame % ring->frames);
    size_t left = (size_t)ring->frames - at;

    return (struct stretch){.bytes = ring->bytes + at * ring->frame_bytes,
                            .frames = left < frames ? left : frames};
}

void tt_ring_write(struct tt_ring *ring, int64_t frame, enum tt_pcm_format format,
                   const struct tt_pcm_area *areas, size_t frames)
{
    struct tt_pcm_area rest[TT_AAF_CHANNELS_MAX];
    struct stretch first = stretch_from(ring, frame, frames);

    tt_pcm_to_wire(format, areas, ring->channels, first.frames, first.bytes);
    if (first.frames < frames) {
        for (unsigned c = 0; c < ring->channels; c++) {
            rest[c] = areas[c];
            rest[c].first += first.frames * areas[c].step_bytes;
        }
        tt_pcm_to_wire(format, rest, ring->channels, frames - first.frames, ring->bytes);
    }
}

uint8_t *tt_ring_copy(const struct tt_ring *ring, int64_t frame, size_t frames, uint8_t *ret_bytes)
{
    struct stretch first = stretch_from(ring, frame, frames);
    size_t first_bytes = first.frames * ring->frame_bytes;
    size_t bytes = frames * ring->frame_bytes;

    memcpy(ret_bytes, first.bytes, first_bytes);
    /* What follows is wanted next, an interval later: of many streams none stays near by itself. */
    __builtin_prefetch(first.bytes + first_bytes);
    if (first.frames < frames) {
        memcpy(ret_bytes + first_bytes, ring->bytes, bytes - first_bytes);
    }
    return ret_bytes + bytes;
}
