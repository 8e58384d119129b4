/*
 * What is wrong, or worth knowing, about a stream that an observer saw.
 *
 * Pure: from the counters to a list; the words are in report/finding_text. A clean stream (stamped
 * in TAI from a media clock, paced by its launch times, tagged for class A or B on VLAN 2) has
 * none. Nothing is said of what cannot be known: without media rate there are no bursts, without
 * stamps no lateness.
 */
#ifndef TT_AUDIO_FINDING_H
#define TT_AUDIO_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "audio/observer.h"

enum tt_finding_kind {
    TT_FINDING_STAMPS_UTC,     /* near the arrival in UTC, not in TAI */
    TT_FINDING_STAMPS_FOREIGN, /* near it in neither */
    TT_FINDING_STAMPS_FOLLOW,  /* more than half of all steps go with the arrival, not the media */
    TT_FINDING_STAMPS_JUMP,    /* steps off the media time */
    TT_FINDING_LATE,           /* AAF: arrived after presentation */
    TT_FINDING_MARGIN_LARGE,   /* AAF: all of them more than class B's 50 ms before it */
    TT_FINDING_STAMPS_MISSING,
    TT_FINDING_SPARSE_MISUSED,
    TT_FINDING_PERIOD_CUT,
    TT_FINDING_DRIFT, /* farther off the nominal rate than an audio clock may be */
    TT_FINDING_CLOCK_UNCERTAIN,
    TT_FINDING_CLOCK_RESTARTS,
    TT_FINDING_CRF_UNEVEN,
    TT_FINDING_BURSTS,
    TT_FINDING_ARRIVALS_SET_BACK,    /* by the capture */
    TT_FINDING_ARRIVALS_SET_FORWARD, /* the same */
    TT_FINDING_SILENCE,              /* of which nothing is known */
    TT_FINDING_LOST,
    TT_FINDING_LOST_DOWN, /* the same, and the interface here was down meanwhile */
    TT_FINDING_LOST_HERE, /* the same, and this machine itself dropped packets */
    TT_FINDING_SEQUENCE_JUMPS,
    TT_FINDING_DUPLICATED,
    TT_FINDING_REORDERED,
    TT_FINDING_RESTARTED,
    TT_FINDING_SHAPE_CHANGED,
    TT_FINDING_SHARED_ID,
    TT_FINDING_UNTAGGED,
    TT_FINDING_PRIORITY, /* neither class A's nor class B's */
    TT_FINDING_VLAN,     /* not the stream reservation VLAN */
    TT_FINDING_REFUSED,  /* one for each reason, `detail` */
    TT_FINDING_KINDS
};

enum tt_severity {
    TT_SEVERITY_NOTE,    /* worth knowing */
    TT_SEVERITY_WARNING, /* works with listeners that put up with it */
    TT_SEVERITY_FAULT,   /* sound is lost, or wrong */
    TT_SEVERITIES
};

enum tt_figure {
    TT_FIGURE_COUNT, /* PDUs, steps or times: the finding's words say which */
    TT_FIGURE_OF,    /* out of so many */
    TT_FIGURE_BURSTS,
    TT_FIGURE_LONGEST_PDUS,
    TT_FIGURE_DROPPED_HERE,
    TT_FIGURE_DOWNS,
    TT_FIGURE_WORST_NS,
    TT_FIGURE_LEAST_NS,
    TT_FIGURE_STEP_NS,
    TT_FIGURE_EVERY_PDUS,
    TT_FIGURE_OFFSET_NS,
    TT_FIGURE_AT_NS, /* since the first packet */
    TT_FIGURE_DRIFT_PPB,
    TT_FIGURE_VLAN_ID,
    TT_FIGURE_PCP,
    TT_FIGURES
};

struct tt_finding {
    enum tt_finding_kind kind;
    enum tt_severity severity;
    unsigned has; /* 1 << figure for those that show it */
    int64_t figures[TT_FIGURES];
    const char *detail; /* static; NULL: none */
};

#define TT_FINDINGS_MAX (TT_FINDING_KINDS + TT_AAF_REASONS + TT_CRF_REASONS)

#define TT_FOLLOW_STEPS 8 /* a pause of the talker is followed too: a few steps show nothing */
#define TT_DRIFT_MOST_PPB                                                                          \
    INT64_C(150000) /* IEEE 802.1AS and AES11 allow 100 ppm; the measure some */
#define TT_MARGIN_LARGE_NS INT64_C(50000000) /* class B's transit time: IEEE 802.1BA, 6.5 */

/* Fills ret_findings, of TT_FINDINGS_MAX, in the order of the kinds, and returns how many. */
size_t tt_findings(const struct tt_observer *observer, const struct tt_observed *o,
                   struct tt_finding *ret_findings);

#endif
