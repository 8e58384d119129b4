/*
 * What the commands share: see cmd.h.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audio/config_value.h"
#include "base/ns.h"
#include "report/line.h"

#define DURATION_MAX_NS INT64_C(1000000000000000000) /* added to any clock it stays in range */

static volatile sig_atomic_t interrupted;

void tt_cli_say(const char *command, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%s: ", command);
    va_start(args, format);
    tt_line_vprint(stderr, format, args);
    va_end(args);
}

int tt_cli_duration_parse(const char *text, int64_t *ret_ns)
{
    size_t n = strlen(text);
    int64_t ns;

    if (n == 0 || strchr("0123456789.", text[n - 1]) || tt_value_time(text, &ns) ||
        ns > DURATION_MAX_NS) {
        return -EINVAL;
    }
    *ret_ns = ns;
    return 0;
}

int64_t tt_cli_time_option(const char *name, const char *argument, struct argp_state *state)
{
    int64_t ns = 0;

    if (tt_cli_duration_parse(argument, &ns) != 0 || ns == 0) {
        argp_error(state,
                   "--%s %s: give a number with a unit, such as 500ms, 10s, 2min; at most %lldh",
                   name, argument, (long long)(DURATION_MAX_NS / (3600 * TT_NS_PER_S)));
    }
    return ns;
}

const char *tt_cli_file_option(const char *name, const char *argument, struct argp_state *state)
{
    if (strcmp(argument, "-") == 0) {
        argp_error(state, "--%s takes the name of a file; /dev/stdout is standard output", name);
    }
    if (!argument[0]) {
        argp_error(state, "--%s takes the name of a file, and this one is empty", name);
    }
    return argument;
}

int64_t tt_cli_duration_option(const char *argument, struct argp_state *state)
{
    return tt_cli_time_option("duration", argument, state);
}

long tt_cli_number_option(const char *name, const char *argument, struct argp_state *state,
                          long least, long most)
{
    char *end;
    long value = strtol(argument, &end, 10);

    if (*end || end == argument || value < least || value > most) {
        argp_error(state, "--%s %s: give a number from %ld to %ld", name, argument, least, most);
    }
    return value;
}

error_t tt_cli_arguments(int key, char *argument, struct argp_state *state,
                         const char **const places[], unsigned count, const char *what)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num >= count) {
            argp_error(state, "what is %s? Give %s, and no more", argument, what);
        }
        *places[state->arg_num] = argument;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < count) {
            argp_error(state, "give %s", what);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int64_t tt_cli_now_mono_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * TT_NS_PER_S + now.tv_nsec;
}

static bool same_status(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What would be written: where a link leads that leads to nothing yet, else the name itself. */
static char *writes_to(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    const char *slash = strrchr(path, '/');
    char *name = NULL;

    if (n < 0) {
        return strdup(path);
    }
    target[n] = 0;
    return asprintf(&name, "%.*s%s", slash && target[0] != '/' ? (int)(slash - path) + 1 : 0, path,
                    target) < 0
               ? NULL
               : name;
}

/* The folder that the file is in. */
static bool stat_folder(const char *path, struct stat *ret_status)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool known = folder && stat(folder, ret_status) == 0;

    free(folder);
    return known;
}

static const char *name_within(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool tt_cli_same_file(const char *a, const char *b)
{
    struct stat status[2];
    bool a_is_there = stat(a, &status[0]) == 0;
    bool b_is_there = stat(b, &status[1]) == 0;

    if (!a_is_there && !b_is_there) {
        char *to[] = {writes_to(a), writes_to(b)};
        bool same = to[0] && to[1] && strcmp(name_within(to[0]), name_within(to[1])) == 0 &&
                    stat_folder(to[0], &status[0]) && stat_folder(to[1], &status[1]) &&
                    same_status(&status[0], &status[1]);

        free(to[0]);
        free(to[1]);
        return same;
    }
    return a_is_there && b_is_there && same_status(&status[0], &status[1]);
}

enum tt_exit tt_cli_check_apart(const char *command, const char *option_a, const char *a,
                                const char *option_b, const char *b)
{
    struct stat status;

    if (!a || !b || !tt_cli_same_file(a, b) || (stat(a, &status) == 0 && S_ISCHR(status.st_mode))) {
        return TT_EXIT_GOOD;
    }
    tt_cli_say(command, "%s and %s are one file, %s: give each its own", option_a, option_b, a);
    return TT_EXIT_USAGE;
}

enum tt_exit tt_cli_check_not_stdout(const char *command, const char *path)
{
    struct stat status[2];

    if (fstat(STDOUT_FILENO, &status[0]) == 0 && S_ISREG(status[0].st_mode) &&
        stat(path, &status[1]) == 0 && same_status(&status[0], &status[1])) {
        tt_cli_say(command, "standard output goes into %s too; give another file to write", path);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void tt_cli_catch_interrupt(void)
{
    /* Not for once only: wrappers such as timeout(1) send it twice. */
    struct sigaction action = {.sa_handler = note_interrupt};

    static const int numbers[] = {SIGINT,  SIGTERM, SIGQUIT,   SIGALRM,
                                  SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU};
    struct sigaction hangup;

    for (size_t i = 0; i < TT_COUNT_OF(numbers); i++) {
        sigaction(numbers[i], &action, NULL);
    }
    /* Under nohup(1) it stays ignored. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, NULL);
    }
}

bool tt_cli_interrupted(void)
{
    return interrupted != 0;
}
