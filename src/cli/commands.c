/*
 * See commands.h.
 */
#include "cli/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/word.h"

#define NAME_MAX_BYTES 64
#define FAR            3 /* letters: no longer the same word mistyped */

static void print_help(const struct tt_cli_commands *table, FILE *out)
{
    fprintf(out, "Usage: %s COMMAND [OPTION...]\n%s\n\nCommands:\n", table->name, table->about);
    for (size_t i = 0; i < table->count; i++) {
        fprintf(out, "  %-10s %s\n", table->commands[i].name, table->commands[i].summary);
    }
    fprintf(out, "\n  %s COMMAND --help   what a command does and takes, with an example\n",
            table->name);
    if (table->more) {
        fputs(table->more, out);
    }
}

static int fail_unknown(const struct tt_cli_commands *table, const char *name)
{
    const char *nearest = NULL;
    size_t least = FAR;

    for (size_t i = 0; i < table->count; i++) {
        size_t distance = tt_word_distance(name, table->commands[i].name);

        if (distance < least) {
            least = distance;
            nearest = table->commands[i].name;
        }
    }
    if (nearest) {
        tt_cli_say(table->name, "there is no command `%s`; did you mean `%s %s`?", name,
                   table->name, nearest);
    } else {
        tt_cli_say(table->name, "there is no command `%s`; `%s --help` lists them", name,
                   table->name);
    }
    return TT_EXIT_USAGE;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int run_command(const struct tt_cli_commands *table, int argc, char **argv)
{
    for (size_t i = 0; i < table->count; i++) {
        char name[NAME_MAX_BYTES];

        if (strcmp(argv[0], table->commands[i].name) == 0) {
            snprintf(name, sizeof(name), "%s %s", table->name, argv[0]);
            argv[0] = name;
            return table->commands[i].run(argc, argv);
        }
    }
    return fail_unknown(table, argv[0]);
}

int tt_cli_commands_run(const struct tt_cli_commands *table, int argc, char **argv)
{
    char option[] = "--help";

    if (argc < 2) {
        print_help(table, stderr);
        return TT_EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--help", "-h", "-?") || (argc == 2 && strcmp(argv[1], "help") == 0)) {
        print_help(table, stdout);
        return TT_EXIT_GOOD;
    }
    if (strcmp(argv[1], "help") == 0) {
        char *help[] = {argv[2], option, NULL};

        return run_command(table, 2, help);
    }
    return run_command(table, argc - 1, argv + 1);
}
