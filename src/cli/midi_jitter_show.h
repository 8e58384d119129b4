/*
 * What `tactus midi jitter` found, as tables and as JSON.
 */
#ifndef TT_CLI_MIDI_JITTER_SHOW_H
#define TT_CLI_MIDI_JITTER_SHOW_H

#include "cli/midi_jitter.h"

/* To standard output; all passes have the same methods. */
void tt_jitter_show(const struct tt_jitter *passes, unsigned count);
/* One object. */
void tt_jitter_show_json(const struct tt_jitter *passes, unsigned count);

#endif
