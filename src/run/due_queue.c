/*
 * See due_queue.h.
 */
#include "run/due_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "os/memory.h"

static struct tt_due *place_of(const struct tt_due_queue *queue, size_t place)
{
    return &queue->places[(queue->first + place) & (queue->capacity - 1)];
}

int tt_due_queue_reserve(struct tt_due_queue *queue, size_t count)
{
    size_t capacity = 1;
    struct tt_due *places;

    while (capacity < count) {
        capacity *= 2;
    }
    places = tt_memory_new(capacity, sizeof(*places));
    if (!places) {
        return -ENOMEM;
    }
    tt_due_queue_done(queue);
    *queue = (struct tt_due_queue){.places = places, .capacity = capacity};
    return 0;
}

void tt_due_queue_done(struct tt_due_queue *queue)
{
    free(queue->places);
    *queue = (struct tt_due_queue){0};
}

void tt_due_queue_clear(struct tt_due_queue *queue)
{
    queue->count = 0;
}

void tt_due_queue_put(struct tt_due_queue *queue, struct tt_talk *talk, int64_t tai_ns)
{
    size_t at = queue->count++;

    for (; at > 0 && place_of(queue, at - 1)->tai_ns > tai_ns; at--) {
        *place_of(queue, at) = *place_of(queue, at - 1);
    }
    *place_of(queue, at) = (struct tt_due){.tai_ns = tai_ns, .talk = talk};
}

const struct tt_due *tt_due_queue_at(const struct tt_due_queue *queue, size_t place)
{
    return place < queue->count ? place_of(queue, place) : NULL;
}

struct tt_talk *tt_due_queue_take(struct tt_due_queue *queue, int64_t until_tai_ns)
{
    const struct tt_due *first = tt_due_queue_at(queue, 0);

    if (!first || first->tai_ns > until_tai_ns) {
        return NULL;
    }
    queue->first++;
    queue->count--;
    return first->talk;
}
