/*
 * See machine.h: time and pressure. The settings are in machine_facts.c.
 */
#include "os/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/ns.h"
#include "os/machine_file.h"

enum column { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMNS };

int64_t tt_machine_tick_ns(void)
{
    long hz = sysconf(_SC_CLK_TCK);

    return hz > 0 ? TT_NS_PER_S / hz : 10 * TT_NS_PER_MS;
}

unsigned tt_machine_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}

static int parse_time(const char *line, struct tt_machine_time *ret_time)
{
    int64_t ticks[COLUMNS] = {0};
    int64_t tick_ns = tt_machine_tick_ns();
    struct tt_machine_time time = {0};
    const char *at = line;
    int columns = 0;

    while (columns < COLUMNS) {
        char *end;

        ticks[columns] = strtoll(at, &end, 10);
        if (end == at) {
            break;
        }
        at = end;
        columns++;
    }
    if (columns <= IDLE) {
        return -EPROTO;
    }
    for (int i = 0; i < COLUMNS; i++) {
        time.total_ns += ticks[i] * tick_ns;
    }
    time.user_ns = (ticks[USER] + ticks[NICE]) * tick_ns;
    time.idle_ns = (ticks[IDLE] + ticks[IOWAIT]) * tick_ns;
    time.irq_ns = (ticks[IRQ] + ticks[SOFTIRQ]) * tick_ns;
    time.steal_ns = ticks[STEAL] * tick_ns;
    *ret_time = time;
    return 0;
}

int tt_machine_time(int cpu, struct tt_machine_time *ret_time)
{
    char name[16] = "cpu ";
    char line[256];
    FILE *file = fopen("/proc/stat", "re");
    int error = -ENOENT;

    if (!file) {
        return -errno;
    }
    if (cpu >= 0) {
        snprintf(name, sizeof(name), "cpu%d ", cpu);
    }
    while (error == -ENOENT && fgets(line, sizeof(line), file)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            error = parse_time(line + strlen(name), ret_time);
        }
    }
    fclose(file);
    return error;
}

int64_t tt_machine_own_user_ns(void)
{
    struct rusage own = {0};
    struct rusage children = {0};

    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return (own.ru_utime.tv_sec + children.ru_utime.tv_sec) * TT_NS_PER_S +
           (own.ru_utime.tv_usec + children.ru_utime.tv_usec) * TT_NS_PER_US;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" */
static int64_t pressure_total_us(const char *path)
{
    char text[256];
    const char *total;

    if (tt_machine_file_text(path, text, sizeof(text)) != 0) {
        return TT_MACHINE_UNKNOWN;
    }
    total = strstr(text, "total=");
    return total ? strtoll(total + strlen("total="), NULL, 10) : TT_MACHINE_UNKNOWN;
}

void tt_machine_pressure(struct tt_machine_pressure *ret_pressure)
{
    ret_pressure->cpu_us = pressure_total_us("/proc/pressure/cpu");
    ret_pressure->io_us = pressure_total_us("/proc/pressure/io");
    ret_pressure->memory_us = pressure_total_us("/proc/pressure/memory");
}

int tt_machine_awake(void)
{
    int32_t latency_us = 0;
    int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        return -errno;
    }
    if (write(fd, &latency_us, sizeof(latency_us)) != (ssize_t)sizeof(latency_us)) {
        int error = -errno;

        close(fd);
        return error;
    }
    return fd;
}
