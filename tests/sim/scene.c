/*
 * See scene.h: arranging and running.
 */
#include "scene.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "audio/aaf.h"
#include "audio/avtp.h"
#include "audio/eth.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "malloc_trap.h"
#include "os/link_loop.h"
#include "test.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define CHANNELS        2
#define FRAME_BYTES     4
#define STREAM_ID       UINT64_C(0x0200000000010001)
#define START_NS        (10 * TT_NS_PER_MS)
#define DELAY_NS        (20 * TT_NS_PER_US)
#define PROGRAM_TICK_NS (2 * TT_NS_PER_MS)
#define PERIOD_FRAMES   480
#define BUFFER_FRAMES   9600
#define EVENTS_MAX      300000
#define FOREIGN         0x60000000 /* content that is none of the source's frames, from here on */
#define PACKET_BYTES    4000

static const uint8_t talker_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t other_mac[6] = {2, 0, 0, 0, 0, 9};

/* ---- arranging */

void scene_init(struct scene *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed;
    s->random = seed * 2 + 1;
    tt_stream_config_init(&s->config);
    memcpy(s->config.ifname, "loop", 5);
    memcpy(s->config.dest, (uint8_t[6]){0x91, 0xE0, 0xF0, 0, 0, 1}, 6);
    s->config.stream_id = STREAM_ID;
    s->config.format = TT_AAF_INT16;
    s->config.rate_hz = 48000;
    s->config.channels = CHANNELS;
    s->start_tai_ns = INT64_C(1798000000000000000) + (int64_t)scene_below(s, 5000000000);
    s->mtu_bytes = 1500;
    s->at_ns = START_NS + (int64_t)scene_below(s, 125000);
    s->sequence = (uint8_t)scene_below(s, 256);
    s->segment_count = 1;
    s->place_tolerance_frames = 6; /* the PDU of class A */
    s->slack_ns = 25 * TT_NS_PER_US;
}

void scene_done(struct scene *s)
{
    free(s->pdus);
    s->pdus = NULL;
}

uint64_t scene_below(struct scene *s, uint64_t limit)
{
    return random_below(&s->random, limit);
}

void scene_tell(struct scene *s, const char *format, ...)
{
    size_t used = strlen(s->story);
    va_list args;

    va_start(args, format);
    vsnprintf(s->story + used, sizeof s->story - used, format, args);
    va_end(args);
}

void scene_expect(struct scene *s, size_t counter, uint64_t least, uint64_t most)
{
    CHECK(s->expect_count < TT_COUNT_OF(s->expect));
    s->expect[s->expect_count++] = (struct scene_expect){counter, least, most};
}

int64_t scene_frames_ns(const struct scene *s, int64_t frames)
{
    int64_t ns = tt_frames_to_ns(frames, s->config.rate_hz);

    return ns - ns / 1000 * s->drift_ppm / 1000;
}

static struct scene_pdu *add_pdu(struct scene *s)
{
    if (s->pdu_count == s->pdu_capacity) {
        s->pdu_capacity = s->pdu_capacity * 2 + 1000;
        s->pdus = realloc(s->pdus, s->pdu_capacity * sizeof *s->pdus);
        CHECK(s->pdus);
    }
    return &s->pdus[s->pdu_count++];
}

void scene_talk(struct scene *s, int64_t pdus)
{
    for (int64_t i = 0; i < pdus; i++) {
        int64_t departure_ns = s->at_ns + scene_frames_ns(s, s->since);
        int64_t due_ns = departure_ns + s->config.mtt_ns + s->jump_ns;

        *add_pdu(s) = (struct scene_pdu){
            .segment = s->segment_count - 1,
            .frame = s->next_frame,
            .due_ns = due_ns,
            .stamp_ns = due_ns + s->stamp_ns,
            .departure_ns = departure_ns,
            .delay_ns = DELAY_NS,
            .sequence = s->sequence,
            .tv = !s->config.sparse || s->sequence % 8 == 0,
            .mr = s->mr,
        };
        s->sequence++;
        s->next_frame += s->config.frames_per_pdu;
        s->since += s->config.frames_per_pdu;
    }
}

void scene_break(struct scene *s, int64_t pause_ns, int64_t jump_ns, int64_t settle_pdus)
{
    CHECK(s->segment_count < SCENE_SEGMENTS);
    s->at_ns += scene_frames_ns(s, s->since) + pause_ns;
    s->since = 0;
    s->jump_ns += jump_ns;
    s->segments[s->segment_count++] = (struct scene_segment){
        .first_frame = s->next_frame,
        .settle_frames = settle_pdus * s->config.frames_per_pdu,
    };
}

void scene_beside(struct scene *s, enum scene_kind kind, size_t like, int64_t later_ns)
{
    struct scene_pdu pdu = s->pdus[like];

    pdu.kind = kind;
    pdu.departure_ns += later_ns;
    if (kind != SCENE_REPEAT) {
        pdu.stamp_ns += later_ns;
        pdu.sequence = (uint8_t)scene_below(s, 256);
    }
    pdu.copies = 0;
    pdu.lost = false;
    *add_pdu(s) = pdu;
}

static int by_departure(const void *a, const void *b)
{
    const struct scene_pdu *p = a;
    const struct scene_pdu *q = b;

    if (p->departure_ns != q->departure_ns) {
        return p->departure_ns < q->departure_ns ? -1 : 1;
    }
    return (p->frame > q->frame) - (p->frame < q->frame);
}

/* ---- content: a number of 32 bits, never 0, that tells the frame */

#define MIX   UINT32_C(0x9E3779B1)
#define UNMIX UINT32_C(0x0E8B2F51) /* MIX * UNMIX is 1 modulo 2^32 */

static uint32_t content_of(int64_t frame)
{
    uint32_t x = ((uint32_t)frame + 1) * MIX;

    return (x ^ x >> 16) * MIX;
}

static int64_t frame_of(const struct scene *s, uint32_t content)
{
    uint32_t x = content * UNMIX;

    x = (x ^ x >> 16) * UNMIX;
    if (content == 0) {
        return SCENE_SILENCE;
    }
    return x - 1 < s->next_frame ? (int64_t)(x - 1) : SCENE_OTHER;
}

/* ---- on the wire */

static struct tt_aaf header_of(const struct scene *s, const struct scene_pdu *pdu)
{
    return (struct tt_aaf){
        .stream_id = STREAM_ID,
        .sequence = pdu->sequence,
        .mr = pdu->mr,
        .tv = pdu->tv,
        .tu = pdu->tu,
        .sp = s->config.sparse,
        .timestamp = pdu->tv ? (uint32_t)(s->start_tai_ns + pdu->stamp_ns) : 0,
        .format = TT_AAF_INT16,
        .rate_hz = s->config.rate_hz,
        .channels = CHANNELS,
        .bit_depth = 16,
        .payload_bytes = (size_t)s->config.frames_per_pdu * FRAME_BYTES,
    };
}

static void misshape(const struct scene_pdu *pdu, struct tt_aaf *aaf)
{
    switch (pdu->sequence % 3) {
    case 0:
        aaf->rate_hz = 96000;
        break;
    case 1:
        aaf->channels = 1;
        break;
    default:
        aaf->format = TT_AAF_INT32;
        aaf->bit_depth = 24;
        break;
    }
}

static size_t build_packet(const struct scene *s, const struct scene_pdu *pdu, uint8_t *packet)
{
    static const uint8_t foreign_subtypes[] = {0x00, 0x03, 0x04, 0x05, 0x7F, 0x82, 0xFA, 0xFE};
    struct tt_eth eth = {.vlan_id = -1, .pcp = -1, .ethertype = TT_ETHERTYPE_AVTP};
    struct tt_aaf aaf = header_of(s, pdu);
    bool beside = pdu->kind >= SCENE_OTHER_STREAM;
    uint8_t *pdu_bytes;
    size_t bytes;

    memset(packet, 0, PACKET_BYTES);
    memcpy(eth.dest, s->config.dest, sizeof eth.dest);
    memcpy(eth.src, pdu->kind == SCENE_OTHER_TALKER ? other_mac : talker_mac, sizeof eth.src);
    pdu_bytes = packet + tt_eth_build(&eth, packet);
    if (pdu->kind == SCENE_OTHER_STREAM) {
        aaf.stream_id ^= 0x100;
    } else if (pdu->kind == SCENE_OTHER_FORMAT) {
        misshape(pdu, &aaf);
    } else if (pdu->kind == SCENE_OVERSIZED) {
        aaf.payload_bytes = 2000;
    }
    tt_aaf_build_header(&aaf, pdu_bytes);
    if (pdu->kind == SCENE_FOREIGN_SUBTYPE) {
        pdu_bytes[0] = foreign_subtypes[pdu->sequence % TT_COUNT_OF(foreign_subtypes)];
    }
    for (size_t i = 0; i < aaf.payload_bytes / FRAME_BYTES; i++) {
        tt_put_be32(pdu_bytes + TT_AAF_HEADER_BYTES + i * FRAME_BYTES,
                    content_of(pdu->frame + (int64_t)i + (beside ? FOREIGN : 0)));
    }
    bytes = TT_AAF_HEADER_BYTES + aaf.payload_bytes;
    if (pdu->kind == SCENE_TRUNCATED) {
        bytes = pdu->bytes;
    } else if (pdu->kind == SCENE_PADDED) {
        memset(pdu_bytes + bytes, 0xEE, 200);
        bytes += 200;
    }
    return TT_ETH_HEADER_BYTES + bytes;
}

/* ---- running */

struct stage {
    struct scene *s;
    struct scene_result *r;
    struct tt_clock_script clock;
    struct tt_link *out;
    struct tt_link *in;
    struct tt_listen *listen;
    const struct scene_pdu *leaving;
    size_t run_capacity;
    int64_t start_mono_ns;
    int64_t last_ns; /* when the scene ends */
};

static void on_packet(void *context, uint64_t index, uint8_t *data, size_t bytes,
                      struct tt_loop_fate *fate)
{
    const struct stage *stage = context;

    (void)index;
    (void)data;
    (void)bytes;
    fate->delay_ns = stage->leaving->delay_ns;
    fate->lost = stage->leaving->lost;
    fate->copies = stage->leaving->copies;
}

static void send_pdu(struct stage *stage, const struct scene_pdu *pdu)
{
    uint8_t data[PACKET_BYTES];
    struct tt_link_packet packet = {.data = data};

    packet.bytes = build_packet(stage->s, pdu, data);
    stage->leaving = pdu;
    CHECK(stage->out->ops->send(stage->out, &packet, 1) == 1);
}

/* A frame of the recording: it goes on where the last run ended, or begins one. */
static void add_frame(struct stage *stage, int64_t source)
{
    struct scene_result *r = stage->r;
    struct scene_run *last = r->run_count > 0 ? &r->runs[r->run_count - 1] : NULL;

    if (last && (source < 0 ? source == last->source
                            : last->source >= 0 && source == last->source + last->frames)) {
        last->frames++;
    } else {
        if (r->run_count == stage->run_capacity) {
            stage->run_capacity = stage->run_capacity * 2 + 100;
            r->runs = realloc(r->runs, stage->run_capacity * sizeof *r->runs);
            CHECK(r->runs);
        }
        r->runs[r->run_count++] = (struct scene_run){r->recorded, 1, source};
    }
    r->recorded++;
}

/* The recording program takes all that is there, and starts again after an xrun, as arecord does.
 */
static void record(struct stage *stage)
{
    struct tt_device *device = tt_listen_device(stage->listen);
    uint8_t taken[1000 * FRAME_BYTES];
    int64_t ready;

    if (atomic_load(&device->state) == TT_DEVICE_XRUN) {
        tt_listen_prepare(stage->listen);
        CHECK(tt_listen_start(stage->listen, false) == 0);
    }
    ready = atomic_load(&device->engine_frame) - stage->r->recorded;
    while (ready > 0) {
        size_t frames = ready < 1000 ? (size_t)ready : 1000;
        struct tt_pcm_area areas[CHANNELS] = {{taken, FRAME_BYTES}, {taken + 2, FRAME_BYTES}};

        tt_listen_read(stage->listen, stage->r->recorded, TT_PCM_S16_BE, areas, frames);
        for (size_t i = 0; i < frames; i++) {
            add_frame(stage, frame_of(stage->s, tt_get_be32(taken + i * FRAME_BYTES)));
        }
        ready -= (int64_t)frames;
    }
}

/* How far the device is behind its media time: what it would be if delay grew. */
static void watch_lag(struct stage *stage)
{
    int64_t now_ns = stage->clock.mono_ns - stage->start_mono_ns;
    int64_t frame = atomic_load(&tt_listen_device(stage->listen)->engine_frame);
    int64_t lag_ns = now_ns - scene_frames_ns(stage->s, frame);

    if (now_ns < stage->last_ns / 10) {
        stage->r->lag_first_ns = lag_ns > stage->r->lag_first_ns ? lag_ns : stage->r->lag_first_ns;
    } else if (now_ns > stage->last_ns - stage->last_ns / 10) {
        stage->r->lag_last_ns = lag_ns > stage->r->lag_last_ns ? lag_ns : stage->r->lag_last_ns;
    }
}

static void play(struct stage *stage)
{
    int64_t listen_ns = stage->start_mono_ns;
    int64_t program_ns = stage->start_mono_ns;
    size_t next = 0;

    while (stage->clock.mono_ns < stage->start_mono_ns + stage->last_ns) {
        int64_t pdu_ns = next < stage->s->pdu_count
                             ? stage->start_mono_ns + stage->s->pdus[next].departure_ns
                             : INT64_MAX;
        int64_t at_ns = pdu_ns < listen_ns ? pdu_ns : listen_ns;

        at_ns = at_ns < program_ns ? at_ns : program_ns;
        stage->clock.mono_ns = at_ns > stage->clock.mono_ns ? at_ns : stage->clock.mono_ns;
        if (at_ns == pdu_ns) {
            send_pdu(stage, &stage->s->pdus[next++]);
        } else if (at_ns == listen_ns) {
            tt_trap_arm();
            listen_ns = tt_listen_step(stage->listen);
            tt_trap_disarm();
            watch_lag(stage);
        } else {
            record(stage);
            program_ns = stage->clock.mono_ns + PROGRAM_TICK_NS;
        }
    }
}

static void open_stage(struct stage *stage)
{
    struct scene *s = stage->s;
    struct tt_loop_setup loop = {.clock = &stage->clock,
                                 .mtu_bytes = PACKET_BYTES - 100,
                                 .fate = on_packet,
                                 .context = stage,
                                 .capacity = 1024};

    stage->start_mono_ns = 1000 * TT_NS_PER_S;
    tt_clock_script_init(&stage->clock, stage->start_mono_ns,
                         s->start_tai_ns - stage->start_mono_ns);
    CHECK(tt_link_loop_new(&loop, &stage->out, &stage->in) == 0);
    stage->in->mtu_bytes = s->mtu_bytes;
    CHECK(tt_listen_new(&(struct tt_listen_setup){.config = &s->config,
                                                  .link = stage->in,
                                                  .clock = &stage->clock.clock,
                                                  .buffer_frames = BUFFER_FRAMES,
                                                  .period_frames = PERIOD_FRAMES,
                                                  .event_capacity = EVENTS_MAX},
                        &stage->listen) == 0);
    atomic_store(&tt_listen_device(stage->listen)->wake_frames, PERIOD_FRAMES);
}

void scene_run(struct scene *s, struct scene_result *ret_result)
{
    struct stage stage = {.s = s, .r = ret_result};
    const struct tt_event_log *log;

    memset(ret_result, 0, sizeof *ret_result);
    CHECK(s->pdu_count > 0);
    qsort(s->pdus, s->pdu_count, sizeof *s->pdus, by_departure);
    stage.last_ns = s->pdus[s->pdu_count - 1].departure_ns + s->config.mtt_ns +
                    s->config.playout_latency_ns + 60 * TT_NS_PER_MS;
    open_stage(&stage);
    CHECK(tt_listen_start(stage.listen, false) == 0);
    play(&stage);
    tt_listen_stop(stage.listen);
    record(&stage);
    ret_result->end_tai_ns = stage.clock.mono_ns + stage.clock.tai_minus_mono_ns;
    tt_listen_counters(stage.listen, &ret_result->counters);
    ret_result->notes = tt_listen_notes(stage.listen);
    log = tt_listen_log(stage.listen);
    CHECK(log->unkept == 0);
    ret_result->events = malloc((log->n + 1) * sizeof *log->events);
    CHECK(ret_result->events);
    memcpy(ret_result->events, log->events, log->n * sizeof *log->events);
    ret_result->event_count = log->n;
    tt_listen_free(stage.listen);
    tt_link_close(stage.out);
    tt_link_close(stage.in);
}

void scene_result_done(struct scene_result *r)
{
    free(r->events);
    free(r->runs);
}
