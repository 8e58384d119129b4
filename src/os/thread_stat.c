/*
 * See thread_stat.h.
 */
#include "os/thread_stat.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/ns.h"

void tt_thread_stat_init(struct tt_thread_stat *stat)
{
    stat->fd = -1;
}

void tt_thread_stat_open(struct tt_thread_stat *stat)
{
    stat->fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* "CPU-TIME RUN-DELAY SLICES\n" */
static int64_t read_run_delay_ns(int fd)
{
    char text[96];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    char *end;
    long long delay_ns;

    if (n <= 0) {
        return -1;
    }
    text[n] = 0;
    strtoll(text, &end, 10);
    delay_ns = strtoll(end, &end, 10);
    return *end == ' ' ? delay_ns : -1;
}

void tt_thread_stat_read(const struct tt_thread_stat *stat, struct tt_thread_figures *ret_figures)
{
    struct timespec cpu = {0};
    struct rusage usage = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    getrusage(RUSAGE_THREAD, &usage);
    *ret_figures = (struct tt_thread_figures){
        .cpu_ns = cpu.tv_sec * TT_NS_PER_S + cpu.tv_nsec,
        .run_delay_ns = read_run_delay_ns(stat->fd),
        .major_faults = usage.ru_majflt,
        .voluntary_switches = usage.ru_nvcsw,
        .involuntary_switches = usage.ru_nivcsw,
        .cpu = sched_getcpu(),
    };
}

void tt_thread_stat_close(struct tt_thread_stat *stat)
{
    if (stat->fd >= 0) {
        close(stat->fd);
    }
    stat->fd = -1;
}
