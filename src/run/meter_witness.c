/*
 * See meter_witness.h.
 */
#include "run/meter_witness.h"

#include <sched.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "meter/cause.h"
#include "os/clock.h"
#include "os/policy.h"

#define LOOK_NS   (5 * TT_NS_PER_MS)
#define BRIDGE_NS (10 * LOOK_NS) /* it shares the processor with others */

static void look(void *context)
{
    struct tt_meter_witness *witness = context;
    struct tt_clock *clock = tt_clock_system();

    /* A program started with a priority hands it down. */
    tt_policy_apply(&(struct tt_policy){.kind = TT_POLICY_OTHER, .cpu = -1});
    while (!atomic_load_explicit(&witness->stop, memory_order_relaxed)) {
        size_t count = atomic_load_explicit(&witness->count, memory_order_relaxed);
        size_t at = count % TT_METER_WITNESS_TIMES;
        int64_t now_ns = tt_clock_mono_ns();

        atomic_store_explicit(&witness->times[at].mono_ns, now_ns, memory_order_relaxed);
        atomic_store_explicit(&witness->times[at].cpu, sched_getcpu(), memory_order_relaxed);
        atomic_store_explicit(&witness->count, count + 1, memory_order_release);
        clock->ops->sleep_until(clock, now_ns + LOOK_NS);
    }
}

int tt_meter_witness_start(struct tt_meter_witness *witness)
{
    return tt_thread_start_plain(&witness->thread, look, witness);
}

void tt_meter_witness_move(struct tt_meter_witness *witness, int cpu)
{
    if (witness->thread.running && cpu >= 0) {
        tt_thread_pin(&witness->thread, cpu);
    }
}

/* It looks every LOOK_NS only, and where it waited for longer between two looks it shared the
 * processor with others of its kind. */
int64_t tt_meter_witness_ns(const struct tt_meter_witness *witness, int cpu, int64_t from_mono_ns,
                            int64_t until_mono_ns)
{
    size_t count = atomic_load_explicit(&witness->count, memory_order_acquire);
    int64_t known_from_ns = until_mono_ns;
    int64_t sum_ns = 0;

    if (!witness->thread.running) {
        return TT_CAUSE_UNKNOWN;
    }
    /* From the newest on; the oldest may be written anew just now. */
    for (size_t back = 1; back < TT_METER_WITNESS_TIMES && back <= count; back++) {
        size_t at = (count - back) % TT_METER_WITNESS_TIMES;
        int64_t ns = atomic_load_explicit(&witness->times[at].mono_ns, memory_order_relaxed);
        int64_t until_ns;

        if (ns < from_mono_ns) {
            break;
        }
        if (ns < until_mono_ns &&
            atomic_load_explicit(&witness->times[at].cpu, memory_order_relaxed) == cpu) {
            until_ns = sum_ns > 0 && known_from_ns - ns <= BRIDGE_NS
                           ? known_from_ns
                           : tt_min64(known_from_ns, ns + LOOK_NS);
            sum_ns += until_ns - tt_max64(from_mono_ns, ns - LOOK_NS);
            known_from_ns = tt_max64(from_mono_ns, ns - LOOK_NS);
        }
    }
    return sum_ns;
}

void tt_meter_witness_stop(struct tt_meter_witness *witness)
{
    atomic_store(&witness->stop, true);
    tt_thread_unpin(&witness->thread);
    tt_thread_join(&witness->thread);
}
