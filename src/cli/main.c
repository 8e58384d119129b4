/*
 * `tactus`: finds the command and hands over.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "cli/cmd.h"

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

static void print_help(FILE *out)
{
    fputs("Usage: tactus COMMAND [OPTION...]\n"
          "Audio over Ethernet (AVTP) and MIDI on time, with the proof.\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < TT_COUNT_OF(commands); i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n"
          "  tactus COMMAND --help   what a command does and takes, with an example\n"
          "  tactus --version        the version\n\n"
          "Exit codes: 0 good, 1 a negative finding, 2 wrong usage, 3 the environment lacks\n"
          "something, 4 inconclusive.\n",
          out);
}

static int fail_unknown(const char *name)
{
    const char *nearest = NULL;
    size_t least = 3;

    for (size_t i = 0; i < TT_COUNT_OF(commands); i++) {
        size_t distance = tt_word_distance(name, commands[i].name);

        if (distance < least) {
            least = distance;
            nearest = commands[i].name;
        }
    }
    if (nearest) {
        tt_cli_say("tactus", "there is no command `%s`; did you mean `tactus %s`?", name, nearest);
    } else {
        tt_cli_say("tactus", "there is no command `%s`; `tactus --help` lists them", name);
    }
    return TT_EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; i < TT_COUNT_OF(commands); i++) {
        char name[64];

        if (strcmp(argv[0], commands[i].name) == 0) {
            snprintf(name, sizeof(name), "tactus %s", commands[i].name);
            argv[0] = name;
            return commands[i].run(argc, argv);
        }
    }
    return fail_unknown(argv[0]);
}

static int run_help(int argc, char **argv)
{
    char option[] = "--help";
    char *help[] = {argv[0], option, NULL};

    if (argc == 0) {
        print_help(stdout);
        return TT_EXIT_GOOD;
    }
    return run_command(2, help);
}

int main(int argc, char **argv)
{
    tt_cli_standard_init();
    argp_err_exit_status = TT_EXIT_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return TT_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return TT_EXIT_GOOD;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("tactus " TT_VERSION);
        return TT_EXIT_GOOD;
    }
    if (strcmp(argv[1], "help") == 0) {
        return run_help(argc - 2, argv + 2);
    }
    return run_command(argc - 1, argv + 1);
}
