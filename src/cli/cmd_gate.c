/*
 * `tactus gate`: finds the command and hands over.
 */
#include "cli/cmd_gate.h"

#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"

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

static void print_help(FILE *out)
{
    fputs("Usage: tactus gate COMMAND [OPTION...]\n"
          "Gate schedules (IEEE 802.1Qbv, taprio): say before deployment what never gets out.\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < TT_COUNT_OF(commands); i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n  tactus gate COMMAND --help   what a command does and takes, with an example\n", out);
}

int tt_cmd_gate(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TT_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "-?") == 0) {
        print_help(stdout);
        return TT_EXIT_GOOD;
    }
    for (size_t i = 0; i < TT_COUNT_OF(commands); i++) {
        char name[64];

        if (strcmp(argv[1], commands[i].name) == 0) {
            snprintf(name, sizeof(name), "tactus gate %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    tt_cli_say("tactus gate", "there is no command `%s`; `tactus gate --help` lists them", argv[1]);
    return TT_EXIT_USAGE;
}
