/*
 * `tactus midi`: finds the command and hands over.
 */
#include "cli/cmd_midi.h"

#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"

static const struct tt_cmd commands[] = {
    {"convert", "make a Standard MIDI File of a raw log", tt_cmd_midi_convert},
    {"dump", "show every event of a Standard MIDI File or a raw log", tt_cmd_midi_dump},
    {"jitter", "measure how far recorded times are off, idle and under load", tt_cmd_midi_jitter},
    {"list", "show the MIDI ports and the stamps that each gives", tt_cmd_midi_list},
    {"play", "play a Standard MIDI File, each event at its time", tt_cmd_midi_play},
    {"record", "record ports, with the time at which each byte arrived", tt_cmd_midi_record},
};

static void print_help(FILE *out)
{
    fputs("Usage: tactus midi COMMAND [OPTION...]\n"
          "MIDI with the time at which each byte arrived.\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < TT_COUNT_OF(commands); i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n  tactus midi COMMAND --help   what a command does and takes, with an example\n", out);
}

int tt_cmd_midi(int argc, char **argv)
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
            snprintf(name, sizeof(name), "tactus midi %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    tt_cli_say("tactus midi", "there is no command `%s`; `tactus midi --help` lists them", argv[1]);
    return TT_EXIT_USAGE;
}
