/*
 * What arrives, a line an event, while it is recorded.
 */
#ifndef TT_CLI_MIDI_LIVE_H
#define TT_CLI_MIDI_LIVE_H

#include <stdint.h>
#include <stdio.h>

#include "midi/frame.h"

struct tt_midi_live;

/* Lines go to `out`; time 0 is start_mono_ns. NULL: no memory. */
struct tt_midi_live *tt_midi_live_new(FILE *out, int64_t start_mono_ns);
void tt_midi_live_free(struct tt_midi_live *live);
/* A burst of more lines than anybody reads becomes a count, and so does what a display that stands
 * still does not take. */
void tt_midi_live_frame(struct tt_midi_live *live, const struct tt_midi_frame *frame);
/* What is there to be seen is out; call it some ten times a second. */
void tt_midi_live_flush(struct tt_midi_live *live);

#endif
