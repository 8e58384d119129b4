/*
 * How one stream behaves over time: its stamps against arrival and sequence, its arrivals against
 * the media, its flags. Counters only; audio/finding says what they mean.
 *
 * Pure, constant memory, a few operations for each PDU. A duplicate counts for nothing here.
 * Thresholds, and why:
 * - Two clocks that follow one gPTP domain agree within 1 us (IEEE 802.1AS, annex B.3), and a media
 *   clock and the domain are each within 100 ppm of nominal: a stamp that advances from the one
 *   before by more than 1 us + 200 ppm off the media time of the PDUs between was not taken from a
 *   media clock.
 * - A reservation counts what a talker sends in one class measurement interval, 125 us for class A
 *   (IEEE 802.1Q, clause 34). Three PDUs or more in a row, each less than half a PDU interval after
 *   the last, that got ahead of the media by more than that are a burst. Two are none: a talker may
 *   catch up so, and jitter below 62 us either way never gets there.
 * - A presentation time lies milliseconds from its arrival (2 class A, 50 class B). Half a second
 *   either side is near: modulo 2^32 ns, other time scales fall outside (TAI and UTC are 1.65 s
 *   apart).
 * Source: IEEE 1722-2016, 4.4.4 (tv, mr, tu), 7.3 (AAF, sp), 10 (CRF).
 */
#ifndef TT_AUDIO_CONDUCT_H
#define TT_AUDIO_CONDUCT_H

#include <stdbool.h>
#include <stdint.h>

#define TT_CONDUCT_STEP_NS   INT64_C(1000)      /* and 1 / TT_CONDUCT_STEP_PART of the media time */
#define TT_CONDUCT_STEP_PART 5000               /* 200 ppm */
#define TT_CONDUCT_AHEAD_NS  INT64_C(125000)    /* a burst is more than this ahead */
#define TT_CONDUCT_BURST     3                  /* PDUs */
#define TT_CONDUCT_NEAR_NS   INT64_C(500000000) /* at most; less where two scales lie closer */
#define TT_SPARSE_PDUS       8                  /* one stamp in so many */

enum tt_scale { TT_SCALE_TAI, TT_SCALE_UTC, TT_SCALES };

/* Presentation time minus arrival, taken in one time scale, modulo 2^32 ns to the nearest. */
struct tt_margin {
    uint64_t near;
    uint64_t late;    /* below 0 */
    int64_t least_ns; /* meaningless before the first stamp */
};

struct tt_conduct {
    uint64_t stamped; /* PDUs with a valid stamp */
    struct tt_margin margin[TT_SCALES];
    uint64_t stamps_missing; /* due, and not there */
    uint64_t sparse_misused; /* sp is set, but the stamp before is no multiple of 8 PDUs back */
    uint64_t uncertain;      /* PDUs with tu */
    uint64_t clock_restarts; /* mr toggled */

    uint64_t steps;          /* from one stamp to the next, where they can be compared */
    uint64_t steps_off;      /* beyond the tolerance */
    uint64_t steps_followed; /* of them: went with the arrival, four times as closely */
    int64_t worst_off_ns;    /* by magnitude */
    uint64_t repaid;         /* steps that paid back exactly what a cut period owed, 2 ns or more */
    uint64_t not_repaid;     /* steps that are neither cut nor a repayment */
    int64_t repaid_ns;       /* the last repayment */
    uint64_t repaid_pdus;    /* after so many PDUs */

    uint64_t bursts;
    uint64_t burst_pdus; /* in all bursts */
    uint64_t burst_longest;

    bool has_stamp;  /* the newest stamp, and how many PDUs ago it was: */
    bool comparable; /* with the next one */
    uint32_t stamp;
    int64_t stamp_arrival_ns;
    int64_t stamp_pdus;
    unsigned unstamped; /* PDUs in a row, none between them missing */
    bool mr;
    bool mr_known;
    bool repaid_known; /* the run of cut steps began in sight, with a repayment */
    int64_t owed;      /* what cut steps have left out, in ns / hz */
    uint64_t cut_pdus; /* PDUs of the run */

    uint64_t run; /* PDUs that came close behind each other, up to the last one */
    bool run_is_burst;
    int64_t run_start_ns;
    int64_t last_ns;
};

/* The time of a PDU: so many media events (frames) at so many a second. */
struct tt_conduct_period {
    int64_t events;
    uint32_t hz;      /* 0: not known */
    int64_t whole_ns; /* its length, where that is a whole number of ns: spares divisions; else 0 */
};

struct tt_conduct_pdu {
    struct tt_conduct_period period;
    int64_t arrival_ns;
    int64_t ahead; /* of the newest, in PDUs; 0 or less: behind it */
    bool readable; /* otherwise only its place in the sequence is known */
    bool restart;  /* the first, or the talker started anew, or its shape changed: no comparison
                      with what was before */
    bool stamped;
    uint32_t stamp;
    bool mr;
    bool tu;
    bool sparse;
    bool owes_stamp; /* every PDU of this kind has one, or with `sparse` every eighth */
};

/* Where the time scale TAI lies for arrivals, and how near is near then. */
struct tt_conduct_scales {
    int64_t tai_offset_ns; /* TAI = arrival + this */
    int64_t near_ns;
};

struct tt_conduct_scales tt_conduct_scales(int64_t tai_offset_ns);

struct tt_conduct_period tt_conduct_period(int64_t events, uint32_t hz);
/* The media time of `pdus` PDUs of a known period. */
int64_t tt_conduct_period_ns(const struct tt_conduct_period *period, int64_t pdus);

/* Whether its period is known, and one of audio (up to a second). */
bool tt_conduct_is_periodic(const struct tt_conduct_pdu *pdu);

/* One PDU that is no duplicate. */
void tt_conduct_step(struct tt_conduct *conduct, const struct tt_conduct_scales *scales,
                     const struct tt_conduct_pdu *pdu);

#endif
