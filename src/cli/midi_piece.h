/*
 * What `tactus midi play` plays: the events of a Standard MIDI File, or of one of its tracks, in
 * the order of their times.
 */
#ifndef TT_CLI_MIDI_PIECE_H
#define TT_CLI_MIDI_PIECE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/midi_file.h"
#include "midi/player.h"

struct tt_midi_piece {
    struct tt_midi_file file; /* in which the events have their data */
    struct tt_player_event *events;
    size_t count;
    bool lost; /* something of the file */
};

/* `track`: from 0; -1: all. TT_EXIT_GOOD, or an exit code after saying why. Close it either way. */
enum tt_exit tt_midi_piece_open(const char *command, const char *path, int track,
                                struct tt_midi_piece *ret_piece);
void tt_midi_piece_close(struct tt_midi_piece *piece);

#endif
