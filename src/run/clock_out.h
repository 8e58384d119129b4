/*
 * A media clock that goes to the network: a CRF stream, from TAI or from the clock that the engine
 * follows (tt_engine_tell). Software keeps its times: a stamp says when an event is, and not when
 * its PDU leaves.
 *
 * Threads: _new, _free, _counters belong to the program; the rest to the engine.
 */
#ifndef TT_RUN_CLOCK_OUT_H
#define TT_RUN_CLOCK_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/crf_talker.h"
#include "audio/stream_config.h"
#include "base/attr.h"
#include "os/link.h"

struct tt_clock_out_counters {
    uint64_t pdus_sent;
    uint64_t pdus_uncertain; /* of these, with tu */
    uint64_t pdus_dropped;   /* could not meet their presentation time any more */
    uint64_t pdus_refused;   /* by the link */
};

struct tt_clock_out_setup {
    const struct tt_crf_config *config;
    struct tt_link *link;             /* stays the caller's; talkers may share it */
    const struct tt_media_grid *grid; /* NULL: TAI */
    enum tt_tu tu;                    /* whether what the kernel says of its clock counts */
};

struct tt_clock_out;

/* 0, -ENOMEM, or -EINVAL where the configuration describes no clock. */
int tt_clock_out_new(const struct tt_clock_out_setup *setup, struct tt_clock_out **ret_out);
void tt_clock_out_free(struct tt_clock_out *out);
void tt_clock_out_counters(struct tt_clock_out *out, struct tt_clock_out_counters *ret_counters);

/* ---- for the engine ---- */

/* The first event is due at media_tai_ns, or at the first place on the grid behind it. */
void tt_clock_out_begin(struct tt_clock_out *out, int64_t media_tai_ns);
/* Sends what is due. Returns the time of the next step. */
TT_RT int64_t tt_clock_out_step(struct tt_clock_out *out, int64_t now_tai_ns);
/* As tt_talk_set_clock: what is told is no surer than what the talkers send. */
TT_RT void tt_clock_out_set_clock(struct tt_clock_out *out, bool unsynchronised);
TT_RT void tt_clock_out_clock_step(struct tt_clock_out *out, int64_t step_ns);

#endif
