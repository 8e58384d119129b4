/*
 * See gate_planned.h.
 */
#include "cli/gate_planned.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "gate/wire_time.h"

static bool same_window(const struct tt_gate_port *port, const struct tt_plan_window *window,
                        int64_t cycle_ns, int64_t base_tai_ns)
{
    int64_t open_ns = port->schedule.base_tai_ns - base_tai_ns - window->open_ns;

    return window->width_ns == 0 || (port->list && port->list->cycle_ns == cycle_ns &&
                                     open_ns % cycle_ns == 0 && port->schedule.entry_count == 2 &&
                                     port->schedule.entries[0].interval_ns == window->width_ns);
}

static bool same(const struct tt_gate_file *file, const struct tt_flow *flows,
                 const struct tt_plan *plan)
{
    const json_t *base = json_object_get(json_object_get(file->root, "plan"), "base_tai_ns");

    for (size_t i = 0; i < file->network.flow_count; i++) {
        if (flows[i].offset_ns != file->network.flows[i].offset_ns) {
            return false;
        }
    }
    for (size_t p = 0; p < file->network.port_count; p++) {
        if (!same_window(&file->network.ports[p], &plan->windows[p], plan->cycle_ns,
                         json_integer_value(base))) {
            return false;
        }
    }
    return true;
}

/* What a stream takes at one port: at most all it takes, less what it needs to come there. */
static int64_t longest_at(const struct tt_network *network, size_t number, unsigned hop,
                          const struct tt_gate_bounds *bounds)
{
    const struct tt_flow *flow = &network->flows[number];
    const struct tt_gate_port *port = &network->ports[flow->hops[hop].port];
    int64_t ns = bounds->flows_ns[number] - port->delay_ns;

    for (int h = flow->hops[hop].parent; h >= 0; h = flow->hops[h].parent) {
        port = &network->ports[flow->hops[h].port];
        ns -= port->delay_ns + tt_wire_ns(tt_wire_bytes(flow->frame_bytes), tt_gate_rate(port));
    }
    return ns;
}

/* A class of planned streams alone waits no longer than they do. Without memory the wider bound
 * stays. */
static void limit_ports(const struct tt_network *network, struct tt_gate_bounds *bounds)
{
    size_t classes = network->port_count * TT_GATE_CLASSES;
    int64_t *longest_ns = calloc(classes + 1, sizeof(*longest_ns));

    if (!longest_ns) {
        return;
    }
    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        for (unsigned h = 0; h < flow->hop_count; h++) {
            unsigned p = flow->hops[h].port;
            int64_t *longest = &longest_ns[p * TT_GATE_CLASSES +
                                           tt_gate_class_of(&network->ports[p], flow->priority)];

            *longest = flow->kind == TT_FLOW_STREAM
                           ? tt_max64(*longest, longest_at(network, i, h, bounds))
                           : INT64_MAX;
        }
    }
    for (size_t i = 0; i < classes; i++) {
        bounds->ports_ns[i] = tt_min64(bounds->ports_ns[i], longest_ns[i]);
    }
    free(longest_ns);
}

enum tt_gate_planned tt_gate_planned(const struct tt_gate_file *file, struct tt_gate_bounds *bounds)
{
    struct tt_network again = file->network;
    struct tt_plan plan = {
        .windows = calloc(again.port_count + 1, sizeof(*plan.windows)),
        .delays_ns = calloc(again.flow_count + 1, sizeof(*plan.delays_ns)),
    };
    enum tt_gate_planned planned = TT_GATE_CHANGED;

    if (!json_object_get(file->root, "plan")) {
        planned = TT_GATE_NOT_PLANNED;
    } else {
        again.flows = calloc(again.flow_count + 1, sizeof(*again.flows));
        if (again.flows && plan.windows && plan.delays_ns) {
            memcpy(again.flows, file->network.flows, again.flow_count * sizeof(*again.flows));
            if (tt_plan(&again, &file->limits, &plan) == TT_PLAN_OK &&
                same(file, again.flows, &plan)) {
                planned = TT_GATE_PLANNED;
            }
        }
        for (size_t i = 0; planned == TT_GATE_PLANNED && i < again.flow_count; i++) {
            if (again.flows[i].kind == TT_FLOW_STREAM) {
                bounds->flows_ns[i] = plan.delays_ns[i];
            }
        }
        if (planned == TT_GATE_PLANNED) {
            limit_ports(&file->network, bounds);
        }
        free(again.flows);
    }
    free(plan.windows);
    free(plan.delays_ns);
    return planned;
}
