/*
 * One measurement of the meter: a loop on a thread of its own, under one load, for a time; taken
 * together by the caller's thread as it goes.
 *
 * The machine is measured as found: the loop gets the priority that audio programs ask for, where
 * the system grants it, and nothing else is changed. What was not granted is in the result.
 */
#ifndef TT_RUN_METER_H
#define TT_RUN_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "meter/cell.h"
#include "os/load.h"
#include "os/machine.h"
#include "os/midi_port.h"
#include "os/policy.h"
#include "os/trace.h"
#include "run/meter_card.h"
#include "run/meter_host.h"
#include "run/meter_ring.h"

struct tt_meter_setup {
    struct tt_fragment_shape shape;
    int64_t plan_ns;
    int64_t compute_ns; /* CPU time that a cycle's computation takes */
    struct tt_policy policy;
    struct tt_load_setup load;
    struct tt_meter_machine *machine;
    struct tt_meter_ring *ring;
    struct tt_meter_card *card;     /* or NULL: a device in exact time */
    struct tt_midi_port *midi;      /* or NULL */
    struct tt_trace_session *trace; /* or NULL */
    /* Asked by the loop in each cycle, and while a load prepares or ends: bounded, any thread. Or
     * NULL. */
    bool (*interrupted)(void);
    /* An incident has ended; `cell` has all until then. Or NULL. */
    void (*incident)(void *context, const struct tt_cell *cell);
    /* Some ten times a second. Or NULL. */
    void (*tick)(void *context, const struct tt_cell *cell);
    void *context;
};

/* The cell is the caller's, some MB; so are the last two, NULL where they are not wanted. */
struct tt_meter_result {
    struct tt_cell *cell;
    struct tt_hist *midi;       /* from a byte's arrival to its sound */
    struct tt_hist *round_trip; /* from a sound's hand-over to its return */
    const char *load_name;
    struct tt_fragment_counters counters;
    int64_t start_mono_ns;
    int64_t measured_ns;
    int policy_error; /* what was asked for was not granted: it ran as the caller does */
    int64_t own_ns;   /* what the meter itself costs a cycle */
    struct tt_load_done load;
    int64_t foreign_per_mille; /* user time of other programs, of all processors; or unknown */
    struct tt_machine_pressure pressure; /* during it */
    uint64_t left_out;                   /* cycles that the distributions lack */
    bool interrupted;                    /* before its time was over; it may have come to nothing */
};

#define TT_METER_WHAT_LOAD "start the load"

/* 0, or -errno with *ret_what: what could not be done, for a message. *ret_result is the caller's,
 * its cell set. */
int tt_meter_run(const struct tt_meter_setup *setup, struct tt_meter_result *ret_result,
                 const char **ret_what);

#endif
