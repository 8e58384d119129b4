/*
 * A sequence lock: one real-time writer, any number of readers that want a consistent copy of a
 * block of counters. The writer never waits; a reader that meets a write copies again.
 *
 * Use: struct { struct tt_seqlock lock; struct my_counters c; }; the writer brackets its changes
 * with tt_counters_begin/_end, readers call tt_counters_read. The block must be plain data.
 */
#ifndef TT_BASE_COUNTERS_H
#define TT_BASE_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

struct tt_seqlock {
    atomic_uint sequence; /* odd while the writer is inside */
};

static inline void tt_counters_begin(struct tt_seqlock *lock)
{
    unsigned s = atomic_load_explicit(&lock->sequence, memory_order_relaxed);

    atomic_store_explicit(&lock->sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static inline void tt_counters_end(struct tt_seqlock *lock)
{
    unsigned s = atomic_load_explicit(&lock->sequence, memory_order_relaxed);

    atomic_store_explicit(&lock->sequence, s + 1, memory_order_release);
}

/* Copies `bytes` from `block` to `ret_copy`; repeats until no write fell in between. */
static inline void tt_counters_read(struct tt_seqlock *lock, const void *block, size_t bytes,
                                    void *ret_copy)
{
    unsigned before;
    unsigned after;

    do {
        before = atomic_load_explicit(&lock->sequence, memory_order_acquire);
        memcpy(ret_copy, block, bytes);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&lock->sequence, memory_order_relaxed);
    } while (before != after || (before & 1) != 0);
}

#endif
