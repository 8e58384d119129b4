/*
 * The seam between the meter's loop and the machine that it runs on: its clock, its sleep, a
 * computation that takes a known share of a fragment, and the thread's own counters. Two
 * implementations: this machine, and one in virtual time to which a script does what machines do
 * (tests/sim/made_machine).
 */
#ifndef TT_RUN_METER_HOST_H
#define TT_RUN_METER_HOST_H

#include <stdint.h>

#include "base/attr.h"
#include "meter/cell.h"
#include "os/thread_stat.h"

struct tt_meter_host;

struct tt_meter_host_ops {
    int64_t (*now_ns)(struct tt_meter_host *host); /* CLOCK_MONOTONIC */
    void (*sleep_until)(struct tt_meter_host *host, int64_t mono_ns);
    /* *ret_gap_ns: time in interruptions, as far as they show as gaps within it. */
    void (*compute)(struct tt_meter_host *host, int64_t units, int64_t *ret_gap_ns);
    /* Of the calling thread. */
    void (*read)(struct tt_meter_host *host, struct tt_reading *ret_reading);
};

struct tt_meter_host {
    const struct tt_meter_host_ops *ops;
    int64_t unit_ps; /* a unit of computation takes */
};

#define TT_METER_SYNTH_VOICES 64

/* This machine. */
struct tt_meter_machine {
    struct tt_meter_host host;
    struct tt_thread_stat stat;
    int64_t chunk_units; /* of computation between two looks at the clock */
    float state[TT_METER_SYNTH_VOICES][2];
};

/* Estimates what a unit takes: takes some 10 ms. */
void tt_meter_machine_init(struct tt_meter_machine *machine);
/* A loop's computation of planned_ns took took_ns. */
void tt_meter_machine_correct(struct tt_meter_machine *machine, int64_t planned_ns,
                              int64_t took_ns);
/* By the thread that will run the loop. */
void tt_meter_machine_enter(struct tt_meter_machine *machine);
void tt_meter_machine_leave(struct tt_meter_machine *machine);

/* What the loop itself costs a cycle: its clock reads, its record, its share of a reading. */
int64_t tt_meter_host_reading_cost_ns(struct tt_meter_host *host);

#endif
