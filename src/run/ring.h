/*
 * Frames in the wire's format between a program and an engine, by device position: positions count
 * on for ever and wrap inside. Who may touch which frames is the device's matter (run/device.h).
 */
#ifndef TT_RUN_RING_H
#define TT_RUN_RING_H

#include <stddef.h>
#include <stdint.h>

#include "audio/pcm.h"
#include "base/attr.h"

struct tt_ring {
    uint8_t *bytes; /* frames * frame_bytes, the owner's */
    int64_t frames;
    size_t frame_bytes;
    unsigned channels;
};

/* Converts `frames` <= ring->frames frames into the ring from position `frame` on. */
void tt_ring_write(struct tt_ring *ring, int64_t frame, enum tt_pcm_format format,
                   const struct tt_pcm_area *areas, size_t frames);

/* Copies `frames` <= ring->frames frames from position `frame` on; returns the end of what was
 * written. */
TT_RT uint8_t *tt_ring_copy(const struct tt_ring *ring, int64_t frame, size_t frames,
                            uint8_t *ret_bytes);

#endif
