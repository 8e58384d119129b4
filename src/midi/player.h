/*
 * Playing a list of events: what has to be sent now, and when to come again.
 *
 * A wire has a speed: an event waits until the bytes before it are out, and is late then. Long
 * system exclusive messages are sent in slices, so that real-time bytes get in at their time, which
 * the standard allows anywhere. The caller owns the memory; events are sorted by due_ns.
 */
#ifndef TT_MIDI_PLAYER_H
#define TT_MIDI_PLAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hist.h"
#include "midi/message.h"

#define TT_PLAYER_SLICE      16 /* bytes of a long message at a time */
#define TT_PLAYER_LOOK_AHEAD 64 /* events, for real-time bytes among them */

struct tt_player_event {
    int64_t due_ns; /* since the start */
    const uint8_t *data;
    size_t bytes;
    size_t order;      /* of events that are due at one time */
    bool starts_sysex; /* F0 goes in front of data */
    bool sent;
    uint8_t message[TT_MIDI_MESSAGE_MAX]; /* room for data of short ones */
};

struct tt_player {
    struct tt_player_event *events; /* the caller's */
    size_t count;
    size_t next;
    int64_t byte_ns;      /* of the wire; 0: as fast as one likes */
    int64_t wire_free_ns; /* all before is out */
    size_t part;          /* of the event at hand, so many bytes are out; 0: none is at hand */
    uint8_t slice[TT_PLAYER_SLICE];
    uint64_t sent;
};

struct tt_player_output {
    const uint8_t *data; /* the player's or the event's, until the next call */
    size_t bytes;
    int64_t due_ns;
    bool first; /* of its event: its lateness counts */
};

void tt_player_init(struct tt_player *player, struct tt_player_event *events, size_t count,
                    int64_t byte_ns);

/* True: send *ret_output now, then call again. False: come again at *ret_wake_ns; INT64_MAX: all is
 * sent. */
TT_RT bool tt_player_step(struct tt_player *player, int64_t now_ns,
                          struct tt_player_output *ret_output, int64_t *ret_wake_ns);

#endif
