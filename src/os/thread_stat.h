/*
 * What the kernel counts of one thread: for the thread itself, in its real-time code.
 *
 * Source: proc_pid_schedstat in fs/proc/base.c (time on the CPU, time runnable and waiting, in ns),
 * getrusage(2).
 */
#ifndef TT_OS_THREAD_STAT_H
#define TT_OS_THREAD_STAT_H

#include <stdint.h>

#include "base/attr.h"

struct tt_thread_figures {
    int64_t cpu_ns;
    int64_t run_delay_ns; /* below 0: the kernel does not count it */
    int64_t major_faults;
    int64_t voluntary_switches;
    int64_t involuntary_switches;
    int cpu; /* below 0: not known */
};

struct tt_thread_stat {
    int fd; /* /proc/thread-self/schedstat; below 0: not to be had */
};

void tt_thread_stat_init(struct tt_thread_stat *stat);
/* By the thread that is looked at; without the file it goes on without run_delay_ns. */
void tt_thread_stat_open(struct tt_thread_stat *stat);
TT_RT void tt_thread_stat_read(const struct tt_thread_stat *stat,
                               struct tt_thread_figures *ret_figures);
void tt_thread_stat_close(struct tt_thread_stat *stat);

#endif
