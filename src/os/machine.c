/*
 * See machine.h.
 */
#include "os/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/clock.h"

const char *tt_machine_line(const char *path, char ret_text[TT_MACHINE_TEXT])
{
    FILE *file = fopen(path, "re");

    ret_text[0] = 0;
    if (file) {
        if (!fgets(ret_text, TT_MACHINE_TEXT, file)) {
            ret_text[0] = 0;
        }
        fclose(file);
    }
    ret_text[strcspn(ret_text, "\n")] = 0;
    return ret_text;
}

static void read_kernel(struct tt_machine *machine)
{
    struct utsname name;

    if (uname(&name) == 0) {
        snprintf(machine->kernel, TT_MACHINE_TEXT, "%.20s %.60s %.40s", name.sysname, name.release,
                 name.machine);
        snprintf(machine->preemption, TT_MACHINE_TEXT, "%s", name.version);
    }
}

static void read_processor(char text[TT_MACHINE_TEXT])
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    text[0] = 0;
    while (file && text[0] == 0 && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(text, TT_MACHINE_TEXT, "%.100s", strchr(line, ':') + 2);
        }
    }
    if (file) {
        fclose(file);
    }
    text[strcspn(text, "\n")] = 0;
}

static bool read_number(const char *path, int64_t *ret_value)
{
    char text[TT_MACHINE_TEXT];

    return sscanf(tt_machine_line(path, text), "%" SCNd64, ret_value) == 1;
}

static int64_t read_limit(__rlimit_resource_t which)
{
    struct rlimit limit;

    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return -1;
    }
    return (int64_t)limit.rlim_cur;
}

void tt_machine_read(struct tt_machine *ret_machine)
{
    struct tt_machine machine = {.processors = (int)sysconf(_SC_NPROCESSORS_ONLN)};

    read_kernel(&machine);
    read_processor(machine.processor);
    tt_machine_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", machine.governor);
    tt_machine_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    machine.clocksource);
    machine.rt_known =
        read_number("/proc/sys/kernel/sched_rt_runtime_us", &machine.rt_runtime_us) &&
        read_number("/proc/sys/kernel/sched_rt_period_us", &machine.rt_period_us);
    machine.rtprio_limit = read_limit(RLIMIT_RTPRIO);
    machine.memlock_limit_bytes = read_limit(RLIMIT_MEMLOCK);
    tt_clock_tai_offset(&machine.tai_offset_s);
    *ret_machine = machine;
}
