/*
 * See gate_show.h: what a simulation found.
 */
#include <inttypes.h>

#include "base/attr.h"
#include "cli/gate_show.h"
#include "report/json.h"
#include "report/table.h"

#define FLOW_LINES_MAX 40

static double mbits(const struct tt_flow_result *result, int64_t duration_ns)
{
    return (double)result->payload_bytes * 8e3 / (double)duration_ns;
}

static void show_flows(const struct tt_network *network, const struct tt_sim_options *options,
                       const struct tt_sim_result *result, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"flow", TT_ALIGN_LEFT},   {"frames", TT_ALIGN_RIGHT},  {"delivered", TT_ALIGN_RIGHT},
        {"late", TT_ALIGN_RIGHT},  {"dropped", TT_ALIGN_RIGHT}, {"waiting", TT_ALIGN_RIGHT},
        {"least", TT_ALIGN_RIGHT}, {"longest", TT_ALIGN_RIGHT}, {"payload Mbit/s", TT_ALIGN_RIGHT},
    };
    struct tt_table table;
    size_t left_out = 0;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow_result *r = &result->flows[i];

        if (table.cell_count / TT_COUNT_OF(columns) >= FLOW_LINES_MAX && r->late == 0 &&
            r->dropped == 0) {
            left_out++;
            continue;
        }
        tt_table_cell(&table, "%s", network->flows[i].name);
        tt_table_cell_number(&table, (int64_t)r->launched);
        tt_table_cell_number(&table, (int64_t)r->delivered);
        tt_table_cell_number(&table, (int64_t)r->late);
        tt_table_cell_number(&table, (int64_t)r->dropped);
        tt_table_cell_number(&table, (int64_t)r->waiting);
        tt_table_cell(&table, "%s", r->delivered ? tt_gate_us(r->delay_min_ns).text : "-");
        tt_table_cell(&table, "%s", r->delivered ? tt_gate_us(r->delay_max_ns).text : "-");
        tt_table_cell(&table, "%.3f", mbits(r, options->duration_ns));
    }
    tt_out_table(out, "Flows", &table);
    if (left_out > 0) {
        tt_out_line(out, "and %zu more in time", left_out);
    }
}

static enum tt_gate_keeper keeper_of(const struct tt_gate_port *port,
                                     const struct tt_sim_options *options)
{
    return options->as_linux ? tt_gate_keeper_of(port) : TT_KEEPER_WIRE;
}

static void show_ports(const struct tt_network *network, const struct tt_sim_options *options,
                       const struct tt_sim_result *result, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"port", TT_ALIGN_LEFT},      {"frames", TT_ALIGN_RIGHT},  {"busy", TT_ALIGN_RIGHT},
        {"overruns", TT_ALIGN_RIGHT}, {"longest", TT_ALIGN_RIGHT}, {"at most", TT_ALIGN_RIGHT},
        {"gates", TT_ALIGN_LEFT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t p = 0; p < network->port_count; p++) {
        const struct tt_port_result *r = &result->ports[p];

        if (r->frames == 0 && !network->ports[p].list) {
            continue;
        }
        tt_table_cell(&table, "%s", network->ports[p].name);
        tt_table_cell_number(&table, (int64_t)r->frames);
        tt_table_cell(&table, "%.1f%%", 100.0 * (double)r->busy_ns / (double)options->duration_ns);
        tt_table_cell_number(&table, (int64_t)r->overruns);
        tt_table_cell(&table, "%s", r->overruns ? tt_gate_us(r->overrun_max_ns).text : "-");
        tt_table_cell(&table, "%s",
                      r->overrun_bound_ns ? tt_gate_us(r->overrun_bound_ns).text : "-");
        tt_table_cell(&table, "%s",
                      network->ports[p].list
                          ? tt_gate_keeper_text(keeper_of(&network->ports[p], options))
                          : "always open");
    }
    tt_out_table(out, "Ports", &table);
}

void tt_gate_show_simulation(const struct tt_network *network, const struct tt_sim_options *options,
                             const struct tt_sim_result *result, const struct tt_out *out)
{
    static const struct tt_column columns[] = {{"ns", TT_ALIGN_LEFT}, TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;

    show_flows(network, options, result, out);
    show_ports(network, options, result, out);
    if (result->margin && result->margin->n > 0) {
        tt_table_init(&table, columns, TT_COUNT_OF(columns));
        tt_table_cell(&table, "streams' margin");
        tt_table_cells_summary(&table, result->margin);
        tt_out_table(out, "Transit time that was left", &table);
    }
    for (size_t p = 0; p < network->port_count; p++) {
        for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
            if (result->ports[p].never[c]) {
                tt_out_line(out,
                            "WRONG: %s class %u: what waits first can never go out, and all "
                            "behind it waits with it",
                            network->ports[p].name, c);
            }
        }
    }
}

static json_t *flow_json(const struct tt_flow *flow, const struct tt_flow_result *r,
                         int64_t duration_ns)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "name", flow->name, "frames",
                     tt_json_u64(r->launched), "delivered", tt_json_u64(r->delivered), "late",
                     tt_json_u64(r->late), "dropped", tt_json_u64(r->dropped), "waiting",
                     tt_json_u64(r->waiting), "delay_min_ns",
                     r->delivered ? json_integer(r->delay_min_ns) : json_null(), "delay_max_ns",
                     r->delivered ? json_integer(r->delay_max_ns) : json_null(),
                     "payload_bits_per_s", (json_int_t)(mbits(r, duration_ns) * 1e6));
}

json_t *tt_gate_simulation_json(const struct tt_network *network,
                                const struct tt_sim_options *options,
                                const struct tt_sim_result *result)
{
    json_t *flows = json_array();
    json_t *ports = json_array();

    for (size_t i = 0; i < network->flow_count; i++) {
        json_array_append_new(
            flows, flow_json(&network->flows[i], &result->flows[i], options->duration_ns));
    }
    for (size_t p = 0; p < network->port_count; p++) {
        const struct tt_port_result *r = &result->ports[p];
        json_t *never = json_array();

        for (int c = 0; c < TT_GATE_CLASSES; c++) {
            if (r->never[c]) {
                json_array_append_new(never, json_integer(c));
            }
        }
        json_array_append_new(
            ports,
            json_pack("{s:s, s:s, s:o, s:I, s:o, s:I, s:I, s:o}", "name", network->ports[p].name,
                      "gates", tt_gate_keeper_text(keeper_of(&network->ports[p], options)),
                      "frames", tt_json_u64(r->frames), "busy_ns", (json_int_t)r->busy_ns,
                      "overruns", tt_json_u64(r->overruns), "overrun_max_ns",
                      (json_int_t)r->overrun_max_ns, "overrun_bound_ns",
                      (json_int_t)r->overrun_bound_ns, "classes_never_sent", never));
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "duration_ns", (json_int_t)options->duration_ns,
                     "frames", tt_json_u64(result->frames), "flows", flows, "ports", ports,
                     "margin", tt_json_summary(result->margin));
}
