/*
 * See meter_around.h.
 */
#include "run/meter_around.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "meter/switches.h"
#include "os/clock.h"

#define TEXT_BYTES (1 << 20)
#define SPAN_NS    TT_NS_PER_S /* that tells what is common here */

void tt_meter_around_init(struct tt_meter_around *around, struct tt_trace_session *trace)
{
    memset(around, 0, sizeof(*around));
    around->cpu = -1;
    around->trace = trace;
    around->text = trace ? malloc(TEXT_BYTES) : NULL;
    tt_meter_around_sample(around);
}

void tt_meter_around_begin(struct tt_meter_around *around, int64_t tid, int cpu, bool realtime)
{
    around->tid = tid;
    if (realtime) {
        tt_meter_witness_start(&around->witness);
    }
    tt_meter_around_move(around, cpu);
}

void tt_meter_around_forgo_trace(struct tt_meter_around *around)
{
    free(around->text);
    around->text = NULL;
}

void tt_meter_around_done(struct tt_meter_around *around)
{
    tt_meter_witness_stop(&around->witness);
    tt_meter_around_forgo_trace(around);
}

void tt_meter_around_move(struct tt_meter_around *around, int cpu)
{
    if (cpu != around->cpu) {
        around->cpu = cpu;
        around->count = 0;
        tt_meter_witness_move(&around->witness, cpu);
        tt_meter_around_sample(around);
    }
}

void tt_meter_around_sample(struct tt_meter_around *around)
{
    struct tt_meter_sample *sample = &around->samples[around->count % TT_METER_SAMPLES];

    sample->mono_ns = tt_clock_mono_ns();
    if (tt_machine_time(around->cpu, &sample->time) == 0) {
        around->count++;
    }
}

/* The newest sample that is not after `mono_ns`, or the oldest. */
static const struct tt_meter_sample *sample_at(const struct tt_meter_around *around,
                                               int64_t mono_ns)
{
    uint64_t oldest = around->count > TT_METER_SAMPLES ? around->count - TT_METER_SAMPLES : 0;
    uint64_t at = around->count - 1;

    while (at > oldest && around->samples[at % TT_METER_SAMPLES].mono_ns > mono_ns) {
        at--;
    }
    return &around->samples[at % TT_METER_SAMPLES];
}

/* Losses that follow each other closely are in one reading of the record. */
static void find_switches(struct tt_meter_around *around, int64_t from_mono_ns,
                          int64_t until_mono_ns, struct tt_surroundings *found)
{
    struct tt_switches switches;

    if (!around->text || around->tid == 0 || around->cpu < 0) {
        return;
    }
    if (around->text_until_ns < until_mono_ns) {
        if (tt_trace_take(around->trace, around->cpu, around->text, TEXT_BYTES) < 0) {
            around->text[0] = 0;
        }
        around->text_until_ns = tt_clock_mono_ns();
    }
    tt_switches_find(around->text, around->tid, from_mono_ns, until_mono_ns, &switches);
    if (switches.lines > 0) {
        found->level = around->trace->osnoise ? TT_CAUSE_LEVEL_NOISE : TT_CAUSE_LEVEL_TRACE;
        found->other_ns = switches.other_ns;
        found->irq_ns = switches.irq_ns;
        memcpy(found->culprit, switches.culprit, sizeof(found->culprit));
    }
}

void tt_meter_around_find(struct tt_meter_around *around, int64_t from_mono_ns,
                          int64_t until_mono_ns, struct tt_surroundings *ret_surroundings)
{
    struct tt_surroundings found = {.steal_ns = TT_CAUSE_UNKNOWN,
                                    .steal_around_ns = TT_CAUSE_UNKNOWN,
                                    .irq_around_ns = TT_CAUSE_UNKNOWN,
                                    .ordinary_ns = tt_meter_witness_ns(
                                        &around->witness, around->cpu, from_mono_ns, until_mono_ns),
                                    .tick_ns = tt_machine_tick_ns()};

    if (around->count >= 2) {
        const struct tt_meter_sample *last =
            &around->samples[(around->count - 1) % TT_METER_SAMPLES];
        const struct tt_meter_sample *before = sample_at(around, from_mono_ns);
        const struct tt_meter_sample *span = sample_at(around, until_mono_ns - SPAN_NS);

        found.steal_ns = last->time.steal_ns - before->time.steal_ns;
        found.steal_around_ns = last->time.steal_ns - span->time.steal_ns;
        found.irq_around_ns = last->time.irq_ns - span->time.irq_ns;
    }
    find_switches(around, from_mono_ns, until_mono_ns, &found);
    *ret_surroundings = found;
}
