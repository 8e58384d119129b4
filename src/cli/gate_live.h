/*
 * Gates between a file or the kernel and os/qdisc_set.
 */
#ifndef TT_CLI_GATE_LIVE_H
#define TT_CLI_GATE_LIVE_H

#include "gate/network.h"
#include "os/qdisc_set.h"

/* What the port says, for the kernel. setup->gates.entries is the caller's to free. 0, -ENOMEM, or
 * -ERANGE where an interval or number does not fit. */
int tt_gate_setup_make(const struct tt_gate_port *port, struct tt_qdisc_setup *ret_setup);

/* The first thing in which the kernel has another schedule than what was set; NULL: none. */
const char *tt_gate_difference(const struct tt_qdisc_setup *set, const struct tt_qdisc_gates *got);

#endif
