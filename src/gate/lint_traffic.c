/*
 * See lint.h: what passes through a port, and what never will.
 */
#include <inttypes.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "gate/lint.h"
#include "gate/plan.h"
#include "gate/taprio.h"
#include "gate/wire_time.h"

#define PTP_FRAME_BYTES 90 /* Announce without TLVs: 14 + 64, and what extensions add */
#define EDGES_MAX       1000
#define PTP_WAIT_MAX_NS (10 * TT_NS_PER_MS) /* a Pdelay answer is expected within 10 ms */

struct load {
    int64_t bps[TT_GATE_CLASSES];
    int64_t all_bps;
    int64_t streams_bps;
    uint32_t used; /* bit c: a flow is in class c */
};

static bool passes(const struct tt_flow *flow, unsigned port)
{
    for (unsigned i = 0; i < flow->hop_count; i++) {
        if (flow->hops[i].port == port) {
            return true;
        }
    }
    return false;
}

static int64_t flow_bps(const struct tt_flow *flow)
{
    return flow->kind == TT_FLOW_BULK ? 0
                                      : tt_wire_bytes(flow->frame_bytes) * 8 *
                                            (int64_t)flow->rate_hz / flow->interval_samples;
}

/* A kernel that does not count all that is on the wire sends it all the same. */
static bool check_overrun(const struct tt_gate_port *port, const struct tt_flow *flow, unsigned c,
                          int64_t need_ns, struct tt_gate_findings *findings)
{
    enum tt_gate_keeper keeper = tt_gate_keeper_of(port);
    struct tt_taprio taprio;
    int64_t bytes;

    if (keeper == TT_KEEPER_WIRE) {
        return false;
    }
    tt_taprio_init(&taprio, port, keeper);
    bytes = tt_taprio_frame(&taprio, flow->frame_bytes);
    if (!tt_taprio_ever(&taprio, c, bytes)) {
        return false;
    }
    tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "overrun", port, (int)c,
                                "%s: a frame of %" PRId64 " bytes on the wire takes %s, and the "
                                "longest window is %s: Linux %u.%u counts %" PRId64
                                " bytes, sends it, and it ends up to %s after its gate has closed",
                                flow->name, tt_wire_bytes(flow->frame_bytes),
                                tt_gate_us(need_ns).text,
                                tt_gate_us(port->list->classes[c].longest_ns).text,
                                port->kernel / 1000, port->kernel % 1000, bytes,
                                tt_gate_us(tt_taprio_overrun_ns(&taprio, c, bytes, need_ns)).text),
                   "widen it to %s%s", tt_gate_us(need_ns).text,
                   port->size_table ? "" : ", and a size table: stab overhead 24");
    return true;
}

static void check_fit(const struct tt_gate_port *port, const struct tt_flow *flow, unsigned c,
                      struct tt_gate_findings *findings)
{
    int64_t usable_ns = tt_gate_usable_ns(port, c);
    int64_t need_ns = tt_wire_ns(tt_wire_bytes(flow->frame_bytes), tt_gate_rate(port));
    int64_t longest_ns = port->list->classes[c].longest_ns;
    int64_t fitting =
        tt_wire_longest_frame(tt_min64(usable_ns, TT_GATE_CYCLE_MAX), tt_gate_rate(port));
    int64_t guard_ns = usable_ns == INT64_MAX ? 0 : longest_ns - usable_ns;
    struct tt_gate_finding *finding;

    if (need_ns <= usable_ns || check_overrun(port, flow, c, need_ns, findings)) {
        return;
    }
    finding = tt_gate_find(
        findings, TT_GATE_WRONG, "never_sent", port, (int)c,
        "%s: a frame of %" PRId64 " bytes on the wire takes %s, and the longest window is %s%s%s: "
        "never sent",
        flow->name, tt_wire_bytes(flow->frame_bytes), tt_gate_us(need_ns).text,
        tt_gate_us(longest_ns).text, guard_ns > 0 ? ", less a static guard of " : "",
        guard_ns > 0 ? tt_gate_us(guard_ns).text : "");
    if (longest_ns == 0) {
        tt_gate_remedy(finding, "open the gate of class %u", c);
    } else if (fitting <= TT_FRAME_HEAD_BYTES) {
        tt_gate_remedy(finding, "widen it to %s", tt_gate_us(need_ns + guard_ns).text);
    } else {
        tt_gate_remedy(finding, "widen it to %s, or lower the MTU by %" PRId64 " bytes",
                       tt_gate_us(need_ns + guard_ns).text, flow->frame_bytes - fitting);
    }
}

/* What TCP hands over at once, where the kernel does not cut it. */
static void check_whole(const struct tt_gate_port *port, const struct tt_flow *flow, unsigned c,
                        struct tt_gate_findings *findings)
{
    int64_t segments = flow->payload_bytes > 0 ? flow->gso_bytes / flow->payload_bytes : 0;
    int64_t need_ns = tt_wire_ns(tt_wire_bytes(flow->frame_bytes) * segments, tt_gate_rate(port));
    int64_t fits;

    if (segments <= 1 || tt_gate_keeper_of(port) != TT_KEEPER_LINUX_5_12 ||
        need_ns <= tt_gate_usable_ns(port, c)) {
        return;
    }
    fits = tt_gate_usable_ns(port, c) /
           tt_wire_ns(tt_wire_bytes(flow->frame_bytes), tt_gate_rate(port));
    tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "whole_never_sent", port, (int)c,
                                "%s: kernels before 5.13 do not segment: %" PRId64
                                " bytes of TCP at once take "
                                "%s on the wire, and the longest window is %s: never sent",
                                flow->name, flow->gso_bytes, tt_gate_us(need_ns).text,
                                tt_gate_us(port->list->classes[c].longest_ns).text),
                   "a kernel from 5.13, ethtool -K IF tso off gso off, or a window for %" PRId64
                   " segments (%" PRId64 " fit)",
                   segments, fits);
}

/* What waits in a class for one of its windows. */
struct queued {
    int64_t frames;
    int64_t wire_ns;
};

/* Of TCP as much as there is room for; of the others what they bring from window to window. */
static struct queued queued_for(const struct tt_gate_port *port, const struct tt_flow *flow,
                                unsigned c)
{
    int64_t wire_ns = tt_wire_ns(tt_wire_bytes(flow->frame_bytes), tt_gate_rate(port));
    int64_t window_ns = port->list->classes[c].longest_ns;
    int64_t apart_ns = window_ns + tt_gate_list_longest_closed(port->list, c);
    int64_t interval_ns = flow->interval_samples * TT_NS_PER_S / flow->rate_hz;
    int64_t frames = flow->kind == TT_FLOW_BULK
                         ? tt_gate_usable_ns(port, c) / wire_ns
                         : (apart_ns + interval_ns - 1) / tt_max64(1, interval_ns);

    return (struct queued){frames, frames * wire_ns};
}

/* How much is left over in the window behind the class's frames, where software keeps the gate. */
static void check_slack(const struct tt_network *network, unsigned port_number, unsigned c,
                        int64_t margin_ns, struct tt_gate_findings *findings)
{
    const struct tt_gate_port *port = &network->ports[port_number];
    int64_t usable_ns = tt_gate_usable_ns(port, c);
    const struct tt_flow *first = NULL;
    struct queued all = {0};

    if (port->mode != TT_GATE_SOFTWARE || port->bridge || usable_ns == INT64_MAX) {
        return;
    }
    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        if (passes(flow, port_number) && tt_gate_class_of(port, flow->priority) == c) {
            struct queued of = queued_for(port, flow, c);

            if (flow->kind == TT_FLOW_BULK) {
                all = of; /* the whole window, whatever else there is */
                first = flow;
                break;
            }
            first = first ? first : flow;
            all.frames += of.frames;
            all.wire_ns += of.wire_ns;
        }
    }
    /* What does not fit at all is told elsewhere. */
    if (all.frames == 0 || all.wire_ns > usable_ns || usable_ns - all.wire_ns >= margin_ns) {
        return;
    }
    tt_gate_remedy(tt_gate_find(findings, TT_GATE_WARNING, "little_slack", port, (int)c,
                                "%s: %" PRId64 " %s in a window, and %s to spare; software that is "
                                "later than that loses %s",
                                first->name, all.frames, all.frames == 1 ? "frame" : "frames",
                                tt_gate_us(usable_ns - all.wire_ns).text,
                                all.frames == 1 ? "the window" : "the last one"),
                   "widen it by %s", tt_gate_us(margin_ns - (usable_ns - all.wire_ns)).text);
}

/* Up to 7.x a packet whose launch time is the gate's opening itself is dropped. */
static void check_edge(const struct tt_gate_port *port, const struct tt_flow *flow, unsigned c,
                       struct tt_gate_findings *findings)
{
    int64_t interval_ns = flow->interval_samples * TT_NS_PER_S / flow->rate_hz;
    int64_t at_ns = flow->offset_ns;
    struct tt_gate_window window;

    if (flow->kind != TT_FLOW_STREAM || port->mode == TT_GATE_OFFLOAD || port->bridge ||
        flow->interval_samples * TT_NS_PER_S % flow->rate_hz != 0) {
        return;
    }
    /* All that a cycle holds, whose phase the interval goes through. */
    for (int i = 0; i < EDGES_MAX && at_ns - flow->offset_ns < port->list->cycle_ns; i++) {
        if (!tt_gate_list_window(port->list, c, at_ns, &window)) {
            return;
        }
        if (window.open_ns == at_ns) {
            tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "launch_on_edge", port, (int)c,
                                        "%s is launched exactly when its gate opens (%s into its "
                                        "interval): the kernel drops that without a word",
                                        flow->name, tt_gate_us(flow->offset_ns).text),
                           "launch 1 us later");
            return;
        }
        at_ns += interval_ns;
    }
}

static void check_closed(const struct tt_gate_port *port, const struct load *load,
                         struct tt_gate_findings *findings)
{
    for (unsigned p = 0; p < TT_GATE_PRIORITIES; p++) {
        unsigned c = tt_gate_class_of(port, p);
        bool seen = false;

        for (unsigned q = 0; q < p; q++) {
            seen = seen || tt_gate_class_of(port, q) == c;
        }
        if (!seen && port->list->classes[c].longest_ns == 0 && (load->used >> c & 1) == 0) {
            tt_gate_remedy(tt_gate_find(findings, p == 0 ? TT_GATE_WRONG : TT_GATE_WARNING,
                                        "never_open", port, (int)c,
                                        "its gate never opens; priority %u%s is in it", p,
                                        p == 0 ? " (ARP, PTP, all that sets none)" : ""),
                           "open it in some entry, or map its priorities elsewhere");
        }
    }
}

static void check_ptp(const struct tt_gate_port *port, struct tt_gate_findings *findings)
{
    unsigned c = tt_gate_class_of(port, 0);
    int64_t need_ns = tt_wire_ns(tt_wire_bytes(PTP_FRAME_BYTES), tt_gate_rate(port));
    int64_t closed_ns = tt_gate_list_longest_closed(port->list, c);

    if (port->bridge || port->list->classes[c].longest_ns == 0) {
        return;
    }
    if (need_ns > tt_gate_usable_ns(port, c)) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "ptp_shut_out", port, (int)c,
                                    "PTP goes by priority 0, and its %s do not fit: \"missing "
                                    "timestamp on transmitted sync\"",
                                    tt_gate_us(need_ns).text),
                       "a window of %s, or socket_priority in ptp4l's configuration",
                       tt_gate_us(need_ns).text);
    } else if (closed_ns + need_ns > PTP_WAIT_MAX_NS) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WARNING, "ptp_waits", port, (int)c,
                                    "PTP goes by priority 0 and waits up to %s",
                                    tt_gate_us(closed_ns + need_ns).text),
                       "open it more often: ptp4l's tx_timestamp_timeout is 10 ms in most set-ups");
    }
}

static void check_load(const struct tt_gate_port *port, const struct load *load,
                       int64_t reserve_percent, struct tt_gate_findings *findings)
{
    int64_t rate_bps = tt_gate_rate(port);

    if (load->streams_bps > rate_bps / 100 * reserve_percent) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "reserved_too_much", port, -1,
                                    "streams take %" PRId64 " of %" PRId64 " kbit/s, more than the "
                                    "%" PRId64 " %% that classes A and B may reserve",
                                    load->streams_bps / 1000, rate_bps / 1000, reserve_percent),
                       "fewer streams, or a faster link");
    }
    if (load->all_bps > rate_bps) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "too_much", port, -1,
                                    "%" PRId64 " kbit/s come, and %" PRId64 " go",
                                    load->all_bps / 1000, rate_bps / 1000),
                       "less, or a faster link");
    }
    for (unsigned c = 0; port->list && c < TT_GATE_CLASSES; c++) {
        const struct tt_gate_class *class = &port->list->classes[c];
        int64_t open_bps = class->open_ns == port->list->cycle_ns
                               ? rate_bps
                               : rate_bps / 1000 * class->open_ns / (port->list->cycle_ns) * 1000;

        if (load->bps[c] > open_bps) {
            tt_gate_remedy(tt_gate_find(findings, TT_GATE_WRONG, "window_too_small", port, (int)c,
                                        "%" PRId64 " kbit/s come and its windows pass %" PRId64,
                                        load->bps[c] / 1000, open_bps / 1000),
                           "open it for %s of each cycle",
                           tt_gate_us(load->bps[c] / 1000 * (port->list->cycle_ns / 1000) /
                                          (rate_bps / 1000) * 1000 +
                                      1000)
                               .text);
        }
    }
}

void tt_gate_lint_traffic(const struct tt_network *network, unsigned port_number,
                          const struct tt_gate_lint_options *options,
                          struct tt_gate_findings *findings)
{
    const struct tt_gate_port *port = &network->ports[port_number];
    struct load load = {0};

    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];
        unsigned c = tt_gate_class_of(port, flow->priority);

        if (!passes(flow, port_number)) {
            continue;
        }
        load.used |= 1u << c;
        load.bps[c] += flow_bps(flow);
        load.all_bps += flow_bps(flow);
        load.streams_bps += flow->kind == TT_FLOW_STREAM ? flow_bps(flow) : 0;
        if (port->list) {
            check_fit(port, flow, c, findings);
            check_whole(port, flow, c, findings);
            check_edge(port, flow, c, findings);
        }
    }
    check_load(port, &load,
               options->reserve_percent > 0 ? options->reserve_percent : TT_PLAN_RESERVE_PERCENT,
               findings);
    for (unsigned c = 0; port->list && c < TT_GATE_CLASSES; c++) {
        if (load.used >> c & 1) {
            check_slack(network, port_number, c, options->software_margin_ns, findings);
        }
    }
    if (port->list) {
        check_closed(port, &load, findings);
        check_ptp(port, findings);
    }
}
