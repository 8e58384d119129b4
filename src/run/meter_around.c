/*
 * See meter_around.h.
 */
#include "run/meter_around.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "os/clock.h"

/* Throttling looks at the CPU time of a period, which is a second everywhere. */
#define IDLE_SPAN_NS TT_NS_PER_S

void tt_meter_around_init(struct tt_meter_around *around, int cpu, struct tt_trace_session *trace,
                          bool realtime)
{
    memset(around, 0, sizeof(*around));
    around->cpu = cpu;
    around->trace = trace;
    around->realtime = realtime;
    tt_machine_throttle(&around->throttle);
    tt_meter_around_sample(around);
}

void tt_meter_around_done(struct tt_meter_around *around)
{
    free(around->text);
    around->text = NULL;
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

void tt_meter_around_find(struct tt_meter_around *around, int64_t from_mono_ns,
                          int64_t until_mono_ns, struct tt_surroundings *ret_surroundings)
{
    struct tt_surroundings found = {.steal_ns = TT_CAUSE_UNKNOWN,
                                    .idle_per_mille = TT_CAUSE_UNKNOWN,
                                    .tick_ns = tt_machine_tick_ns()};

    if (around->realtime && around->throttle.runtime_ns >= 0 && around->throttle.period_ns > 0) {
        found.throttle_period_ns = around->throttle.period_ns;
        found.throttle_ns = tt_max64(0, around->throttle.period_ns - around->throttle.runtime_ns);
    }
    if (around->count >= 2) {
        const struct tt_meter_sample *last =
            &around->samples[(around->count - 1) % TT_METER_SAMPLES];
        const struct tt_meter_sample *before = sample_at(around, from_mono_ns);
        const struct tt_meter_sample *span = sample_at(around, until_mono_ns - IDLE_SPAN_NS);

        found.steal_ns = last->time.steal_ns - before->time.steal_ns;
        if (around->cpu >= 0 && last->time.total_ns > span->time.total_ns) {
            found.idle_per_mille = (last->time.idle_ns - span->time.idle_ns) * 1000 /
                                   (last->time.total_ns - span->time.total_ns);
        }
    }
    *ret_surroundings = found;
}
