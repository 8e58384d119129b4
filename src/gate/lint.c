/*
 * See lint.h. Here: findings themselves, and what the kernel says about a set-up.
 * Source: the kernel's net/sched/sch_taprio.c, sch_etf.c and sch_cbs.c at 6.1, 6.12 and 7.x.
 */
#include "gate/lint.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "gate/wire_time.h"

#define KERNEL_CHECKS_INTERVALS 6010 /* before, the speed was not known when they were checked */

struct tt_gate_finding *tt_gate_find(struct tt_gate_findings *findings,
                                     enum tt_gate_severity severity, const char *kind,
                                     const struct tt_gate_port *port, int class, const char *what,
                                     ...)
{
    /* The last one is written over where there is no room; the count says so. */
    size_t at = findings->count < findings->capacity ? findings->count : findings->capacity - 1;
    struct tt_gate_finding *finding = &findings->items[at];
    va_list args;

    findings->count++;
    *finding = (struct tt_gate_finding){.severity = severity, .kind = kind};
    if (class < 0) {
        snprintf(finding->where, sizeof(finding->where), "%s", port->name);
    } else {
        snprintf(finding->where, sizeof(finding->where), "%s class %d", port->name, class);
    }
    va_start(args, what);
    vsnprintf(finding->what, sizeof(finding->what), what, args);
    va_end(args);
    return finding;
}

void tt_gate_remedy(struct tt_gate_finding *finding, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(finding->remedy, sizeof(finding->remedy), format, args);
    va_end(args);
}

struct tt_us_text tt_gate_us(int64_t ns)
{
    struct tt_us_text us;
    const char *sign = ns < 0 ? "-" : "";
    int64_t size_ns = ns < 0 ? -ns : ns;
    int places = size_ns % 1000 == 0 ? 0 : size_ns % 10 == 0 ? 2 : 3;

    if (places == 0) {
        snprintf(us.text, sizeof(us.text), "%s%" PRId64 " us", sign, size_ns / 1000);
    } else {
        snprintf(us.text, sizeof(us.text), "%s%" PRId64 ".%0*" PRId64 " us", sign, size_ns / 1000,
                 places, size_ns % 1000 / (places == 2 ? 10 : 1));
    }
    return us;
}

int64_t tt_gate_usable_ns(const struct tt_gate_port *port, unsigned class)
{
    int64_t longest_ns = port->list ? port->list->classes[class].longest_ns : INT64_MAX;
    int64_t sdu_bytes = port->max_sdu_bytes[class] > 0
                            ? TT_FRAME_HEAD_BYTES + TT_FRAME_TAG_BYTES + port->max_sdu_bytes[class]
                            : 1518;

    if (longest_ns == INT64_MAX || port->mode != TT_GATE_OFFLOAD ||
        !tt_gate_driver_limits(port->driver)->static_guard) {
        return longest_ns;
    }
    return tt_max64(0, longest_ns - tt_wire_ns(tt_wire_bytes(sdu_bytes), tt_gate_rate(port)));
}

static void refuse_queues(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    if (port->tx_queues == 1) {
        tt_gate_remedy(
            tt_gate_find(findings, TT_GATE_REFUSED, "one_queue", port, -1,
                         "the device has one transmit queue%s",
                         port->has_schedule ? " (\"Multi-queue device is required\")" : ""),
            "veth: ip link add ... numtxqueues 8; TAP: IFF_MULTI_QUEUE");
        return;
    }
    if (port->tx_queues > 0 && port->class_count > port->tx_queues) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "more_classes_than_queues", port, -1,
                                    "%u traffic classes on %u queues%s", port->class_count,
                                    port->tx_queues,
                                    port->has_schedule ? " (\"Number of traffic classes is greater "
                                                         "than number of HW queues\")"
                                                       : ""),
                       "use %u classes at most", port->tx_queues);
    }
    for (unsigned c = 0; c < port->class_count; c++) {
        unsigned end = port->queue_offset[c] + port->queue_count[c];

        if (port->queue_count[c] == 0 || (port->tx_queues > 0 && end > port->tx_queues)) {
            tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "queue_range", port, (int)c,
                                        "queues %u@%u of a device that has %u",
                                        port->queue_count[c], port->queue_offset[c],
                                        port->tx_queues),
                           "count and offset within the device's queues");
        }
        for (unsigned d = 0; d < c && port->mode != TT_GATE_ASSIST; d++) {
            if (port->queue_offset[c] < port->queue_offset[d] + port->queue_count[d] &&
                port->queue_offset[d] < end) {
                tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "queues_overlap", port,
                                            (int)c,
                                            "shares a queue with class %u; only flags 0x1 "
                                            "(txtime-assist) may",
                                            d),
                               "give each class queues of its own");
            }
        }
    }
}

static enum tt_gate_severity interval_severity(const struct tt_gate_port *port)
{
    return port->kernel == 0 || port->kernel >= KERNEL_CHECKS_INTERVALS ? TT_GATE_REFUSED
                                                                        : TT_GATE_WRONG;
}

static void refuse_times(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    const struct tt_gate_schedule *s = &port->schedule;
    int64_t least_ns = TT_FRAME_BYTES_MIN * 8 * TT_NS_PER_S / tt_gate_rate(port);
    int64_t cycle_ns = tt_gate_cycle_ns(s);
    int64_t least_cycle_ns = least_ns * (int64_t)s->entry_count;

    for (size_t i = 0; i < s->entry_count; i++) {
        if (s->entries[i].interval_ns < least_ns) {
            tt_gate_remedy(
                tt_gate_find(findings, interval_severity(port), "interval", port, -1,
                             "entry %zu lasts %" PRId64 " ns, less than 60 bytes at this speed "
                             "(%" PRId64 " ns): \"Invalid interval for schedule entry\" from 6.10, "
                             "silence before",
                             i, s->entries[i].interval_ns, least_ns),
                "make it %" PRId64 " ns or more", least_ns);
            break;
        }
    }
    if (cycle_ns < least_cycle_ns) {
        tt_gate_remedy(tt_gate_find(findings, interval_severity(port), "cycle_small", port, -1,
                                    "the cycle of %" PRId64 " ns is less than 60 bytes for each of "
                                    "%zu entries: \"'cycle_time' is too small\" from 6.10",
                                    cycle_ns, s->entry_count),
                       "make it %" PRId64 " ns or more", least_cycle_ns);
    }
    if (cycle_ns > INT_MAX) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "cycle_big", port, -1,
                                    "the cycle of %" PRId64 " ns is above 2147483647 ns "
                                    "(\"'cycle_time' is too big\")",
                                    cycle_ns),
                       "shorten it");
    }
}

static void refuse_clock(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    if (port->mode == TT_GATE_OFFLOAD && port->clock_given) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "clock_with_offload", port, -1,
                                    "\"The 'clockid' cannot be specified for full offload\": the "
                                    "card's own clock is used"),
                       "leave clockid out");
    }
    if (port->mode != TT_GATE_OFFLOAD && !port->clock_given) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "clock_missing", port, -1,
                                    "\"Specifying a 'clockid' is mandatory\""),
                       "clockid CLOCK_TAI");
    }
    if (port->mode != TT_GATE_ASSIST && port->txtime_delay_ns > 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "delay_without_assist", port, -1,
                                    "txtime-delay belongs to txtime-assist (flags 0x1)"),
                       "leave it out, or set flags 0x1");
    }
}

/* What is taken, and works otherwise than it reads. */
static void warn_times(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    const struct tt_gate_schedule *s = &port->schedule;
    int64_t cycle_ns = tt_gate_cycle_ns(s);
    int64_t sum_ns = tt_gate_sum_ns(s);

    if (cycle_ns > sum_ns && port->mode == TT_GATE_SOFTWARE && !port->bridge) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "cycle_drifts", port, -1,
                                    "the cycle of %s is longer than its entries (%s): the software "
                                    "begins anew after the entries and drifts",
                                    tt_gate_us(cycle_ns).text, tt_gate_us(sum_ns).text),
                       "lengthen the last entry by %s", tt_gate_us(cycle_ns - sum_ns).text);
    }
    if (cycle_ns < sum_ns) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WARNING, "cycle_cut", port, -1,
                                    "the cycle of %s cuts %s off the entries",
                                    tt_gate_us(cycle_ns).text, tt_gate_us(sum_ns - cycle_ns).text),
                       "leave cycle-time out, or shorten the entries");
    }
    if (s->extension_ns > 0 && port->mode == TT_GATE_SOFTWARE && !port->bridge) {
        tt_gate_find(findings, TT_GATE_WARNING, "extension_ignored", port, -1,
                     "the software starts the next schedule early instead of lengthening the last "
                     "cycle");
    }
    for (size_t i = 0; i < s->entry_count; i++) {
        if (s->entries[i].command != TT_GATE_SET && port->mode == TT_GATE_SOFTWARE) {
            tt_gate_find(findings, TT_GATE_WRONG, "hold_ignored", port, -1,
                         "the software does not hold or release preemptable frames (entry %zu)", i);
            break;
        }
    }
}

void tt_gate_lint_kernel(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    if (port->below_taprio) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "not_root", port, -1,
                                    "taprio below taprio (\"Can only be attached as root qdisc\"); "
                                    "6.1 and 6.12 zero the class map of the one above as they "
                                    "refuse it"),
                       "one taprio, as the root; set it up anew if it was tried");
    }
    if (!port->has_schedule) {
        /* mqprio; a bridge's classes are not Linux's. */
        if (port->class_count > 0 && !port->bridge) {
            refuse_queues(port, findings);
        }
        return;
    }
    if (port->class_count == 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "no_classes", port, -1,
                                    "no classes (\"'mqprio' configuration is necessary\")"),
                       "num_tc, map and queues");
    }
    refuse_queues(port, findings);
    refuse_clock(port, findings);
    if (port->schedule.entry_count == 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "no_entry", port, -1,
                                    "\"There should be at least one entry in the schedule\""),
                       "sched-entry S MASK NANOSECONDS");
        return;
    }
    refuse_times(port, findings);
    warn_times(port, findings);
    if (port->rate_bps == 0) {
        tt_gate_remedy(
            tt_gate_find(findings, TT_GATE_WARNING, "speed_unknown", port, -1,
                         "the link's speed is unknown: the kernel counts with 10 Mbit/s"),
            "bring the link up first, or name its speed");
    }
    if (port->mode == TT_GATE_SOFTWARE && port->driver == TT_DRIVER_TUN && port->kernel >= 6003 &&
        port->class_count > 1) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WARNING, "queue_by_flow", port, -1,
                                    "a TAP chooses queues by flow and not by priority; Linux from "
                                    "6.3 never sends what is in the queue of a class whose gate "
                                    "is closed while its own is open"),
                       "a classifier on clsact that sets queue_mapping by priority, or a steering "
                       "program (TUNSETSTEERINGEBPF)");
    }
    if (port->mode == TT_GATE_SOFTWARE && !port->size_table && !port->bridge) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_NOTE, "size_table", port, -1,
                                    "preamble, FCS and gap (24 bytes) are not counted without a "
                                    "size table"),
                       "stab overhead 24 in front of taprio");
    }
}

static void lint_etf(const struct tt_gate_port *port, unsigned c, struct tt_gate_findings *findings)
{
    const struct tt_gate_etf *etf = &port->etf[c];

    if (etf->other_clock) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "etf_clock", port, (int)c,
                                    "etf: \"Invalid clockid. CLOCK_TAI must be used\""),
                       "clockid CLOCK_TAI");
    }
    if (etf->delta_ns <= 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "etf_delta", port, (int)c,
                                    "etf without delta is accepted and never releases a packet"),
                       "delta 300000");
    }
    if (etf->offload && (port->driver == TT_DRIVER_VETH || port->driver == TT_DRIVER_TUN)) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_REFUSED, "etf_offload", port, (int)c,
                                    "\"Specified device does not support ETF offload\""),
                       "leave offload out");
    }
    if (port->class_count > 0 && tt_gate_class_of(port, 0) == c) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "etf_on_default", port, (int)c,
                                    "etf is on the class of priority 0, and drops all that has no "
                                    "launch time: PTP, ARP, everything"),
                       "give launched streams a class of their own");
    }
    if (port->driver == TT_DRIVER_ENETC && port->mode == TT_GATE_OFFLOAD && port->has_schedule) {
        tt_gate_find(findings, TT_GATE_REFUSED, "etf_and_gates", port, (int)c,
                     "enetc has gates or launch times, not both");
    }
}

static void lint_cbs(const struct tt_gate_port *port, unsigned c, struct tt_gate_findings *findings)
{
    const struct tt_gate_cbs *cbs = &port->cbs[c];
    const struct tt_driver_limits *limits = tt_gate_driver_limits(port->driver);
    int64_t send_kbps = cbs->idle_kbps - tt_gate_rate(port) / 1000;

    if (cbs->idle_kbps <= 0 || cbs->send_kbps >= 0 || cbs->lo_bytes > 0 || cbs->hi_bytes < 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "cbs_signs", port, (int)c,
                                    "cbs idleslope %" PRId64 " sendslope %" PRId64 " hicredit "
                                    "%" PRId64 " locredit %" PRId64 " is accepted, and wrong: "
                                    "idleslope and hicredit are positive, the others negative",
                                    cbs->idle_kbps, cbs->send_kbps, cbs->hi_bytes, cbs->lo_bytes),
                       "sendslope = idleslope - %" PRId64, tt_gate_rate(port) / 1000);
    } else if (cbs->send_kbps != send_kbps && port->rate_bps > 0) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WARNING, "cbs_sendslope", port, (int)c,
                                    "cbs sendslope %" PRId64 " is not idleslope - speed",
                                    cbs->send_kbps),
                       "sendslope %" PRId64, send_kbps);
    }
    if (cbs->offload && limits->cbs_queues != 0 &&
        (limits->cbs_queues >> port->queue_offset[c] & 1) == 0) {
        tt_gate_find(findings, TT_GATE_REFUSED, "cbs_queue", port, (int)c,
                     "%s (%s) has no credit-based shaper on queue %u", limits->name, limits->device,
                     port->queue_offset[c]);
    }
    if (cbs->offload && port->driver == TT_DRIVER_IGB && cbs->idle_kbps * 1000 % 16384 != 0) {
        tt_gate_find(findings, TT_GATE_NOTE, "cbs_step", port, (int)c,
                     "igb counts idleslope in steps of 16.384 kbit/s and rounds %" PRId64 " up",
                     cbs->idle_kbps);
    }
}

void tt_gate_lint_shapers(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
        if (port->etf[c].set) {
            lint_etf(port, c, findings);
        }
        if (port->cbs[c].set) {
            lint_cbs(port, c, findings);
        }
    }
}

void tt_gate_lint(const struct tt_network *network, const struct tt_gate_lint_options *options,
                  struct tt_gate_findings *findings)
{
    for (unsigned i = 0; i < network->port_count; i++) {
        const struct tt_gate_port *port = &network->ports[i];

        tt_gate_lint_kernel(port, findings);
        tt_gate_lint_shapers(port, findings);
        tt_gate_lint_driver(port, options, findings);
        tt_gate_lint_traffic(network, i, options, findings);
    }
}
