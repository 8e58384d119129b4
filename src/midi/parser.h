/*
 * MIDI bytes as they come off a wire, with their times, to events.
 *
 * Running status is spelled out. A real-time byte inside a message is an event of its own and
 * leaves the message whole. A system exclusive message may be spread over any number of calls; any
 * status byte other than a real-time one ends it.
 *
 * Invariants: any bytes do; every byte is in exactly one event (a running status, which is not
 * repeated on the wire, is in many); memory is bounded by the caller's buffer; each event has the
 * time of its first and of its last byte. Events come in the order of their first bytes: real-time
 * bytes wait for the message that they fell into. Only more than TT_MIDI_WAITING of them in a
 * single short message come before it; a system exclusive message is cut there into pieces.
 * Source: MIDI 1.0 Detailed Specification, "Data Format" and appendix 2 (receiver).
 */
#ifndef TT_MIDI_PARSER_H
#define TT_MIDI_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "midi/message.h"

#define TT_MIDI_WAITING       256
#define TT_MIDI_SYSEX_MINIMUM 4 /* bytes of the caller's buffer, at least */

enum tt_midi_kind {
    TT_MIDI_EVENT_MESSAGE, /* whole, with its status byte */
    TT_MIDI_EVENT_SYSEX,   /* all of it, or a piece: F0 … F7 */
    TT_MIDI_EVENT_STRAY,   /* data without a status, or a message that another status cut off */
};

/* `data` is the parser's, until its next call. */
struct tt_midi_event {
    enum tt_midi_kind kind;
    bool begins; /* SYSEX: data[0] is F0 */
    bool more;   /* SYSEX: a further piece follows. A last one without F7 at its end was cut off */
    const uint8_t *data;
    size_t bytes;
    int64_t first_ns;
    int64_t last_ns;
};

struct tt_midi_waiting {
    int64_t time_ns;
    uint8_t byte;
};

enum tt_midi_state { TT_MIDI_IDLE, TT_MIDI_IN_MESSAGE, TT_MIDI_IN_SYSEX };

struct tt_midi_parser {
    uint8_t *sysex; /* the caller's */
    size_t capacity;
    enum tt_midi_state state;
    uint8_t running; /* status; 0: none */
    uint8_t message[TT_MIDI_MESSAGE_MAX];
    size_t held; /* bytes in `message` or `sysex` */
    bool begins;
    int64_t first_ns;
    int64_t last_ns;
    struct tt_midi_waiting waiting[TT_MIDI_WAITING];
    size_t waiting_count;
    size_t waiting_at; /* of them, how many are out */
    bool releasing;    /* they come out before another byte is taken */
};

/* `sysex` stays the caller's: as many bytes of it as a piece may have. */
void tt_midi_parser_init(struct tt_midi_parser *parser, uint8_t *sysex, size_t capacity);

/* Takes bytes that all arrived at `time_ns` until an event is there. *ret_used bytes were taken, 0
 * to n. True: *ret_event is set; call again with the rest, even where nothing is left. False: all n
 * were taken and there is no event. */
TT_RT bool tt_midi_parser_step(struct tt_midi_parser *parser, const uint8_t *data, size_t n,
                               int64_t time_ns, size_t *ret_used, struct tt_midi_event *ret_event);

/* No more bytes, or some were lost: gives what is unfinished and what waits, one event a call,
 * until it returns false. Running status is forgotten. */
TT_RT bool tt_midi_parser_flush(struct tt_midi_parser *parser, struct tt_midi_event *ret_event);

#endif
