/*
 * Numbered messages, sent at known times and found again in what was recorded: how far is each
 * recorded time off?
 *
 * A number is a note on: 4 bits of channel, 7 of key, 7 of velocity, so it says of itself which of
 * 2^18 in a row it is. An error is recorded - sent - the best line through all (clocks differ by
 * an offset and a rate of at most 1000 ppm); floating point is used for that line only.
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
#define TT_PROBE_MESSAGE   3

/* Of each number: between these two it was handed over. */
struct tt_probe_sent {
    int64_t before_ns;
    int64_t after_ns;
};

struct tt_probe {
    const struct tt_probe_sent *sent;
    int64_t *got_ns; /* of each number; TT_PROBE_NOT_THERE */
    size_t count;    /* numbers, at most TT_PROBE_NUMBERS */
    size_t next;     /* expected */
    uint64_t duplicated;
    uint64_t reordered;
    uint64_t foreign; /* messages that are none of ours */
};

struct tt_probe_result {
    uint64_t lost;
    uint64_t inside;   /* stamped between before and after */
    int64_t offset_ns; /* of the line at the first number: recorded - sent */
    double drift_ppm;
    int64_t worst_interval_ns; /* max of (recorded interval - sent interval), as of 2021 */
};

void tt_probe_message(size_t number, uint8_t ret_message[TT_PROBE_MESSAGE]);

/* When each of `count` is due, from 0 on: `gap_ns` apart, or, not `even`, at random gaps with that
 * mean, with chords of 4 at once and bursts of 20 at 1 kHz among them. The same for the same seed.
 */
void tt_probe_plan(size_t count, int64_t gap_ns, bool even, uint64_t seed, int64_t *ret_due_ns);

/* `got_ns`: `count` of them. `sent` is read by tt_probe_result only. */
void tt_probe_init(struct tt_probe *probe, const struct tt_probe_sent *sent, int64_t *got_ns,
                   size_t count);
/* An event of what was recorded, in order. */
void tt_probe_event(struct tt_probe *probe, const struct tt_midi_event *event);
/* `errors` gets all errors; it is the caller's and empty. */
void tt_probe_finish(const struct tt_probe *probe, struct tt_hist *errors,
                     struct tt_probe_result *ret_result);

#endif
