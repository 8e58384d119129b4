/*
 * Any bytes as a plan of gates or as what tc printed. What is taken holds together: ways end within
 * the ports, schedules run, and the findings, the worst cases and a short simulation come to an
 * end. What is refused has a message that can be printed.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "cli/gate_file.h"
#include "cli/gate_tc.h"
#include "gate/lint.h"
#include "gate/plan.h"
#include "gate/simulate.h"

enum { FLOWS_MOST = 40, PORTS_MOST = 20 };

/* By the words that the messages carry. */
static struct fuzz_reason reasons[] = {
    {"expected", 0}, /* jansson */
    {"with a schedule pending", 0},
    {"there is no key", 0},
    {"is no object in braces", 0},
    {"has no links", 0},
    {"names no two devices", 0},
    {"a name has 1 to 24", 0},
    {"speed is missing", 0},
    {"is no speed", 0},
    {"from a device to itself", 0},
    {"no link has a device", 0},
    {"has gates already", 0},
    {"no link from", 0},
    {"from or to is missing", 0},
    {"is no list", 0},
    {"is no whole number", 0},
    {"it goes from", 0},
    {"is longer than 1000 s", 0},
    {"is neither true nor false", 0},
    {"is no text of", 0},
    {"is no version", 0},
    {"gates is none of", 0},
    {"is no mask", 0},
    {"gatemask or interval is missing", 0},
    {"is none of S, H and R", 0},
    {"has no offset and count", 0},
    {"is no class", 0},
    {"is no number of bytes", 0},
    {"has no kind", 0},
    {"an interval is shorter", 0},
    {"class is no class", 0},
    {"bits is none of", 0},
    {"1518 are the most", 0},
    {"no way from", 0},
    {"kind is none of", 0},
    {"every is 0", 0},
    {"more than 20000", 0},
    {"there is a control character", 0},
    {"is no interface's name", 0},
    {"with its number", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = TT_COUNT_OF(reasons);
    return reasons;
}

static void hold(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check_message(const struct tt_message *message)
{
    hold(message->text[0] != 0);
    hold(memchr(message->text, 0, sizeof(message->text)) != NULL);
    for (const char *c = message->text; *c != 0; c++) {
        hold(*c >= ' ' && *c <= '~');
    }
    for (size_t i = 0; i < TT_COUNT_OF(reasons); i++) {
        reasons[i].reached += strstr(message->text, reasons[i].name) != NULL;
    }
}

static void check_ways(const struct tt_network *network)
{
    for (size_t i = 0; i < network->flow_count; i++) {
        const struct tt_flow *flow = &network->flows[i];

        hold(flow->hop_count > 0 && flow->hop_count <= TT_GATE_HOPS_MAX);
        hold(flow->interval_samples > 0 && flow->rate_hz > 0 && flow->frame_bytes > 0);
        for (unsigned h = 0; h < flow->hop_count; h++) {
            hold(flow->hops[h].port < network->port_count && flow->hops[h].parent < (int)h);
        }
    }
}

static void check_findings(const struct tt_network *network)
{
    struct tt_gate_finding items[8];
    struct tt_gate_findings findings = {items, TT_COUNT_OF(items), 0};
    struct tt_gate_lint_options options = {.software_margin_ns = TT_GATE_SOFTWARE_MARGIN_NS};

    tt_gate_lint(network, &options, &findings);
    for (size_t i = 0; i < findings.count && i < TT_COUNT_OF(items); i++) {
        hold(items[i].kind && items[i].what[0] != 0);
    }
}

static void check_runs(struct tt_network *network)
{
    static const struct tt_plan_options plan_options = TT_PLAN_OPTIONS_DEFAULT;
    struct tt_plan_window windows[PORTS_MOST];
    int64_t delays_ns[FLOWS_MOST];
    struct tt_plan plan = {.windows = windows, .delays_ns = delays_ns};
    struct tt_flow_result flows[FLOWS_MOST];
    struct tt_port_result ports[PORTS_MOST];
    struct tt_sim_result result = {.flows = flows, .ports = ports};
    struct tt_sim_options options = {.duration_ns = 200000};

    hold(tt_simulate(network, &options, &result) == 0);
    options.as_linux = true;
    hold(tt_simulate(network, &options, &result) == 0);
    tt_plan(network, &plan_options, &plan);
    hold(plan.fault < TT_PLAN_FAULTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tt_gate_file_options options = {.rate_bps = 100000000, .kernel = 6012};
    struct tt_gate_file file;
    struct tt_message message;

    if (tt_gate_file_parse((const char *)data, size, &options, &file, &message) != 0) {
        check_message(&message);
        return 0;
    }
    check_ways(&file.network);
    check_findings(&file.network);
    for (size_t p = 0; p < file.network.port_count; p++) {
        json_decref(tt_gate_tc_json(&file.network.ports[p]));
    }
    if (file.network.flow_count <= FLOWS_MOST && file.network.port_count <= PORTS_MOST) {
        check_runs(&file.network);
    }
    tt_gate_file_done(&file);
    return 0;
}
