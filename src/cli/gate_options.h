/*
 * What several commands of `tactus gate` take: --json, and what a list of qdiscs does not say; and
 * how they come to their plan.
 */
#ifndef TT_CLI_GATE_OPTIONS_H
#define TT_CLI_GATE_OPTIONS_H

#include "cli/cmd.h"
#include "cli/gate_file.h"

/* First in the input of each command's parser. */
struct tt_gate_options {
    struct tt_gate_file_options file;
    const char *path;
    const char *source; /* verify: what is held against `path` */
    bool takes_source;
    bool sets_up; /* apply: `file` is of the interface, whatever the file is */
    bool json;
    const char *picture;
    const char *html;
};

/* What a command takes besides its own options: plain, FILE and --json; then --speed, --kernel,
 * --driver and --queues of an interface too; then --picture and --html too. */
extern const struct argp_child tt_gate_plain_children[];
extern const struct argp_child tt_gate_children[];
extern const struct argp_child tt_gate_page_children[];
/* Of a command without options of its own; of others the default case. */
error_t tt_gate_parse(int key, char *argument, struct argp_state *state);

/* The file, or, where there is none of that name, the interface. Says on stderr why not.
 * TT_EXIT_GOOD, or the exit code. */

enum tt_exit tt_gate_open(const char *command, const struct tt_gate_options *options,
                          struct tt_gate_file *ret_file);
/* What came of writing a file, 0 or -errno: says it on stderr, and is the exit code. */
enum tt_exit tt_gate_written(const char *command, const char *path, int error);
/* What the kernel says about an interface, by netlink; options override it. */
enum tt_exit tt_gate_open_live(const char *command, const char *ifname,
                               const struct tt_gate_file_options *options,
                               struct tt_gate_file *ret_file);

#endif
