/*
 * `tactus gate plan`: from streams to gates and launch offsets.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_command.h"
#include "cli/gate_options.h"
#include "cli/gate_show.h"
#include "cli/gate_tc.h"
#include "gate/credit.h"
#include "gate/plan.h"
#include "gate/wire_time.h"
#include "report/json.h"
#include "report/table.h"

#define COMMAND "tactus gate plan"

enum { OPTION_BASE = 300, OPTION_OUTPUT };

struct job {
    struct tt_gate_options options;
    int64_t base_tai_ns;
    const char *output;
    struct tt_gate_file file;
    struct tt_plan plan;
};

static const struct argp_option options[] = {
    {"base-time", OPTION_BASE, "NS", 0, "When the first cycle starts, in ns of TAI (0)", 0},
    {"output", OPTION_OUTPUT, "FILE", 0,
     "Write the plan with its gates and offsets, for check, simulate and apply", 0},
    {0},
};
static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;
    char *end;

    switch (key) {
    case OPTION_BASE:
        errno = 0;
        job->base_tai_ns = strtoll(argument, &end, 10);
        if (errno != 0 || end == argument || *end != 0 || job->base_tai_ns < 0 ||
            job->base_tai_ns > TT_GATE_TIME_MAX / 2) {
            argp_error(state, "--base-time %s: give a number of ns from 0", argument);
        }
        return 0;
    case OPTION_OUTPUT:
        job->output = tt_cli_file_option("output", argument, state);
        return 0;
    default:
        return tt_gate_parse(key, argument, state);
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = tt_gate_plain_children,
    .args_doc = "FILE",
    .doc =
        "Make gates of a plan's streams: for each port one window in which they go out back to "
        "back, "
        "for each stream the offset in its interval at which its talker launches. What is left of "
        "the cycle is one window for all else."
        "\v"
        "Examples:\n"
        "  tactus gate plan stage.json\n"
        "  tactus gate plan stage.json --output planned.json && tactus gate simulate "
        "planned.json\n\n"
        "Exit: 0 planned; 1 it cannot be done, and which stream is the first too many; 2 wrong "
        "usage "
        "or a file that is no plan; 3 not readable, or out of memory."};

static int refuse(const struct job *job)
{
    const struct tt_network *network = &job->file.network;
    const char *stream =
        network->flow_count > 0 ? network->flows[job->plan.flow].name : "no stream";
    const char *port = network->ports[job->plan.port].name;
    const struct tt_plan_options *limits = &job->file.limits;
    int64_t figure = job->plan.figure;

    switch (job->plan.fault) {
    case TT_PLAN_NO_STREAM:
        tt_cli_say(COMMAND, "%s has no streams", job->options.path);
        return TT_EXIT_USAGE;
    case TT_PLAN_INTERVAL:
        tt_cli_say(COMMAND,
                   "it cannot be done: with %s no cycle up to %s holds all intervals; another "
                   "number of frames in a packet, or a longer limits.cycle",
                   stream, tt_gate_us(limits->cycle_max_ns).text);
        break;
    case TT_PLAN_LOAD:
        tt_cli_say(COMMAND,
                   "it cannot be done: %s is the first too many; streams would take %" PRId64
                   ".%" PRId64 " %% of %s, and %u %% may be reserved (limits.reserve_percent)",
                   stream, figure / 10, figure % 10, port, limits->reserve_percent);
        break;
    case TT_PLAN_BEST_EFFORT:
        tt_cli_say(COMMAND,
                   "it cannot be done: with %s nothing up to a cycle of %s leaves the %s on %s "
                   "that the longest other frame takes (limits.cycle, limits.best_effort, traffic)",
                   stream, tt_gate_us(limits->cycle_max_ns).text, tt_gate_us(figure).text, port);
        break;
    case TT_PLAN_VARYING:
        tt_cli_say(COMMAND,
                   "it cannot be done: with %s, frames of very different lengths leave %s at "
                   "intervals of no whole ns (44.1 kHz); give them talkers of their own",
                   stream, port);
        break;
    case TT_PLAN_SHARED:
        tt_cli_say(COMMAND,
                   "it cannot be done: %s has priority %" PRId64 " and meets streams on %s, whose "
                   "window holds the priorities 2 and 3 and has room for streams alone; give it "
                   "another",
                   stream, figure, port);
        break;
    case TT_PLAN_SPREAD:
        tt_cli_say(COMMAND,
                   "it cannot be done: %s is the first too many; %s is too full for each cycle's "
                   "frames to be gone before the next one's come (in a ring, leave one link out, "
                   "and streams go round the other way; a talker at 44.1 kHz needs room as well)",
                   stream, port);
        break;
    case TT_PLAN_DEADLINE:
        tt_cli_say(
            COMMAND,
            "it cannot be done: %s is the first too many; a frame would take %s to the end of "
            "%s, above its transit time",
            stream, tt_gate_us(figure).text, port);
        break;
    default:
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_NEGATIVE;
}

/* ---- the plan into the network */

static int set_gates(struct job *job, unsigned p)
{
    struct tt_gate_port *port = &job->file.network.ports[p];
    struct tt_gate_entry *entries = calloc(2, sizeof(*entries));

    if (!entries) {
        return -ENOMEM;
    }
    tt_plan_entries(&job->plan, p, 2, 1, entries);
    free(job->file.entries[p]);
    job->file.entries[p] = entries;
    port->has_schedule = true;
    port->schedule = (struct tt_gate_schedule){
        .base_tai_ns = job->base_tai_ns + job->plan.windows[p].open_ns,
        .entries = entries,
        .entry_count = 2,
    };
    port->class_count = 2;
    for (unsigned i = 0; i < TT_GATE_PRIORITIES; i++) {
        port->class_of_priority[i] = tt_plan_is_stream_priority(i);
    }
    for (unsigned c = 0; c < 2; c++) {
        port->queue_count[c] = 1;
        port->queue_offset[c] = (uint16_t)c;
    }
    port->clock_given = port->mode != TT_GATE_OFFLOAD;
    port->size_table = port->mode == TT_GATE_SOFTWARE;
    return 0;
}

static int64_t streams_bps(const struct tt_network *network, unsigned p)
{
    int64_t bps = 0;

    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        for (unsigned h = 0; flow->kind == TT_FLOW_STREAM && h < flow->hop_count; h++) {
            if (flow->hops[h].port == p) {
                bps += tt_wire_bytes(flow->frame_bytes) * 8 * (int64_t)flow->rate_hz /
                       flow->interval_samples;
            }
        }
    }
    return bps;
}

/* ---- output */

/* The streams one by one, each with its offset. */
static json_t *streams_json(const struct job *job)
{
    json_t *list = json_array();
    const json_t *given = json_object_get(job->file.root, "streams");
    size_t flow = 0;

    for (size_t i = 0; i < json_array_size(given); i++) {
        const json_t *stream = json_array_get(given, i);
        const json_t *count = json_object_get(stream, "count");

        for (json_int_t k = count ? json_integer_value(count) : 1; k > 0; k--, flow++) {
            json_t *one = json_deep_copy(stream);

            json_object_del(one, "count");
            json_object_set_new(one, "name", json_string(job->file.network.flows[flow].name));
            json_object_set_new(one, "offset",
                                json_integer(job->file.network.flows[flow].offset_ns));
            json_array_append_new(list, one);
        }
    }
    return list;
}

/* What a credit-based shaper would need there instead of gates. */
static json_t *slope_json(const struct job *job, unsigned p)
{
    int64_t rate_kbps = tt_gate_rate(&job->file.network.ports[p]) / 1000;
    int64_t idle_kbps = (streams_bps(&job->file.network, p) + 999) / 1000;
    struct tt_credit_figures f = tt_credit_first(rate_kbps, idle_kbps, 1542, 1542);

    return json_pack("{s:I, s:I, s:I, s:I}", "idleslope", (json_int_t)f.idle_kbps, "sendslope",
                     (json_int_t)f.send_kbps, "hicredit", (json_int_t)f.hi_bytes, "locredit",
                     (json_int_t)f.lo_bytes);
}

static json_t *ports_json(const struct job *job)
{
    json_t *list = json_array();

    for (unsigned p = 0; p < job->file.network.port_count; p++) {
        const struct tt_plan_window *window = &job->plan.windows[p];
        const char *ifname = job->file.ifnames[p][0] ? job->file.ifnames[p] : "eth0";
        char *command;

        if (window->width_ns == 0) {
            continue;
        }
        command = tt_gate_command(&job->file.network.ports[p], ifname);
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:o, s:s*}", "name",
                                              job->file.network.ports[p].name, "window_phase_ns",
                                              (json_int_t)window->open_ns, "window_ns",
                                              (json_int_t)window->width_ns, "best_effort_window_ns",
                                              (json_int_t)(job->plan.cycle_ns - window->width_ns),
                                              "cbs", slope_json(job, p), "command", command));
        free(command);
    }
    return list;
}

static json_t *gates_json(const struct job *job)
{
    json_t *list = json_array();

    for (unsigned p = 0; p < job->file.network.port_count; p++) {
        json_t *qdiscs;

        if (job->plan.windows[p].width_ns == 0) {
            continue;
        }
        qdiscs = tt_gate_tc_json(&job->file.network.ports[p]);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o}", "from", job->file.devices[job->file.ends[p][0]].name,
                            "to", job->file.devices[job->file.ends[p][1]].name, "qdiscs", qdiscs));
    }
    return list;
}

static json_t *plan_json(const struct job *job)
{
    json_t *all = json_copy(job->file.root);

    json_object_set_new(all, "streams", streams_json(job));
    json_object_set_new(all, "gates", gates_json(job));
    json_object_set_new(all, "plan",
                        json_pack("{s:I, s:I, s:o, s:o}", "cycle_ns",
                                  (json_int_t)job->plan.cycle_ns, "base_tai_ns",
                                  (json_int_t)job->base_tai_ns, "ports", ports_json(job), "streams",
                                  tt_gate_streams_json(&job->file.network, job->plan.delays_ns)));
    return all;
}

static void print_ports(const struct job *job)
{
    static const struct tt_column columns[] = {
        {"port", TT_ALIGN_LEFT},      {"streams' window", TT_ALIGN_RIGHT},
        {"at", TT_ALIGN_RIGHT},       {"of the link", TT_ALIGN_RIGHT},
        {"all else", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned p = 0; p < job->file.network.port_count; p++) {
        const struct tt_plan_window *window = &job->plan.windows[p];

        if (window->width_ns > 0) {
            tt_table_cell(&table, "%s", job->file.network.ports[p].name);
            tt_table_cell(&table, "%s", tt_gate_us(window->width_ns).text);
            tt_table_cell(&table, "%s", tt_gate_us(window->open_ns).text);
            tt_table_cell(&table, "%.1f%%",
                          100.0 * (double)window->width_ns / (double)job->plan.cycle_ns);
            tt_table_cell(&table, "%s", tt_gate_us(job->plan.cycle_ns - window->width_ns).text);
        }
    }
    printf("A cycle of %s.\n\n", tt_gate_us(job->plan.cycle_ns).text);
    tt_table_print(&table, stdout);
    tt_table_done(&table);
}

static void print_commands(const struct job *job)
{
    printf(
        "\nTo set it up (`tactus gate apply` does it, and takes it back where it is refused):\n");
    for (unsigned p = 0; p < job->file.network.port_count; p++) {
        char *command;

        if (job->plan.windows[p].width_ns == 0) {
            continue;
        }
        command = tt_gate_command(&job->file.network.ports[p],
                                  job->file.ifnames[p][0] ? job->file.ifnames[p] : "eth0");
        printf("\n# %s\n%s\n", job->file.network.ports[p].name, command ? command : "?");
        free(command);
    }
}

static int give_out(const struct job *job)
{
    json_t *all = plan_json(job);
    int error = 0;

    if (job->output) {
        error = tt_json_write_file(job->output, all);
        if (error != 0) {
            tt_cli_say(COMMAND, "cannot write %s: %s", job->output, strerror(-error));
        }
    }
    if (job->options.json) {
        error = tt_json_print_line(stdout, all) ? -EIO : error;
    } else {
        print_ports(job);
        tt_gate_show_streams(&job->file.network, job->plan.delays_ns, stdout);
        print_commands(job);
    }
    json_decref(all);
    return error ? TT_EXIT_ENVIRONMENT : TT_EXIT_GOOD;
}

static int plan(struct job *job)
{
    struct tt_network *network = &job->file.network;

    job->plan.windows = calloc(network->port_count + 1, sizeof(*job->plan.windows));
    job->plan.delays_ns = calloc(network->flow_count + 1, sizeof(*job->plan.delays_ns));
    job->plan.fault = TT_PLAN_MEMORY;
    if (!job->plan.windows || !job->plan.delays_ns ||
        tt_plan(network, &job->file.limits, &job->plan) != TT_PLAN_OK) {
        return refuse(job);
    }
    for (unsigned p = 0; p < network->port_count; p++) {
        if (job->plan.windows[p].width_ns > 0 && set_gates(job, p) != 0) {
            tt_cli_say(COMMAND, "out of memory");
            return TT_EXIT_ENVIRONMENT;
        }
    }
    return give_out(job);
}

int tt_cmd_gate_plan(int argc, char **argv)
{
    struct job job = {0};
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &job.options, &job.file);
    if (code == TT_EXIT_GOOD) {
        if (!json_is_object(job.file.root)) {
            tt_cli_say(COMMAND, "%s is no plan with streams", job.options.path);
            code = TT_EXIT_USAGE;
        } else {
            code = plan(&job);
        }
        free(job.plan.windows);
        free(job.plan.delays_ns);
        tt_gate_file_done(&job.file);
    }
    return code;
}
