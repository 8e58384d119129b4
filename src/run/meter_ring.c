/*
 * See meter_ring.h.
 */
#include "run/meter_ring.h"

void tt_meter_ring_init(struct tt_meter_ring *ring, struct tt_meter_entry *entries)
{
    ring->entries = entries;
    atomic_store(&ring->written, 0);
    atomic_store(&ring->taken, 0);
    ring->dropped = 0;
}

void tt_meter_ring_put(struct tt_meter_ring *ring, const struct tt_meter_entry *entry)
{
    size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);

    if (written - atomic_load_explicit(&ring->taken, memory_order_acquire) ==
        TT_METER_RING_ENTRIES) {
        ring->dropped++;
        return;
    }
    ring->entries[written % TT_METER_RING_ENTRIES] = *entry;
    atomic_store_explicit(&ring->written, written + 1, memory_order_release);
}

size_t tt_meter_ring_waiting(const struct tt_meter_ring *ring)
{
    return atomic_load_explicit(&ring->written, memory_order_acquire) -
           atomic_load_explicit(&ring->taken, memory_order_relaxed);
}

bool tt_meter_ring_take(struct tt_meter_ring *ring, struct tt_meter_entry *ret_entry)
{
    size_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

    if (taken == atomic_load_explicit(&ring->written, memory_order_acquire)) {
        return false;
    }
    *ret_entry = ring->entries[taken % TT_METER_RING_ENTRIES];
    atomic_store_explicit(&ring->taken, taken + 1, memory_order_release);
    return true;
}
