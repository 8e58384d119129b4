/*
 * What the meter's loop hands to the program that takes it together: one writer, one reader, no
 * lock. What finds no room is counted and left out; the loop's own account is not in here.
 */
#ifndef TT_RUN_METER_RING_H
#define TT_RUN_METER_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "meter/cell.h"

#define TT_METER_RING_ENTRIES (1 << 16) /* a minute at 64 frames: 7 MB */

enum tt_meter_entry_kind {
    TT_METER_CYCLE,
    TT_METER_READING,
    TT_METER_MIDI,       /* from a byte's arrival to its sound */
    TT_METER_ROUND_TRIP, /* from a sound's hand-over to its return */
};

struct tt_meter_entry {
    enum tt_meter_entry_kind kind;
    union {
        struct tt_cycle cycle;
        struct tt_reading reading;
        int64_t latency_ns;
    };
};

struct tt_meter_ring {
    struct tt_meter_entry *entries; /* TT_METER_RING_ENTRIES, the caller's */
    atomic_size_t written;
    atomic_size_t taken;
    uint64_t dropped; /* by the writer */
};

void tt_meter_ring_init(struct tt_meter_ring *ring, struct tt_meter_entry *entries);
TT_RT void tt_meter_ring_put(struct tt_meter_ring *ring, const struct tt_meter_entry *entry);
/* Of the reader: so many can be taken. */
size_t tt_meter_ring_waiting(const struct tt_meter_ring *ring);
bool tt_meter_ring_take(struct tt_meter_ring *ring, struct tt_meter_entry *ret_entry);

#endif
