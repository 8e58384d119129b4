/*
 * The MIDI clock that comes in at a port: its tempo and its jitter.
 */
#ifndef TT_CLI_MIDI_CLOCK_H
#define TT_CLI_MIDI_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cmd.h"

/* Listens for so long, or until interrupted, and prints what it found. 0 a clock came, 1 none, or
 * another exit code after saying why. */
enum tt_exit tt_midi_clock_measure(const char *command, const char *port, int64_t duration_ns,
                                   bool json);

#endif
