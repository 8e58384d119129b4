/*
 * Why a loop lost time: from what a program may know of itself, without the kernel's tracers.
 *
 * A thread that lost time was in one of four states. It ran, and took more CPU time than usual: the
 * computation was slower, or something took the CPU in the midst of it and was charged to it. It
 * could have run and did not get the CPU: others had it, or, where threads without priority ran
 * meanwhile, real-time throttling took it away. It
 * slept or stood still: a page came from the disk, it was stopped, or its wake-up came late. Or
 * time went by while the kernel believed that it ran: the hypervisor ran something else. Each
 * share is bounded by its evidence; what no evidence accounts for stays unexplained.
 *
 * Source: proc(5) (schedstat, stat), getrusage(2), sched(7) (limiting the CPU usage of real-time
 * processes).
 */
#ifndef TT_METER_CAUSE_H
#define TT_METER_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

enum tt_cause {
    TT_CAUSE_OTHERS,     /* was runnable, others had the CPU */
    TT_CAUSE_THROTTLED,  /* as that, by real-time throttling */
    TT_CAUSE_STOPPED,    /* SIGSTOP, a debugger, a freezer */
    TT_CAUSE_FAULT,      /* a page came from the disk */
    TT_CAUSE_SLOWER,     /* the computation took more CPU time */
    TT_CAUSE_HYPERVISOR, /* ran something else meanwhile */
    TT_CAUSE_INTERRUPT,  /* took the CPU within the computation */
    TT_CAUSE_TIMER,      /* the wake-up came late, with the CPU free */
    TT_CAUSE_UNEXPLAINED,
    TT_CAUSES,
};

/* Where the evidence comes from. */
enum tt_cause_level {
    TT_CAUSE_LEVEL_SELF,  /* L0: the thread's own figures */
    TT_CAUSE_LEVEL_TRACE, /* L1: scheduler and interrupt events of the kernel */
    TT_CAUSE_LEVEL_NOISE, /* L2: the kernel's osnoise tracer */
    TT_CAUSE_LEVELS,
};

#define TT_CAUSE_UNKNOWN     INT64_MIN
#define TT_CAUSE_CULPRIT_LEN 32

/* A stretch of cycles around a loss. Times beyond what is usual for as many cycles. */
struct tt_evidence {
    int64_t lost_waiting_ns;   /* woke so much later than due */
    int64_t lost_computing_ns; /* the computation took so much longer, by the wall clock */
    int64_t cpu_ns;            /* its CPU time grew by */
    int64_t run_delay_ns;      /* runnable and not running; or TT_CAUSE_UNKNOWN */
    int64_t gap_ns;            /* of lost_computing: in interruptions, not evenly */
    int64_t steal_ns;          /* of this CPU, as the kernel counts it; or TT_CAUSE_UNKNOWN */
    int64_t tick_ns;           /* the resolution of that */
    int64_t steal_around_ns;   /* as that, in the second before; … */
    int64_t irq_around_ns;     /* … interrupts, where the kernel counts their time; or unknown */
    int64_t major_faults;
    int64_t waits;       /* voluntary switches beyond one for each sleep */
    int64_t preemptions; /* involuntary switches */
    /* While the loop had no reason to sleep, threads without priority could run on its CPU for so
     * long; or TT_CAUSE_UNKNOWN: nobody looked, or the loop has no priority itself. */
    int64_t ordinary_ns;
    /* L1 and L2. */
    enum tt_cause_level level;
    int64_t other_ns;                   /* other threads ran on the CPU meanwhile */
    int64_t irq_ns;                     /* interrupts did */
    char culprit[TT_CAUSE_CULPRIT_LEN]; /* who most; "": not known */
};

struct tt_loss {
    int64_t lost_ns;
    int64_t share_ns[TT_CAUSES]; /* adds up to lost_ns */
    enum tt_cause main;          /* the greatest */
};

void tt_cause_find(const struct tt_evidence *evidence, struct tt_loss *ret_cause);

/* "others", "throttled" …: for JSON and short columns. */
const char *tt_cause_name(enum tt_cause cause);

#endif
