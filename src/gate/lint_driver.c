/*
 * See lint.h: what the driver of a port with gates in hardware does not take.
 */
#include <inttypes.h>

#include "base/min_max.h"
#include "gate/lint.h"

#include <stdio.h>

static void check_entries(const struct tt_gate_port *port, const struct tt_driver_limits *limits,
                          struct tt_gate_findings *findings)
{
    const struct tt_gate_schedule *s = &port->schedule;
    int64_t shortest_ns = INT64_MAX;
    int64_t longest_ns = 0;
    bool ticks = true;
    bool only_set = true;

    for (size_t i = 0; i < s->entry_count; i++) {
        int64_t ns = s->entries[i].interval_ns;

        shortest_ns = tt_min64(shortest_ns, ns);
        longest_ns = tt_max64(longest_ns, ns);
        ticks = ticks && (limits->tick_ns == 0 || ns % limits->tick_ns == 0);
        only_set = only_set && s->entries[i].command == TT_GATE_SET;
    }
    if (limits->entries_max > 0 && (int64_t)s->entry_count > limits->entries_max) {
        tt_gate_remedy(
            tt_gate_find(findings, limits->entries_vary ? TT_GATE_WARNING : TT_GATE_REFUSED,
                         "driver_entries", port, -1, "%zu entries; %s holds %" PRId64 "%s",
                         s->entry_count, limits->name, limits->entries_max,
                         limits->entries_vary ? " in its smallest variant" : ""),
            "join entries with the same gates");
    }
    if (shortest_ns < limits->interval_min_ns ||
        (limits->interval_max_ns > 0 && longest_ns > limits->interval_max_ns)) {
        tt_gate_remedy(
            tt_gate_find(findings, limits->entries_vary ? TT_GATE_WARNING : TT_GATE_REFUSED,
                         "driver_interval", port, -1, "entries of %s to %s; %s takes %s to %s%s",
                         tt_gate_us(shortest_ns).text, tt_gate_us(longest_ns).text, limits->name,
                         tt_gate_us(limits->interval_min_ns).text,
                         tt_gate_us(limits->interval_max_ns).text,
                         limits->entries_vary ? " in its smallest variant" : ""),
            "split entries that are too long; they join by themselves");
    }
    if (!ticks) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "driver_ticks", port, -1,
                                    "%s counts in ticks of %" PRId64
                                    " ns, and not every entry is a "
                                    "multiple",
                                    limits->name, limits->tick_ns),
                       "round the intervals to %" PRId64 " ns", limits->tick_ns);
    }
    if (limits->set_only && !only_set) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "driver_set_only", port, -1,
                                    "%s knows S entries only", limits->name),
                       "no hold or release");
    }
}

static void check_cycle(const struct tt_gate_port *port, const struct tt_driver_limits *limits,
                        int64_t now_tai_ns, struct tt_gate_findings *findings)
{
    const struct tt_gate_schedule *s = &port->schedule;
    int64_t cycle_ns = tt_gate_cycle_ns(s);

    if (cycle_ns < limits->cycle_min_ns ||
        (limits->cycle_max_ns > 0 && cycle_ns > limits->cycle_max_ns)) {
        tt_gate_find(findings, TT_GATE_REFUSED, "driver_cycle", port, -1,
                     "a cycle of %s; %s takes %s to %s", tt_gate_us(cycle_ns).text, limits->name,
                     tt_gate_us(limits->cycle_min_ns).text, tt_gate_us(limits->cycle_max_ns).text);
    }
    if (limits->no_extension && s->extension_ns > 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "driver_extension", port, -1,
                                    "%s has no cycle time extension", limits->name),
                       "leave it out");
    }
    if (limits->no_future_base && now_tai_ns > 0 && s->base_tai_ns > now_tai_ns) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "driver_base", port, -1,
                                    "%s takes no base time in the future", limits->name),
                       "a base time in the past with the same phase");
    }
    if (limits->needs_up) {
        tt_gate_find(findings, TT_GATE_NOTE, "driver_up", port, -1,
                     "%s takes a schedule while the interface is up only", limits->name);
    }
}

static void say_unknown(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    struct tt_gate_finding *finding = tt_gate_find(
        findings, TT_GATE_NOTE, "driver_unknown", port, -1,
        "no known limits of the driver %s: what it refuses is not said here", port->driver_unknown);
    size_t n = (size_t)snprintf(finding->remedy, sizeof(finding->remedy), "known are");

    for (int i = 1; i < TT_DRIVERS && n < sizeof(finding->remedy); i++) {
        n +=
            (size_t)snprintf(finding->remedy + n, sizeof(finding->remedy) - n, "%s %s",
                             i > 1 ? "," : "", tt_gate_driver_limits((enum tt_gate_driver)i)->name);
    }
}

void tt_gate_lint_driver(const struct tt_gate_port *port,
                         const struct tt_gate_lint_options *options,
                         struct tt_gate_findings *findings)
{
    const struct tt_driver_limits *limits = tt_gate_driver_limits(port->driver);

    if (port->driver_unknown[0]) {
        say_unknown(port, findings);
    }
    if (!port->has_schedule || port->mode != TT_GATE_OFFLOAD || port->schedule.entry_count == 0) {
        return;
    }
    if (port->driver != TT_DRIVER_OTHER && !limits->offload) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "driver_no_gates", port, -1,
                                    "%s (%s) has no gates in hardware", limits->name,
                                    limits->device),
                       "flags 0x0: let the software do it");
        return;
    }
    check_entries(port, limits, findings);
    check_cycle(port, limits, options->now_tai_ns, findings);
    for (unsigned c = 0; limits->opens_once && port->list && c < TT_GATE_CLASSES; c++) {
        if (port->list->classes[c].window_count > 1) {
            tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "driver_opens_once", port,
                                        (int)c, "opens %zu times a cycle; %s opens a queue once",
                                        port->list->classes[c].window_count, limits->name),
                           "one window for each class and cycle");
        }
    }
}
