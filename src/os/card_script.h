/*
 * A sound card in memory, in the virtual time of a scripted clock: it plays or captures at a rate
 * of its own, moves its pointer by periods, and stamps it late.
 */
#ifndef TT_OS_CARD_SCRIPT_H
#define TT_OS_CARD_SCRIPT_H

#include <stdint.h>

#include "os/card.h"
#include "os/clock.h"

struct tt_card_script {
    struct tt_card card;
    const struct tt_clock_script *clock;
    int64_t drift_ppb; /* how fast it runs; before it starts */
    /* How late the interrupt of the period that ends at `frame` is served; NULL: at once. */
    int64_t (*late_ns)(void *context, int64_t frame);
    /* Playback: what it plays, frame by frame; NULL is fine. Capture: what it captures. */
    void (*frame)(void *context, int64_t frame, uint8_t *bytes);
    void *context;

    uint8_t *ring; /* buffer_frames, the caller's */
    int64_t start_mono_ns;
    int64_t moved;   /* written or read */
    int64_t pointer; /* played or captured, up to here it is known */
    bool running;
    bool stopped; /* by an xrun */
};

/* rate_hz, channels, frame_bytes, period_frames, buffer_frames and capture of `card` are set. */
void tt_card_script_init(struct tt_card_script *script, const struct tt_clock_script *clock);

#endif
