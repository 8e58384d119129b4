/*
 * Numbered messages, sent at known times and found again in what was recorded: how far is each
 * recorded time off?
 *
 * A number is a note on: 4 bits of channel, 7 of key, 7 of velocity, so it says of itself which of
 * 2^18 in a row it is; or a system exclusive message of TT_PROBE_SYSEX bytes with the number and a
 * clock byte (F8) in it. An error is recorded - sent - the line that fits best, which goes through
 * medians (clocks differ by an offset and a rate of at most 1000 ppm); floating point is used for
 * that rate only.
 * The caller owns the memory.
 */
#ifndef TT_MIDI_PROBE_H
#define TT_MIDI_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "midi/parser.h"

#define TT_PROBE_NUMBERS   (1 << 18)
#define TT_PROBE_NOT_THERE INT64_MIN
#define TT_PROBE_NOTE      3  /* bytes of a message */
#define TT_PROBE_SYSEX     24 /* with the clock byte inside */
#define TT_PROBE_MESSAGE   TT_PROBE_SYSEX

struct tt_probe_plan {
    size_t count;
    int64_t gap_ns;  /* mean */
    bool even;       /* notes, all gaps alike; else random gaps, and groups (below) */
    int64_t byte_ns; /* of the wire, on which nothing has to wait; 0: no time */
    uint64_t seed;
};

struct tt_probe_due {
    int64_t due_ns; /* since the start */
    bool sysex;
};

/* Of each number: between these two it was handed over. */
struct tt_probe_sent {
    int64_t before_ns;
    int64_t after_ns;
    bool sysex;
};

struct tt_probe {
    const struct tt_probe_sent *sent;
    int64_t *got_ns; /* of each number; TT_PROBE_NOT_THERE */
    size_t count;    /* numbers, at most TT_PROBE_NUMBERS */
    size_t next;     /* expected */
    uint64_t duplicated;
    uint64_t reordered;
    uint64_t clocks;  /* F8 */
    uint64_t foreign; /* messages that are none of ours, or damaged */
};

struct tt_probe_result {
    uint64_t lost;
    uint64_t clocks_lost;
    uint64_t inside;   /* stamped between before and after */
    int64_t offset_ns; /* of the line at the first number: recorded - sent */
    double drift_ppm;
    /* Max of (recorded interval - sent interval), as of 2021; 0: none was longer; INT64_MIN: there
     * was none. */
    int64_t worst_interval_ns;
};

/* Returns its bytes. */
size_t tt_probe_message(size_t number, bool sysex, uint8_t ret_message[TT_PROBE_MESSAGE]);

/* When each is due, from 0 on, and as what. Not `even`, chords of 4 at once, bursts of 20 at 1 kHz
 * and rows of 8 system exclusive messages without a pause are among them. The same for the same
 * seed. */
void tt_probe_plan(const struct tt_probe_plan *plan, struct tt_probe_due *ret_due);

/* `got_ns`: `count` of them. `sent` is read by tt_probe_finish only. */
void tt_probe_init(struct tt_probe *probe, const struct tt_probe_sent *sent, int64_t *got_ns,
                   size_t count);
/* An event of what was recorded, in order. */
void tt_probe_event(struct tt_probe *probe, const struct tt_midi_event *event);
/* `errors` gets all errors; it is the caller's and empty. `scratch_ns`: as many as `got_ns`. */
void tt_probe_finish(const struct tt_probe *probe, int64_t *scratch_ns, struct tt_hist *errors,
                     struct tt_probe_result *ret_result);

#endif
