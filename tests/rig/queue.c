/*
 * See queue.h. A binary heap.
 */
#include "queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int rig_queue_init(struct rig_queue *queue, size_t capacity, size_t slot_bytes)
{
    *queue = (struct rig_queue){.capacity = capacity, .slot_bytes = slot_bytes};
    queue->heap = calloc(capacity, sizeof *queue->heap);
    queue->memory = calloc(capacity, slot_bytes);
    if (!queue->heap || !queue->memory) {
        rig_queue_done(queue);
        return -ENOMEM;
    }
    for (size_t i = 0; i < capacity; i++) {
        queue->heap[i].frame = queue->memory + i * slot_bytes;
    }
    return 0;
}

void rig_queue_done(struct rig_queue *queue)
{
    free(queue->heap);
    free(queue->memory);
    *queue = (struct rig_queue){.heap = NULL};
}

static bool leaves_before(const struct rig_entry *a, const struct rig_entry *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->serial < b->serial;
}

static void swap(struct rig_entry *a, struct rig_entry *b)
{
    struct rig_entry t = *a;

    *a = *b;
    *b = t;
}

static void rise(struct rig_queue *queue, size_t at)
{
    while (at > 0 && leaves_before(&queue->heap[at], &queue->heap[(at - 1) / 2])) {
        swap(&queue->heap[at], &queue->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static void sink(struct rig_queue *queue, size_t at)
{
    for (;;) {
        size_t first = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < queue->count; child++) {
            if (leaves_before(&queue->heap[child], &queue->heap[first])) {
                first = child;
            }
        }
        if (first == at) {
            return;
        }
        swap(&queue->heap[at], &queue->heap[first]);
        at = first;
    }
}

void rig_queue_arrive(struct rig_queue *queue, uint64_t index, int64_t now_ns)
{
    bool moved = false;

    for (size_t i = 0; queue->waiting > 0 && i < queue->count; i++) {
        struct rig_entry *entry = &queue->heap[i];

        if (entry->awaits != 0 && entry->awaits <= index) {
            entry->awaits = 0;
            entry->due_ns = now_ns;
            queue->waiting--;
            moved = true;
        }
    }
    for (size_t i = queue->count / 2; moved && i-- > 0;) {
        sink(queue, i);
    }
}

void rig_queue_put(struct rig_queue *queue, const struct rig_packet *packet, uint64_t index,
                   int64_t arrival_ns)
{
    struct rig_entry *entry;

    if (queue->count == queue->capacity || packet->bytes > queue->slot_bytes) {
        queue->overflowed++;
        return;
    }
    entry = &queue->heap[queue->count];
    memcpy(entry->frame, packet->frame, packet->bytes);
    entry->bytes = packet->bytes;
    entry->due_ns = arrival_ns + (packet->wait > 0 ? RIG_WAIT_MOST_NS : packet->delay_ns);
    entry->serial = queue->serial++;
    entry->awaits = packet->wait > 0 ? index + packet->wait : 0;
    queue->waiting += packet->wait > 0;
    rise(queue, queue->count++);
}

const struct rig_entry *rig_queue_take(struct rig_queue *queue, int64_t now_ns)
{
    if (queue->count == 0 || queue->heap[0].due_ns > now_ns) {
        return NULL;
    }
    queue->waiting -= queue->heap[0].awaits != 0;
    queue->count--;
    swap(&queue->heap[0], &queue->heap[queue->count]);
    sink(queue, 0);
    return &queue->heap[queue->count];
}

int64_t rig_queue_next_ns(const struct rig_queue *queue)
{
    return queue->count > 0 ? queue->heap[0].due_ns : INT64_MAX;
}
