/*
 * See link_loop.h. Each end has a queue of what is on its way to it: a binary heap by arrival, then
 * by the order of sending. Every entry owns the memory for one frame for ever; entries only change
 * places.
 *
 * Arrivals are kept on the monotonic clock: a step of TAI changes the stamps of what is in flight,
 * not when it arrives.
 */
#include "os/link_loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define ETH_HEADER_BYTES 14
#define TAG_BYTES        4
#define ETHERTYPE_VLAN   0x8100
#define DEFAULT_DELAY_NS 10000

struct loop_entry {
    int64_t arrival_mono_ns;
    uint64_t order;
    size_t bytes;
    uint8_t *data;
};

struct loop_queue {
    struct loop_entry *entries;
    size_t count;
};

struct loop_medium {
    struct tt_loop_setup setup;
    size_t slot_bytes;
    uint64_t sent;  /* packets whose fate was decided */
    uint64_t order; /* of the next entry */
    int open_ends;
    uint8_t *memory; /* the entries' frames, and one more: */
    uint8_t *frame;  /* the packet whose fate is being decided */
};

struct loop_end {
    struct tt_link link; /* first: what callers hold */
    struct loop_medium *medium;
    struct loop_end *peer;
    struct loop_queue incoming;
    struct tt_link_errors errors; /* not collected yet */
};

static bool entry_before(const struct loop_entry *a, const struct loop_entry *b)
{
    if (a->arrival_mono_ns != b->arrival_mono_ns) {
        return a->arrival_mono_ns < b->arrival_mono_ns;
    }
    return a->order < b->order;
}

static void entry_swap(struct loop_entry *a, struct loop_entry *b)
{
    struct loop_entry t = *a;

    *a = *b;
    *b = t;
}

/* Copies a frame into the entry behind the last and lets it rise to its place. */
static void queue_push(struct loop_queue *queue, const uint8_t *data, size_t bytes,
                       int64_t arrival_mono_ns, uint64_t order)
{
    struct loop_entry *e = queue->entries;
    struct loop_entry *last = &e[queue->count];

    memcpy(last->data, data, bytes);
    last->bytes = bytes;
    last->arrival_mono_ns = arrival_mono_ns;
    last->order = order;
    for (size_t i = queue->count++; i > 0 && entry_before(&e[i], &e[(i - 1) / 2]);
         i = (i - 1) / 2) {
        entry_swap(&e[i], &e[(i - 1) / 2]);
    }
}

/* Moves the first entry behind the last, where it stays readable until the next push. */
static const struct loop_entry *queue_pop(struct loop_queue *queue)
{
    struct loop_entry *e = queue->entries;
    size_t n = --queue->count;

    entry_swap(&e[0], &e[n]);
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && entry_before(&e[child + 1], &e[child])) {
            child++;
        }
        if (!entry_before(&e[child], &e[i])) {
            break;
        }
        entry_swap(&e[i], &e[child]);
    }
    return &e[n];
}

static bool is_tagged(const uint8_t *data, size_t bytes)
{
    return bytes >= ETH_HEADER_BYTES + TAG_BYTES && tt_get_be16(data + 12) == ETHERTYPE_VLAN;
}

static int check_size(const struct loop_end *end, const struct tt_link_packet *packet)
{
    size_t header_bytes = ETH_HEADER_BYTES;

    if (packet->bytes < ETH_HEADER_BYTES) {
        return -EINVAL;
    }
    if (is_tagged(packet->data, packet->bytes)) {
        header_bytes += TAG_BYTES;
    }
    return packet->bytes > header_bytes + end->link.mtu_bytes ? -EMSGSIZE : 0;
}

static int64_t departure_tai(const struct loop_end *end, const struct tt_link_packet *packet)
{
    const struct tt_clock_script *clock = end->medium->setup.clock;
    int64_t now_tai_ns = clock->mono_ns + clock->tai_minus_mono_ns;

    if (end->link.keeps_launch_times && packet->time_tai_ns > now_tai_ns) {
        return packet->time_tai_ns;
    }
    return now_tai_ns;
}

static int send_one(struct loop_end *end, const struct tt_link_packet *packet)
{
    struct loop_medium *medium = end->medium;
    const struct tt_loop_setup *setup = &medium->setup;
    struct loop_queue *queue = &end->peer->incoming;
    struct tt_loop_fate fate = {.delay_ns = DEFAULT_DELAY_NS,
                                .launch_kept = end->link.keeps_launch_times};
    int64_t departure_tai_ns = departure_tai(end, packet);
    int64_t arrival_mono_ns;
    int rc = check_size(end, packet);

    if (rc < 0) {
        return rc;
    }
    if (queue->count == setup->capacity) {
        return -ENOBUFS;
    }
    if (setup->departure) {
        setup->departure(setup->context, packet->data, packet->bytes, departure_tai_ns);
    }
    memcpy(medium->frame, packet->data, packet->bytes);
    if (setup->fate) {
        setup->fate(setup->context, medium->sent, medium->frame, packet->bytes, &fate);
    }
    medium->sent++;
    if (fate.launch_kept && fate.launch_missed) {
        end->errors.launch_missed++;
        end->errors.last_launch_tai_ns = packet->time_tai_ns;
        if (end->errors.located < TT_LINK_BATCH) {
            end->errors.missed_tai_ns[end->errors.located++] = packet->time_tai_ns;
        }
        return 0;
    }
    if (fate.lost) {
        return 0;
    }
    arrival_mono_ns = departure_tai_ns - setup->clock->tai_minus_mono_ns + fate.delay_ns;
    for (unsigned i = 0; i <= fate.copies && queue->count < setup->capacity; i++) {
        queue_push(queue, medium->frame, packet->bytes, arrival_mono_ns, medium->order++);
    }
    return 0;
}

static int loop_send(struct tt_link *link, const struct tt_link_packet *packets, int n)
{
    assert(n <= TT_LINK_BATCH);
    for (int i = 0; i < n; i++) {
        int rc = send_one((struct loop_end *)link, &packets[i]);

        if (rc < 0) {
            return i > 0 ? i : rc;
        }
    }
    return n;
}

/* What the kernel does on reception: the outer tag goes from the frame into the packet's
 * description. */
static void deliver(const struct loop_entry *entry, struct tt_link_packet *packet)
{
    size_t capacity = packet->bytes;
    size_t addresses = 12;
    size_t skip = 0;
    size_t head;

    packet->vlan_id = -1;
    packet->pcp = -1;
    if (is_tagged(entry->data, entry->bytes)) {
        uint16_t tci = tt_get_be16(entry->data + 14);

        packet->vlan_id = tci & 0xFFF;
        packet->pcp = tci >> 13;
        skip = TAG_BYTES;
    }
    packet->bytes = entry->bytes - skip;
    head = capacity < addresses ? capacity : addresses;
    memcpy(packet->data, entry->data, head);
    if (capacity > head) {
        size_t rest = (capacity < packet->bytes ? capacity : packet->bytes) - head;

        memcpy(packet->data + head, entry->data + head + skip, rest);
    }
}

static int loop_receive(struct tt_link *link, struct tt_link_packet *packets, int n)
{
    struct loop_end *end = (struct loop_end *)link;
    struct loop_queue *queue = &end->incoming;
    const struct tt_clock_script *clock = end->medium->setup.clock;
    int taken = 0;

    assert(n <= TT_LINK_BATCH);
    while (taken < n && queue->count > 0 && queue->entries[0].arrival_mono_ns <= clock->mono_ns) {
        const struct loop_entry *entry = queue_pop(queue);

        deliver(entry, &packets[taken]);
        packets[taken].time_tai_ns = entry->arrival_mono_ns + clock->tai_minus_mono_ns;
        taken++;
    }
    return taken;
}

/* All at once, whatever their number. */
static int loop_collect_errors(struct tt_link *link, struct tt_link_errors *errors)
{
    struct loop_end *end = (struct loop_end *)link;
    struct tt_link_errors sum = end->errors;

    end->errors = (struct tt_link_errors){0};
    if (sum.launch_missed == 0) {
        errors->located = 0;
        return 0;
    }
    sum.launch_missed += errors->launch_missed;
    sum.launch_invalid = errors->launch_invalid;
    sum.other = errors->other;
    *errors = sum;
    return errors->located;
}

static int loop_waiting(struct tt_link *link)
{
    (void)link;
    return -1;
}

static bool loop_is_up(struct tt_link *link)
{
    (void)link;
    return true;
}

static bool loop_is_gone(struct tt_link *link)
{
    (void)link;
    return false;
}

static int loop_bypass(struct tt_link *link)
{
    link->keeps_launch_times = false;
    return 0;
}

static uint64_t loop_receive_drops(struct tt_link *link)
{
    (void)link;
    return 0; /* the queue's limit is the sender's (-ENOBUFS) */
}

static void end_free(struct loop_end *end)
{
    if (end) {
        free(end->incoming.entries);
        free(end);
    }
}

static void medium_free(struct loop_medium *medium)
{
    if (medium) {
        free(medium->memory);
        free(medium);
    }
}

static void loop_close(struct tt_link *link)
{
    struct loop_end *end = (struct loop_end *)link;
    struct loop_medium *medium = end->medium;

    if (--medium->open_ends > 0) {
        return; /* the other end may still send to this one */
    }
    end_free(end->peer);
    end_free(end);
    medium_free(medium);
}

static const struct tt_link_ops loop_ops = {
    .send = loop_send,
    .receive = loop_receive,
    .collect_errors = loop_collect_errors,
    .waiting = loop_waiting,
    .is_up = loop_is_up,
    .is_gone = loop_is_gone,
    .bypass = loop_bypass,
    .receive_drops = loop_receive_drops,
    .close = loop_close,
};

static struct loop_medium *medium_new(const struct tt_loop_setup *setup)
{
    struct loop_medium *medium = calloc(1, sizeof(*medium));

    if (!medium) {
        return NULL;
    }
    medium->setup = *setup;
    medium->slot_bytes = ETH_HEADER_BYTES + TAG_BYTES + setup->mtu_bytes;
    medium->memory = calloc(2 * setup->capacity + 1, medium->slot_bytes);
    if (!medium->memory) {
        free(medium);
        return NULL;
    }
    medium->frame = medium->memory + 2 * setup->capacity * medium->slot_bytes;
    medium->open_ends = 2;
    return medium;
}

static struct loop_end *end_new(struct loop_medium *medium, uint8_t number)
{
    size_t capacity = medium->setup.capacity;
    struct loop_end *end = calloc(1, sizeof(*end));

    if (!end) {
        return NULL;
    }
    *end = (struct loop_end){
        .link = {.ops = &loop_ops,
                 .mac = {0x02, 0, 0, 0, 0, number},
                 .mtu_bytes = medium->setup.mtu_bytes,
                 .keeps_launch_times = medium->setup.keeps_launch_times},
        .medium = medium,
        .incoming.entries = calloc(capacity, sizeof(struct loop_entry)),
    };
    if (!end->incoming.entries) {
        free(end);
        return NULL;
    }
    for (size_t i = 0; i < capacity; i++) {
        end->incoming.entries[i].data =
            medium->memory + ((number - 1) * capacity + i) * medium->slot_bytes;
    }
    return end;
}

int tt_link_loop_new(const struct tt_loop_setup *setup, struct tt_link **ret_a,
                     struct tt_link **ret_b)
{
    struct loop_medium *medium = medium_new(setup);
    struct loop_end *a = medium ? end_new(medium, 1) : NULL;
    struct loop_end *b = a ? end_new(medium, 2) : NULL;

    if (!b) {
        end_free(a);
        medium_free(medium);
        return -ENOMEM;
    }
    a->peer = b;
    b->peer = a;
    *ret_a = &a->link;
    *ret_b = &b->link;
    return 0;
}
