/*
 * See observer.h.
 */
#include "audio/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

#define TAI_MINUS_UTC_S 37 /* since 2017 */

int tt_observer_init(struct tt_observer *observer, size_t capacity)
{
    size_t slots = 2;

    while (slots < 2 * capacity) {
        slots *= 2;
    }
    *observer = (struct tt_observer){.capacity = capacity, .slot_mask = slots - 1};
    observer->streams = calloc(capacity, sizeof(*observer->streams));
    observer->slots = calloc(slots, sizeof(*observer->slots));
    if (!observer->streams || !observer->slots) {
        tt_observer_done(observer);
        return -ENOMEM;
    }
    tt_observer_set_tai_offset(observer, TAI_MINUS_UTC_S);
    return 0;
}

void tt_observer_set_tai_offset(struct tt_observer *observer, int seconds)
{
    observer->tai_known = seconds != 0;
    observer->scales = tt_conduct_scales((seconds != 0 ? seconds : TAI_MINUS_UTC_S) * TT_NS_PER_S);
}

void tt_observer_done(struct tt_observer *observer)
{
    for (size_t i = 0; i < observer->count; i++) {
        free(observer->streams[i]);
    }
    free(observer->streams);
    free(observer->slots);
    *observer = (struct tt_observer){0};
}

static bool is_stream(const struct tt_observed *o, const struct tt_eth *eth,
                      const struct tt_avtp *avtp)
{
    return o->avtp.stream_id == avtp->stream_id && o->avtp.subtype == avtp->subtype &&
           memcmp(o->eth.src, eth->src, 6) == 0 && memcmp(o->eth.dest, eth->dest, 6) == 0;
}

static uint64_t word_of(const uint8_t *bytes, size_t n)
{
    uint64_t word = 0;

    memcpy(&word, bytes, n);
    return word;
}

/* The final mix of splitmix64 over what makes a stream. */
static uint64_t hash_stream(const struct tt_eth *eth, const struct tt_avtp *avtp)
{
    uint64_t hash = avtp->stream_id ^ (word_of(eth->src, 6) << 13 | avtp->subtype) ^
                    word_of(eth->dest, 6) * UINT64_C(0x9E3779B97F4A7C15);

    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

/* Once for each stream, when it appears. */
static void find_sharing(struct tt_observer *observer, struct tt_observed *o,
                         const struct tt_avtp *avtp)
{
    for (size_t i = 0; i < observer->count; i++) {
        struct tt_observed *other = observer->streams[i];

        if (avtp->sv && other->avtp.sv && other->avtp.stream_id == avtp->stream_id &&
            other->avtp.subtype == avtp->subtype) {
            other->sharing++;
            o->sharing++;
        }
    }
}

/* The stream's row, NULL where it was not seen before: *ret_slot is its own then. */
static inline struct tt_observed *known_stream(const struct tt_observer *observer,
                                               const struct tt_eth *eth, const struct tt_avtp *avtp,
                                               size_t *ret_slot)
{
    struct tt_observed *o = observer->latest;
    size_t slot;

    if (o && is_stream(o, eth, avtp)) {
        return o;
    }
    slot = (size_t)hash_stream(eth, avtp) & observer->slot_mask;
    for (; observer->slots[slot] > 0; slot = (slot + 1) & observer->slot_mask) {
        o = observer->streams[observer->slots[slot] - 1];
        if (is_stream(o, eth, avtp)) {
            return o;
        }
    }
    *ret_slot = slot;
    return NULL;
}

/* The stream's row, new where it was not seen before; NULL where there is no room. */
static struct tt_observed *find_stream(struct tt_observer *observer, const struct tt_eth *eth,
                                       const struct tt_avtp *avtp)
{
    size_t slot = 0;
    struct tt_observed *o = known_stream(observer, eth, avtp, &slot);

    if (o || observer->count == observer->capacity) {
        return o;
    }
    o = calloc(1, sizeof(*o));
    if (!o) {
        return NULL;
    }
    o->eth = *eth;
    o->avtp = *avtp;
    find_sharing(observer, o, avtp);
    observer->streams[observer->count++] = o;
    observer->slots[slot] = (uint32_t)observer->count;
    return o;
}

static void observe_avtp(struct tt_observer *observer, const struct tt_eth *eth,
                         const struct tt_avtp *avtp, const struct tt_arrival *arrival)
{
    struct tt_observed *o;

    observer->by_subtype[avtp->subtype]++;
    if (!avtp->has_sequence) {
        return;
    }
    o = find_stream(observer, eth, avtp);
    if (!o) {
        observer->beyond++;
        return;
    }
    observer->latest = o;
    o->eth.vlan_id = eth->vlan_id;
    o->eth.pcp = eth->pcp;
    o->avtp.version = avtp->version;
    o->avtp.sv = avtp->sv;
    o->avtp.sequence = avtp->sequence;
    tt_observed_pdu(o, &observer->scales, arrival);
}

static bool passes(const struct tt_observer_filter *filter, const struct tt_eth *eth,
                   const struct tt_avtp *avtp)
{
    return (!filter->by_stream_id || (avtp->sv && avtp->stream_id == filter->stream_id)) &&
           (!filter->by_vlan || eth->vlan_id == filter->vlan_id) &&
           (!filter->by_address || memcmp(eth->dest, filter->address, 6) == 0 ||
            memcmp(eth->src, filter->address, 6) == 0);
}

static void note_time(struct tt_observer *observer, int64_t arrival_ns)
{
    bool first = observer->packets++ == 0;

    if (first || arrival_ns < observer->first_ns) {
        observer->first_ns = arrival_ns;
    }
    if (first || arrival_ns > observer->last_ns) {
        observer->last_ns = arrival_ns;
    }
}

bool tt_observer_packet(struct tt_observer *observer, const uint8_t *frame, size_t bytes,
                        size_t wire_bytes, int64_t arrival_ns)
{
    bool cut = bytes < wire_bytes;
    struct tt_arrival arrival = {.arrival_ns = arrival_ns};
    struct tt_eth eth;
    struct tt_avtp avtp;

    note_time(observer, arrival_ns);
    if (tt_eth_parse(frame, bytes, &eth) != 0) {
        observer->cut += cut;
        observer->not_avtp += !cut;
        return true;
    }
    if (eth.ethertype != TT_ETHERTYPE_AVTP) {
        observer->not_avtp++;
        tt_link_traffic_packet(&observer->traffic, &eth, frame, bytes, wire_bytes);
        return true;
    }
    arrival.pdu = frame + eth.header_bytes;
    arrival.bytes = bytes - eth.header_bytes;
    arrival.wire_bytes = wire_bytes - eth.header_bytes;
    /* All headers that are read further down lie within what tt_avtp_parse has checked. */
    if (tt_avtp_parse(arrival.pdu, arrival.bytes, &avtp) != 0) {
        observer->cut += cut;
        observer->malformed += !cut;
        return true;
    }
    if (!passes(&observer->filter, &eth, &avtp)) {
        observer->filtered++;
        return false;
    }
    tt_link_traffic_packet(&observer->traffic, &eth, frame, bytes, wire_bytes);
    observe_avtp(observer, &eth, &avtp, &arrival);
    return true;
}

void tt_observer_untimed(struct tt_observer *observer, const uint8_t *frame, size_t bytes)
{
    struct tt_observed *o;
    struct tt_eth eth;
    struct tt_avtp avtp;
    size_t ignored;

    if (tt_eth_parse(frame, bytes, &eth) != 0 || eth.ethertype != TT_ETHERTYPE_AVTP ||
        tt_avtp_parse(frame + eth.header_bytes, bytes - eth.header_bytes, &avtp) != 0 ||
        !avtp.has_sequence || !passes(&observer->filter, &eth, &avtp)) {
        return;
    }
    o = known_stream(observer, &eth, &avtp, &ignored);
    if (o) {
        tt_observed_untimed(o, avtp.sequence);
    }
}
