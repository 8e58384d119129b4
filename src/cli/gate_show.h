/*
 * Gates, findings and results as tables for people and as JSON.
 */
#ifndef TT_CLI_GATE_SHOW_H
#define TT_CLI_GATE_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "report/out.h"
#include "gate/bound.h"
#include "gate/lint.h"
#include "gate/simulate.h"

/* A line for each class of each port that has gates: windows, the longest frame, waits, load. */
void tt_gate_show_classes(const struct tt_network *network, const struct tt_gate_bounds *bounds,
                          FILE *out);
json_t *tt_gate_classes_json(const struct tt_network *network, const struct tt_gate_bounds *bounds);
/* The streams' longest delays against their deadlines. */
void tt_gate_show_streams(const struct tt_network *network, const int64_t *delays_ns, FILE *out);
json_t *tt_gate_streams_json(const struct tt_network *network, const int64_t *delays_ns);

const char *tt_gate_severity_text(enum tt_gate_severity severity);
void tt_gate_show_findings(const struct tt_gate_findings *findings, FILE *out);
json_t *tt_gate_findings_json(const struct tt_gate_findings *findings);

void tt_gate_show_simulation(const struct tt_network *network, const struct tt_sim_options *options,
                             const struct tt_sim_result *result, const struct tt_out *out);
json_t *tt_gate_simulation_json(const struct tt_network *network,
                                const struct tt_sim_options *options,
                                const struct tt_sim_result *result);

#endif
