/*
 * See gate_world.h.
 */
#include "gate_world.h"

#include "test.h"

struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof(*w));

    w->network = (struct tt_network){w->ports, 0, w->flows, 0};
    w->result.flows = w->flow_results;
    w->result.ports = w->port_results;
    return w;
}

void world_free(struct world *w)
{
    for (size_t i = 0; i < w->network.port_count; i++)
        tt_gate_list_free(w->ports[i].list);
    free(w);
}

struct tt_gate_port *add_port(struct world *w, int64_t rate_bps)
{
    struct tt_gate_port *port = &w->ports[w->network.port_count++];

    port->rate_bps = rate_bps;
    port->class_count = 8;
    for (unsigned i = 0; i < 8; i++)
        port->class_of_priority[i] = (uint8_t)i;
    return port;
}

void set_gates(struct world *w, struct tt_gate_port *port, size_t n)
{
    size_t i = (size_t)(port - w->ports);

    port->has_schedule = true;
    port->schedule = (struct tt_gate_schedule){.entries = w->entries[i], .entry_count = n};
    port->list = tt_gate_list_new(&port->schedule);
}

struct tt_flow *add_flow(struct world *w, enum tt_flow_kind kind, unsigned priority,
                         int64_t frame_bytes, int64_t interval_ns)
{
    struct tt_flow *flow = &w->flows[w->network.flow_count++];

    *flow = (struct tt_flow){
        .kind = kind,
        .priority = priority,
        .frame_bytes = frame_bytes,
        .payload_bytes = frame_bytes - 66,
        .interval_samples = interval_ns,
        .rate_hz = 1000000000,
        .hop_count = 1,
        .hops = {{0, -1}},
    };
    return flow;
}

/* Sees frames on wires, and knows the gates' masks by the ns only. */
static void look(void *context, const struct tt_sim_frame *frame)
{
    struct world *w = context;
    const struct tt_gate_list *list = w->ports[frame->port].list;

    if (frame->start_ns < w->free_ns[frame->port])
        w->wrong++;
    w->free_ns[frame->port] = frame->end_ns;
    for (int64_t t = frame->start_ns; list && t < frame->end_ns; t += 61)
        if ((tt_gate_list_mask(list, t) >> frame->class & 1) == 0)
            w->wrong++;
    if (list && (tt_gate_list_mask(list, frame->end_ns - 1) >> frame->class & 1) == 0)
        w->wrong++;
}

void world_run(struct world *w, int64_t duration_ns, bool as_linux)
{
    struct tt_sim_options options = {
        .duration_ns = duration_ns, .as_linux = as_linux, .sent = look, .context = w};
    struct tt_gate_bounds bounds = {w->flow_bounds, w->port_bounds};

    assert_int_equal(tt_simulate(&w->network, &options, &w->result), 0);
    assert_int_equal(tt_gate_bound(&w->network, &bounds), 0);
}
