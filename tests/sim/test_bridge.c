/*
 * A sound card and a stream in virtual time, both ways: a card 80 ppm fast, a network 60 ppm slow,
 * a tone from one to the other; loss of the stream, a stall that empties the card, and a step of
 * TAI.
 */
#include "../unit/test.h"

#include <math.h>
#include <string.h>

#include "../unit/malloc_trap.h"
#include "audio/media_grid.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "os/card_script.h"
#include "os/link_loop.h"
#include "purity.h"
#include "run/bridge.h"
#include "run/engine.h"

#define RATE       48000
#define PDU_FRAMES 24
#define BUFFER     9600 /* frames, of every device */
#define CARD       4800
#define PERIOD     240
#define TONE_HZ    1000.0
#define TWO_PI     6.283185307179586
#define SECONDS    120
#define MTT_NS     (2 * TT_NS_PER_MS)
#define PLAYOUT_NS (3 * TT_NS_PER_MS)
#define LEVEL_NS   (50 * TT_NS_PER_MS)

struct world {
    struct tt_clock_script clock;
    uint64_t random;
    bool lost; /* nothing arrives */
    struct tt_media_grid grid;
    struct tt_talk *talk;
    struct tt_listen *listen;
    struct tt_link *links[2];
    struct tt_card_script card;
    struct tt_bridge *bridge;
    int64_t next_ns[3]; /* of talk, listen, bridge */
    int64_t bridge_stall_ns;
    int64_t written; /* of the tone into the talker */
    double *heard;   /* what comes out: played by the card, or presented by the listener */
    size_t count;
    double marks[3]; /* the last samples of the other channel */
    double mark_ns;  /* when the last mark came out, since the start of time */
};

#define CHANNELS    2
#define FRAME_BYTES (CHANNELS * 4)

static int32_t tone(int64_t frame)
{
    return (int32_t)(0.5 * 0x1p31 * sin(TWO_PI * TONE_HZ * (double)(frame % RATE) / RATE));
}

static int32_t mark(int64_t frame)
{
    return frame % RATE == 0 ? INT32_MAX / 2 : 0;
}

/* A frame came out: at `frame` by a clock whose frame 0 was at zero_ns. */
static void hear(struct world *world, const uint8_t *frame_bytes, bool big_endian, double frame,
                 double frame_ns, double zero_ns)
{
    double samples[CHANNELS];
    double *m = world->marks;

    for (int c = 0; c < CHANNELS; c++) {
        const uint8_t *bytes = frame_bytes + 4 * c;

        samples[c] = (int32_t)(big_endian ? tt_get_be32(bytes) : tt_get_le32(bytes)) * 0x1p-31;
    }
    if (world->count < (size_t)SECONDS * RATE) {
        world->heard[world->count++] = samples[0];
    }
    m[0] = m[1];
    m[1] = m[2];
    m[2] = samples[1];
    if (m[1] > 0.2 && m[1] >= m[0] && m[1] > m[2]) { /* the top of a parabola through the three */
        double top = (m[0] - m[2]) / (m[0] - 2 * m[1] + m[2]) / 2;

        world->mark_ns = zero_ns + (frame - 1 + top) * frame_ns;
    }
}

static void fate(void *context, uint64_t index, uint8_t *data, size_t bytes,
                 struct tt_loop_fate *fate)
{
    struct world *world = context;

    (void)index;
    (void)data;
    (void)bytes;
    fate->lost = world->lost;
}

/* The card's interrupts are served 20 us late, and one in 100 2 ms. By the frame: asked twice, it
 * says the same. */
static int64_t late_ns(void *context, int64_t frame)
{
    uint64_t random = (uint64_t)frame;
    uint64_t draw = random_next(&random);

    (void)context;
    return (int64_t)(draw % 40000) + (draw % 101 == 0 ? 2000000 : 0);
}

#define CARD_FRAME_NS    (1e9 / RATE / (1 + 80e-6))
#define NETWORK_FRAME_NS (1e9 / RATE * (1 + 60e-6))

static void play(void *context, int64_t frame, uint8_t *bytes)
{
    struct world *world = context;

    hear(world, bytes, false, (double)frame, CARD_FRAME_NS, (double)world->card.start_mono_ns);
}

static void capture(void *context, int64_t frame, uint8_t *bytes)
{
    uint32_t samples[CHANNELS] = {(uint32_t)tone(frame), (uint32_t)mark(frame)};

    (void)context;
    for (int i = 0; i < FRAME_BYTES; i++) {
        bytes[i] = (uint8_t)(samples[i / 4] >> (8 * (i % 4)));
    }
}

static void write_tone(struct world *world)
{
    struct tt_device *device = tt_talk_device(world->talk);
    uint8_t bytes[FRAME_BYTES];
    struct tt_pcm_area areas[CHANNELS] = {{bytes, FRAME_BYTES}, {bytes + 4, FRAME_BYTES}};

    while (world->written < atomic_load(&device->engine_frame) + BUFFER / 2) {
        tt_put_be32(bytes, (uint32_t)tone(world->written));
        tt_put_be32(bytes + 4, (uint32_t)mark(world->written));
        tt_talk_write(world->talk, world->written++, TT_PCM_S32_BE, areas, 1);
    }
}

static void record(struct world *world)
{
    struct tt_device *device = tt_listen_device(world->listen);
    int64_t frame = atomic_load(&device->program_frame);
    uint8_t bytes[FRAME_BYTES];
    struct tt_pcm_area areas[CHANNELS] = {{bytes, FRAME_BYTES}, {bytes + 4, FRAME_BYTES}};
    struct tt_listen_counters counters;

    tt_listen_counters(world->listen, &counters);
    for (; frame < atomic_load(&device->engine_frame); frame++) {
        tt_listen_read(world->listen, frame, TT_PCM_S32_BE, areas, 1);
        hear(world, bytes, true, (double)(frame - counters.clock.frame), NETWORK_FRAME_NS,
             (double)(counters.clock.tai_ns - world->clock.tai_minus_mono_ns - MTT_NS));
    }
}

static void world_streams(struct world *world, const struct tt_stream_config *config)
{
    struct tt_loop_setup loop = {
        .clock = &world->clock, .mtu_bytes = 1500, .fate = fate, .context = world, .capacity = 256};

    assert_int_equal(tt_link_loop_new(&loop, &world->links[0], &world->links[1]), 0);
    assert_int_equal(tt_talk_new(&(struct tt_talk_setup){.config = config,
                                                         .link = world->links[0],
                                                         .clock = &world->clock.clock,
                                                         .buffer_frames = BUFFER},
                                 &world->talk),
                     0);
    assert_int_equal(tt_listen_new(&(struct tt_listen_setup){.config = config,
                                                             .link = world->links[1],
                                                             .clock = &world->clock.clock,
                                                             .buffer_frames = BUFFER,
                                                             .period_frames = PERIOD},
                                   &world->listen),
                     0);
}

static void world_card(struct world *world, bool captures)
{
    world->card = (struct tt_card_script){.card = {.capture = captures,
                                                   .rate_hz = RATE,
                                                   .channels = CHANNELS,
                                                   .frame_bytes = FRAME_BYTES,
                                                   .period_frames = PERIOD,
                                                   .buffer_frames = CARD},
                                          .drift_ppb = 80000,
                                          .late_ns = late_ns,
                                          .frame = captures ? capture : play,
                                          .context = world,
                                          .ring = calloc(CARD, FRAME_BYTES)};
    assert_non_null(world->card.ring);
    tt_card_script_init(&world->card, &world->clock);
}

static void world_new(struct world *world, bool captures)
{
    struct tt_stream_config config;

    memset(world, 0, sizeof *world);
    world->random = 9;
    world->heard = calloc((size_t)SECONDS * RATE, sizeof *world->heard);
    assert_non_null(world->heard);
    tt_stream_config_init(&config);
    config.stream_id = 1;
    config.format = TT_AAF_INT32;
    config.rate_hz = RATE;
    config.channels = CHANNELS;
    config.frames_per_pdu = PDU_FRAMES;
    config.mtt_ns = MTT_NS;
    config.playout_latency_ns = PLAYOUT_NS;
    tt_clock_script_init(&world->clock, 1000 * TT_NS_PER_S, INT64_C(1800000000123456789));
    world_streams(world, &config);
    world_card(world, captures);
    assert_int_equal(tt_bridge_new(&(struct tt_bridge_setup){.config = &config,
                                                             .card = &world->card.card,
                                                             .card_format = TT_PCM_S32_LE,
                                                             .listen = world->listen,
                                                             .talk = world->talk,
                                                             .stream_buffer_frames = BUFFER,
                                                             .clock = &world->clock.clock,
                                                             .quality = TT_QUALITY_MEDIUM,
                                                             .level_ns = LEVEL_NS},
                                   &world->bridge),
                     0);
    /* the network's clock: a frame of it is 60 ppm longer than one of TAI */
    tt_media_grid_init(&world->grid);
    tt_media_clock_anchor(&world->grid.clock, world->clock.tai_minus_mono_ns,
                          world->clock.tai_minus_mono_ns + world->clock.mono_ns);
    world->grid.clock.drift = 60e-6;
    world->grid.ready = true;
    tt_talk_follow(world->talk, &world->grid);
    atomic_store(&tt_talk_device(world->talk)->endless, true);
    assert_int_equal(tt_talk_start(world->talk, false), 0);
    assert_int_equal(tt_listen_start(world->listen, false), 0);
    assert_int_equal(tt_bridge_start(world->bridge, false), 0);
    for (int i = 0; i < 3; i++) {
        world->next_ns[i] = world->clock.mono_ns;
    }
}

static void world_free(struct world *world)
{
    tt_bridge_free(world->bridge);
    tt_talk_free(world->talk);
    tt_listen_free(world->listen);
    tt_link_close(world->links[0]);
    tt_link_close(world->links[1]);
    free(world->card.ring);
    free(world->heard);
}

/* What is due next, at its time or a little late. */
static void world_step(struct world *world)
{
    int who = 0;

    for (int i = 1; i < 3; i++) {
        who = world->next_ns[i] < world->next_ns[who] ? i : who;
    }
    if (world->next_ns[who] > world->clock.mono_ns) {
        world->clock.mono_ns = world->next_ns[who];
    }
    if (who == 0) {
        if (!world->card.card.capture) {
            write_tone(world);
        }
        world->next_ns[0] = tt_talk_step(world->talk);
    } else if (who == 1) {
        world->next_ns[1] = tt_listen_step(world->listen);
        if (world->card.card.capture) {
            record(world);
        }
    } else {
        tt_trap_arm();
        world->next_ns[2] = tt_bridge_step(world->bridge);
        tt_trap_disarm();
        world->next_ns[2] += (int64_t)random_below(&world->random, 200000) + world->bridge_stall_ns;
        world->bridge_stall_ns = 0;
    }
}

static void run(struct world *world, double seconds)
{
    int64_t until_ns = world->clock.mono_ns + (int64_t)(seconds * 1e9);

    while (world->clock.mono_ns < until_ns) {
        world_step(world);
    }
}

static struct tt_bridge_counters counters_of(struct world *world, const char *what)
{
    struct tt_bridge_counters counters;

    tt_bridge_counters(world->bridge, &counters);
    print_message("%s: %s, level %.1f us off, ratio %+.3f ppm, network %+.3f, card %+.3f, %llu "
                  "xruns, %llu slips, %.1f s of holdover\n",
                  what, tt_servo_state_name(counters.state),
                  (double)(counters.level_ns - counters.target_ns) * 1e-3,
                  (double)counters.ratio_ppb * 1e-3, (double)counters.network_ppb * 1e-3,
                  (double)counters.card_ppb * 1e-3, (unsigned long long)counters.xruns,
                  (unsigned long long)counters.slips, (double)counters.holdover_ns * 1e-9);
    return counters;
}

static void assert_locked(const struct tt_bridge_counters *counters, int64_t ratio_ppb)
{
    assert_int_equal(counters->state, TT_SERVO_LOCKED);
    assert_in_range(counters->level_ns - counters->target_ns + 100000, 0, 200000);
    assert_in_range(counters->ratio_ppb - ratio_ppb + 10000, 0, 20000);
    assert_in_range(counters->network_ppb + 60000 + 1000, 0, 2000);
    assert_in_range(counters->card_ppb - 80000 + 1000, 0, 2000);
    assert_int_equal(counters->error, 0);
    assert_int_equal(counters->samples_clipped, 0);
}

/* When the last mark that came out had gone in, and so how long it took; the pointer of the card is
 * 20 us behind the truth in the mean. */
static void assert_in_time(struct world *world)
{
    double in_ns;
    double took_ns;

    if (world->card.card.capture) {
        in_ns = (double)world->card.start_mono_ns;
        took_ns = fmod(world->mark_ns - in_ns, RATE * CARD_FRAME_NS);
    } else {
        int64_t frame;
        int64_t due_tai_ns;

        tt_talk_clock(world->talk, &frame, &due_tai_ns);
        in_ns = (double)(due_tai_ns - world->clock.tai_minus_mono_ns + MTT_NS + PLAYOUT_NS) -
                (double)frame * NETWORK_FRAME_NS;
        took_ns = fmod(world->mark_ns - in_ns, RATE * NETWORK_FRAME_NS);
    }
    print_message("a mark took %.1f us\n", took_ns * 1e-3);
    assert_true(fabs(took_ns - LEVEL_NS) < 100000);
}

/* The last two seconds of what came out. */
static void assert_pure(const struct world *world)
{
    double tone_hz;
    double db =
        purity_thd_n(world->heard + world->count - 2 * RATE, (size_t)2 * RATE, RATE, &tone_hz);

    print_message("THD+N %.1f dB\n", db);
    assert_true(fabs(tone_hz - TONE_HZ) < 1);
    assert_true(db < -110);
}

/* From the silence of a loss the tone comes back as loud as it was: no frame is louder, none of the
 * silence is other than zero. */
static void assert_silence_then_tone(const struct world *world, size_t from)
{
    size_t zeros = 0;

    for (size_t i = from; i < world->count; i++) {
        zeros += world->heard[i] == 0;
        assert_true(fabs(world->heard[i]) < 0.56); /* what a step of the tone overshoots to */
    }
    assert_in_range(zeros, 4.8 * RATE, 5.0 * RATE);
}

static void assert_all_well(struct world *world, const char *what, uint64_t xruns, uint64_t slips)
{
    int64_t ratio_ppb = world->card.card.capture ? -139990 : 140010;
    struct tt_bridge_counters counters = counters_of(world, what);

    assert_locked(&counters, ratio_ppb);
    assert_int_equal(counters.xruns, xruns);
    assert_int_equal(counters.slips, slips);
    assert_pure(world);
    assert_in_time(world);
}

static void lose_the_network(struct world *world)
{
    size_t from = world->count;
    struct tt_bridge_counters before = counters_of(world, "before the loss");
    struct tt_bridge_counters counters;

    world->lost = true;
    run(world, 5);
    counters = counters_of(world, "5 s without the network");
    assert_int_equal(counters.state, TT_SERVO_HOLDOVER);
    assert_in_range(counters.ratio_ppb - before.ratio_ppb + 1000, 0, 2000);
    world->lost = false;
    run(world, 3);
    assert_silence_then_tone(world, from);
    run(world, 7);
    counters = counters_of(world, "and again with it");
    assert_in_range(counters.holdover_ns, 4600000000, 6500000000);
    assert_int_equal(counters.holdovers, 1);
}

/* The stream stands still for 20 ms: what it says next is a clock that jumped. */
static void pause_the_stream(struct world *world)
{
    if (world->card.card.capture) {
        tt_talk_stop(world->talk);
    } else {
        tt_listen_stop(world->listen);
    }
    run(world, 0.02);
    if (world->card.card.capture) {
        assert_int_equal(tt_talk_start(world->talk, false), 0);
    } else {
        assert_int_equal(tt_listen_start(world->listen, false), 0);
    }
    run(world, 15);
}

static void both_ways(void **state)
{
    (void)state;
    for (int captures = 0; captures < 2; captures++) {
        struct world world;

        world_new(&world, captures != 0);
        run(&world, 10);
        assert_all_well(&world, captures ? "capture" : "playback", 0, 0);
        if (!captures) {
            lose_the_network(&world);
            assert_all_well(&world, "after the loss", 0, 0);
        }
        world.bridge_stall_ns = 300000000;
        run(&world, 10);
        assert_all_well(&world, "after a stall of 300 ms", 1, 0);
        world.clock.tai_minus_mono_ns += 2 * TT_NS_PER_S;
        run(&world, 10);
        assert_all_well(&world, "after a step of TAI", 1, 0);
        pause_the_stream(&world);
        assert_all_well(&world, "after a pause of the stream", 1, 1);
        world_free(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
