/*
 * See clock_in.h.
 */
#include "run/clock_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/eth.h"
#include "base/counters.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "os/memory.h"

#define STEP_NS         (5 * TT_NS_PER_MS)
#define BATCHES_A_STEP  16
#define BACKLOG_BATCHES 1024 /* a full socket's */

struct tt_clock_in {
    struct tt_link *link;
    uint8_t dest[6];
    struct tt_crf_listener listener;
    int64_t next_tai_ns;
    uint8_t *packets; /* TT_LINK_BATCH x packet_bytes */
    size_t packet_bytes;

    struct tt_seqlock lock;
    struct tt_clock_in_counters shared;
    struct tt_clock_in_counters live;
    struct tt_event_log log;
};

int tt_clock_in_new(const struct tt_clock_in_setup *setup, struct tt_clock_in **ret_in)
{
    struct tt_clock_in *in = tt_memory_new(1, sizeof *in);

    if (!in) {
        return -ENOMEM;
    }
    in->link = setup->link;
    memcpy(in->dest, setup->dest, sizeof in->dest);
    in->packet_bytes = setup->link->mtu_bytes + TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES;
    in->packets = tt_memory_new(TT_LINK_BATCH, in->packet_bytes);
    in->log.capacity = setup->event_capacity;
    in->log.events = tt_memory_new(setup->event_capacity + 1, sizeof *in->log.events);
    if (!in->packets || !in->log.events) {
        tt_clock_in_free(in);
        return -ENOMEM;
    }
    tt_crf_listener_init(&in->listener, setup->stream_id, &in->log, 0);
    in->live.uncertain = true;
    in->shared = in->live; /* nobody may take it as found before the engine runs */
    *ret_in = in;
    return 0;
}

void tt_clock_in_free(struct tt_clock_in *in)
{
    if (in) {
        free(in->packets);
        free(in->log.events);
        free(in);
    }
}

void tt_clock_in_counters(struct tt_clock_in *in, struct tt_clock_in_counters *ret_counters)
{
    tt_counters_read(&in->lock, &in->shared, sizeof *ret_counters, ret_counters);
}

const struct tt_event_log *tt_clock_in_log(const struct tt_clock_in *in)
{
    return &in->log;
}

const struct tt_media_grid *tt_clock_in_grid(const struct tt_clock_in *in)
{
    return &in->listener.grid;
}

bool tt_clock_in_is_held(const struct tt_clock_in *in)
{
    return in->listener.state == TT_CRF_HOLDOVER;
}

static void publish(struct tt_clock_in *in)
{
    in->live.state = in->listener.state;
    in->live.uncertain = in->listener.grid.uncertain;
    in->live.drift_ppb = tt_media_clock_drift_ppb(&in->listener.grid.clock);
    in->live.crf = in->listener.counters;
    tt_counters_begin(&in->lock);
    in->shared = in->live;
    tt_counters_end(&in->lock);
}

static int receive_batch(struct tt_clock_in *in, struct tt_link_packet *ret_packets)
{
    for (int i = 0; i < TT_LINK_BATCH; i++) {
        ret_packets[i].data = in->packets + (size_t)i * in->packet_bytes;
        ret_packets[i].bytes = in->packet_bytes;
    }
    return in->link->ops->receive(in->link, ret_packets, TT_LINK_BATCH);
}

static void take(struct tt_clock_in *in, const struct tt_link_packet *packet, int64_t now_tai_ns)
{
    size_t bytes = packet->bytes < in->packet_bytes ? packet->bytes : in->packet_bytes;
    struct tt_eth eth;

    if (tt_eth_parse(packet->data, bytes, &eth) == 0 && eth.ethertype == TT_ETHERTYPE_AVTP &&
        memcmp(eth.dest, in->dest, sizeof eth.dest) == 0) {
        tt_crf_listener_receive(&in->listener, packet->data + eth.header_bytes,
                                bytes - eth.header_bytes, eth.src,
                                tt_min64(packet->time_tai_ns, now_tai_ns));
    }
}

void tt_clock_in_begin(struct tt_clock_in *in, int64_t now_tai_ns)
{
    struct tt_link_packet packets[TT_LINK_BATCH];

    for (int batch = 0; batch < BACKLOG_BATCHES && receive_batch(in, packets) > 0; batch++) {
    }
    in->link->ops->receive_drops(in->link);
    in->next_tai_ns = now_tai_ns;
}

int64_t tt_clock_in_step(struct tt_clock_in *in, int64_t now_tai_ns)
{
    struct tt_link_packet packets[TT_LINK_BATCH];
    int n = TT_LINK_BATCH;

    if (now_tai_ns < in->next_tai_ns) {
        return in->next_tai_ns;
    }
    for (int batch = 0; batch < BATCHES_A_STEP && n == TT_LINK_BATCH; batch++) {
        n = receive_batch(in, packets);
        for (int i = 0; i < n; i++) {
            take(in, &packets[i], now_tai_ns);
        }
    }
    in->live.receive_drops += in->link->ops->receive_drops(in->link);
    tt_crf_listener_advance(&in->listener, now_tai_ns);
    publish(in);
    in->next_tai_ns = now_tai_ns + STEP_NS;
    return in->next_tai_ns;
}

void tt_clock_in_clock_step(struct tt_clock_in *in, int64_t step_ns)
{
    tt_crf_listener_clock_step(&in->listener, step_ns);
    in->next_tai_ns += step_ns;
}
