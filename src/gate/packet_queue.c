/*
 * See packet_queue.h. Used memory is [first, behind), or, once it goes on at the memory's start,
 * [first, end of memory) and [0, behind).
 */
#include "gate/packet_queue.h"

#include <stdalign.h>

#define ALIGNMENT alignof(struct tt_queued)

void tt_packet_queue_init(struct tt_packet_queue *queue, void *memory, size_t capacity)
{
    *queue = (struct tt_packet_queue){.memory = memory, .capacity = capacity};
}

static struct tt_queued *at(const struct tt_packet_queue *queue, size_t offset)
{
    return (struct tt_queued *)(void *)(queue->memory + offset);
}

/* Where so many bytes in one piece are free; capacity: nowhere. */
static size_t find_room(const struct tt_packet_queue *queue, size_t stride)
{
    bool wrapped = queue->count > 0 && queue->behind <= queue->first;
    size_t end = wrapped ? queue->first : queue->capacity;

    if (stride <= end - queue->behind) {
        return queue->behind;
    }
    return !wrapped && stride <= queue->first ? 0 : queue->capacity;
}

struct tt_queued *tt_packet_queue_push(struct tt_packet_queue *queue, size_t bytes)
{
    size_t stride = (sizeof(struct tt_queued) + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t offset;

    if (queue->count == 0) {
        queue->first = 0;
        queue->behind = 0;
    }
    offset = find_room(queue, stride);
    if (offset == queue->capacity) {
        return NULL;
    }
    if (offset != queue->behind && queue->behind < queue->capacity &&
        queue->capacity - queue->behind >= sizeof(struct tt_queued)) {
        at(queue, queue->behind)->stride = 0;
    }
    at(queue, offset)->stride = stride;
    queue->behind = offset + stride;
    queue->count++;
    queue->payload_bytes += bytes;
    return at(queue, offset);
}

/* Of a packet that is in it: behind the last one before the memory's end comes the start. */
static size_t wrap(const struct tt_packet_queue *queue, size_t offset)
{
    if (queue->capacity - offset < sizeof(struct tt_queued) || at(queue, offset)->stride == 0) {
        return 0;
    }
    return offset;
}

struct tt_queued *tt_packet_queue_first(const struct tt_packet_queue *queue)
{
    return queue->count > 0 ? at(queue, queue->first) : NULL;
}

void tt_packet_queue_pop(struct tt_packet_queue *queue)
{
    struct tt_queued *first = at(queue, queue->first);

    queue->payload_bytes -= first->segmenter.bytes;
    queue->first += first->stride;
    queue->count--;
    if (queue->count > 0) {
        queue->first = wrap(queue, queue->first);
    }
}
