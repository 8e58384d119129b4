/*
 * See sim.h.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/aaf.h"
#include "audio/eth.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "malloc_trap.h"
#include "test.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define PROGRAM_TICK_NS (2 * TT_NS_PER_MS)
#define EVENTS_MAX      100000
#define PACKETS_MAX     400000

struct sim {
    const struct sim_case *c;
    struct sim_result *result;
    struct tt_clock_script clock;
    uint64_t fates;   /* random state of the link */
    uint64_t wakes;   /* of the wake-ups */
    uint8_t *program; /* the source in the program's format */
    size_t program_frame_bytes;
    int64_t next_frame; /* of the source, by counting PDUs */
};

struct sim_case sim_default(uint64_t seed)
{
    return (struct sim_case){
        .seed = seed,
        .format = TT_AAF_INT16,
        .program_format = TT_PCM_S16_LE,
        .rate_hz = 48000,
        .channels = 2,
        .frames_per_pdu = 6,
        .frames = 24000,
        .mtt_ns = 20 * TT_NS_PER_MS,
        .buffer_frames = 9600,
        .period_frames = 480,
        .tai_minus_mono_ns = INT64_C(1798000000000000000) + (int64_t)(seed % 5) * TT_NS_PER_S,
        .vlan_id = -1,
        .delay_ns = 20 * TT_NS_PER_US,
    };
}

static int64_t up_to(uint64_t *state, int64_t limit_ns)
{
    return limit_ns > 0 ? (int64_t)random_below(state, (uint64_t)limit_ns) : 0;
}

static void on_packet(void *context, uint64_t index, uint8_t *data, size_t bytes,
                      struct tt_loop_fate *fate)
{
    struct sim *sim = context;
    const struct sim_case *c = sim->c;

    fate->delay_ns = c->delay_ns + up_to(&sim->fates, c->jitter_ns);
    fate->lost = random_next(&sim->fates) % 1000 < c->loss_per_mille;
    fate->copies = random_next(&sim->fates) % 1000 < c->copies_per_mille;
    if (c->fate) {
        c->fate(c, index, data, bytes, fate);
    }
    CHECK(sim->result->packet_count > 0);
    struct sim_packet *packet = &sim->result->packets[sim->result->packet_count - 1];

    packet->arrival_tai_ns =
        fate->lost || fate->launch_missed ? INT64_MAX : packet->departure_tai_ns + fate->delay_ns;
}

/* Which source frames a packet carries is read from its content: the sender's place in the source.
 */
static int64_t source_frame_of(const struct sim *sim, const uint8_t *payload, size_t bytes)
{
    const struct sim_result *r = sim->result;
    int64_t from = sim->next_frame;

    for (int64_t f = from; f + 1 <= sim->c->frames; f++) {
        size_t left = (size_t)(sim->c->frames - f) * r->frame_bytes;

        if (memcmp(r->source + (size_t)f * r->frame_bytes, payload, bytes < left ? bytes : left) ==
            0) {
            return f;
        }
    }
    return -1;
}

static void on_departure(void *context, const uint8_t *data, size_t bytes, int64_t departure_tai_ns)
{
    struct sim *sim = context;
    struct sim_result *r = sim->result;
    struct tt_eth eth;
    int64_t frame;

    CHECK(tt_eth_parse(data, bytes, &eth) == 0);
    frame = source_frame_of(sim, data + eth.header_bytes + TT_AAF_HEADER_BYTES,
                            bytes - eth.header_bytes - TT_AAF_HEADER_BYTES);
    CHECK(r->packet_count < PACKETS_MAX);
    r->packets[r->packet_count++] =
        (struct sim_packet){.frame = frame, .departure_tai_ns = departure_tai_ns};
    if (frame >= 0) {
        sim->next_frame = frame + sim->c->frames_per_pdu;
    }
}

static struct tt_stream_config config_of(const struct sim_case *c)
{
    return (struct tt_stream_config){
        .ifname = "loop",
        .dest = {0x91, 0xE0, 0xF0, 0, 0, 1},
        .stream_id = UINT64_C(0x0200000000010001),
        .format = c->format,
        .rate_hz = c->rate_hz,
        .channels = c->channels,
        .frames_per_pdu = c->frames_per_pdu,
        .priority = 3,
        .vlan_id = c->vlan_id,
        .pcp = 3,
        .sparse = c->sparse,
        .mtt_ns = c->mtt_ns,
        .time_uncertainty_ns = 125000,
        .ptime_tolerance_ns = 100000,
        .playout_latency_ns = c->playout_latency_ns,
        .launch_lead_ns = 5 * TT_NS_PER_MS,
    };
}

/* Frames of the source are random, so that content tells a frame's place; never silent. */
static void make_source(struct sim *sim)
{
    const struct sim_case *c = sim->c;
    struct sim_result *r = sim->result;
    uint64_t state = c->seed ^ 0x5EED;
    unsigned wire_bytes = tt_aaf_sample_bytes(c->format);
    unsigned program_bytes = tt_pcm_sample_bytes(c->program_format);
    struct tt_pcm_area *areas = calloc(c->channels, sizeof *areas);

    r->frame_bytes = (size_t)wire_bytes * c->channels;
    r->source = malloc((size_t)c->frames * r->frame_bytes);
    sim->program_frame_bytes = (size_t)program_bytes * c->channels;
    sim->program = malloc((size_t)c->frames * sim->program_frame_bytes);
    CHECK(r->source && sim->program && areas);
    for (size_t i = 0; i < (size_t)c->frames * r->frame_bytes; i++) {
        r->source[i] = (uint8_t)(random_next(&state) | 1);
    }
    for (unsigned ch = 0; ch < c->channels; ch++) {
        areas[ch].first = sim->program + (size_t)ch * program_bytes;
        areas[ch].step_bytes = sim->program_frame_bytes;
    }
    tt_pcm_from_wire(c->program_format, r->source, c->channels, (size_t)c->frames, areas);
    free(areas);
}

/* The playing program: keeps the buffer full, then drains. */
static void play(struct sim *sim, struct tt_talk *talk, int64_t *written)
{
    const struct sim_case *c = sim->c;
    struct tt_device *device = tt_talk_device(talk);
    int64_t room = device->buffer_frames - (*written - atomic_load(&device->engine_frame));
    int64_t frames = c->frames - *written < room ? c->frames - *written : room;
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    unsigned sample_bytes = tt_pcm_sample_bytes(c->program_format);

    if (frames > 0) {
        for (unsigned ch = 0; ch < c->channels; ch++) {
            areas[ch].first = sim->program + (size_t)*written * sim->program_frame_bytes +
                              (size_t)ch * sample_bytes;
            areas[ch].step_bytes = sim->program_frame_bytes;
        }
        tt_talk_write(talk, *written, c->program_format, areas, (size_t)frames);
        *written += frames;
    }
    if (*written == c->frames) {
        tt_talk_drain(talk);
    }
}

/* The recording program: takes all there is, and stores it in the wire's format again. */
static void record(struct sim *sim, struct tt_listen *listen, int64_t capacity)
{
    const struct sim_case *c = sim->c;
    struct sim_result *r = sim->result;
    struct tt_device *device = tt_listen_device(listen);
    int64_t ready = atomic_load(&device->engine_frame) - r->recorded;
    unsigned sample_bytes = tt_pcm_sample_bytes(c->program_format);
    uint8_t *taken;
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];

    CHECK(r->recorded + ready <= capacity);
    if (ready <= 0) {
        return;
    }
    taken = malloc((size_t)ready * sim->program_frame_bytes);
    for (unsigned ch = 0; ch < c->channels; ch++) {
        areas[ch].first = taken + (size_t)ch * sample_bytes;
        areas[ch].step_bytes = sim->program_frame_bytes;
    }
    tt_listen_read(listen, r->recorded, c->program_format, areas, (size_t)ready);
    tt_pcm_to_wire(c->program_format, areas, c->channels, (size_t)ready,
                   r->recording + (size_t)r->recorded * r->frame_bytes);
    r->recorded += ready;
    free(taken);
}

static void count_bursts(const struct sim_case *c, struct sim_result *r)
{
    int64_t interval_ns = (int64_t)c->frames_per_pdu * TT_NS_PER_S / c->rate_hz;
    size_t first = 0;

    for (size_t i = 0; i < r->packet_count; i++) {
        while (r->packets[i].departure_tai_ns - r->packets[first].departure_tai_ns >= interval_ns) {
            first++;
        }
        if (i - first + 1 > r->burst_max) {
            r->burst_max = i - first + 1;
        }
    }
}

static struct tt_event *copy_events(const struct tt_event_log *log, size_t *ret_count)
{
    struct tt_event *events = malloc((log->n + 1) * sizeof *events);

    CHECK(events && log->unkept == 0);
    memcpy(events, log->events, log->n * sizeof *events);
    *ret_count = log->n;
    return events;
}

static int64_t lateness(struct sim *sim, int64_t late_ns, int64_t stall_ns)
{
    return up_to(&sim->wakes, late_ns) +
           (random_next(&sim->wakes) % 500 == 0 ? up_to(&sim->wakes, stall_ns) : 0);
}

static void run_until_recorded(struct sim *sim, struct tt_talk *talk, struct tt_listen *listen,
                               int64_t capacity)
{
    const struct sim_case *c = sim->c;
    int64_t start_ns = sim->clock.mono_ns;
    int64_t end_ns = INT64_MAX;
    int64_t talk_ns = start_ns;
    int64_t listen_ns = start_ns;
    int64_t program_ns = start_ns;
    int64_t written = 0;
    bool stepped = c->tai_step_ns == 0;

    play(sim, talk, &written);
    CHECK(tt_listen_start(listen, false) == 0);
    CHECK(tt_talk_start(talk, false) == 0);
    while (sim->clock.mono_ns < end_ns) {
        int64_t next_ns = talk_ns < listen_ns ? talk_ns : listen_ns;

        next_ns = next_ns < program_ns ? next_ns : program_ns;
        if (next_ns > sim->clock.mono_ns) {
            sim->clock.mono_ns = next_ns;
        }
        if (!stepped && sim->clock.mono_ns - start_ns >= c->tai_step_at_ns) {
            stepped = true;
            sim->clock.tai_minus_mono_ns += c->tai_step_ns;
        }
        if (next_ns == talk_ns) {
            tt_trap_arm();
            talk_ns = tt_talk_step(talk) + lateness(sim, c->talk_late_ns, c->talk_stall_ns);
            tt_trap_disarm();
        } else if (next_ns == listen_ns) {
            tt_trap_arm();
            listen_ns = tt_listen_step(listen) + lateness(sim, c->listen_late_ns, 0);
            tt_trap_disarm();
        } else {
            play(sim, talk, &written);
            record(sim, listen, capacity);
            program_ns = sim->clock.mono_ns + PROGRAM_TICK_NS;
        }
        if (end_ns == INT64_MAX && atomic_load(&tt_talk_device(talk)->state) == TT_DEVICE_DRAINED) {
            end_ns = sim->clock.mono_ns + c->mtt_ns + c->playout_latency_ns + 100 * TT_NS_PER_MS;
        }
    }
    sim->result->device_ns = sim->clock.mono_ns - start_ns;
    tt_talk_stop(talk);
    tt_listen_stop(listen);
    record(sim, listen, capacity);
}

static void mark_holes(struct sim_result *r)
{
    r->hole = calloc((size_t)r->recorded + 1, sizeof *r->hole);
    CHECK(r->hole);
    for (size_t i = 0; i < r->event_count; i++) {
        const struct tt_event *event = &r->events[i];

        if (event->kind != TT_EVENT_LOST && event->kind != TT_EVENT_LATE &&
            event->kind != TT_EVENT_ABSENT) {
            continue;
        }
        for (int64_t p = event->frame; p < event->frame + event->frames; p++) {
            if (p >= 0 && p < r->recorded) {
                r->hole[p] = true;
            }
        }
    }
}

/* The first packet that was placed tells where the source's first frame is, or would be. */
static void find_start(struct sim_result *r)
{
    const struct tt_event *placed = r->events;
    const struct tt_event *end = r->events + r->event_count;

    while (placed < end && placed->kind != TT_EVENT_RESYNC) {
        placed++;
    }
    r->start = INT64_MIN;
    for (size_t i = 0; placed < end && i < r->packet_count; i++) {
        if (r->packets[i].arrival_tai_ns == placed->time_tai_ns) {
            r->start = placed->frame - r->packets[i].frame;
            return;
        }
    }
}

void sim_run(const struct sim_case *c, struct sim_result *ret_result)
{
    struct sim sim = {.c = c, .result = ret_result, .fates = c->seed + 1, .wakes = c->seed + 2};
    struct tt_stream_config config = config_of(c);
    struct tt_loop_setup loop = {.clock = &sim.clock,
                                 .mtu_bytes = 1500,
                                 .keeps_launch_times = c->keeps_launch_times,
                                 .fate = on_packet,
                                 .context = &sim,
                                 .departure = on_departure,
                                 .capacity = 4096};
    struct tt_link *out = NULL;
    struct tt_link *in = NULL;
    struct tt_talk *talk = NULL;
    struct tt_listen *listen = NULL;
    int64_t capacity = c->frames + 20 * (int64_t)c->rate_hz;

    memset(ret_result, 0, sizeof *ret_result);
    ret_result->packets = calloc(PACKETS_MAX, sizeof *ret_result->packets);
    make_source(&sim);
    ret_result->recording = malloc((size_t)capacity * ret_result->frame_bytes);
    tt_clock_script_init(&sim.clock, 1000 * TT_NS_PER_S, c->tai_minus_mono_ns);
    CHECK(tt_link_loop_new(&loop, &out, &in) == 0);
    CHECK(tt_talk_new(&(struct tt_talk_setup){.config = &config,
                                              .link = out,
                                              .clock = &sim.clock.clock,
                                              .buffer_frames = c->buffer_frames,
                                              .release_ns = 200 * TT_NS_PER_US,
                                              .event_capacity = EVENTS_MAX},
                      &talk) == 0);
    CHECK(tt_listen_new(&(struct tt_listen_setup){.config = &config,
                                                  .link = in,
                                                  .clock = &sim.clock.clock,
                                                  .buffer_frames = c->buffer_frames,
                                                  .period_frames = c->period_frames,
                                                  .event_capacity = EVENTS_MAX},
                        &listen) == 0);
    atomic_store(&tt_talk_device(talk)->wake_frames, c->period_frames);
    atomic_store(&tt_listen_device(listen)->wake_frames, c->period_frames);
    run_until_recorded(&sim, talk, listen, capacity);
    tt_talk_counters(talk, &ret_result->talk);
    tt_listen_counters(listen, &ret_result->listen);
    ret_result->talk_notes = tt_talk_notes(talk);
    ret_result->events = copy_events(tt_listen_log(listen), &ret_result->event_count);
    ret_result->talk_events = copy_events(tt_talk_log(talk), &ret_result->talk_event_count);
    find_start(ret_result);
    mark_holes(ret_result);
    count_bursts(c, ret_result);
    tt_talk_free(talk);
    tt_listen_free(listen);
    tt_link_close(out);
    tt_link_close(in);
    free(sim.program);
}

void sim_free(struct sim_result *result)
{
    free(result->source);
    free(result->recording);
    free(result->hole);
    free(result->events);
    free(result->talk_events);
    free(result->packets);
}
