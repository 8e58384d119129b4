/*
 * Where two audio clocks meet: a sound card and a stream. Frames go from one to the other through a
 * resampler whose ratio follows both clocks (audio/servo).
 *
 * A card that plays takes what a listener presents; a card that captures fills a talker. Streams
 * run by their engine (run/engine), which is started before the bridge and stopped after it; the
 * bridge is the stream's program. As the engine, tt_bridge_step is the loop
 * body, in virtual time or in a thread of its own.
 *
 * What happens: without a talker the listener delivers silence, the ratio is frozen, and the card
 * plays on; an xrun of the card starts it again, with silence up to the level; a level that is far
 * off slips. All are counted.
 */
#ifndef TT_RUN_BRIDGE_H
#define TT_RUN_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/pcm.h"
#include "audio/servo.h"
#include "audio/stream_config.h"
#include "base/attr.h"
#include "os/card.h"
#include "os/clock.h"
#include "run/listen.h"
#include "run/resampler.h"
#include "run/talk.h"

struct tt_bridge_counters {
    enum tt_servo_state state;
    int64_t level_ns;  /* playback: from a frame's presentation to its being played; capture: from
                          its being captured to its being due. Includes what the resampler keeps */
    int64_t target_ns; /* what it is held at */
    int64_t buffer_frames; /* in the card's buffer, or the talker's */
    int64_t ratio_ppb;     /* of the resampling, against nominal */
    int64_t network_ppb;   /* how fast the stream's clock is against TAI … */
    int64_t card_ppb;      /* … and the card's */
    uint64_t frames_in;
    uint64_t frames_out;
    uint64_t xruns;     /* of the card */
    uint64_t slips;     /* silence was added, or frames left out, to set the level */
    uint64_t holdovers; /* times that a clock was lost */
    int64_t holdover_ns;
    uint64_t samples_clipped; /* beyond full scale after resampling */
    uint64_t clock_steps;
    int error; /* the card is gone: -ENODEV …; the bridge stands still */
};

struct tt_bridge_setup {
    const struct tt_stream_config *config; /* the stream's, complete */
    struct tt_card *card;                  /* stays the caller's */
    enum tt_pcm_format card_format;
    struct tt_listen *listen;     /* for a card that plays; the caller's, as … */
    struct tt_talk *talk;         /* … this, for one that captures */
    int64_t stream_buffer_frames; /* of the listener's or talker's device */
    struct tt_clock *clock;
    enum tt_quality quality;
    int64_t level_ns; /* 0: two periods of the card, the resampler, and 10 ms */
};

struct tt_bridge;

/* 0, -ENOMEM, or -EINVAL where channels differ or the buffers do not hold the level. */
int tt_bridge_new(const struct tt_bridge_setup *setup, struct tt_bridge **ret_bridge);
void tt_bridge_free(struct tt_bridge *bridge);

/* Starts the card. `thread` false: the caller steps. 0 or -errno. */
int tt_bridge_start(struct tt_bridge *bridge, bool thread);
/* Stops and joins; idempotent. */
void tt_bridge_stop(struct tt_bridge *bridge);

/* Does what is due and returns the monotonic time of the next step. */
TT_RT int64_t tt_bridge_step(struct tt_bridge *bridge);

void tt_bridge_counters(struct tt_bridge *bridge, struct tt_bridge_counters *ret_counters);
/* Raises the peak of each channel to what came from the source since the last call; full scale is
 * 1. One reader. */
void tt_bridge_peaks(struct tt_bridge *bridge, float *peaks);

#endif
