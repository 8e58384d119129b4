/*
 * `tactus gate simulate`: a plan in virtual time.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_options.h"
#include "cli/gate_picture.h"
#include "cli/gate_port.h"
#include "cli/gate_show.h"
#include "report/json.h"

#define COMMAND "tactus gate simulate"

enum { OPTION_DURATION = 300, OPTION_LINUX, OPTION_PORT };

struct job {
    struct tt_gate_options options;
    int64_t duration_ns;
    bool as_linux;
    const char *port;
};

static const struct argp_option options[] = {
    {"duration", OPTION_DURATION, "TIME", 0, "How long, in virtual time (1s)", 0},
    {"linux", OPTION_LINUX, NULL, 0,
     "Hosts whose software keeps the gates do as Linux of their version does, with its faults; "
     "else all do as the standard says",
     0},
    {"port", OPTION_PORT, "NAME", 0,
     "Two cycles of which port are drawn (\"a -> b\"; the first with gates)", 0},
    {0},
};
static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_DURATION:
        job->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_LINUX:
        job->as_linux = true;
        return 0;
    case OPTION_PORT:
        job->port = argument;
        return 0;
    default:
        return tt_gate_parse(key, argument, state);
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = tt_gate_page_children,
    .args_doc = "FILE|INTERFACE",
    .doc = "Run a plan in virtual time, frame by frame: talkers, TCP that takes what it gets, "
           "bridges, "
           "gates and credits; and say what was late, what never got out, and how much did."
           "\v"
           "Examples:\n"
           "  tactus gate simulate stage.json\n"
           "  tactus gate simulate --linux --picture cycle.svg 2021.json\n\n"
           "Exit: 0 no stream's frame was late and everything gets out; 1 not so; 2 wrong usage; 3 "
           "not readable, or out of memory."};

/* The one that is drawn: of that name, else the first with gates, else the first. NULL: said. */
static const struct tt_gate_port *drawn_port(const struct job *job, const struct tt_gate_file *file)
{
    const struct tt_network *network = &file->network;

    if (job->port) {
        return tt_gate_port_find(COMMAND, job->options.path, file, job->port);
    }
    for (size_t p = 0; p < network->port_count; p++) {
        if (network->ports[p].list) {
            return &network->ports[p];
        }
    }
    if (network->port_count == 0) {
        tt_cli_say(COMMAND, "%s has no links", job->options.path);
    }
    return network->port_count ? &network->ports[0] : NULL;
}

/* --linux needs to know which Linux it is, wherever software keeps gates. */
static bool linux_known(const struct tt_gate_file *file)
{
    for (size_t p = 0; p < file->network.port_count; p++) {
        const struct tt_gate_port *port = &file->network.ports[p];

        if (port->list && !port->bridge && port->mode == TT_GATE_SOFTWARE && port->kernel == 0) {
            tt_cli_say(COMMAND, "--linux: which kernel keeps the gates of %s? %s", port->name,
                       json_is_array(file->root)
                           ? "Give --kernel, such as 6.12"
                           : "Give its device \"kernel\" in the plan, such as \"6.12\"");
            return false;
        }
    }
    return true;
}

/* The last two cycles that are over; where a list replaces another one, a cycle of each. */
static void place_picture(const struct job *job, struct tt_gate_picture *picture)
{
    const struct tt_gate_port *port = &picture->network->ports[picture->port];
    int64_t cycle_ns = port->list ? port->list->cycle_ns : TT_NS_PER_MS;
    int64_t phase_ns = port->list ? port->list->base_tai_ns % cycle_ns : 0;
    int64_t cycles = (job->duration_ns - phase_ns) / cycle_ns;

    picture->length_ns = 2 * cycle_ns;
    picture->from_ns = phase_ns + (cycles > 3 ? cycles - 3 : 0) * cycle_ns;
    picture->timeline = (struct tt_gate_timeline){port->list, NULL, INT64_MIN};
    if (port->list && port->old) {
        picture->timeline.old = port->old;
        picture->timeline.start_ns = tt_gate_start_ns(port->list, 0);
        picture->from_ns = picture->timeline.start_ns - port->old->cycle_ns;
        picture->length_ns = port->old->cycle_ns + cycle_ns;
    }
}

static int write_page(const struct job *job, const struct tt_sim_options *sim,
                      const struct tt_gate_picture *picture, const struct tt_sim_result *result)
{
    struct tt_html page;
    const struct tt_out to = {.page = &page};
    int error = tt_html_open(&page, job->options.html, "tactus gate simulate");

    if (error != 0) {
        return error;
    }
    tt_gate_show_simulation(picture->network, sim, result, &to);
    tt_gate_picture_figure(picture, &page, "Gates and frames");
    return tt_html_close(&page);
}

/* The files that are wanted. */
static int write_files(const struct job *job, const struct tt_sim_options *sim,
                       const struct tt_gate_picture *picture, const struct tt_sim_result *result)
{
    int code = TT_EXIT_GOOD;

    if (job->options.picture) {
        code = tt_gate_written(COMMAND, job->options.picture,
                               tt_gate_picture_write(picture, job->options.picture));
    }
    if (job->options.html && code == TT_EXIT_GOOD) {
        code = tt_gate_written(COMMAND, job->options.html, write_page(job, sim, picture, result));
    }
    return code;
}

static bool all_well(const struct tt_network *network, const struct tt_sim_result *result)
{
    for (size_t i = 0; i < network->flow_count; i++) {
        /* That TCP loses frames is how it finds its speed. */
        if (result->flows[i].late > 0 ||
            (result->flows[i].dropped > 0 && network->flows[i].kind != TT_FLOW_BULK)) {
            return false;
        }
    }
    for (size_t p = 0; p < network->port_count; p++) {
        for (unsigned c = 0; c < TT_GATE_CLASSES; c++) {
            if (result->ports[p].never[c]) {
                return false;
            }
        }
    }
    return true;
}

static int simulate(const struct job *job, const struct tt_network *network,
                    struct tt_gate_picture *picture, struct tt_sim_result *result)
{
    struct tt_sim_options sim = {.duration_ns = job->duration_ns, .as_linux = job->as_linux};
    int code;

    if (job->options.picture || job->options.html) {
        sim.sent = tt_gate_picture_take;
        sim.context = picture;
    }
    if (tt_simulate(network, &sim, result) != 0) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    if (job->options.json) {
        json_t *all = tt_gate_simulation_json(network, &sim, result);

        tt_json_print_line(stdout, all);
        json_decref(all);
    } else {
        tt_gate_show_simulation(network, &sim, result, &(struct tt_out){.text = stdout});
    }
    code = write_files(job, &sim, picture, result);
    return code != TT_EXIT_GOOD        ? code
           : all_well(network, result) ? TT_EXIT_GOOD
                                       : TT_EXIT_NEGATIVE;
}

static int run(const struct job *job, const struct tt_gate_file *file)
{
    const struct tt_network *network = &file->network;
    const struct tt_gate_port *drawn = drawn_port(job, file);
    struct tt_gate_picture picture = {.network = network};
    struct tt_sim_result result = {
        .flows = calloc(network->flow_count + 1, sizeof(*result.flows)),
        .ports = calloc(network->port_count + 1, sizeof(*result.ports)),
        .margin = malloc(sizeof(*result.margin)),
    };
    int code = TT_EXIT_ENVIRONMENT;

    picture.frames = malloc(TT_GATE_PICTURE_FRAMES * sizeof(*picture.frames));
    if (!drawn || (job->as_linux && !linux_known(file))) {
        code = TT_EXIT_USAGE;
    } else if (!result.flows || !result.ports || !result.margin || !picture.frames) {
        tt_cli_say(COMMAND, "out of memory");
    } else {
        picture.port = (unsigned)(drawn - network->ports);
        tt_hist_init(result.margin);
        place_picture(job, &picture);
        code = simulate(job, network, &picture, &result);
    }
    free(result.flows);
    free(result.ports);
    free(result.margin);
    free(picture.frames);
    return code;
}

int tt_cmd_gate_simulate(int argc, char **argv)
{
    struct job job = {.duration_ns = TT_NS_PER_S};
    struct tt_gate_file file;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &job.options, &file);
    if (code == TT_EXIT_GOOD) {
        code = run(&job, &file);
        tt_gate_file_done(&file);
    }
    return code;
}
