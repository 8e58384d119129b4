/*
 * What a loop did under one load, taken together as it goes: distributions, windows, a curve, and
 * the losses with their causes.
 *
 * The loop gives a cycle for each hand-over, and a reading of its own counters after each cycle
 * that lost time, after the one behind it, and every so many besides: a reading costs more than a
 * cycle may. A loss is what the cycles between two readings took beyond what is usual; losses
 * without a good cycle between them are one incident (a burst: one thing happened, and several
 * fragments felt it). One that does not end is told every second, as one more.
 *
 * The caller owns the memory (some MB; nothing grows). One thread.
 */
#ifndef TT_METER_CELL_H
#define TT_METER_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "base/history.h"
#include "meter/cause.h"
#include "meter/fragment.h"
#include "meter/window.h"

/* A cycle of the loop, all of one clock. */
struct tt_cycle {
    int64_t begin_ns;    /* of the computation */
    int64_t computed_ns; /* its end */
    int64_t done_ns;     /* handed over */
    int64_t offset_ns;   /* that clock - CLOCK_MONOTONIC */
    int64_t gap_ns;      /* interruptions within the computation */
    int64_t sleeps;      /* for room */
    struct tt_fragment_fate fate;
};

/* The loop's counters since its start. */
struct tt_reading {
    int64_t cpu_ns;
    int64_t run_delay_ns; /* or TT_CAUSE_UNKNOWN */
    int64_t major_faults;
    int64_t waits; /* voluntary switches */
    int64_t preemptions;
    int cpu; /* that it is on; below 0: not known */
};

/* What is known of the machine around a reading. */
struct tt_surroundings {
    int64_t steal_ns;        /* or TT_CAUSE_UNKNOWN, as the next two */
    int64_t steal_around_ns; /* in the second before */
    int64_t irq_around_ns;
    int64_t tick_ns;
    int64_t ordinary_ns; /* or TT_CAUSE_UNKNOWN */
    enum tt_cause_level level;
    int64_t other_ns;
    int64_t irq_ns;
    char culprit[TT_CAUSE_CULPRIT_LEN];
};

struct tt_incident {
    int64_t start_ns; /* when the first of its fragments was due */
    int64_t end_ns;
    int64_t worst_late_ns;
    uint32_t late;
    uint32_t skipped;
    uint32_t empty;
    struct tt_loss loss;
    struct tt_evidence evidence; /* of its greatest loss */
};

struct tt_cause_total {
    uint64_t incidents; /* whose main cause it is */
    uint64_t empty;     /* in those */
    int64_t lost_ns;    /* in all */
};

struct tt_cell {
    struct tt_fragment_shape shape;
    int64_t period_ns;
    int64_t usual_compute_ns; /* until it is known better */
    struct tt_hist late;      /* hand-over - due */
    struct tt_hist compute;   /* by the wall clock */
    struct tt_windows windows;
    struct tt_history period_curve;
    struct tt_history compute_curve;
    struct tt_cause_total causes[TT_CAUSES];
    struct tt_fragment_counters so_far; /* of the cycles that came */
    uint64_t incidents;
    uint64_t bursts; /* incidents in which the device ran empty, or, without one, skipped */
    bool closed;     /* an incident has ended: `incident` is it, until the next call */
    struct tt_incident incident;
    /* Since the last reading, and of good stretches in all. */
    struct tt_stretch {
        int64_t cycles;
        int64_t sleeps;
        int64_t waiting_ns;
        int64_t compute_ns;
        int64_t gap_ns;
        int64_t cpu_ns;
        int64_t run_delay_ns;
    } stretch, good;
    struct tt_reading last;
    int64_t last_done_ns;
    bool bad;  /* the stretch has a loss in it … */
    bool open; /* an incident is going on */
    /* … in this time, on CLOCK_MONOTONIC, in which the loop had no reason to sleep. */
    int64_t lost_from_mono_ns;
    int64_t lost_until_mono_ns;
};

#define TT_CELL_WINDOW_NS INT64_C(1000000000)

/* `reading`: of the loop at its start. */
void tt_cell_init(struct tt_cell *cell, const struct tt_fragment_shape *shape, int64_t start_ns,
                  int64_t usual_compute_ns, const struct tt_reading *reading);
/* Is this a loss? Then the loop reads its counters at once: it came later than a quarter of a
 * fragment after it was due. */
TT_RT bool tt_cycle_is_loss(const struct tt_fragment_fate *fate, int64_t period_ns);
void tt_cell_cycle(struct tt_cell *cell, const struct tt_cycle *cycle);
/* Where `bad` is set, what is known of the surroundings matters; NULL: nothing. */
void tt_cell_reading(struct tt_cell *cell, const struct tt_reading *reading,
                     const struct tt_surroundings *surroundings);
/* Ends the incident that is going on. */
void tt_cell_finish(struct tt_cell *cell);

/* The cause of most of what was lost in incidents in which the device ran empty, or, where it never
 * did, in all; *ret_share_per_mille of it. TT_CAUSES: nothing was lost. */
enum tt_cause tt_cell_main_cause(const struct tt_cell *cell, int64_t *ret_share_per_mille);

#endif
