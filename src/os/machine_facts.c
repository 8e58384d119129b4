/*
 * See machine.h: settings.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/machine.h"
#include "os/machine_file.h"
#include "os/trace.h"

#define IDLE_STATES 16

int tt_machine_file_text(const char *path, char *ret_text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, ret_text, size - 1);
    int error = n < 0 ? -errno : 0;

    if (fd >= 0) {
        close(fd);
    }
    while (n > 0 && ret_text[n - 1] == '\n') {
        n--;
    }
    ret_text[n > 0 ? n : 0] = 0;
    return error;
}

int64_t tt_machine_file_number(const char *path)
{
    char text[64];
    char *end;
    int64_t value;

    if (tt_machine_file_text(path, text, sizeof(text)) != 0) {
        return TT_MACHINE_UNKNOWN;
    }
    value = strtoll(text, &end, 10);
    return end == text ? TT_MACHINE_UNKNOWN : value;
}

/* What stands behind "KEY … : " or "KEY:" in a file of such lines. */
static int find_value(const char *path, const char *key, char *ret_text, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[4096];
    int error = file ? -ENOENT : -errno;

    while (error == -ENOENT && file && fgets(line, sizeof(line), file)) {
        char *value = strchr(line, ':');

        if (strncmp(line, key, strlen(key)) == 0 && value) {
            value += 1 + strspn(value + 1, " \t");
            value[strcspn(value, "\n")] = 0;
            snprintf(ret_text, size, "%s", value);
            error = 0;
        }
    }
    if (file) {
        fclose(file);
    }
    return error;
}

static int64_t meminfo_bytes(const char *key)
{
    char text[TT_MACHINE_TEXT];

    return find_value("/proc/meminfo", key, text, sizeof(text)) == 0
               ? strtoll(text, NULL, 10) * 1024
               : TT_MACHINE_UNKNOWN;
}

static void find_processor(struct tt_machine_facts *facts)
{
    char flags[4096];

    facts->processors = tt_machine_processors();
    find_value("/proc/cpuinfo", "model name", facts->processor, sizeof(facts->processor));
    facts->hypervisor = find_value("/proc/cpuinfo", "flags", flags, sizeof(flags)) == 0 &&
                        strstr(flags, " hypervisor");
}

static void find_limits(struct tt_machine_facts *facts)
{
    struct sched_param param = {.sched_priority = 1};
    struct sched_param before = {0};
    int policy = sched_getscheduler(0);
    struct rlimit limit;

    facts->rtprio_limit = TT_MACHINE_UNKNOWN;
    facts->memlock_limit_bytes = TT_MACHINE_UNKNOWN;
    if (getrlimit(RLIMIT_RTPRIO, &limit) == 0) {
        facts->rtprio_limit = (int64_t)limit.rlim_cur;
    }
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
        facts->memlock_limit_bytes =
            limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)limit.rlim_cur;
    }
    sched_getparam(0, &before);
    facts->realtime = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
    if (facts->realtime) {
        sched_setscheduler(0, policy, &before);
    }
}

static void find_frequency(struct tt_machine_facts *facts, int cpu)
{
    char path[TT_MACHINE_TEXT];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    if (tt_machine_file_text(path, facts->governor, sizeof(facts->governor)) != 0) {
        snprintf(facts->governor, sizeof(facts->governor), "none");
    }
}

static void find_idle(struct tt_machine_facts *facts, int cpu)
{
    facts->idle_exit_us = TT_MACHINE_UNKNOWN;
    for (int state = 0; state < IDLE_STATES; state++) {
        char path[TT_MACHINE_TEXT];
        int64_t exit_us;

        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu,
                 state);
        if (tt_machine_file_number(path) != 0) {
            continue;
        }
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", cpu,
                 state);
        exit_us = tt_machine_file_number(path);
        facts->idle_exit_us = exit_us > facts->idle_exit_us ? exit_us : facts->idle_exit_us;
    }
}

/* "0-3,8": is it in there? */
static bool list_has(const char *list, int cpu)
{
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

        if (cpu >= first && cpu <= last) {
            return true;
        }
        list = *end == ',' ? end + 1 : end + strlen(end);
    }
    return false;
}

static void find_irqs(struct tt_machine_facts *facts, int cpu)
{
    DIR *folder = opendir("/proc/irq");
    struct dirent *entry;

    facts->irqs = folder ? 0 : TT_MACHINE_UNKNOWN;
    facts->irqs_on_cpu = facts->irqs;
    while (folder && (entry = readdir(folder))) {
        char path[512];
        char list[TT_MACHINE_TEXT];

        snprintf(path, sizeof(path), "/proc/irq/%s/effective_affinity_list", entry->d_name);
        if (isdigit((unsigned char)entry->d_name[0]) &&
            tt_machine_file_text(path, list, sizeof(list)) == 0 && list[0]) {
            facts->irqs++;
            facts->irqs_on_cpu += list_has(list, cpu);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

void tt_machine_facts(int cpu, struct tt_machine_facts *ret_facts)
{
    struct tt_machine_facts facts = {0};
    struct tt_machine_time time = {0};
    int looked_at = cpu < 0 ? 0 : cpu;
    int64_t swap_free;

    tt_machine_kernel(&facts);
    find_processor(&facts);
    find_limits(&facts);
    tt_machine_throttle(&facts.throttle);
    find_frequency(&facts, looked_at);
    find_idle(&facts, looked_at);
    facts.swap_bytes = meminfo_bytes("SwapTotal");
    swap_free = meminfo_bytes("SwapFree");
    facts.swap_used_bytes =
        facts.swap_bytes < 0 || swap_free < 0 ? TT_MACHINE_UNKNOWN : facts.swap_bytes - swap_free;
    tt_machine_file_text("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                         facts.clock_source, sizeof(facts.clock_source));
    facts.irqs = TT_MACHINE_UNKNOWN;
    if (cpu >= 0) {
        find_irqs(&facts, cpu);
    }
    facts.steal_counted = tt_machine_time(-1, &time) == 0 && time.steal_ns > 0;
    facts.schedstat = access("/proc/thread-self/schedstat", R_OK) == 0;
    facts.trace_error = tt_trace_available(&facts.osnoise);
    *ret_facts = facts;
}
