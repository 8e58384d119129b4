/*
 * `tactus gate apply`: a schedule into the kernel, all or nothing.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/config_value.h"
#include "audio/stream_config.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_command.h"
#include "cli/gate_live.h"
#include "cli/gate_options.h"
#include "cli/gate_port.h"
#include "cli/gate_show.h"
#include "report/json.h"

#define COMMAND      "tactus gate apply"
#define FINDINGS_MAX 200

enum { OPTION_DRY = 300, OPTION_PORT, OPTION_FORCE };

struct job {
    struct tt_gate_options options;
    const char *ifname;
    const char *port_name;
    bool dry_run;
    bool force;
    struct tt_gate_port *port; /* of the file */
    json_t *said;              /* with --json: what is told at the end */
};

static const struct argp_option options[] = {
    {"interface", 'i', "IF", 0, "The interface to set up", 0},
    {"port", OPTION_PORT, "NAME", 0,
     "Which port of the plan (\"a -> b\"); needed where it has several", 0},
    {"dry-run", OPTION_DRY, NULL, 0, "Check it, print the tc command, change nothing", 0},
    {"force", OPTION_FORCE, NULL, 0, "Try even what is known to be refused or wrong", 0},
    {0},
};
static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;
    char ifname[TT_IFNAME_BYTES];

    switch (key) {
    case 'i':
        if (tt_value_ifname(argument, ifname)) {
            argp_error(state, "'%s' is no name of an interface", argument);
        }
        job->ifname = argument;
        return 0;
    case OPTION_PORT:
        job->port_name = argument;
        return 0;
    case OPTION_DRY:
        job->dry_run = true;
        return 0;
    case OPTION_FORCE:
        job->force = true;
        return 0;
    case ARGP_KEY_END:
        if (!job->ifname) {
            argp_error(state, "which interface? Give --interface IF");
        }
        return 0;
    default:
        return tt_gate_parse(key, argument, state);
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = tt_gate_children,
    .args_doc = "FILE",
    .doc =
        "Set up an interface as a plan, or as what tc printed elsewhere: taprio or mqprio with etf "
        "and "
        "cbs. What the kernel or the driver is known to refuse is said first; where a part is "
        "refused all is put back; what the kernel took is read back and compared."
        "\v"
        "Examples:\n"
        "  tactus gate apply -i eth0 --dry-run schedule.json\n"
        "  tactus gate apply -i eth0 --port 'stage -> switch' planned.json\n\n"
        "Exit: 0 set up as the file says; 1 not: refused, known to be wrong, or taken otherwise; 2 "
        "wrong usage; 3 not readable, or not allowed (CAP_NET_ADMIN)."};

/* The interface's own speed, driver, queues and kernel, where no option says otherwise. */
static enum tt_exit take_facts(struct job *job)
{
    struct tt_gate_file live;
    enum tt_exit code = tt_gate_open_live(COMMAND, job->ifname, &job->options.file, &live);

    if (code != TT_EXIT_GOOD) {
        return code;
    }
    job->port->rate_bps = live.network.ports[0].rate_bps;
    job->port->driver = live.network.ports[0].driver;
    memcpy(job->port->driver_unknown, live.network.ports[0].driver_unknown,
           sizeof(job->port->driver_unknown));
    job->port->kernel = live.network.ports[0].kernel;
    job->port->tx_queues = live.network.ports[0].tx_queues;
    snprintf(job->port->name, sizeof(job->port->name), "%s", job->ifname);
    tt_gate_file_done(&live);
    return TT_EXIT_GOOD;
}

/* For --json; `value` is taken. */
static void tell(const struct job *job, const char *key, json_t *value)
{
    json_object_set_new(job->said, key, value);
}

/* Progress, for people. */
static void say(const struct job *job, const char *what)
{
    if (!job->options.json) {
        printf("%s %s\n", job->ifname, what);
    }
}

/* false: something is refused or wrong. */
static bool check(const struct job *job)
{
    struct tt_network network = {job->port, 1, NULL, 0};
    struct tt_gate_finding items[FINDINGS_MAX];
    struct tt_gate_findings findings = {items, FINDINGS_MAX, 0};
    struct tt_gate_lint_options lint = {.software_margin_ns = TT_GATE_SOFTWARE_MARGIN_NS};
    bool good = true;

    tt_gate_lint(&network, &lint, &findings);
    tell(job, "findings", tt_gate_findings_json(&findings));
    if (!job->options.json) {
        tt_gate_show_findings(&findings, stdout);
    }
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        good = good && items[i].severity < TT_GATE_WRONG;
    }
    return good;
}

/* The kernel's words for a qdisc whose module is not there. */
static void say_module(const char *part, const struct tt_qdisc_refusal *refusal)
{
    char option[16] = "";

    if (!strstr(refusal->why, "qdisc kind is unknown")) {
        return;
    }
    for (size_t i = 0; part[i] != 0 && i + 1 < sizeof(option); i++) {
        option[i] = (char)toupper((unsigned char)part[i]);
    }
    tt_cli_say(COMMAND,
               "this kernel has no %s: `modprobe sch_%s`; where there is no such module, a kernel "
               "with CONFIG_NET_SCH_%s=m",
               part, part, option);
}

static int refused(const struct job *job, const struct tt_qdisc_setup *setup, int error,
                   const struct tt_qdisc_refusal *refusal)
{
    const char *part = refusal->child < 0                    ? setup->taprio ? "taprio" : "mqprio"
                       : setup->children[refusal->child].etf ? "etf"
                                                             : "cbs";

    tt_cli_say(
        COMMAND, "%s on %s was refused: %s%s%s", part, job->ifname,
        refusal->why[0] ? refusal->why : strerror(-error), refusal->why[0] ? "; " : "",
        error == -EPERM   ? refusal->why[0] ? "it needs CAP_NET_ADMIN" : "; it needs CAP_NET_ADMIN"
        : refusal->why[0] ? strerror(-error)
        : job->port->driver ? "; the kernel gave no reason, what its driver cannot do is above"
                            : "");
    say_module(part, refusal);
    tell(job, "result", json_string("refused"));
    tell(job, "reason", json_string(refusal->why[0] ? refusal->why : strerror(-error)));
    tell(job, "put_back", json_boolean(refusal->put_back));
    tt_cli_say(COMMAND,
               refusal->put_back
                   ? "%s is as it was"
                   : "%s could not be put back as it was: `tc qdisc show dev` says how it is",
               job->ifname);
    return error == -EPERM ? TT_EXIT_ENVIRONMENT : TT_EXIT_NEGATIVE;
}

static int read_back(const struct job *job, const struct tt_qdisc_setup *setup)
{
    struct tt_qdisc_gates got;
    const char *difference;
    int error;

    if (!setup->taprio) {
        say(job, "is set up.");
        tell(job, "result", json_string("set_up"));
        return TT_EXIT_GOOD;
    }
    error = tt_qdisc_gates_read(job->ifname, &got);
    if (error != 0) {
        tt_cli_say(COMMAND, "cannot read back what %s has: %s", job->ifname, strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    difference = tt_gate_difference(setup, &got);
    if (difference) {
        tt_cli_say(COMMAND, "the kernel took it, and has %s otherwise", difference);
    } else {
        say(job, got.pending ? "is set up, and read back the same; it starts at its base time."
                             : "is set up, and read back the same.");
    }
    tell(job, "result", json_string(difference ? "taken_otherwise" : "set_up"));
    tell(job, "reason", difference ? json_string(difference) : json_null());
    free(got.entries);
    return difference ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
}

static enum tt_exit make_setup(const struct job *job, struct tt_qdisc_setup *ret_setup)
{
    int error = tt_gate_setup_make(job->port, ret_setup);

    if (error != 0) {
        tt_cli_say(COMMAND, error == -ERANGE
                                ? "an interval or a delay is above 4.29 s, the most that "
                                  "the kernel can be told"
                                : "out of memory");
    }
    return error == 0 ? TT_EXIT_GOOD : error == -ERANGE ? TT_EXIT_NEGATIVE : TT_EXIT_ENVIRONMENT;
}

static int set_up(const struct job *job, const struct tt_qdisc_setup *setup)
{
    struct tt_qdisc_refusal refusal;
    int error = tt_qdisc_setup(job->ifname, setup, &refusal);

    return error ? refused(job, setup, error, &refusal) : read_back(job, setup);
}

static void tell_command(const struct job *job)
{
    char *command = tt_gate_command(job->port, job->ifname);

    tell(job, "command", json_string(command ? command : "?"));
    if (job->dry_run && !job->options.json) {
        printf("\n%s\n", command ? command : "?");
    }
    free(command);
}

static int apply(struct job *job, struct tt_gate_file *file)
{
    struct tt_qdisc_setup setup;
    bool good;
    int code;

    job->port = !job->port_name && file->network.port_count == 1
                    ? &file->network.ports[0]
                    : tt_gate_port_find(COMMAND, job->options.path, file, job->port_name);
    if (!job->port) {
        return TT_EXIT_USAGE;
    }
    if (job->port->class_count == 0 && !job->port->has_schedule) {
        tt_cli_say(COMMAND,
                   "%s has no gates for %s: neither taprio nor mqprio, which the root has to be",
                   job->options.path, job->ifname);
        return TT_EXIT_USAGE;
    }
    code = (int)take_facts(job);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    good = check(job);
    if (job->port->class_count > 0) {
        tell_command(job);
    }
    if (!good && !job->force) {
        tt_cli_say(COMMAND, "nothing was changed; --force tries it all the same");
        return TT_EXIT_NEGATIVE;
    }
    code = (int)make_setup(job, &setup);
    if (code == TT_EXIT_GOOD) {
        code = job->dry_run ? TT_EXIT_GOOD : set_up(job, &setup);
        free(setup.gates.entries);
    }
    return code;
}

int tt_cmd_gate_apply(int argc, char **argv)
{
    struct job job = {.options = {.sets_up = true}};
    struct tt_gate_file file;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &job.options, &file);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    job.said = json_pack("{s:s, s:s, s:n, s:n, s:n, s:[]}", "interface", job.ifname, "result",
                         "unchanged", "reason", "put_back", "command", "findings");
    code = apply(&job, &file);
    if (job.options.json) {
        tt_json_print_line(stdout, job.said);
    }
    json_decref(job.said);
    tt_gate_file_done(&file);
    return code;
}
