/*
 * A thread without priority on the loop's processor, which looks at the clock every few ms. That it
 * ran while the loop could have run and did not has one reason only: the kernel keeps threads with
 * real-time priority off the processor (throttling, the fair server, a deadline's budget).
 *
 * It costs the processor some us in 5 ms, and is there only where the loop was granted a priority.
 * Source: sched(7), limiting the CPU usage of real-time processes;
 * Documentation/scheduler/sched-rt-group.rst.
 */
#ifndef TT_RUN_METER_WITNESS_H
#define TT_RUN_METER_WITNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/thread.h"

#define TT_METER_WITNESS_TIMES 512 /* two seconds and more */

/* One writer, one reader; must stay where it is. */
struct tt_meter_witness {
    struct tt_thread thread;
    struct {
        atomic_llong mono_ns;
        atomic_int cpu;
    } times[TT_METER_WITNESS_TIMES];
    atomic_size_t count;
    atomic_bool stop;
};

/* 0 or -errno. */
int tt_meter_witness_start(struct tt_meter_witness *witness);
/* The loop is there; below 0: not known. */
void tt_meter_witness_move(struct tt_meter_witness *witness, int cpu);
/* So much of the time between two that are over it could run on that processor, by when it did;
 * TT_CAUSE_UNKNOWN where it was not started. */
int64_t tt_meter_witness_ns(const struct tt_meter_witness *witness, int cpu, int64_t from_mono_ns,
                            int64_t until_mono_ns);
/* Nothing where it was not started. */
void tt_meter_witness_stop(struct tt_meter_witness *witness);

#endif
