/*
 * See gate_show.h: classes, streams and findings.
 */
#include "cli/gate_show.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "gate/wire_time.h"
#include "report/json.h"
#include "report/plural.h"
#include "report/table.h"

#define STREAM_LINES_MAX 40
#define PLACES_SHOWN     4

struct class_figures {
    int64_t usable_ns; /* longest window; INT64_MAX: always open */
    int64_t longest_bytes;
    int64_t closed_ns;
    int64_t bound_ns; /* TT_GATE_UNBOUNDED */
    int64_t load_bps;
    char priorities[64];
};

static bool passes(const struct tt_flow *flow, unsigned port)
{
    for (unsigned h = 0; h < flow->hop_count; h++) {
        if (flow->hops[h].port == port) {
            return true;
        }
    }
    return false;
}

static struct class_figures figures_of(const struct tt_network *network, unsigned at,
                                       unsigned class, const struct tt_gate_bounds *bounds)
{
    const struct tt_gate_port *port = &network->ports[at];
    struct class_figures f = {
        .usable_ns = tt_gate_usable_ns(port, class),
        .closed_ns = tt_gate_list_longest_closed(port->list, class),
        .bound_ns = bounds->ports_ns[at * TT_GATE_CLASSES + class],
    };
    size_t n = 0;

    f.longest_bytes = f.usable_ns == INT64_MAX
                          ? TT_WIRE_BYTES_MAX
                          : tt_wire_longest_frame(f.usable_ns, tt_gate_rate(port));
    for (unsigned p = 0; p < TT_GATE_PRIORITIES; p++) {
        if (tt_gate_class_of(port, p) == class) {
            n += (size_t)snprintf(f.priorities + n, sizeof(f.priorities) - n, n ? ",%u" : "%u", p);
        }
    }
    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        if (flow->kind != TT_FLOW_BULK && passes(flow, at) &&
            tt_gate_class_of(port, flow->priority) == class) {
            f.load_bps += tt_wire_bytes(flow->frame_bytes) * 8 * (int64_t)flow->rate_hz /
                          flow->interval_samples;
        }
    }
    return f;
}

static unsigned class_count(const struct tt_gate_port *port)
{
    return port->class_count > 0 ? port->class_count : 1;
}

static void class_cells(struct tt_table *table, const struct tt_gate_port *port, unsigned class,
                        const struct class_figures *f)
{
    const struct tt_gate_class *of = &port->list->classes[class];

    tt_table_cell(table, "%s", port->name);
    tt_table_cell(table, "%u", class);
    tt_table_cell(table, "%s", f->priorities[0] ? f->priorities : "-");
    tt_table_cell(table, "%.1f%%", 100.0 * (double)of->open_ns / (double)port->list->cycle_ns);
    tt_table_cell(table, "%zu", of->always ? 1 : of->window_count);
    tt_table_cell(table, "%s", of->always ? "all" : tt_gate_us(f->usable_ns).text);
    if (f->longest_bytes >= TT_WIRE_BYTES_MAX) {
        tt_table_cell(table, "any");
    } else {
        tt_table_cell_known(table, f->longest_bytes, 0);
    }
    tt_table_cell(table, "%s",
                  f->closed_ns == INT64_MAX ? "for ever" : tt_gate_us(f->closed_ns).text);
    tt_table_cell(table, "%s",
                  f->bound_ns == TT_GATE_UNBOUNDED ? "no bound"
                  : f->bound_ns == 0               ? "-"
                                                   : tt_gate_us(f->bound_ns).text);
    tt_table_cell(table, "%.3f", (double)f->load_bps / 1e6);
}

void tt_gate_show_classes(const struct tt_network *network, const struct tt_gate_bounds *bounds,
                          FILE *out)
{
    static const struct tt_column columns[] = {
        {"port", TT_ALIGN_LEFT},           {"class", TT_ALIGN_RIGHT},
        {"priorities", TT_ALIGN_LEFT},     {"open", TT_ALIGN_RIGHT},
        {"windows", TT_ALIGN_RIGHT},       {"longest", TT_ALIGN_RIGHT},
        {"longest frame", TT_ALIGN_RIGHT}, {"longest closed", TT_ALIGN_RIGHT},
        {"worst wait", TT_ALIGN_RIGHT},    {"load Mbit/s", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned p = 0; p < network->port_count; p++) {
        for (unsigned c = 0; network->ports[p].list && c < class_count(&network->ports[p]); c++) {
            struct class_figures f = figures_of(network, p, c, bounds);

            class_cells(&table, &network->ports[p], c, &f);
        }
    }
    if (table.cell_count > 0) {
        tt_table_print(&table, out);
    }
    tt_table_done(&table);
}

static json_t *bounded(int64_t ns)
{
    return ns == INT64_MAX ? json_null() : json_integer(ns);
}

json_t *tt_gate_classes_json(const struct tt_network *network, const struct tt_gate_bounds *bounds)
{
    json_t *list = json_array();

    for (unsigned p = 0; p < network->port_count; p++) {
        const struct tt_gate_port *port = &network->ports[p];

        for (unsigned c = 0; port->list && c < class_count(port); c++) {
            struct class_figures f = figures_of(network, p, c, bounds);

            json_array_append_new(
                list,
                json_pack("{s:s, s:i, s:I, s:I, s:i, s:o, s:o, s:o, s:o, s:I}", "port", port->name,
                          "class", (int)c, "cycle_ns", (json_int_t)port->list->cycle_ns, "open_ns",
                          (json_int_t)port->list->classes[c].open_ns, "windows",
                          (int)port->list->classes[c].window_count, "longest_window_ns",
                          bounded(f.usable_ns), "longest_frame_bytes",
                          f.longest_bytes >= TT_WIRE_BYTES_MAX ? json_null()
                                                               : tt_json_known(f.longest_bytes, 0),
                          "longest_closed_ns", bounded(f.closed_ns), "worst_wait_ns",
                          bounded(f.bound_ns), "load_bits_per_s", (json_int_t)f.load_bps));
        }
    }
    return list;
}

static bool is_late(const struct tt_flow *flow, int64_t delay_ns)
{
    return flow->deadline_ns > 0 && delay_ns > flow->deadline_ns;
}

/* Links on the longest way to a listener. */
static unsigned hops_of(const struct tt_flow *flow)
{
    unsigned depth[TT_GATE_HOPS_MAX];
    unsigned most = 0;

    for (unsigned h = 0; h < flow->hop_count; h++) {
        depth[h] = flow->hops[h].parent < 0 ? 1 : depth[flow->hops[h].parent] + 1;
        most = depth[h] > most ? depth[h] : most;
    }
    return most;
}

void tt_gate_show_streams(const struct tt_network *network, const int64_t *delays_ns, FILE *out)
{
    static const struct tt_column columns[] = {
        {"stream", TT_ALIGN_LEFT}, {"launch offset", TT_ALIGN_RIGHT},
        {"hops", TT_ALIGN_RIGHT},  {"worst case", TT_ALIGN_RIGHT},
        {"mtt", TT_ALIGN_RIGHT},   {"margin", TT_ALIGN_RIGHT},
    };
    struct tt_table table;
    size_t left_out = 0;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];
        bool unbounded = delays_ns[i] == TT_GATE_UNBOUNDED;

        if (flow->kind != TT_FLOW_STREAM) {
            continue;
        }
        if (table.cell_count / TT_COUNT_OF(columns) >= STREAM_LINES_MAX &&
            !is_late(flow, delays_ns[i])) {
            left_out++;
            continue;
        }
        tt_table_cell(&table, "%s", flow->name);
        tt_table_cell(&table, "%s", tt_gate_us(flow->offset_ns).text);
        tt_table_cell(&table, "%u", hops_of(flow));
        tt_table_cell(&table, "%s", unbounded ? "no bound" : tt_gate_us(delays_ns[i]).text);
        tt_table_cell(&table, "%s", tt_gate_us(flow->deadline_ns).text);
        tt_table_cell(&table, "%s",
                      unbounded ? "-" : tt_gate_us(flow->deadline_ns - delays_ns[i]).text);
    }
    if (table.cell_count > 0) {
        fputc('\n', out);
        tt_table_print(&table, out);
    }
    if (left_out > 0) {
        fprintf(out, "and %zu more in time\n", left_out);
    }
    tt_table_done(&table);
}

json_t *tt_gate_streams_json(const struct tt_network *network, const int64_t *delays_ns)
{
    json_t *list = json_array();

    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        if (flow->kind == TT_FLOW_STREAM) {
            json_array_append_new(list, json_pack("{s:s, s:I, s:o, s:I}", "name", flow->name,
                                                  "launch_offset_ns", (json_int_t)flow->offset_ns,
                                                  "worst_case_ns", bounded(delays_ns[i]), "mtt_ns",
                                                  (json_int_t)flow->deadline_ns));
        }
    }
    return list;
}

const char *tt_gate_severity_text(enum tt_gate_severity severity)
{
    static const char *const texts[] = {"note", "warning", "WRONG", "REFUSED"};

    return texts[severity];
}

static bool say_the_same(const struct tt_gate_finding *a, const struct tt_gate_finding *b)
{
    return a->severity == b->severity && strcmp(a->what, b->what) == 0 &&
           strcmp(a->remedy, b->remedy) == 0;
}

/* "inputs 1; inputs 2; mains 1 and 3 more": all that items[first] holds for, of n. */
static void print_places(const struct tt_gate_finding *items, size_t n, size_t first, FILE *out)
{
    size_t places = 0;

    for (size_t i = first; i < n; i++) {
        if (say_the_same(&items[i], &items[first]) && places++ < PLACES_SHOWN) {
            fprintf(out, "%s%s", i == first ? "" : "; ", items[i].where);
        }
    }
    if (places > PLACES_SHOWN) {
        fprintf(out, " and %zu more", places - PLACES_SHOWN);
    }
}

static bool was_said(const struct tt_gate_finding *items, size_t i)
{
    size_t before = 0;

    while (before < i && !say_the_same(&items[before], &items[i])) {
        before++;
    }
    return before < i;
}

/* The worst first; what holds for several places once. */
void tt_gate_show_findings(const struct tt_gate_findings *findings, FILE *out)
{
    size_t n = findings->count < findings->capacity ? findings->count : findings->capacity;

    for (int severity = TT_GATE_REFUSED; severity >= TT_GATE_NOTE; severity--) {
        for (size_t i = 0; i < n; i++) {
            const struct tt_gate_finding *finding = &findings->items[i];

            if ((int)finding->severity != severity || was_said(findings->items, i)) {
                continue;
            }
            fprintf(out, "\n%s: ", tt_gate_severity_text(finding->severity));
            print_places(findings->items, n, i, out);
            fprintf(out, ": %s\n", finding->what);
            if (finding->remedy[0]) {
                fprintf(out, "    %s\n", finding->remedy);
            }
        }
    }
    if (findings->count > n) {
        fprintf(out, "\nand %zu more findings\n", findings->count - n);
    }
}

json_t *tt_gate_findings_json(const struct tt_gate_findings *findings)
{
    static const char *const words[] = {"note", "warning", "wrong", "refused"};
    json_t *list = json_array();

    for (size_t i = 0; i < findings->count && i < findings->capacity; i++) {
        const struct tt_gate_finding *finding = &findings->items[i];

        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "severity",
                                              words[finding->severity], "kind", finding->kind,
                                              "where", finding->where, "what", finding->what,
                                              "remedy", finding->remedy));
    }
    return list;
}
