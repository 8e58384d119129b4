/*
 * `tactus gate`: finds the command and hands over.
 */
#include "cli/cmd_gate.h"

#include "cli/commands.h"

static const struct tt_cmd commands[] = {
    {"apply", "set up an interface, all or nothing, and read back what the kernel took",
     tt_cmd_gate_apply},
    {"check", "say what never gets out, what is refused and what may be late", tt_cmd_gate_check},
    {"plan", "make gates and launch offsets of streams", tt_cmd_gate_plan},
    {"shape", "hold what this machine sends to a schedule, in user space", tt_cmd_gate_shape},
    {"show", "draw the schedule of an interface or a file", tt_cmd_gate_show},
    {"simulate", "run a plan in virtual time, frame by frame", tt_cmd_gate_simulate},
    {"verify", "hold what really left against a schedule", tt_cmd_gate_verify},
};

static const struct tt_cli_commands table = {
    .name = "tactus gate",
    .about = "Gate schedules (IEEE 802.1Qbv, taprio): say before deployment what never gets out.",
    .commands = commands,
    .count = TT_COUNT_OF(commands),
};

int tt_cmd_gate(int argc, char **argv)
{
    return tt_cli_commands_run(&table, argc, argv);
}
