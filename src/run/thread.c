/*
 * See thread.h.
 */
#include "run/thread.h"

#include "base/ns.h"

/* The longest sleep: a stop is noticed after so long, whatever the next step is. */
#define NAP_NS (20 * TT_NS_PER_MS)

/* A usual wake-up comes so late; what is left of it is waited for awake. */
#define WAKE_COST_NS (50 * TT_NS_PER_US)

static int64_t mono_now(struct tt_clock *clock)
{
    struct tt_clock_reading reading;

    clock->ops->read(clock, &reading);
    return reading.mono_after_ns;
}

/* A wake-up costs about as long as the interval of a PDU: whoever sleeps while catching up hardly
 * does. Without real-time priority a busy thread waits the longer for its turn, so that one sleeps.
 */
static void wait_until(struct tt_engine_thread *thread, int64_t next_ns)
{
    if (!thread->behind || !thread->thread.realtime || !thread->behind(thread->engine)) {
        thread->clock->ops->sleep_until(thread->clock, next_ns);
        return;
    }
    thread->clock->ops->sleep_until(thread->clock, next_ns - WAKE_COST_NS);
    while (mono_now(thread->clock) < next_ns &&
           !atomic_load_explicit(&thread->quit, memory_order_relaxed)) {
    }
}

static void run(void *context)
{
    struct tt_engine_thread *thread = context;
    int64_t next_ns = mono_now(thread->clock);

    while (!atomic_load_explicit(&thread->quit, memory_order_acquire)) {
        int64_t nap_ns = mono_now(thread->clock) + NAP_NS;

        if (next_ns > nap_ns) {
            thread->clock->ops->sleep_until(thread->clock, nap_ns);
            continue;
        }
        wait_until(thread, next_ns);
        next_ns = thread->step(thread->engine);
    }
}

int tt_engine_thread_start(struct tt_engine_thread *thread, struct tt_clock *clock,
                           int64_t (*step)(void *engine), bool (*behind)(void *engine),
                           void *engine)
{
    thread->clock = clock;
    thread->step = step;
    thread->behind = behind;
    thread->engine = engine;
    atomic_store(&thread->quit, false);
    return tt_thread_start(&thread->thread, run, thread);
}

void tt_engine_thread_stop(struct tt_engine_thread *thread)
{
    atomic_store_explicit(&thread->quit, true, memory_order_release);
    tt_thread_join(&thread->thread);
}
