/*
 * The streams and the other traffic of a plan, and the ways that they take: the fewest links.
 */
#ifndef TT_CLI_GATE_FLOW_H
#define TT_CLI_GATE_FLOW_H

#include "cli/gate_file.h"
#include "cli/gate_value.h"

/* Number `index` of the list. 0, or a negative errno with the message. */
int tt_gate_flow_stream(json_t *json, size_t index, struct tt_gate_file *file,
                        struct tt_message *message);
int tt_gate_flow_traffic(json_t *json, size_t index, struct tt_gate_file *file,
                         struct tt_message *message);

#endif
