/*
 * See made_network.h.
 */
#include "made_network.h"

#include <stdio.h>
#include <stdlib.h>

#define GIGABIT   INT64_C(1000000000)
#define MS        INT64_C(1000000)
#define BRIDGE_NS 1500

struct made_network *made_network_new(size_t ports, size_t flows)
{
    struct made_network *made = calloc(1, sizeof(*made));

    made->flow_capacity = flows;
    made->network.ports = calloc(ports, sizeof(*made->network.ports));
    made->network.flows = calloc(flows + ports, sizeof(*made->network.flows));
    made->entries = calloc(ports, sizeof(*made->entries));
    made->plan.windows = calloc(ports, sizeof(*made->plan.windows));
    made->plan.delays_ns = calloc(flows, sizeof(*made->plan.delays_ns));
    made->flow_results = calloc(flows + ports, sizeof(*made->flow_results));
    made->port_results = calloc(ports, sizeof(*made->port_results));
    return made;
}

void made_network_free(struct made_network *made)
{
    for (size_t i = 0; i < made->network.port_count; i++)
        tt_gate_list_free(made->network.ports[i].list);
    free(made->network.ports);
    free(made->network.flows);
    free(made->entries);
    free(made->plan.windows);
    free(made->plan.delays_ns);
    free(made->flow_results);
    free(made->port_results);
    free(made);
}

unsigned made_port(struct made_network *made, const char *name, int64_t rate_bps, bool bridge)
{
    struct tt_gate_port *port = &made->network.ports[made->network.port_count];

    snprintf(port->name, sizeof(port->name), "%s %zu", name, made->network.port_count);
    port->rate_bps = rate_bps;
    port->bridge = bridge;
    port->mode = TT_GATE_OFFLOAD;
    port->delay_ns = BRIDGE_NS;
    port->class_count = 2;
    port->class_of_priority[2] = 1;
    port->class_of_priority[3] = 1;
    return (unsigned)made->network.port_count++;
}

struct tt_flow *made_stream(struct made_network *made, int64_t frame_bytes, const int *path)
{
    struct tt_flow *flow = &made->network.flows[made->network.flow_count];

    *flow = (struct tt_flow){
        .kind = TT_FLOW_STREAM,
        .priority = 3,
        .frame_bytes = frame_bytes,
        .payload_bytes = frame_bytes,
        .interval_samples = 6,
        .rate_hz = 48000,
        .deadline_ns = 2 * MS,
    };
    snprintf(flow->name, sizeof(flow->name), "stream %zu", made->network.flow_count);
    for (; path[flow->hop_count] >= 0; flow->hop_count++)
        flow->hops[flow->hop_count] =
            (struct tt_hop){(unsigned)path[flow->hop_count], (int)flow->hop_count - 1};
    made->network.flow_count++;
    return flow;
}

struct made_network *made_line_of_100(void)
{
    enum { LINKS = 20, ACROSS = 5, EACH = 19, ALL = 2000 };
    struct made_network *made = made_network_new(100, ALL);

    for (int i = 0; i < LINKS; i++)
        made_port(made, "along", GIGABIT, true);
    for (int i = 0; i < 40; i++)
        made_port(made, "talker", GIGABIT, false);
    for (int i = 0; i < 40; i++)
        made_port(made, "to listener", GIGABIT, true);
    for (int from = 0; from + ACROSS <= LINKS; from++)
        for (int i = 0; i < EACH; i++)
            made_stream(made, 78,
                        (int[]){20 + from * 2 + i % 2, from, from + 1, from + 2, from + 3, from + 4,
                                60 + (from + ACROSS - 1) * 2 + i % 2, -1});
    /* What the ends of the line have less than its middle. */
    for (int k = 0; k < ACROSS - 1; k++)
        for (int i = 0; i < 2 * EACH * (ACROSS - 1 - k); i++) {
            int along = i % 2 ? k : LINKS - 1 - k;

            made_stream(made, 78,
                        (int[]){20 + along * 2 + i / 2 % 2, along, 60 + along * 2 + i / 2 % 2, -1});
        }
    for (int i = 0; made->network.flow_count < ALL; i++)
        made_stream(made, 78 + i % 3 * 12, (int[]){20 + i % 40, 60 + i * 7 % 40, -1});
    return made;
}

struct made_network *made_ring(unsigned bridges, unsigned hops, unsigned streams)
{
    struct made_network *made = made_network_new(3 * bridges, streams);

    for (unsigned i = 0; i < bridges; i++)
        made_port(made, "ring", GIGABIT, true);
    for (unsigned i = 0; i < bridges; i++)
        made_port(made, "talker", GIGABIT, false);
    for (unsigned i = 0; i < bridges; i++)
        made_port(made, "to listener", GIGABIT, true);
    for (unsigned i = 0; i < streams; i++) {
        int path[TT_GATE_HOPS_MAX];
        unsigned n = 0;

        path[n++] = (int)(bridges + i % bridges);
        for (unsigned h = 0; h < hops; h++)
            path[n++] = (int)((i + h) % bridges);
        path[n++] = (int)(2 * bridges + (i + hops) % bridges);
        path[n] = -1;
        made_stream(made, 114, path);
    }
    return made;
}

struct made_network *made_tree(unsigned branches, unsigned leaves, unsigned streams)
{
    struct made_network *made = made_network_new(1 + branches + branches * leaves, streams);

    made_port(made, "to listener", GIGABIT, true);
    for (unsigned i = 0; i < branches; i++)
        made_port(made, "branch", GIGABIT, true);
    for (unsigned i = 0; i < branches * leaves; i++)
        made_port(made, "talker", 100000000, false);
    for (unsigned i = 0; i < streams; i++) {
        int leaf = (int)(i % (branches * leaves));

        made_stream(made, 78, (int[]){1 + (int)branches + leaf, 1 + leaf % (int)branches, 0, -1});
    }
    return made;
}

uint64_t made_network_run(struct made_network *made, int64_t duration_ns)
{
    struct tt_network *network = &made->network;
    struct tt_sim_options options = {.duration_ns = duration_ns};
    struct tt_sim_result result = {.flows = made->flow_results, .ports = made->port_results};
    size_t streams = network->flow_count;
    uint64_t late = 0;

    for (unsigned p = 0; p < network->port_count; p++) {
        struct tt_gate_port *port = &network->ports[p];

        network->flows[network->flow_count++] = (struct tt_flow){
            .kind = TT_FLOW_BULK,
            .frame_bytes = 1518,
            .payload_bytes = 1448,
            .hop_count = 1,
            .hops = {{p, -1}},
        };
        if (made->plan.windows[p].width_ns == 0)
            continue;
        tt_plan_entries(&made->plan, p, 2, 1, made->entries[p]);
        port->schedule = (struct tt_gate_schedule){.base_tai_ns = made->plan.windows[p].open_ns,
                                                   .entries = made->entries[p],
                                                   .entry_count = 2};
        tt_gate_list_free(port->list);
        port->list = tt_gate_list_new(&port->schedule);
    }
    if (tt_simulate(network, &options, &result) != 0)
        return UINT64_MAX;
    network->flow_count = streams;
    for (size_t i = 0; i < streams; i++) {
        const struct tt_flow_result *flow = &made->flow_results[i];
        /* What was launched within the last 2 ms may be on its way. */
        uint64_t on_its_way = (uint64_t)(2 * MS * (int64_t)network->flows[i].rate_hz / 1000000000 /
                                         network->flows[i].interval_samples) +
                              1;

        late += flow->late + (flow->delivered + on_its_way < flow->launched) + flow->dropped;
    }
    for (unsigned p = 0; p < network->port_count; p++)
        late += made->port_results[p].overruns;
    return late;
}
