/*
 * See engine_port.h.
 */
#include "run/engine_port.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audio/eth.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "os/memory.h"
#include "run/listen_inside.h"

#define BATCHES_A_STEP     64 /* a step is bounded, whatever a long stall has left in the socket */
#define BACKLOG_BATCHES    1024 /* a full socket's */
#define CAPACITY_MIN       16
#define STREAM_ID_AT       4 /* in an AVTPDU of a stream (IEEE 1722-2016, 4.4.4) */
#define STREAM_HEADER_SIZE 12

int tt_engine_port_init(struct tt_engine_port *port, struct tt_link *link)
{
    *port = (struct tt_engine_port){
        .link = link,
        .packet_bytes = link->mtu_bytes + TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES,
    };
    port->packets = tt_memory_new(TT_LINK_BATCH, port->packet_bytes);
    return port->packets ? 0 : -ENOMEM;
}

void tt_engine_port_done(struct tt_engine_port *port)
{
    free(port->packets);
    free(port->first.data);
    free(port->listens);
    free(port->streams);
}

/* The place of this stream, or the free one where it belongs. */
static struct tt_engine_port_stream *place_of(const struct tt_engine_port *port, uint64_t stream_id)
{
    /* Stream IDs differ in their low bytes, and may be made by a scheme: mix them. */
    uint64_t mixed = stream_id * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(mixed >> 32) & (port->stream_capacity - 1);

    while (port->streams[at].listen && port->streams[at].stream_id != stream_id) {
        at = (at + 1) & (port->stream_capacity - 1);
    }
    return &port->streams[at];
}

/* The table, made anew for so many. */
static int make_table(struct tt_engine_port *port, size_t count)
{
    struct tt_engine_port_stream *old = port->streams;
    size_t old_capacity = port->stream_capacity;
    size_t capacity = CAPACITY_MIN;
    struct tt_engine_port_stream *streams;

    while (capacity < 2 * count) {
        capacity *= 2;
    }
    streams = tt_memory_new(capacity, sizeof(*streams));
    if (!streams) {
        return -ENOMEM;
    }
    port->streams = streams;
    port->stream_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].listen) {
            *place_of(port, old[i].stream_id) = old[i];
        }
    }
    free(old);
    return 0;
}

int tt_engine_port_add(struct tt_engine_port *port, struct tt_listen *listen, uint64_t stream_id)
{
    struct tt_listen **longer =
        realloc(port->listens, (port->listen_count + 1) * sizeof(struct tt_listen *));
    struct tt_engine_port_stream *place;

    if (!longer) {
        return -ENOMEM;
    }
    port->listens = longer;
    if (make_table(port, port->listen_count + 1) < 0) {
        return -ENOMEM;
    }
    place = place_of(port, stream_id);
    if (place->listen) {
        return -EEXIST;
    }
    *place = (struct tt_engine_port_stream){.stream_id = stream_id, .listen = listen};
    port->listens[port->listen_count++] = listen;
    return 0;
}

void tt_engine_port_remove(struct tt_engine_port *port, const struct tt_listen *listen)
{
    for (size_t i = 0; i < port->listen_count; i++) {
        if (port->listens[i] == listen) {
            port->listens[i] = port->listens[--port->listen_count];
            break;
        }
    }
    for (size_t i = 0; i < port->stream_capacity; i++) {
        if (port->streams[i].listen == listen) {
            port->streams[i].listen = NULL;
            /* Others may have been placed behind it. On failure they are not found any more, and
             * nobody reads the table again: the process is out of memory and ending its streams. */
            make_table(port, port->listen_count);
        }
    }
}

static int receive_batch(struct tt_engine_port *port, struct tt_link_packet *ret_packets)
{
    int n;

    for (int i = 0; i < TT_LINK_BATCH; i++) {
        ret_packets[i].data = port->packets + (size_t)i * port->packet_bytes;
        ret_packets[i].bytes = port->packet_bytes;
    }
    n = port->link->ops->receive(port->link, ret_packets, TT_LINK_BATCH);
    for (int i = 0; i < n; i++) {
        if (ret_packets[i].bytes > port->packet_bytes) {
            ret_packets[i].bytes = port->packet_bytes;
        }
    }
    return n;
}

int tt_engine_port_hand(struct tt_engine_port *port, const struct tt_link_packet *packet)
{
    uint8_t *data = malloc(packet->bytes);

    if (!data) {
        return -ENOMEM;
    }
    memcpy(data, packet->data, packet->bytes);
    free(port->first.data);
    port->first = *packet;
    port->first.data = data;
    return 0;
}

void tt_engine_port_empty(struct tt_engine_port *port)
{
    struct tt_link_packet packets[TT_LINK_BATCH];

    if (port->first.bytes > 0) {
        return; /* taken from the link, in order: what is there came after it */
    }
    for (int batch = 0; batch < BACKLOG_BATCHES && receive_batch(port, packets) > 0; batch++) {
    }
    port->link->ops->receive_drops(port->link);
}

void tt_engine_port_begin(struct tt_engine_port *port, int64_t now_tai_ns)
{
    int64_t begin_tai_ns =
        port->first.bytes > 0 ? tt_min64(port->first.time_tai_ns, now_tai_ns) : now_tai_ns;

    for (size_t i = 0; i < port->listen_count; i++) {
        tt_listen_begin(port->listens[i], begin_tai_ns);
    }
}

void tt_engine_port_note(struct tt_engine_port *port, unsigned notes)
{
    for (size_t i = 0; i < port->listen_count; i++) {
        atomic_fetch_or(&port->listens[i]->notes, notes);
    }
}

void tt_engine_port_clock_step(struct tt_engine_port *port, int64_t step_ns, int64_t now_tai_ns)
{
    for (size_t i = 0; i < port->listen_count; i++) {
        if (tt_listen_runs(port->listens[i])) {
            tt_listen_clock_step(port->listens[i], step_ns, now_tai_ns);
        }
    }
}

static bool read_stream_id(const struct tt_link_packet *packet, uint64_t *ret_stream_id)
{
    struct tt_eth eth;

    if (tt_eth_parse(packet->data, packet->bytes, &eth) < 0 ||
        packet->bytes < eth.header_bytes + STREAM_HEADER_SIZE) {
        return false;
    }
    *ret_stream_id = tt_get_be64(packet->data + eth.header_bytes + STREAM_ID_AT);
    return true;
}

/* What is too short for a stream ID goes to all, each of which counts what was sent to its address.
 */
static void hand_out(struct tt_engine_port *port, const struct tt_link_packet *packet,
                     int64_t now_tai_ns, struct tt_engine_counters *counters)
{
    uint64_t stream_id;

    if (port->listen_count > 1 && read_stream_id(packet, &stream_id)) {
        struct tt_listen *listen = place_of(port, stream_id)->listen;

        if (!listen) {
            counters->packets_other++;
        } else if (tt_listen_runs(listen)) {
            tt_listen_take(listen, packet, now_tai_ns);
        }
        return;
    }
    for (size_t i = 0; i < port->listen_count; i++) {
        if (tt_listen_runs(port->listens[i])) {
            tt_listen_take(port->listens[i], packet, now_tai_ns);
        }
    }
}

/* Everything that arrived before now goes in, in bounded steps. Returns the time up to which that
 * is done: now, or where more is waiting the arrival of the last one taken. */
static int64_t receive_all(struct tt_engine_port *port, int64_t now_tai_ns,
                           struct tt_engine_counters *counters)
{
    struct tt_link_packet packets[TT_LINK_BATCH];
    int64_t last_tai_ns = now_tai_ns;

    if (port->first.bytes > 0) {
        hand_out(port, &port->first, now_tai_ns, counters);
        port->first.bytes = 0;
    }
    for (int batch = 0; batch < BATCHES_A_STEP; batch++) {
        int n = receive_batch(port, packets);

        counters->receive_calls++;
        port->gone = n == -ENXIO;
        for (int i = 0; i < n; i++) {
            hand_out(port, &packets[i], now_tai_ns, counters);
            last_tai_ns = tt_min64(packets[i].time_tai_ns, now_tai_ns);
        }
        if (n < TT_LINK_BATCH) {
            return now_tai_ns;
        }
    }
    return last_tai_ns;
}

void tt_engine_port_end(struct tt_engine_port *port, int64_t now_tai_ns,
                        struct tt_engine_counters *counters)
{
    int64_t done_tai_ns;

    if (tt_engine_port_next(port) == INT64_MAX) {
        return;
    }
    done_tai_ns = receive_all(port, now_tai_ns, counters);
    for (size_t i = 0; i < port->listen_count; i++) {
        tt_listen_end(port->listens[i], done_tai_ns);
    }
}

void tt_engine_port_step(struct tt_engine_port *port, int64_t now_tai_ns,
                         struct tt_engine_counters *counters)
{
    int64_t done_tai_ns;
    uint64_t drops;

    if (tt_engine_port_next(port) > now_tai_ns) {
        return;
    }
    done_tai_ns = receive_all(port, now_tai_ns, counters);
    drops = port->link->ops->receive_drops(port->link);
    for (size_t i = 0; i < port->listen_count; i++) {
        if (tt_listen_runs(port->listens[i])) {
            tt_listen_conclude(port->listens[i], now_tai_ns, done_tai_ns, drops);
            if (port->gone) {
                tt_listen_lose_link(port->listens[i]);
            }
        }
    }
}

int64_t tt_engine_port_next(const struct tt_engine_port *port)
{
    int64_t next_ns = INT64_MAX;

    for (size_t i = 0; i < port->listen_count; i++) {
        if (tt_listen_runs(port->listens[i])) {
            next_ns = tt_min64(next_ns, port->listens[i]->next_tai_ns);
        }
    }
    return next_ns;
}
