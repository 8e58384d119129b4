/*
 * One port of a raw log as the track of a Standard MIDI File: its frames in, events out.
 *
 * Invariants: every byte of the log is in an event (as tt_midi_parser says); a tick is the time of
 * the event's first byte, rounded, and never before the last one's; a loss and a gap stand where
 * they are, as a marker with the bracket of times.
 */
#ifndef TT_MIDI_TAKE_H
#define TT_MIDI_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "midi/frame.h"
#include "midi/log.h"
#include "midi/parser.h"
#include "midi/smf.h"

#define TT_MIDI_TAKE_TEXT 128

struct tt_midi_take {
    uint8_t port;
    int64_t start_mono_ns; /* tick 0 */
    uint64_t tick;         /* of the last event */
    struct tt_midi_parser parser;
    struct tt_midi_frame frame; /* what is being read */
    size_t used;                /* of its bytes */
    bool flushing;              /* the parser, before the marker */
    bool marker;                /* is to come */
    char text[TT_MIDI_TAKE_TEXT];
    int64_t text_mono_ns;
};

/* `sysex` stays the caller's. */
void tt_midi_take_init(struct tt_midi_take *take, uint8_t port, uint8_t *sysex, size_t capacity);
/* A file begins: tick 0 is this time. What the parser knows (running status) stays. */
void tt_midi_take_start(struct tt_midi_take *take, int64_t mono_ns);

/* A frame of the log; one of another port is nothing. Then call tt_midi_take_next until it is
 * false. */
void tt_midi_take_frame(struct tt_midi_take *take, const struct tt_midi_frame *frame);
/* The end of the log; then as above. */
void tt_midi_take_finish(struct tt_midi_take *take);
/* The data is good until the next call. *ret_mono_ns: the exact stamp. */
bool tt_midi_take_next(struct tt_midi_take *take, struct tt_smf_event *ret_event,
                       int64_t *ret_mono_ns);

#endif
