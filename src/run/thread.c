/*
 * See thread.h.
 */
#include "run/thread.h"

#include "base/min_max.h"
#include "base/ns.h"

/* The longest sleep: a stop is noticed after so long, whatever the next step is. */
#define NAP_NS (20 * TT_NS_PER_MS)

/* While catching up: a wake-up costs about as long as the interval of a PDU. */
#define CATCH_UP_NS (50 * TT_NS_PER_US)

/* A step of the median: it settles within some hundred wake-ups. */
#define MEDIAN_STEP_NS 100

void tt_wake_lateness_add(struct tt_wake_lateness *lateness, int64_t late_ns)
{
    int64_t median_ns = lateness->median_ns;

    median_ns += late_ns > median_ns ? MEDIAN_STEP_NS : -MEDIAN_STEP_NS;
    lateness->median_ns = tt_max64(0, tt_min64(median_ns, TT_WAKE_LATENESS_MAX_NS));
}

static int64_t mono_now(struct tt_clock *clock)
{
    return clock->ops->mono_ns(clock);
}

/* Without real-time priority a busy thread waits the longer for its turn, so that one sleeps. */
static void wait_until(struct tt_engine_thread *thread, int64_t now_ns, int64_t next_ns)
{
    enum tt_wait wait = thread->thread.realtime ? thread->wait(thread->engine) : TT_WAIT_ASLEEP;
    int64_t early_ns = wait == TT_WAIT_ON_TIME    ? thread->lateness.median_ns
                       : wait == TT_WAIT_CATCH_UP ? CATCH_UP_NS
                                                  : 0;

    if (now_ns >= next_ns) {
        return;
    }
    if (now_ns < next_ns - early_ns) {
        thread->clock->ops->sleep_until(thread->clock, next_ns - early_ns);
        tt_wake_lateness_add(&thread->lateness, mono_now(thread->clock) - (next_ns - early_ns));
    }
    while (wait != TT_WAIT_ASLEEP && mono_now(thread->clock) < next_ns &&
           !atomic_load_explicit(&thread->quit, memory_order_relaxed)) {
    }
}

static void run(void *context)
{
    struct tt_engine_thread *thread = context;
    int64_t next_ns = mono_now(thread->clock);

    while (!atomic_load_explicit(&thread->quit, memory_order_acquire)) {
        int64_t now_ns = mono_now(thread->clock);

        if (next_ns > now_ns + NAP_NS) {
            thread->clock->ops->sleep_until(thread->clock, now_ns + NAP_NS);
            continue;
        }
        wait_until(thread, now_ns, next_ns);
        next_ns = thread->step(thread->engine);
    }
}

int tt_engine_thread_start(struct tt_engine_thread *thread, struct tt_clock *clock,
                           int64_t (*step)(void *engine), enum tt_wait (*wait)(void *engine),
                           void *engine)
{
    thread->clock = clock;
    thread->step = step;
    thread->wait = wait;
    thread->engine = engine;
    atomic_store(&thread->quit, false);
    return tt_thread_start(&thread->thread, run, thread);
}

void tt_engine_thread_stop(struct tt_engine_thread *thread)
{
    atomic_store_explicit(&thread->quit, true, memory_order_release);
    tt_thread_join(&thread->thread);
}
