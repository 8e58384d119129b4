/*
 * What sounds at the far end of a wire, told from the bytes that went out, and what ends it.
 *
 * However a file had them in its events (notes in an escape, in pieces, by running status): the
 * bytes are read as an instrument reads them.
 */
#ifndef TT_MIDI_SOUNDING_H
#define TT_MIDI_SOUNDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "midi/parser.h"

#define TT_SOUNDING_SILENCE_MAX (1 + 16 * (128 + 2) * 3)

/* Stays where it was initialised. */
struct tt_sounding {
    struct tt_midi_parser parser;
    uint8_t sysex[TT_MIDI_SYSEX_MINIMUM];
    uint64_t on[16][2]; /* bits: notes */
    uint16_t channels;  /* bits: used */
};

void tt_sounding_init(struct tt_sounding *sounding);
/* These bytes went out. */
TT_RT void tt_sounding_sent(struct tt_sounding *sounding, const uint8_t *data, size_t n);
unsigned tt_sounding_notes(const struct tt_sounding *sounding);
/* What ends all: F7 for an unfinished system exclusive message, note off for each note that is on,
 * sustain and all notes off for each channel that was used. Whole messages, of three bytes but for
 * F7. Returns the bytes. */
size_t tt_sounding_silence(const struct tt_sounding *sounding,
                           uint8_t ret_bytes[TT_SOUNDING_SILENCE_MAX]);

#endif
