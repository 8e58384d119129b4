/*
 * What several commands of `tactus gate` take: --json, and what a list of qdiscs does not say; and
 * how they come to their plan.
 */
#ifndef TT_CLI_GATE_OPTIONS_H
#define TT_CLI_GATE_OPTIONS_H

#include "cli/cmd.h"
#include "cli/gate_file.h"

struct tt_gate_options {
    struct tt_gate_file_options file;
    const char *path;
    bool json;
};

/* Children of the commands' parsers; their input is a struct tt_gate_options. */
extern const struct argp tt_gate_argp;    /* FILE, --json */
extern const struct argp tt_gate_tc_argp; /* --speed, --kernel, --driver, --queues */

/* The file, or, where there is none of that name, the interface. Says on stderr why not.
 * TT_EXIT_GOOD, or the exit code. */
enum tt_exit tt_gate_open(const char *command, const struct tt_gate_options *options,
                          struct tt_gate_file *ret_file);
/* What the kernel says about an interface, by netlink; options override it. */
enum tt_exit tt_gate_open_live(const char *command, const char *ifname,
                               const struct tt_gate_file_options *options,
                               struct tt_gate_file *ret_file);

#endif
