/*
 * Opening MIDI ports for the commands, with words where it fails.
 */
#ifndef TT_CLI_MIDI_PORTS_H
#define TT_CLI_MIDI_PORTS_H

#include <stdbool.h>

#include "cli/cmd.h"
#include "os/midi_port.h"

/* "kernel", "sequencer", "read". 0 or -EINVAL. */
int tt_midi_stamp_parse(const char *text, enum tt_midi_port_stamp *ret_stamp);

/* TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_midi_ports_open(const char *command, const struct tt_midi_port_setup *setup,
                                struct tt_midi_port **ret_port);

/* The stamp that a port of such a name has where all is well. */
enum tt_midi_port_stamp tt_midi_ports_best_stamp(const char *name);

#endif
