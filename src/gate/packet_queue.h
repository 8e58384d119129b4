/*
 * Packets of any length, first in, first out, in memory that the caller gives. Each lies in one
 * piece.
 */
#ifndef TT_GATE_PACKET_QUEUE_H
#define TT_GATE_PACKET_QUEUE_H

#include "gate/segment.h"

struct tt_queued {
    size_t stride; /* to the next one; 0: the next one is at the memory's start */
    int64_t arrival_tai_ns;
    struct tt_segmenter segmenter;
    uint8_t data[];
};

/* The memory is the caller's, aligned for a struct tt_queued. */
struct tt_packet_queue {
    uint8_t *memory;
    size_t capacity;
    size_t first;
    size_t behind; /* where the next one goes */
    size_t count;
    size_t payload_bytes; /* of all in it, as they came */
};

void tt_packet_queue_init(struct tt_packet_queue *queue, void *memory, size_t capacity);
/* Room for a packet of so many bytes behind the others; the caller fills it. NULL: full. */
TT_RT struct tt_queued *tt_packet_queue_push(struct tt_packet_queue *queue, size_t bytes);
/* NULL: empty. */
TT_RT struct tt_queued *tt_packet_queue_first(const struct tt_packet_queue *queue);
TT_RT void tt_packet_queue_pop(struct tt_packet_queue *queue);

#endif
