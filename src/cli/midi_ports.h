/*
 * Opening MIDI ports for the commands, with words where it fails.
 */
#ifndef TT_CLI_MIDI_PORTS_H
#define TT_CLI_MIDI_PORTS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/cmd.h"
#include "os/midi_port.h"

/* "kernel", "sequencer", "read". 0 or -EINVAL. */
int tt_midi_stamp_parse(const char *text, enum tt_midi_port_stamp *ret_stamp);

/* TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_midi_ports_open(const char *command, const struct tt_midi_port_setup *setup,
                                struct tt_midi_port **ret_port);
/* Of an input that was just opened: what came before the start is left out, and said. Returns the
 * bytes. */
uint64_t tt_midi_ports_drop_waiting(const char *command, const char *name,
                                    struct tt_midi_port *port);

/* No two names are known to be one port. TT_EXIT_GOOD, or an exit code after saying which are. */
enum tt_exit tt_midi_ports_check_different(const char *command, const char *const *names,
                                           unsigned count);

/* The argument of --wire: a speed in baud; 0 for "none". What will not do ends the command. */
int tt_midi_ports_wire_option(const char *argument, struct argp_state *state);
/* So long a byte takes on a port's wire, or 0. `wire`: its speed; -1: what a port of such a name is
 * likely to have, 31250 baud (DIN), or none for the sequencer. */
int64_t tt_midi_ports_byte_ns(const char *name, int wire);

/* The stamp that a port of such a name has where all is well. */
enum tt_midi_port_stamp tt_midi_ports_best_stamp(const char *name);

#endif
