/*
 * See cause.h.
 */
#include "meter/cause.h"

#include "base/min_max.h"

/* Taking for TT_CAUSE_UNEXPLAINED leaves it where it is. */
static void take(struct tt_loss *loss, enum tt_cause cause, int64_t ns)
{
    int64_t left_ns = loss->share_ns[TT_CAUSE_UNEXPLAINED];
    int64_t taken_ns = tt_max64(0, tt_min64(ns, left_ns));

    loss->share_ns[TT_CAUSE_UNEXPLAINED] -= taken_ns;
    loss->share_ns[cause] += taken_ns;
}

/* Was runnable and did not run. */
static int64_t take_run_delay(const struct tt_evidence *e, struct tt_loss *loss)
{
    int64_t delay_ns = e->run_delay_ns;
    int64_t throttled_ns;

    if (delay_ns == TT_CAUSE_UNKNOWN) {
        /* Without the kernel's figure a preemption is all that is known. */
        delay_ns = e->preemptions > 0 ? e->lost_computing_ns - e->cpu_ns : 0;
    }
    delay_ns = tt_max64(0, delay_ns);
    throttled_ns = tt_max64(0, tt_min64(e->ordinary_ns, delay_ns));
    take(loss, TT_CAUSE_THROTTLED, throttled_ns);
    take(loss, TT_CAUSE_OTHERS, delay_ns - throttled_ns);
    return delay_ns;
}

static bool stolen(const struct tt_evidence *e, int64_t ns)
{
    return e->steal_ns != TT_CAUSE_UNKNOWN && 2 * e->steal_ns >= ns && e->steal_ns > 0;
}

/* Time in one go that was counted as the thread's own. Interrupts only where the kernel counted
 * some; tracers have told theirs. */
static enum tt_cause who_was_charged(const struct tt_evidence *e, int64_t ns)
{
    if (stolen(e, ns)) {
        return TT_CAUSE_HYPERVISOR;
    }
    return e->level == TT_CAUSE_LEVEL_SELF && e->irq_around_ns > 0 ? TT_CAUSE_INTERRUPT
                                                                   : TT_CAUSE_UNEXPLAINED;
}

/* More CPU time: evenly, or in one go, which no computation does. */
static void take_cpu(const struct tt_evidence *e, int64_t off_cpu_ns, struct tt_loss *loss)
{
    int64_t cpu_ns = tt_max64(0, e->cpu_ns);
    int64_t gap_ns = e->gap_ns - off_cpu_ns;

    if (e->level != TT_CAUSE_LEVEL_SELF) {
        take(loss, TT_CAUSE_INTERRUPT, tt_min64(e->irq_ns, cpu_ns));
        cpu_ns -= tt_min64(e->irq_ns, cpu_ns);
    }
    if (2 * gap_ns < cpu_ns) {
        take(loss, TT_CAUSE_SLOWER, cpu_ns);
    } else if (e->major_faults > 0) {
        take(loss, TT_CAUSE_FAULT, cpu_ns);
    } else {
        take(loss, who_was_charged(e, cpu_ns), cpu_ns);
    }
}

/* Time that went by in the midst of a computation, with no switch to anybody: interrupts, where
 * their time is not the thread's, or the hypervisor. Below the kernel's resolution what was the
 * more common in the second before has it. */
static enum tt_cause who_took(const struct tt_evidence *e, int64_t absent_ns)
{
    if (e->steal_around_ns == TT_CAUSE_UNKNOWN) {
        return TT_CAUSE_HYPERVISOR;
    }
    if (absent_ns >= 2 * e->tick_ns && 4 * e->steal_ns < absent_ns) {
        return TT_CAUSE_UNEXPLAINED;
    }
    if (e->steal_around_ns > e->irq_around_ns) {
        return TT_CAUSE_HYPERVISOR;
    }
    return e->irq_around_ns > 0 ? TT_CAUSE_INTERRUPT : TT_CAUSE_UNEXPLAINED;
}

/* Neither ran nor was runnable. */
static void take_absence(const struct tt_evidence *e, int64_t absent_ns, struct tt_loss *loss)
{
    int64_t waiting_ns = tt_min64(absent_ns, tt_max64(0, e->lost_waiting_ns));
    int64_t computing_ns = absent_ns - waiting_ns;

    if (e->major_faults > 0) {
        take(loss, TT_CAUSE_FAULT, absent_ns);
    } else if (e->waits > 0) {
        take(loss, TT_CAUSE_STOPPED, absent_ns);
    } else if (stolen(e, absent_ns)) {
        take(loss, TT_CAUSE_HYPERVISOR, absent_ns);
    } else {
        take(loss, TT_CAUSE_TIMER, waiting_ns);
        take(loss, who_took(e, computing_ns), computing_ns);
    }
}

/* Of the time off the CPU, what can have been within the computation. */
static int64_t off_cpu_within(const struct tt_evidence *e, int64_t delay_ns, int64_t absent_ns)
{
    int64_t room_ns = tt_max64(0, e->lost_computing_ns - tt_max64(0, e->cpu_ns));
    int64_t waiting_ns = tt_min64(absent_ns, tt_max64(0, e->lost_waiting_ns));

    return tt_min64(delay_ns, room_ns) + absent_ns - waiting_ns;
}

void tt_cause_find(const struct tt_evidence *evidence, struct tt_loss *ret_loss)
{
    struct tt_loss loss = {
        .lost_ns =
            tt_max64(0, evidence->lost_waiting_ns) + tt_max64(0, evidence->lost_computing_ns),
        .main = TT_CAUSE_UNEXPLAINED,
    };
    int64_t delay_ns;
    int64_t absent_ns;

    loss.share_ns[TT_CAUSE_UNEXPLAINED] = loss.lost_ns;
    delay_ns = take_run_delay(evidence, &loss);
    absent_ns = tt_max64(0, loss.lost_ns - delay_ns - tt_max64(0, evidence->cpu_ns));
    take_cpu(evidence, off_cpu_within(evidence, delay_ns, absent_ns), &loss);
    take_absence(evidence, absent_ns, &loss);
    for (int cause = 0; cause < TT_CAUSES; cause++) {
        if (loss.share_ns[cause] > loss.share_ns[loss.main]) {
            loss.main = (enum tt_cause)cause;
        }
    }
    *ret_loss = loss;
}

const char *tt_cause_name(enum tt_cause cause)
{
    static const char *const names[TT_CAUSES] = {
        [TT_CAUSE_OTHERS] = "others",           [TT_CAUSE_THROTTLED] = "throttled",
        [TT_CAUSE_STOPPED] = "stopped",         [TT_CAUSE_FAULT] = "page_fault",
        [TT_CAUSE_SLOWER] = "slower",           [TT_CAUSE_HYPERVISOR] = "hypervisor",
        [TT_CAUSE_INTERRUPT] = "interrupt",     [TT_CAUSE_TIMER] = "timer",
        [TT_CAUSE_UNEXPLAINED] = "unexplained",
    };

    return names[cause];
}
