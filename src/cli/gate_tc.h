/*
 * What `tc -j qdisc show` prints of one interface, into a port: taprio or mqprio at the root, etf
 * and cbs below.
 *
 * Taken as well: numbers where tc prints text ("gatemask": 3), times with a unit ("interval":
 * "300us"), the options alone instead of a list of qdiscs, and what is missing where there is a
 * usual value (no cycle_time: the sum; no index). Masks are of traffic classes.
 */
#ifndef TT_CLI_GATE_TC_H
#define TT_CLI_GATE_TC_H

#include "cli/gate_value.h"
#include "gate/network.h"

/* qdiscs: the list. The entries of the schedule are the caller's to free; NULL: there is none.
 * 0, -EINVAL or -ENOMEM, with the message. */
int tt_gate_tc_read(const json_t *qdiscs, const struct tt_gate_place *place,
                    struct tt_gate_port *port, struct tt_gate_entry **ret_entries);
/* The options of taprio alone. */
int tt_gate_tc_taprio(const json_t *options, const struct tt_gate_place *place,
                      struct tt_gate_port *port, struct tt_gate_entry **ret_entries);

/* A port's qdiscs, as tc would print them. */
json_t *tt_gate_tc_json(const struct tt_gate_port *port);

#define TT_GATE_TC_KINDS "taprio, mqprio, etf, cbs"

#endif
