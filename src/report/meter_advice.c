/*
 * See meter_advice.h.
 */
#include "report/meter_advice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/ns.h"

#define IDLE_EXIT_GOOD_US 50

struct list {
    struct tt_advice *lines;
    size_t count;
};

static struct tt_advice *add(struct list *list, const char *name, const char *format, ...)
    TT_PRINTF(3, 4);
static struct tt_advice *add(struct list *list, const char *name, const char *format, ...)
{
    struct tt_advice *line = &list->lines[list->count++];
    va_list args;

    *line = (struct tt_advice){.name = name};
    va_start(args, format);
    vsnprintf(line->value, sizeof(line->value), format, args);
    va_end(args);
    return line;
}

static void advise(struct tt_advice *line, bool wrong, const char *text)
{
    if (wrong) {
        snprintf(line->advice, sizeof(line->advice), "%s", text);
    }
}

static void add_machine(struct list *list, const struct tt_machine_facts *facts)
{
    advise(add(list, "kernel", "%s, %s", facts->kernel, facts->preemption),
           strstr(facts->preemption, "(none)") || strstr(facts->preemption, "(voluntary)"),
           "boot with preempt=full on the kernel's command line");
    add(list, "processors", "%u, %s", facts->processors,
        facts->processor[0] ? facts->processor : "model not known");
    if (facts->hypervisor) {
        advise(add(list, "virtual machine", "yes, time that the host takes is %scounted",
                   facts->steal_counted ? "" : "not "),
               true,
               facts->steal_counted
                   ? "what the host takes cannot be set from in here; pin the virtual CPUs there"
                   : "the host's time shows as late timers and slow computations only");
    }
}

static void add_limits(struct list *list, const struct tt_machine_facts *facts, bool throttled)
{
    advise(add(list, "real-time priority", "%s (limit %" PRId64 ")",
               facts->realtime ? "granted" : "refused", facts->rtprio_limit),
           !facts->realtime,
           "add yourself to a group with rtprio 95 in /etc/security/limits.d, and log in again");
    if (facts->memlock_limit_bytes == INT64_MAX) {
        add(list, "locked memory", "no limit");
    } else {
        advise(add(list, "locked memory", "%" PRId64 " KiB at most",
                   facts->memlock_limit_bytes / 1024),
               !facts->realtime && facts->memlock_limit_bytes < INT64_C(64) << 20,
               "memlock unlimited in /etc/security/limits.d");
    }
    if (facts->throttle.runtime_ns == TT_MACHINE_UNKNOWN) {
        add(list, "real-time throttling", "not known");
    } else if (facts->throttle.runtime_ns < 0) {
        add(list, "real-time throttling", "off");
    } else {
        advise(
            add(list, "real-time throttling", "%" PRId64 " of %" PRId64 " ms",
                facts->throttle.runtime_ns / TT_NS_PER_MS,
                facts->throttle.period_ns / TT_NS_PER_MS),
            throttled,
            facts->throttle.fair_server
                ? "real-time threads took more than that, and the fair server let others run: "
                  "find which (top -H); it keeps the machine usable, and as root echo 0 into "
                  "runtime of /sys/kernel/debug/sched/fair_server/cpu* stops it"
                : "real-time threads took more than that: find which (top -H); the limit keeps "
                  "the machine usable, sudo sysctl kernel.sched_rt_runtime_us=-1 lifts it, 950000 "
                  "sets it again");
    }
}

static void add_power(struct list *list, const struct tt_machine_facts *facts)
{
    advise(add(list, "frequency governor", "%s", facts->governor),
           strcmp(facts->governor, "none") != 0 && strcmp(facts->governor, "performance") != 0,
           "sudo cpupower frequency-set -g performance");
    if (facts->idle_exit_us == TT_MACHINE_UNKNOWN) {
        add(list, "idle states", "none that this machine can set");
    } else {
        advise(add(list, "idle states", "the deepest takes %" PRId64 " us to leave",
                   facts->idle_exit_us),
               facts->idle_exit_us > IDLE_EXIT_GOOD_US,
               "hold /dev/cpu_dma_latency at 0 while you play; --tuned shows what it gains");
    }
}

static void add_rest(struct list *list, const struct tt_machine_facts *facts)
{
    if (facts->swap_bytes == TT_MACHINE_UNKNOWN) {
        add(list, "swap", "not known");
    } else {
        advise(add(list, "swap", "%" PRId64 " MiB, %" PRId64 " in use", facts->swap_bytes >> 20,
                   facts->swap_used_bytes >> 20),
               facts->swap_used_bytes > 0,
               "programs that lock their memory do not swap; others that play should not either");
    }
    advise(
        add(list, "clock source", "%s", facts->clock_source[0] ? facts->clock_source : "not known"),
        strcmp(facts->clock_source, "hpet") == 0 || strcmp(facts->clock_source, "acpi_pm") == 0,
        "reading it is slow; see why the kernel does not trust tsc (dmesg | grep -i tsc)");
    if (facts->irqs != TT_MACHINE_UNKNOWN) {
        add(list, "interrupts", "%" PRId64 " of %" PRId64 " come to the loop's processor",
            facts->irqs_on_cpu, facts->irqs);
    }
}

static void add_evidence(struct list *list, const struct tt_machine_facts *facts)
{
    advise(add(list, "run delay", "%s", facts->schedstat ? "known to the ns" : "not counted"),
           !facts->schedstat, "a kernel with CONFIG_SCHED_INFO counts it");
    advise(add(list, "who ran instead", "%s",
               facts->trace_error ? "not recorded" : "recorded (tracefs)"),
           facts->trace_error != 0,
           facts->trace_error == -ENOENT
               ? "sudo mount -t tracefs nodev /sys/kernel/tracing"
               : "tracefs is there and not for this user: run it as root (sudo tactus meter)");
    if (facts->trace_error == 0) {
        advise(add(list, "osnoise tracer", "%s", facts->osnoise ? "there" : "not in this kernel"),
               !facts->osnoise, "a kernel with CONFIG_OSNOISE_TRACER has it");
    }
}

size_t tt_meter_advice(const struct tt_machine_facts *facts, bool throttled,
                       struct tt_advice ret_lines[TT_ADVICE_LINES])
{
    struct list list = {.lines = ret_lines};

    add_machine(&list, facts);
    add_limits(&list, facts, throttled);
    add_power(&list, facts);
    add_rest(&list, facts);
    add_evidence(&list, facts);
    return list.count;
}

json_t *tt_meter_advice_json(const struct tt_advice *lines, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(array, json_pack("{s:s, s:s, s:s?}", "name", lines[i].name, "value",
                                               lines[i].value, "advice",
                                               lines[i].advice[0] ? lines[i].advice : NULL));
    }
    return array;
}
