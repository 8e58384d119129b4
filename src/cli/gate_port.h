/*
 * Which port of a plan a command is about.
 */
#ifndef TT_CLI_GATE_PORT_H
#define TT_CLI_GATE_PORT_H

#include "cli/gate_file.h"

/* The port of that name ("from -> to"); for NULL the only one with a schedule. NULL: said on
 * stderr, with the ports that there are. `path`: of the file, for the message. */
struct tt_gate_port *tt_gate_port_find(const char *command, const char *path,
                                       const struct tt_gate_file *file, const char *name);

#endif
