/*
 * See machine.h: what the kernel was built and booted with, as far as that decides about real time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/ns.h"
#include "os/machine.h"
#include "os/machine_file.h"

#define FAIR_SERVER "/sys/kernel/debug/sched/fair_server/cpu0/"
/* Linux 6.12, sched/deadline.c: fair_server_init() */
#define FAIR_RUNTIME_NS (50 * TT_NS_PER_MS)
#define FAIR_PERIOD_NS  TT_NS_PER_S

/* The configuration that the running kernel was built with; NULL: it is nowhere to be had. */
static FILE *open_config(const char *release, bool *ret_piped)
{
    char path[TT_MACHINE_TEXT + 32];
    FILE *file;

    snprintf(path, sizeof(path), "/boot/config-%s", release);
    file = fopen(path, "re");
    *ret_piped = !file && access("/proc/config.gz", R_OK) == 0;
    return *ret_piped ? popen("zcat /proc/config.gz 2>/dev/null", "re") : file;
}

bool tt_machine_config(struct tt_machine_config *ret_config)
{
    static const struct {
        const char *line;
        const char *mode;
    } modes[] = {{"CONFIG_PREEMPT_NONE=y\n", "none"},
                 {"CONFIG_PREEMPT_VOLUNTARY=y\n", "voluntary"},
                 {"CONFIG_PREEMPT=y\n", "full"},
                 {"CONFIG_PREEMPT_LAZY=y\n", "lazy"}};
    struct utsname name;
    char line[256];
    bool piped = false;
    FILE *file = uname(&name) == 0 ? open_config(name.release, &piped) : NULL;
    bool any = false;

    *ret_config = (struct tt_machine_config){.preemption = ""};
    while (file && fgets(line, sizeof(line), file)) {
        any = true;
        for (size_t i = 0; i < TT_COUNT_OF(modes); i++) {
            if (strcmp(line, modes[i].line) == 0) {
                ret_config->preemption = modes[i].mode;
            }
        }
        ret_config->rt_groups |= strcmp(line, "CONFIG_RT_GROUP_SCHED=y\n") == 0;
    }
    if (file) {
        (piped ? pclose : fclose)(file);
    }
    return any;
}

bool tt_machine_has_fair_server(const char *release, bool rt_groups)
{
    char *end;
    long major = strtol(release, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

    return !rt_groups && (major > 6 || (major == 6 && minor >= 12));
}

void tt_machine_throttle(struct tt_machine_throttle *ret_throttle)
{
    struct tt_machine_throttle throttle = {.runtime_ns = TT_MACHINE_UNKNOWN,
                                           .period_ns = TT_MACHINE_UNKNOWN};
    struct tt_machine_config config;
    struct utsname name;
    int64_t runtime;
    int64_t period;

    /* Without the configuration: no distribution of today has groups of real-time threads. */
    tt_machine_config(&config);
    throttle.fair_server =
        uname(&name) == 0 && tt_machine_has_fair_server(name.release, config.rt_groups);
    if (throttle.fair_server) {
        runtime = tt_machine_file_number(FAIR_SERVER "runtime");
        period = tt_machine_file_number(FAIR_SERVER "period");
        throttle.period_ns = period > 0 ? period : FAIR_PERIOD_NS;
        runtime = runtime >= 0 ? runtime : FAIR_RUNTIME_NS;
        throttle.runtime_ns = runtime > 0 ? throttle.period_ns - runtime : -1;
        *ret_throttle = throttle;
        return;
    }
    runtime = tt_machine_file_number("/proc/sys/kernel/sched_rt_runtime_us");
    period = tt_machine_file_number("/proc/sys/kernel/sched_rt_period_us");
    throttle.runtime_ns =
        runtime == TT_MACHINE_UNKNOWN ? TT_MACHINE_UNKNOWN : runtime * TT_NS_PER_US;
    throttle.period_ns = period == TT_MACHINE_UNKNOWN ? TT_MACHINE_UNKNOWN : period * TT_NS_PER_US;
    *ret_throttle = throttle;
}

/* What the kernel does now, where this process may read it; what it was booted with; or what it was
 * built with: "full". */
static void add_preemption_mode(struct tt_machine_facts *facts)
{
    static const char option[] = "preempt=";
    size_t n = strlen(facts->preemption);
    struct tt_machine_config config;
    char text[4096];
    const char *mode = NULL;

    if (tt_machine_file_text("/sys/kernel/debug/sched/preempt", text, sizeof(text)) == 0) {
        mode = strchr(text, '('); /* none voluntary (full) lazy */
        mode = mode ? mode + 1 : NULL;
    } else if (tt_machine_file_text("/proc/cmdline", text, sizeof(text)) == 0) {
        mode = strstr(text, option);
        mode = mode && (mode == text || mode[-1] == ' ') ? mode + strlen(option) : NULL;
    }
    if (!mode && tt_machine_config(&config) && config.preemption[0] != 0) {
        mode = config.preemption;
    }
    snprintf(facts->preemption + n, sizeof(facts->preemption) - n, " (%.*s)",
             mode ? (int)strcspn(mode, ") \n") : TT_MACHINE_TEXT, mode ? mode : "mode not known");
}

void tt_machine_kernel(struct tt_machine_facts *facts)
{
    struct utsname name;

    if (uname(&name) != 0) {
        return;
    }
    snprintf(facts->kernel, sizeof(facts->kernel), "%.*s", TT_MACHINE_TEXT - 1, name.release);
    snprintf(facts->preemption, sizeof(facts->preemption), "%s",
             tt_machine_file_number("/sys/kernel/realtime") == 1 ? "PREEMPT_RT"
             : strstr(name.version, "PREEMPT_DYNAMIC")           ? "PREEMPT_DYNAMIC"
             : strstr(name.version, "PREEMPT")                   ? "PREEMPT"
                                                                 : "voluntary or none");
    if (strcmp(facts->preemption, "PREEMPT_DYNAMIC") == 0) {
        add_preemption_mode(facts);
    }
}
