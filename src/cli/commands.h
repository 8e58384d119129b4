/*
 * A table of commands, at the top and below `tactus midi` and `tactus gate`: help, the way to a
 * command, and what to say where there is none.
 */
#ifndef TT_CLI_COMMANDS_H
#define TT_CLI_COMMANDS_H

#include <stddef.h>

#include "cli/cmd.h"

struct tt_cli_commands {
    const char *name;  /* "tactus midi" */
    const char *about; /* one line */
    const char *more;  /* behind the commands of the help; or NULL */
    const struct tt_cmd *commands;
    size_t count;
};

/* Hands over to the command that is argv[1], or prints help. Returns the exit code. */
int tt_cli_commands_run(const struct tt_cli_commands *table, int argc, char **argv);

#endif
