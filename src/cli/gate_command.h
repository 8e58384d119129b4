/*
 * The `tc` command that sets up a port as described: what a person can type, and read.
 */
#ifndef TT_CLI_GATE_COMMAND_H
#define TT_CLI_GATE_COMMAND_H

#include "gate/network.h"

/* On the heap; NULL: no memory. */
char *tt_gate_command(const struct tt_gate_port *port, const char *ifname);

#endif
