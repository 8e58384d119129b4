/*
 * `tactus`: finds the command and hands over.
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/commands.h"

static const struct tt_cmd commands[] = {
    {"doctor", "say what of this machine's set-up keeps streams from being on time", tt_cmd_doctor},
    {"equal", "say whether every frame of a file is in a recording", tt_cmd_equal},
    {"extract", "recover a stream's audio from a capture", tt_cmd_extract},
    {"gate", "gate schedules: check, plan, simulate, apply, verify", tt_cmd_gate},
    {"listen", "receive streams into files, pipes or sound cards", tt_cmd_listen},
    {"meter", "say whether this machine holds a buffer under load", tt_cmd_meter},
    {"midi", "MIDI with the time at which each byte arrived", tt_cmd_midi},
    {"talk", "send files, pipes, tones or sound cards as streams", tt_cmd_talk},
    {"watch", "show the AVTP streams in a capture or on an interface", tt_cmd_watch},
};

static const struct tt_cli_commands table = {
    .name = "tactus",
    .about = "Audio over Ethernet (AVTP) and MIDI on time, with the proof.",
    .more = "  tactus --version        the version\n\n"
            "Exit codes: 0 good, 1 a negative finding, 2 wrong usage, 3 the environment lacks\n"
            "something, 4 inconclusive.\n",
    .commands = commands,
    .count = TT_COUNT_OF(commands),
};

int main(int argc, char **argv)
{
    tt_cli_standard_init();
    argp_err_exit_status = TT_EXIT_USAGE;
    if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        puts("tactus " TT_VERSION);
        return TT_EXIT_GOOD;
    }
    return tt_cli_commands_run(&table, argc, argv);
}
