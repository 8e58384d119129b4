/*
 * What a machine says of itself that matters to real-time audio: CPU time by kind, and the settings
 * that make wake-ups late. Nothing here changes anything, but for tt_machine_awake, which says so.
 *
 * Source: proc(5), sched(7), Documentation/admin-guide/pm/{cpufreq,cpuidle}.rst,
 * Documentation/accounting/psi.rst.
 */
#ifndef TT_OS_MACHINE_H
#define TT_OS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define TT_MACHINE_TEXT    96
#define TT_MACHINE_UNKNOWN INT64_MIN

/* Since boot, in steps of tt_machine_tick_ns. */
struct tt_machine_time {
    int64_t user_ns; /* programs' own, nice or not */
    int64_t total_ns;
    int64_t idle_ns; /* waiting for disks too */
    int64_t irq_ns;  /* 0 for ever where the kernel does not count it */
    int64_t steal_ns;
};

/* cpu: a processor's number, or below 0 for all of them. 0 or -errno. */
int tt_machine_time(int cpu, struct tt_machine_time *ret_time);
int64_t tt_machine_tick_ns(void);
/* The user time of this process and of its children that have ended. */
int64_t tt_machine_own_user_ns(void);
unsigned tt_machine_processors(void);

/* Of the kernel's own configuration. */
struct tt_machine_config {
    const char *preemption; /* what CONFIG_PREEMPT_… it was built with: "none" …; "": not known */
    bool rt_groups;         /* CONFIG_RT_GROUP_SCHED */
};
/* false: it is nowhere to be had. */
bool tt_machine_config(struct tt_machine_config *ret_config);
/* Linux 6.12 and later, but where real-time threads are in groups: other threads are kept from
 * starving by a server of their own, and not by a limit for the real-time ones. */
bool tt_machine_has_fair_server(const char *release, bool rt_groups);

/* Real-time throttling: threads with real-time priority have runtime of each period, where others
 * want the rest. A runtime below 0: no limit. TT_MACHINE_UNKNOWN where it cannot be told. */
struct tt_machine_throttle {
    int64_t runtime_ns;
    int64_t period_ns;
    bool fair_server; /* it is this that takes the rest; else sched_rt_runtime_us limits it */
};
void tt_machine_throttle(struct tt_machine_throttle *ret_throttle);

struct tt_machine_pressure {
    int64_t cpu_us; /* since boot: somebody waited for it; or TT_MACHINE_UNKNOWN */
    int64_t io_us;
    int64_t memory_us;
};
void tt_machine_pressure(struct tt_machine_pressure *ret_pressure);

/* Numbers: TT_MACHINE_UNKNOWN; texts: "" where it is not known. */
struct tt_machine_facts {
    char kernel[TT_MACHINE_TEXT];
    char preemption[TT_MACHINE_TEXT]; /* "PREEMPT_RT", "PREEMPT_DYNAMIC (full)", "voluntary or none"
                                       */
    char processor[TT_MACHINE_TEXT];
    unsigned processors;
    bool hypervisor;             /* a virtual machine */
    int64_t rtprio_limit;        /* for this user */
    int64_t memlock_limit_bytes; /* INT64_MAX: none */
    bool realtime;               /* SCHED_FIFO would be granted, or is */
    struct tt_machine_throttle throttle;
    char governor[TT_MACHINE_TEXT]; /* "none": nobody scales the frequency */
    int64_t idle_exit_us;           /* of the deepest idle state that is enabled */
    int64_t swap_used_bytes;
    int64_t swap_bytes;
    char clock_source[TT_MACHINE_TEXT];
    int64_t irqs_on_cpu; /* interrupts that may come to the processor in question */
    int64_t irqs;
    bool steal_counted; /* the kernel is told of time that a hypervisor takes */
    bool schedstat;     /* /proc/thread-self/schedstat */
    int trace_error;    /* 0: tracefs can be used; -ENOENT: it is not mounted */
    bool osnoise;       /* the kernel has that tracer */
};

/* `cpu`: of the loop; below 0: any. */
void tt_machine_facts(int cpu, struct tt_machine_facts *ret_facts);

/* Keeps all processors out of idle states while the descriptor is open. It, or -errno. */
int tt_machine_awake(void);

#endif
