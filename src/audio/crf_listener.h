/*
 * A CRF listener: the stamps of a clock reference become a followed clock (a media grid) on which
 * streams of our own can run.
 *
 * Pure. A PDU's place follows from its stamps, which are whole times, so a gap of any length is
 * crossed; its sequence number tells lost from repeated.
 * Invariants:
 * - The grid never stops: without PDUs it runs on at the rate that was found (holdover). That is
 *   counted, in the event log, and marks the grid uncertain until stamps have been followed again
 *   for TT_CRF_LOCK_NS.
 * - A PDU is used, or is counted under the one reason for which it is not.
 * - A stamp that is off the grid by more than a tolerance moves nothing; TT_CRF_RESYNC_PDUS PDUs in
 *   a row that agree with each other place the grid anew, and so does a toggled mr at once.
 * Source: IEEE 1722-2016, clause 10.
 */
#ifndef TT_AUDIO_CRF_LISTENER_H
#define TT_AUDIO_CRF_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/crf.h"
#include "audio/event.h"
#include "audio/media_grid.h"
#include "base/attr.h"

#define TT_CRF_LOCK_NS      INT64_C(500000000)
#define TT_CRF_RESYNC_PDUS  8
#define TT_CRF_TOLERANCE_NS INT64_C(100000) /* or a quarter of the stamps' distance, if less */

enum tt_crf_state {
    TT_CRF_SEARCHING, /* no clock yet */
    TT_CRF_LOCKED,
    TT_CRF_HOLDOVER, /* it was locked and is not now: the grid runs on */
};

struct tt_crf_counters {
    uint64_t pdus; /* of this stream and talker, parsed */
    uint64_t pdus_lost;
    uint64_t pdus_duplicate;
    uint64_t pdus_reordered; /* came behind a later one; not used */
    uint64_t pdus_off;       /* the first stamp is off the grid; not used */
    uint64_t pdus_uncertain; /* tu was set; used */
    uint64_t pdus_other_talker;
    uint64_t pdus_other_format; /* another base frequency, pull, interval or count than at first */
    uint64_t pdus_refused[TT_CRF_REASONS]; /* [TT_CRF_OK] stays 0 */
    uint64_t stamps;                       /* followed */
    uint64_t stamps_off;                   /* off the grid behind a first one that is on it */
    uint64_t restarts;                     /* mr toggled */
    uint64_t resyncs;                      /* the grid was placed anew */
    uint64_t holdovers;
    int64_t holdover_ns; /* all together, up to the last advance */
};

struct tt_crf_listener {
    struct tt_media_grid grid;
    struct tt_crf_counters counters;
    enum tt_crf_state state;
    uint64_t stream_id;
    struct tt_event_log *log; /* may be NULL */

    bool placed;               /* the grid has a phase */
    bool is_told_anew;         /* … and the next stamp is to give it one, as steps are others */
    struct tt_crf format;      /* of the talker's first PDU; the others' must be the same */
    struct tt_media_rate rate; /* … and what it means */
    int64_t interval_ns;       /* nominal distance of stamps */
    int64_t absence_ns;        /* without a PDU on the grid for so long, the talker is gone */
    int64_t last_event;        /* the last one followed */

    bool present; /* a talker is being followed: */
    uint8_t src[6];
    uint8_t sequence;
    bool mr;
    bool tu;
    int64_t since_tai_ns;    /* the arrival from which on all was well */
    int64_t followed_tai_ns; /* the last arrival that could be followed */
    int64_t advanced_tai_ns;

    unsigned odd_pdus; /* in a row off the grid, agreeing with each other; the latest: */
    uint8_t odd_sequence;
    int64_t odd_tai_ns;
};

void tt_crf_listener_init(struct tt_crf_listener *listener, uint64_t stream_id,
                          struct tt_event_log *log, int64_t now_tai_ns);

/* A packet's AVTPDU, its source address and arrival stamp. PDUs of other streams are ignored. */
TT_RT void tt_crf_listener_receive(struct tt_crf_listener *listener, const uint8_t *pdu,
                                   size_t bytes, const uint8_t src[6], int64_t arrival_tai_ns);

/* Time passes (receive first what arrived before now). Returns the state: TT_CRF_HOLDOVER is the
 * moment for an alarm; talkers on the grid carry tu by themselves. */
TT_RT enum tt_crf_state tt_crf_listener_advance(struct tt_crf_listener *listener,
                                                int64_t now_tai_ns);

/* The local TAI clock stepped by step_ns; stamps, and so the grid, are the talker's and do not. */
TT_RT void tt_crf_listener_clock_step(struct tt_crf_listener *listener, int64_t step_ns);

/* "searching", "locked", "holdover". */
const char *tt_crf_state_name(enum tt_crf_state state);

#endif
