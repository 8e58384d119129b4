/*
 * A media clock that comes from the network: a CRF stream on a link of its own, for the talkers of
 * an engine (tt_engine_follow). On the engine's thread, so that they read its grid as it is.
 *
 * Threads: _new, _free, _counters belong to the program; the rest to the engine.
 */
#ifndef TT_RUN_CLOCK_IN_H
#define TT_RUN_CLOCK_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/crf_listener.h"
#include "audio/event.h"
#include "base/attr.h"
#include "os/link.h"

struct tt_clock_in_counters {
    enum tt_crf_state state; /* TT_CRF_HOLDOVER: its master is gone */
    bool uncertain;          /* streams on it carry tu */
    int64_t drift_ppb;       /* how fast it is against TAI */
    uint64_t receive_drops;  /* lost in the socket's buffer */
    struct tt_crf_counters crf;
};

struct tt_clock_in_setup {
    struct tt_link *link; /* stays the caller's; nobody else receives on it */
    uint8_t dest[6];
    uint64_t stream_id;
    size_t event_capacity; /* of the event log; 0: none */
};

struct tt_clock_in;

/* 0 or -ENOMEM. */
int tt_clock_in_new(const struct tt_clock_in_setup *setup, struct tt_clock_in **ret_in);
void tt_clock_in_free(struct tt_clock_in *in);
void tt_clock_in_counters(struct tt_clock_in *in, struct tt_clock_in_counters *ret_counters);
/* After the engine has stopped. */
const struct tt_event_log *tt_clock_in_log(const struct tt_clock_in *in);

/* ---- for the engine ---- */

const struct tt_media_grid *tt_clock_in_grid(const struct tt_clock_in *in);
/* Its master is gone, and it runs on alone. */
TT_RT bool tt_clock_in_is_held(const struct tt_clock_in *in);
/* Drops what came while nobody listened; what was found of the clock is kept. */
void tt_clock_in_begin(struct tt_clock_in *in, int64_t now_tai_ns);
/* Takes what has come. Returns the time of the next step. */
TT_RT int64_t tt_clock_in_step(struct tt_clock_in *in, int64_t now_tai_ns);
TT_RT void tt_clock_in_clock_step(struct tt_clock_in *in, int64_t step_ns);

#endif
