/*
 * What a bystander can say of one AVTP stream, PDU by PDU.
 *
 * Pure; constant memory.
 *
 * What counts as lost, with a sequence number of 8 bits:
 * - A number that was skipped is lost; when it comes later it is reordered and no longer lost; when
 *   it was seen already it is duplicated.
 * - Half the range or more ahead is the same number as behind: the time since the newest PDU
 *   decides, whichever is nearer (AAF and CRF, whose PDU interval is known; else it is behind).
 * - After a silence of more than 128 PDU intervals the presentation times of an AAF stream say how
 *   often the sequence went round, where they advanced in step with it before: losses of 256 PDUs
 *   and more are found. Where they contradict the sequence then, the talker started anew: a
 *   restart, and nothing is booked as lost.
 * - A number that is not the next one, though the presentation time is, was set by the talker: a
 *   sequence jump, and nothing is lost.
 * - A talker whose stamps advance by one PDU with each that comes, whatever its numbers do, sets
 * them wrong: sequence jumps too.
 * - After a silence of more than 2 s nothing is booked: a clock that may be 122 ppm off is off by
 * two PDUs then, so the stamps do not tell any more how often the sequence went round. Where they
 * contradict the sequence it is a restart all the same.
 * - Where stamps and sequence go on as though a silence of more than 2 s had not been, the clock
 * that took the arrivals was set forward meanwhile (or talker and stamps stood still together).
 * - Arrivals that run back by more than 1 ms are the capture's fault: what was learnt of the time
 * is left there. Where the stamps, or else the next number, show that the PDUs go on, losses are
 *   counted on; where not, the sequence is begun anew, and nothing is booked.
 * - Margins are of one setting of that clock: where it is set by 100 ms or more they begin anew.
 * - A PDU whose arrival nobody knows has its number, and nothing else.
 * - Without such stamps `lost` is the least that the sequence allows: multiples of 256 go unseen,
 *   and a restart can look like up to 255 lost. Arrival alone never adds 256: a stalled link is no
 *   loss.
 */
#ifndef TT_AUDIO_OBSERVED_H
#define TT_AUDIO_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"
#include "audio/arrival_grid.h"
#include "audio/avtp.h"
#include "audio/conduct.h"
#include "audio/crf.h"
#include "audio/eth.h"
#include "base/hist.h"
#include "base/history.h"

/* One stream: stream ID, source, destination and subtype together (two talkers with one ID are two
 * rows). Zeroed is new. */
struct tt_observed {
    struct tt_avtp avtp; /* of the latest PDU */
    struct tt_eth eth;
    struct tt_aaf aaf;               /* AAF only: of the latest valid PDU; its payload is NULL */
    struct tt_crf crf;               /* CRF only; its timestamps are NULL */
    bool known;                      /* aaf or crf is filled */
    struct tt_conduct_period period; /* of the latest valid PDU; a CRF's with a pull is not known */
    uint64_t pdus;
    uint64_t lost; /* missing in the sequence and not come later */
    uint64_t duplicated;
    uint64_t reordered;
    uint64_t restarts;       /* sequence and stamps began anew after a silence */
    uint64_t sequence_jumps; /* the sequence was not one ahead while the stamps were */
    uint64_t silences;       /* of more than 2 s, of which nothing is known */
    int64_t silence_longest_ns;
    uint64_t set_forward; /* the arrivals' clock, by more than 2 s */
    int64_t set_forward_most_ns;
    int64_t set_forward_at_ns; /* that one: the first arrival behind it */
    uint64_t clock_set;        /* forward, or back by 100 ms and more */
    uint64_t untimed;          /* PDUs whose arrival is not known; not in pdus */
    uint64_t set_back;         /* arrivals before that of the PDU before */
    int64_t set_back_most_ns;
    uint64_t gap_longest;             /* most numbers skipped at once */
    uint64_t refused[TT_AAF_REASONS]; /* AAF: by reason */
    uint64_t crf_refused[TT_CRF_REASONS];
    uint64_t crf_uneven;     /* PDUs whose stamps are not one interval apart (within 1 us) */
    uint32_t sharing;        /* other rows with this subtype and stream ID */
    uint64_t frames_changed; /* PDUs whose shape (format, rate, channels, frames) differs from the
                                one before */
    int64_t first_ns;
    int64_t last_ns;
    struct tt_hist interval; /* between successive arrivals */
    struct tt_hist lateness; /* against the media grid; AAF and CRF */
    struct tt_hist margin;   /* AAF: presentation - arrival, in margin_scale */
    enum tt_scale margin_scale;
    bool interval_known; /* of the latest PDU: since the one before is known, … */
    int64_t interval_ns; /* … this; */
    bool late_known;     /* … its lateness is known, … */
    int64_t late_ns;     /* … this */
    struct tt_history interval_history;
    struct tt_history lateness_history;
    struct tt_arrival_grid grid;
    struct tt_conduct conduct;

    uint64_t window[4]; /* which of the last 256 sequence numbers were seen */
    uint8_t highest;    /* sequence number of the window's newest */
    int64_t highest_ns; /* its arrival */
    uint64_t span;      /* sequence numbers from the first to the newest, since a restart */
    bool stamped;       /* a valid presentation time was seen: */
    bool stamps_steady; /* the last one advanced as the sequence did */
    uint32_t stamp;
    int64_t stamp_ns;   /* arrival of its PDU */
    int64_t stamp_pdus; /* from its PDU to the newest, by the sequence … */
    int64_t stamp_seen; /* … and how many came */
    int64_t passed;     /* by so many numbers untimed PDUs have led since highest_ns */
};

/* One AVTPDU as it came. */
struct tt_arrival {
    const uint8_t *pdu;
    size_t bytes; /* captured */
    size_t wire_bytes;
    int64_t arrival_ns;
};

/* The next PDU; o->avtp and o->eth are its own. */
void tt_observed_pdu(struct tt_observed *o, const struct tt_conduct_scales *scales,
                     const struct tt_arrival *arrival);
/* One that came nobody knows when; after the first. */
void tt_observed_untimed(struct tt_observed *o, uint8_t sequence);

#endif
