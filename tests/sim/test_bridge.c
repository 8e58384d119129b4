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
};

static int32_t tone(int64_t frame)
{
    return (int32_t)(0.5 * 0x1p31 * sin(TWO_PI * TONE_HZ * (double)(frame % RATE) / RATE));
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

static void play(void *context, int64_t frame, uint8_t *bytes)
{
    struct world *world = context;

    (void)frame;
    if (world->count < (size_t)SECONDS * RATE) {
        world->heard[world->count++] = (double)(int32_t)tt_get_le32(bytes) * 0x1p-31;
    }
}

static void capture(void *context, int64_t frame, uint8_t *bytes)
{
    uint32_t sample = (uint32_t)tone(frame);

    (void)context;
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(sample >> (8 * i));
    }
}

static void write_tone(struct world *world)
{
    struct tt_device *device = tt_talk_device(world->talk);
    uint8_t bytes[4];
    struct tt_pcm_area area = {bytes, 4};

    while (world->written < atomic_load(&device->engine_frame) + BUFFER / 2) {
        tt_put_be32(bytes, (uint32_t)tone(world->written));
        tt_talk_write(world->talk, world->written++, TT_PCM_S32_BE, &area, 1);
    }
}

static void record(struct world *world)
{
    struct tt_device *device = tt_listen_device(world->listen);
    int64_t frame = atomic_load(&device->program_frame);
    uint8_t bytes[4];
    struct tt_pcm_area area = {bytes, 4};

    for (; frame < atomic_load(&device->engine_frame); frame++) {
        tt_listen_read(world->listen, frame, TT_PCM_S32_BE, &area, 1);
        if (world->count < (size_t)SECONDS * RATE) {
            world->heard[world->count++] = (double)(int32_t)tt_get_be32(bytes) * 0x1p-31;
        }
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
                                                   .channels = 1,
                                                   .frame_bytes = 4,
                                                   .period_frames = PERIOD,
                                                   .buffer_frames = CARD},
                                          .drift_ppb = 80000,
                                          .late_ns = late_ns,
                                          .frame = captures ? capture : play,
                                          .context = world,
                                          .ring = calloc(CARD, 4)};
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
    config.channels = 1;
    config.frames_per_pdu = PDU_FRAMES;
    config.mtt_ns = 2 * TT_NS_PER_MS;
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
                                                             .quality = TT_QUALITY_MEDIUM},
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

static void both_ways(void **state)
{
    (void)state;
    for (int captures = 0; captures < 2; captures++) {
        int64_t ratio_ppb = captures ? -139990 : 140010;
        struct tt_bridge_counters counters;
        struct world world;
        uint64_t padded;
        size_t from;

        world_new(&world, captures != 0);
        run(&world, 10);
        counters = counters_of(&world, captures ? "capture" : "playback");
        assert_locked(&counters, ratio_ppb);
        assert_int_equal(counters.xruns + counters.slips, 0);
        assert_int_equal(counters.holdover_ns, 0);
        assert_pure(&world);
        if (!captures) {
            from = world.count;
            world.lost = true;
            run(&world, 5);
            counters = counters_of(&world, "5 s without the network");
            assert_int_equal(counters.state, TT_SERVO_HOLDOVER);
            assert_in_range(counters.ratio_ppb - ratio_ppb + 10000, 0, 20000);
            world.lost = false;
            run(&world, 3);
            assert_silence_then_tone(&world, from);
            run(&world, 7);
            counters = counters_of(&world, "and again with it");
            assert_locked(&counters, ratio_ppb);
            assert_int_equal(counters.xruns + counters.slips, 0);
            assert_in_range(counters.holdover_ns, 4600000000, 6500000000);
            assert_pure(&world);
        }
        world.bridge_stall_ns = 300000000;
        run(&world, 10);
        counters = counters_of(&world, "a stall of 300 ms later");
        assert_locked(&counters, ratio_ppb);
        assert_int_equal(counters.xruns, 1);
        assert_pure(&world);
        world.clock.tai_minus_mono_ns += 2 * TT_NS_PER_S;
        padded = counters.slips;
        run(&world, 10);
        counters = counters_of(&world, "TAI stepped by 2 s");
        assert_int_equal(counters.clock_steps, 1);
        assert_int_equal(counters.xruns, 1);
        assert_true(counters.slips <= padded + 1);
        assert_locked(&counters, ratio_ppb);
        assert_pure(&world);
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
