/*
 * Packets on their way through the rig: in the order in which they leave.
 *
 * Those with the same time leave in the order in which they were put in. A packet that waits for
 * another one (rig_packet.wait) leaves right before that one; where that one does not come, it
 * leaves RIG_WAIT_MOST_NS later.
 */
#ifndef TT_TESTS_RIG_QUEUE_H
#define TT_TESTS_RIG_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "rules.h"

#define RIG_WAIT_MOST_NS INT64_C(1000000000)

struct rig_entry {
    uint8_t *frame;
    size_t bytes;
    int64_t due_ns;
    uint64_t serial;
    uint64_t awaits; /* the index before which it leaves; 0: none */
};

struct rig_queue {
    struct rig_entry *heap; /* the first `count` by their time; behind them the free ones */
    size_t count;
    size_t capacity;
    size_t slot_bytes;
    uint64_t serial;
    uint64_t overflowed;
    size_t waiting;
    uint8_t *memory;
};

/* 0 or -ENOMEM; release with rig_queue_done. */
int rig_queue_init(struct rig_queue *queue, size_t capacity, size_t slot_bytes);
void rig_queue_done(struct rig_queue *queue);

/* Packet `index` comes in: what waited for it leaves now. Before its own rig_queue_put. */
void rig_queue_arrive(struct rig_queue *queue, uint64_t index, int64_t now_ns);
/* A copy is kept; counted in `overflowed` where there is no room. */
void rig_queue_put(struct rig_queue *queue, const struct rig_packet *packet, uint64_t index,
                   int64_t arrival_ns);
/* The next one, where it is due by now (NULL: none); its memory is valid until the next put. */
const struct rig_entry *rig_queue_take(struct rig_queue *queue, int64_t now_ns);
/* When the next one is due; INT64_MAX: there is none. */
int64_t rig_queue_next_ns(const struct rig_queue *queue);

#endif
