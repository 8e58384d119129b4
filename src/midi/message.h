/*
 * What the bytes of a MIDI 1.0 message say: how long it is, and its name for people.
 *
 * Source: MIDI 1.0 Detailed Specification, tables 1 to 5.
 */
#ifndef TT_MIDI_MESSAGE_H
#define TT_MIDI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_MIDI_MESSAGE_MAX  3
#define TT_MIDI_MESSAGE_TEXT 64

#define TT_MIDI_STATUS         0x80 /* the bit that tells a status byte */
#define TT_MIDI_SYSTEM         0xF0 /* from here on a status has no channel */
#define TT_MIDI_SYSEX          0xF0
#define TT_MIDI_SYSEX_END      0xF7
#define TT_MIDI_CLOCK          0xF8
#define TT_MIDI_ACTIVE_SENSING 0xFE
#define TT_MIDI_REALTIME       0xF8 /* from here on: one byte, anywhere, even inside a message */
#define TT_MIDI_NOTE_OFF       0x80
#define TT_MIDI_NOTE_ON        0x90
#define TT_MIDI_CONTROLLER     0xB0

/* The length of a message with this status byte, 1 to 3. 0: it has no fixed one (F0, F7), or this
 * is no status byte. The undefined F4, F5, F9 and FD are messages of one byte. */
unsigned tt_midi_message_bytes(uint8_t status);

/* "note on, channel 1, C4 (60), velocity 100"; bytes that are no message as they are. */
void tt_midi_message_format(const uint8_t *data, size_t bytes, char ret_text[TT_MIDI_MESSAGE_TEXT]);

#endif
