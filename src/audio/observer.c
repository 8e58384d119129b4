/*
 * See observer.h.
 */
#include "audio/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

#define SEQUENCE_RANGE 256
#define FAR_PDUS       (SEQUENCE_RANGE / 2)
#define DRIFT_SHIFT    13 /* a media clock may be off by 2^-13 (122 ppm) */

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
    return 0;
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

static bool window_has(const struct tt_observed *o, uint8_t sequence)
{
    return (o->window[sequence / 64] >> (sequence % 64) & 1) != 0;
}

static void window_set(struct tt_observed *o, uint8_t sequence)
{
    o->window[sequence / 64] |= UINT64_C(1) << (sequence % 64);
}

static void window_clear(struct tt_observed *o, uint8_t sequence)
{
    o->window[sequence / 64] &= ~(UINT64_C(1) << (sequence % 64));
}

/* The media time of `pdus` PDUs; 0 where it is not known. */
static int64_t media_ns(const struct tt_observed *o, int64_t pdus)
{
    if (!o->known) {
        return 0;
    }
    if (o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
        return tt_frames_to_ns(pdus * (int64_t)o->aaf.frames, o->aaf.rate_hz);
    }
    if (o->crf.base_hz == 0) {
        return 0;
    }
    return tt_frames_to_ns(pdus * (int64_t)o->crf.timestamp_count * o->crf.timestamp_interval,
                           o->crf.base_hz);
}

static bool is_far(const struct tt_observed *o, int64_t gap_ns)
{
    int64_t far_ns = media_ns(o, FAR_PDUS);

    return far_ns > 0 && gap_ns > far_ns;
}

/* A number is ahead, or behind by what remains of the range: whichever is nearer to what the time
 * since the newest allows. */
static int64_t by_arrival(const struct tt_observed *o, uint8_t ahead, int64_t gap_ns)
{
    int64_t forward = ahead > 0 ? ahead : SEQUENCE_RANGE;
    int64_t backward = forward - SEQUENCE_RANGE;

    if (forward < SEQUENCE_RANGE / 2) {
        return forward;
    }
    if (media_ns(o, 1) == 0) {
        return backward;
    }
    return gap_ns > media_ns(o, (forward + backward) / 2) ? forward : backward;
}

static bool media_agrees(const struct tt_observed *o, int64_t elapsed_ns, int64_t pdus)
{
    int64_t off_ns = elapsed_ns - media_ns(o, pdus);
    int64_t tolerance_ns = media_ns(o, 1) / 4 + llabs(elapsed_ns) / (1 << DRIFT_SHIFT);

    return llabs(off_ns) <= tolerance_ns;
}

/* The whole PDUs in a media time, to the nearest. */
static int64_t media_pdus(const struct tt_observed *o, int64_t elapsed_ns)
{
    int64_t interval_ns = media_ns(o, 1);
    int64_t frames = tt_ns_to_frames(elapsed_ns + interval_ns / 2, o->aaf.rate_hz);

    return tt_floor_div(frames, (int64_t)o->aaf.frames);
}

static void sequence_restart(struct tt_observed *o, uint8_t sequence)
{
    memset(o->window, 0, sizeof(o->window));
    window_set(o, sequence);
    o->highest = sequence;
    o->span = 1;
}

static void sequence_ahead(struct tt_observed *o, uint8_t sequence, int64_t pdus)
{
    int64_t forget = pdus < SEQUENCE_RANGE ? pdus : SEQUENCE_RANGE;

    for (int64_t i = 1; i <= forget; i++) {
        window_clear(o, (uint8_t)(o->highest + i));
    }
    window_set(o, sequence);
    o->highest = sequence;
    o->lost += (uint64_t)(pdus - 1);
    o->span += (uint64_t)pdus;
}

static void sequence_behind(struct tt_observed *o, uint8_t sequence, int64_t pdus)
{
    if (window_has(o, sequence)) {
        o->duplicated++;
        return;
    }
    window_set(o, sequence);
    o->reordered++;
    if ((uint64_t)pdus < o->span) {
        o->lost--; /* before the very first PDU nothing was missed */
    }
}

/* Whether this PDU begins a new run. Otherwise *pdus, how far it is ahead of the newest, is
 * corrected where stamps know better. */
static bool stamp_resolve(struct tt_observed *o, uint8_t ahead, int64_t arrival_ns, int64_t *pdus)
{
    int64_t gap_ns = arrival_ns - o->stamp_ns;
    int64_t elapsed_ns = tt_widen32(o->aaf.timestamp - o->stamp, gap_ns);
    int64_t by_stamp;

    if (!is_far(o, gap_ns)) {
        if (*pdus > 0) {
            o->stamps_steady = media_agrees(o, elapsed_ns, o->stamp_pdus + *pdus);
        }
        return false;
    }
    if (!o->stamps_steady) {
        return false;
    }
    by_stamp = media_pdus(o, elapsed_ns) - o->stamp_pdus;
    by_stamp += (int8_t)(ahead - (uint8_t)by_stamp); /* the nearest that has this number */
    if (media_agrees(o, elapsed_ns, o->stamp_pdus + by_stamp)) {
        *pdus = by_stamp;
        return false;
    }
    return ahead != 1;
}

static void count_sequence(struct tt_observed *o, int64_t arrival_ns, bool stamped)
{
    uint8_t sequence = o->avtp.sequence;
    uint8_t ahead = (uint8_t)(sequence - o->highest);
    int64_t pdus = by_arrival(o, ahead, arrival_ns - o->highest_ns);
    bool restart = false;

    if (stamped && o->stamped) {
        restart = stamp_resolve(o, ahead, arrival_ns, &pdus);
    }
    if (restart) {
        o->restarts++;
        sequence_restart(o, sequence);
    } else if (pdus > 0) {
        sequence_ahead(o, sequence, pdus);
    } else {
        sequence_behind(o, sequence, -pdus);
        return;
    }
    o->highest_ns = arrival_ns;
    o->stamp_pdus += pdus;
    if (stamped) {
        o->stamped = true;
        o->stamp = o->aaf.timestamp;
        o->stamp_ns = arrival_ns;
        o->stamp_pdus = 0;
    }
}

static bool same_shape(const struct tt_aaf *a, const struct tt_aaf *b)
{
    return a->format == b->format && a->rate_hz == b->rate_hz && a->channels == b->channels &&
           a->bit_depth == b->bit_depth && a->frames == b->frames;
}

/* Returns whether the PDU carries a valid presentation time. */
static bool observe_aaf(struct tt_observed *o, const uint8_t *pdu, size_t wire_bytes)
{
    struct tt_aaf aaf;
    enum tt_aaf_reason reason = tt_aaf_parse(pdu, wire_bytes, &aaf);

    if (reason != TT_AAF_OK) {
        o->refused[reason]++;
        return false;
    }
    if (o->known && !same_shape(&o->aaf, &aaf)) {
        o->frames_changed++;
        o->stamps_steady = false;
    }
    aaf.payload = NULL;
    o->aaf = aaf;
    o->known = true;
    return aaf.tv;
}

static void observe_crf(struct tt_observed *o, const uint8_t *pdu, size_t wire_bytes)
{
    struct tt_crf crf;

    if (tt_crf_parse(pdu, wire_bytes, &crf) == TT_CRF_OK) {
        crf.timestamps = NULL;
        o->crf = crf;
        o->known = true;
    }
}

static void observe(struct tt_observed *o, const uint8_t *pdu, size_t wire_bytes,
                    int64_t arrival_ns)
{
    bool stamped = false;

    if (o->avtp.subtype == TT_AVTP_SUBTYPE_AAF) {
        stamped = observe_aaf(o, pdu, wire_bytes);
    } else if (o->avtp.subtype == TT_AVTP_SUBTYPE_CRF) {
        observe_crf(o, pdu, wire_bytes);
    }
    if (o->pdus == 0) {
        sequence_restart(o, o->avtp.sequence);
        o->first_ns = arrival_ns;
        o->highest_ns = arrival_ns;
        o->stamped = stamped;
        o->stamp = o->aaf.timestamp;
        o->stamp_ns = arrival_ns;
    } else {
        tt_hist_record(&o->interval, arrival_ns - o->last_ns);
        count_sequence(o, arrival_ns, stamped);
    }
    o->pdus++;
    o->last_ns = arrival_ns;
}

static bool is_stream(const struct tt_observed *o, const struct tt_eth *eth,
                      const struct tt_avtp *avtp)
{
    return o->avtp.stream_id == avtp->stream_id && o->avtp.subtype == avtp->subtype &&
           memcmp(o->eth.src, eth->src, 6) == 0 && memcmp(o->eth.dest, eth->dest, 6) == 0;
}

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t hash_stream(const struct tt_eth *eth, const struct tt_avtp *avtp)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    hash = hash_bytes(hash, eth->src, 6);
    hash = hash_bytes(hash, eth->dest, 6);
    hash = hash_bytes(hash, &avtp->subtype, 1);
    return hash_bytes(hash, (const uint8_t *)&avtp->stream_id, sizeof(avtp->stream_id));
}

/* The stream's row, new where it was not seen before; NULL where there is no room. */
static struct tt_observed *find_stream(struct tt_observer *observer, const struct tt_eth *eth,
                                       const struct tt_avtp *avtp)
{
    size_t slot = (size_t)hash_stream(eth, avtp) & observer->slot_mask;
    struct tt_observed *o;

    for (; observer->slots[slot] > 0; slot = (slot + 1) & observer->slot_mask) {
        o = observer->streams[observer->slots[slot] - 1];
        if (is_stream(o, eth, avtp)) {
            return o;
        }
    }
    if (observer->count == observer->capacity) {
        return NULL;
    }
    o = calloc(1, sizeof(*o));
    if (!o) {
        return NULL;
    }
    tt_hist_init(&o->interval);
    observer->streams[observer->count++] = o;
    observer->slots[slot] = (uint32_t)observer->count;
    return o;
}

static void observe_avtp(struct tt_observer *observer, const struct tt_eth *eth,
                         const struct tt_avtp *avtp, const uint8_t *pdu, size_t wire_bytes,
                         int64_t arrival_ns)
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
    o->eth = *eth;
    o->avtp = *avtp;
    observe(o, pdu, wire_bytes, arrival_ns);
}

void tt_observer_packet(struct tt_observer *observer, const uint8_t *frame, size_t bytes,
                        size_t wire_bytes, int64_t arrival_ns)
{
    bool cut = bytes < wire_bytes;
    struct tt_eth eth;
    struct tt_avtp avtp;

    observer->packets++;
    if (tt_eth_parse(frame, bytes, &eth) != 0) {
        observer->cut += cut;
        observer->not_avtp += !cut;
        return;
    }
    if (eth.ethertype != TT_ETHERTYPE_AVTP) {
        observer->not_avtp++;
        return;
    }
    /* All headers that are read further down lie within what tt_avtp_parse has checked. */
    if (tt_avtp_parse(frame + eth.header_bytes, bytes - eth.header_bytes, &avtp) != 0) {
        observer->cut += cut;
        observer->malformed += !cut;
        return;
    }
    observe_avtp(observer, &eth, &avtp, frame + eth.header_bytes, wire_bytes - eth.header_bytes,
                 arrival_ns);
}
