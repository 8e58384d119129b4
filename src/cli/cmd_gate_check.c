/*
 * `tactus gate check`: what never gets out, what is refused, what may be late.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_gate.h"
#include "cli/gate_options.h"
#include "cli/gate_planned.h"
#include "cli/gate_show.h"
#include "report/json.h"
#include "report/plural.h"

#define COMMAND      "tactus gate check"
#define FINDINGS_MAX 1000

static const struct argp parser = {
    .parser = tt_gate_parse,
    .children = tt_gate_children,
    .args_doc = "FILE|INTERFACE",
    .doc =
        "Say what is wrong with gates before anything is sent: frames that never fit and why, what "
        "the kernel or the driver refuses, streams that may be late, PTP shut out."
        "\v"
        "FILE is a plan, or what `tc -j qdisc show dev IF` printed (- reads it from standard "
        "input).\n\n"
        "Examples:\n"
        "  tactus gate check eth0\n"
        "  tc -j qdisc show dev eth0 | tactus gate check --speed 100M --kernel 5.10 -\n"
        "  tactus gate check stage.json\n\n"
        "Exit: 0 nothing, or notes and warnings; 1 something is wrong or refused; 2 wrong usage or "
        "a file that is no plan; 3 it cannot be read."};

static void check_streams(const struct tt_gate_file *file, const struct tt_gate_bounds *bounds,
                          enum tt_gate_planned planned, struct tt_gate_findings *findings)
{
    const struct tt_gate_port whole = {.name = "the plan"};

    if (planned == TT_GATE_CHANGED) {
        tt_gate_remedy(tt_gate_find(findings, TT_GATE_WARNING, "changed", &whole, -1,
                                    "streams, links or gates are not those that were planned any "
                                    "more: worst cases are of talkers that launch at any time"),
                       "tactus gate plan");
    }
    if (planned == TT_GATE_PLANNED) {
        tt_gate_find(findings, TT_GATE_NOTE, "planned", &whole, -1,
                     "streams' worst cases are those of the plan: their talkers launch at the "
                     "offsets given");
    }
    for (size_t i = 0; i < file->network.flow_count; i++) {
        const struct tt_flow *flow = &file->network.flows[i];
        struct tt_gate_port at = {0};

        if (flow->kind != TT_FLOW_STREAM || bounds->flows_ns[i] <= flow->deadline_ns) {
            continue;
        }
        snprintf(at.name, sizeof(at.name), "%s", flow->name);
        tt_gate_remedy(bounds->flows_ns[i] == TT_GATE_UNBOUNDED
                           ? tt_gate_find(findings, TT_GATE_WRONG, "no_bound", &at, -1,
                                          "nothing bounds how long it takes")
                           : tt_gate_find(findings, TT_GATE_WRONG, "late", &at, -1,
                                          "may take %s, and its transit time is %s",
                                          tt_gate_us(bounds->flows_ns[i]).text,
                                          tt_gate_us(flow->deadline_ns).text),
                       "a window or slope of its own: tactus gate plan");
    }
}

static enum tt_gate_severity worst(const struct tt_gate_findings *findings)
{
    enum tt_gate_severity severity = TT_GATE_NOTE;

    for (size_t i = 0; i < findings->count && i < findings->capacity; i++) {
        if (findings->items[i].severity > severity) {
            severity = findings->items[i].severity;
        }
    }
    return severity;
}

static void print(const struct tt_gate_file *file, bool json, const struct tt_gate_bounds *bounds,
                  const struct tt_gate_findings *findings)
{
    if (json) {
        json_t *all = json_pack(
            "{s:o, s:o, s:o, s:b}", "classes", tt_gate_classes_json(&file->network, bounds),
            "streams", tt_gate_streams_json(&file->network, bounds->flows_ns), "findings",
            tt_gate_findings_json(findings), "good", worst(findings) < TT_GATE_WRONG);

        tt_json_print_line(stdout, all);
        json_decref(all);
        return;
    }
    tt_gate_show_classes(&file->network, bounds, stdout);
    tt_gate_show_streams(&file->network, bounds->flows_ns, stdout);
    tt_gate_show_findings(findings, stdout);
    printf("\n%s\n", worst(findings) >= TT_GATE_WRONG ? "This does not work as it is."
                     : findings->count > 0            ? "This works, with what is said above."
                                                      : "Nothing is wrong with this.");
}

static int check(const struct tt_gate_file *file, bool json)
{
    struct timespec now;
    struct tt_gate_bounds bounds = {
        .flows_ns = calloc(file->network.flow_count + 1, sizeof(int64_t)),
        .ports_ns = calloc(file->network.port_count * TT_GATE_CLASSES + 1, sizeof(int64_t)),
    };
    struct tt_gate_findings findings = {.items = calloc(FINDINGS_MAX, sizeof(*findings.items)),
                                        .capacity = FINDINGS_MAX};
    struct tt_gate_lint_options options = {.software_margin_ns = TT_GATE_SOFTWARE_MARGIN_NS,
                                           .reserve_percent = file->limits.reserve_percent};
    int code = TT_EXIT_ENVIRONMENT;

    clock_gettime(CLOCK_TAI, &now);
    options.now_tai_ns = now.tv_sec * TT_NS_PER_S + now.tv_nsec;
    if (!bounds.flows_ns || !bounds.ports_ns || !findings.items ||
        tt_gate_bound(&file->network, &bounds) != 0) {
        tt_cli_say(COMMAND, "out of memory");
    } else {
        tt_gate_lint(&file->network, &options, &findings);
        check_streams(file, &bounds, tt_gate_planned(file, &bounds), &findings);
        print(file, json, &bounds, &findings);
        code = worst(&findings) >= TT_GATE_WRONG ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
    }
    free(bounds.flows_ns);
    free(bounds.ports_ns);
    free(findings.items);
    return code;
}

int tt_cmd_gate_check(int argc, char **argv)
{
    struct tt_gate_options options = {0};
    struct tt_gate_file file;
    int code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0) {
        return TT_EXIT_USAGE;
    }
    code = (int)tt_gate_open(COMMAND, &options, &file);
    if (code == TT_EXIT_GOOD) {
        code = check(&file, options.json);
        tt_gate_file_done(&file);
    }
    return code;
}
