/*
 * The commands of `tactus`, and what all of them share: exit codes, messages, the way to end.
 *
 * A command gets argv[0] "tactus NAME" and returns an exit code. It prints results to stdout, and
 * to stderr what was tried, on what, why it failed and what to do.
 */
#ifndef TT_CLI_CMD_H
#define TT_CLI_CMD_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

enum tt_exit {
    TT_EXIT_GOOD = 0,
    TT_EXIT_NEGATIVE = 1,    /* a negative finding */
    TT_EXIT_USAGE = 2,       /* wrong usage or configuration */
    TT_EXIT_ENVIRONMENT = 3, /* the environment lacks something */
    TT_EXIT_INCONCLUSIVE = 4,
};

struct tt_cmd {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

int tt_cmd_doctor(int argc, char **argv);
int tt_cmd_equal(int argc, char **argv);
int tt_cmd_extract(int argc, char **argv);
int tt_cmd_gate(int argc, char **argv);
int tt_cmd_listen(int argc, char **argv);
int tt_cmd_meter(int argc, char **argv);
int tt_cmd_midi(int argc, char **argv);
int tt_cmd_talk(int argc, char **argv);
int tt_cmd_watch(int argc, char **argv);

/* First of all: a standard descriptor that is closed is /dev/null from here on (standard output a
 * pipe that nobody reads), so that no file or socket of ours takes its number and gets what is
 * printed. At exit, however that comes, standard output is closed; what it did not take, or would
 * have if it had not been closed, makes the exit code TT_EXIT_ENVIRONMENT, with a message, unless
 * its reader has left. */
void tt_cli_standard_init(void);

/* "tactus watch: …" and a newline to stderr. */
void tt_cli_say(const char *command, const char *format, ...) TT_PRINTF(2, 3);

/* "500ms", "10s", "2min", "1h": a number as in a stream's description, and always its unit. 0 or
 * -EINVAL. */
int tt_cli_duration_parse(const char *text, int64_t *ret_ns);

/* For a parser of options; what will not do ends the command by argp_error. --NAME ARGUMENT is a
 * time above 0. */
int64_t tt_cli_time_option(const char *name, const char *argument, struct argp_state *state);
int64_t tt_cli_duration_option(const char *argument, struct argp_state *state);
/* --NAME ARGUMENT is a whole number of that range. */
long tt_cli_number_option(const char *name, const char *argument, struct argp_state *state,
                          long least, long most);
/* --NAME ARGUMENT is the name of a file to write. */
const char *tt_cli_file_option(const char *name, const char *argument, struct argp_state *state);
/* --html ARGUMENT: a page may be written there. A file that is no page is not replaced by one, and
 * where none can be written the command ends before it spends time on what is to be in it. */
const char *tt_cli_page_option(const char *argument, struct argp_state *state);
/* The default case of a command that takes exactly `count` arguments without an option, which are
 * `what`: puts each into its place. */
error_t tt_cli_arguments(int key, char *argument, struct argp_state *state,
                         const char **const places[], unsigned count, const char *what);

int64_t tt_cli_now_mono_ns(void);

/* Both are one file, whatever their names, or would be where neither is there yet. */
bool tt_cli_same_file(const char *a, const char *b);
/* What two options write is refused, on stderr, where it would go into one file; a device takes
 * both. NULL: that one is not given. TT_EXIT_GOOD, or the exit code. */
enum tt_exit tt_cli_check_apart(const char *command, const char *option_a, const char *a,
                                const char *option_b, const char *b);
/* A file to write is refused, on stderr, where standard output goes into it. TT_EXIT_GOOD, or the
 * exit code. */
enum tt_exit tt_cli_check_not_stdout(const char *command, const char *path);

/* SIGINT, SIGTERM, SIGHUP and whatever else a user can send to end the process are noted from now
 * on instead. */
void tt_cli_catch_interrupt(void);
bool tt_cli_interrupted(void);

#endif
