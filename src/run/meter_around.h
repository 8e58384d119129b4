/*
 * What is known of the machine around a loss: the kernel's CPU times, sampled as the measurement
 * goes on, and its record of switches and interrupts, read after a loss only; and whether threads
 * without priority ran.
 */
#ifndef TT_RUN_METER_AROUND_H
#define TT_RUN_METER_AROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/cell.h"
#include "os/machine.h"
#include "os/trace.h"
#include "run/meter_witness.h"

#define TT_METER_SAMPLES 128 /* two seconds and more */

struct tt_meter_around {
    int cpu; /* that the loop is on; below 0: not known, all of them are sampled */
    struct tt_trace_session *trace; /* or NULL */
    int64_t tid;                    /* of the loop's thread; 0: not known yet */
    struct tt_meter_witness witness;
    struct tt_meter_sample {
        int64_t mono_ns;
        struct tt_machine_time time;
    } samples[TT_METER_SAMPLES];
    uint64_t count;
    char *text;            /* of the kernel's record */
    int64_t text_until_ns; /* it was read then: later losses need a newer one */
};

/* It must stay where it is until tt_meter_around_done. */
void tt_meter_around_init(struct tt_meter_around *around, struct tt_trace_session *trace);
/* The loop runs; realtime: with a priority. */
void tt_meter_around_begin(struct tt_meter_around *around, int64_t tid, int cpu, bool realtime);
/* The loop is there now; samples begin anew where it was on another. */
void tt_meter_around_move(struct tt_meter_around *around, int cpu);
/* From here on what is found comes without the kernel's record, whose reading takes time. */
void tt_meter_around_forgo_trace(struct tt_meter_around *around);
void tt_meter_around_done(struct tt_meter_around *around);
void tt_meter_around_sample(struct tt_meter_around *around);
/* Of a loss between two times that are over. */
void tt_meter_around_find(struct tt_meter_around *around, int64_t from_mono_ns,
                          int64_t until_mono_ns, struct tt_surroundings *ret_surroundings);

#endif
