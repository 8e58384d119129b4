/*
 * One CRF clock for many AAF streams, engine to engine in virtual time: a master 73 ppm fast, a
 * process whose three talkers follow it and that tells the clock on, and one that records them.
 */
#include "../unit/test.h"

#include <string.h>

#include "../unit/malloc_trap.h"
#include "base/ns.h"
#include "os/link_loop.h"
#include "run/clock_in.h"
#include "run/clock_out.h"
#include "run/engine.h"
#include "run/listen.h"
#include "run/talk.h"

#define STREAMS   3
#define BUFFER    19200
#define PERIOD    480
#define DRIFT_PPB 73000

enum { MASTER, FOLLOWER, RECORDER, ENGINES };

static const uint8_t crf_dest[6] = {0x91, 0xE0, 0xF0, 0, 0xFE, 9};
static const uint32_t rates[STREAMS] = {48000, 96000, 44100};

struct world {
    struct tt_clock_script clock;
    uint64_t random;
    bool lost;               /* the master's PDUs */
    unsigned loss_per_mille; /* of them at other times */
    struct tt_engine *engines[ENGINES];
    int64_t next_ns[ENGINES];
    struct tt_link *crf[2];
    struct tt_link *told[2];
    struct tt_link *audio[2];
    struct tt_media_grid master;
    struct tt_clock_out *out; /* the master's */
    struct tt_clock_in *in;   /* the follower's, and what it tells on … */
    struct tt_clock_out *told_out;
    struct tt_clock_in *told_in; /* … to the recorder */
    struct tt_talk *talks[STREAMS];
    struct tt_listen *listens[STREAMS];
};

static void fate(void *context, uint64_t index, uint8_t *data, size_t bytes,
                 struct tt_loop_fate *ret_fate)
{
    struct world *world = context;

    (void)index, (void)data, (void)bytes;
    ret_fate->lost = world->lost || random_below(&world->random, 1000) < world->loss_per_mille;
    ret_fate->delay_ns += (int64_t)random_below(&world->random, 3000000); /* so some overtake */
}

static void new_link(struct world *world, bool faulty, struct tt_link *ret_links[2])
{
    struct tt_loop_setup loop = {
        .clock = &world->clock, .mtu_bytes = 1500, .context = world, .capacity = 512};

    loop.fate = faulty ? fate : NULL;
    assert_int_equal(tt_link_loop_new(&loop, &ret_links[0], &ret_links[1]), 0);
}

static struct tt_clock_out *new_out(struct tt_link *link, uint64_t stream_id,
                                    const struct tt_media_grid *grid)
{
    struct tt_clock_out_setup setup = {.link = link, .grid = grid};
    struct tt_clock_out *out;
    struct tt_crf_config config;

    tt_crf_config_init(&config, 48000);
    memcpy(config.dest, crf_dest, sizeof crf_dest);
    config.stream_id = stream_id;
    setup.config = &config;
    assert_int_equal(tt_clock_out_new(&setup, &out), 0);
    return out;
}

static struct tt_clock_in *new_in(struct tt_link *link, uint64_t stream_id)
{
    struct tt_clock_in_setup setup = {.link = link, .stream_id = stream_id, .event_capacity = 16};
    struct tt_clock_in *in;

    memcpy(setup.dest, crf_dest, sizeof crf_dest);
    assert_int_equal(tt_clock_in_new(&setup, &in), 0);
    return in;
}

static void new_stream(struct world *world, size_t i)
{
    struct tt_stream_config config;

    tt_stream_config_init(&config);
    config.stream_id = 100 + i;
    config.dest[5] = (uint8_t)i;
    config.format = TT_AAF_INT16;
    config.rate_hz = rates[i];
    config.channels = 1;
    config.frames_per_pdu = rates[i] / 2000;
    config.mtt_ns = 2 * TT_NS_PER_MS;
    assert_int_equal(tt_talk_new(&(struct tt_talk_setup){.config = &config,
                                                         .link = world->audio[0],
                                                         .engine = world->engines[FOLLOWER],
                                                         .buffer_frames = BUFFER},
                                 &world->talks[i]),
                     0);
    assert_int_equal(tt_listen_new(&(struct tt_listen_setup){.config = &config,
                                                             .link = world->audio[1],
                                                             .engine = world->engines[RECORDER],
                                                             .buffer_frames = BUFFER,
                                                             .period_frames = PERIOD},
                                   &world->listens[i]),
                     0);
    atomic_store(&tt_talk_device(world->talks[i])->endless, true);
    atomic_store(&tt_listen_device(world->listens[i])->endless, true);
}

static void world_new(struct world *world)
{
    memset(world, 0, sizeof *world);
    world->random = 3;
    tt_clock_script_init(&world->clock, 1000 * TT_NS_PER_S, INT64_C(1800000000123456789));
    for (int i = 0; i < ENGINES; i++) {
        assert_int_equal(tt_engine_new(&world->clock.clock, &world->engines[i]), 0);
    }
    new_link(world, true, world->crf);
    new_link(world, false, world->told);
    new_link(world, false, world->audio);
    tt_media_grid_init(&world->master);
    tt_media_clock_anchor(&world->master.clock, world->clock.tai_minus_mono_ns,
                          world->clock.tai_minus_mono_ns + world->clock.mono_ns);
    world->master.clock.drift = 1 / (1 + DRIFT_PPB * 1e-9) - 1;
    world->master.ready = true;
    world->out = new_out(world->crf[0], 1, &world->master);
    world->in = new_in(world->crf[1], 1);
    world->told_out = new_out(world->told[0], 2, tt_clock_in_grid(world->in));
    world->told_in = new_in(world->told[1], 2);
    for (size_t i = 0; i < STREAMS; i++) {
        new_stream(world, i);
    }
    tt_engine_tell(world->engines[MASTER], world->out);
    tt_engine_follow(world->engines[FOLLOWER], world->in);
    tt_engine_tell(world->engines[FOLLOWER], world->told_out);
    tt_engine_follow(world->engines[RECORDER], world->told_in);
    for (int i = 0; i < ENGINES; i++) {
        assert_int_equal(tt_engine_start(world->engines[i], false), 0);
        world->next_ns[i] = world->clock.mono_ns;
    }
}

static void world_free(struct world *world)
{
    for (size_t i = 0; i < STREAMS; i++) {
        tt_talk_free(world->talks[i]);
        tt_listen_free(world->listens[i]);
    }
    for (int i = 0; i < ENGINES; i++) {
        tt_engine_free(world->engines[i]);
    }
    tt_clock_out_free(world->out);
    tt_clock_out_free(world->told_out);
    tt_clock_in_free(world->in);
    tt_clock_in_free(world->told_in);
    for (int i = 0; i < 2; i++) {
        tt_link_close(world->crf[i]);
        tt_link_close(world->told[i]);
        tt_link_close(world->audio[i]);
    }
}

static void run(struct world *world, double seconds)
{
    int64_t until_ns = world->clock.mono_ns + (int64_t)(seconds * 1e9);

    while (world->clock.mono_ns < until_ns) {
        int who = 0;

        for (int i = 1; i < ENGINES; i++) {
            who = world->next_ns[i] < world->next_ns[who] ? i : who;
        }
        if (world->next_ns[who] > world->clock.mono_ns) {
            world->clock.mono_ns = world->next_ns[who];
        }
        tt_trap_arm();
        world->next_ns[who] = tt_engine_step(world->engines[who]);
        tt_trap_disarm();
        world->next_ns[who] += (int64_t)random_below(&world->random, 20000);
    }
}

static struct tt_clock_in_counters counters_of(struct tt_clock_in *in)
{
    struct tt_clock_in_counters counters;

    tt_clock_in_counters(in, &counters);
    return counters;
}

/* All that is recorded runs at the master's rate and on its grid, and says so. */
static void assert_streams(struct world *world, bool alarm)
{
    for (size_t i = 0; i < STREAMS; i++) {
        struct tt_listen_counters listen;
        int64_t frame;
        int64_t due_tai_ns;
        int64_t off_ns;

        tt_listen_counters(world->listens[i], &listen);
        assert_true(listen.talker_present);
        assert_in_range(listen.drift_ppb - DRIFT_PPB + 300, 0, 600);
        assert_int_equal(listen.stream.resyncs + listen.stream.stamps_off, 0);
        assert_int_equal(listen.stream.restarts, 0);
        assert_int_equal(listen.stream.pdus_uncertain > 0, alarm);
        assert_int_equal((tt_talk_notes(world->talks[i]) & TT_NOTE_MASTER_LOST) != 0, alarm);
        /* a presentation is on the master's grid: the stream's frames, since the start of time */
        tt_talk_clock(world->talks[i], &frame, &due_tai_ns);
        frame = tt_media_grid_frame(&world->master, (struct tt_media_rate){rates[i], 1},
                                    due_tai_ns + 2 * TT_NS_PER_MS - 1000);
        off_ns = tt_media_grid_time(&world->master, (struct tt_media_rate){rates[i], 1}, frame) -
                 due_tai_ns - 2 * TT_NS_PER_MS;
        if (rates[i] % 48000 == 0) {
            assert_in_range(off_ns + 300, 0, 600);
        }
    }
}

static void one_clock_for_all(void **state)
{
    struct tt_clock_in_counters in;
    struct tt_clock_out_counters told;
    struct tt_talk_counters talk;
    struct world world;

    (void)state;
    world_new(&world);
    world.loss_per_mille = 20;
    run(&world, 0.3);
    tt_talk_counters(world.talks[0], &talk);
    assert_int_equal(talk.pdus_sent, 0); /* there is no clock yet */
    run(&world, 20);
    in = counters_of(world.in);
    assert_int_equal(in.state, TT_CRF_LOCKED);
    assert_in_range(in.drift_ppb - DRIFT_PPB + 20, 0, 40);
    assert_true(in.crf.pdus_lost > 0 && in.crf.pdus_reordered > 0);
    assert_int_equal(counters_of(world.told_in).state, TT_CRF_LOCKED);
    assert_in_range(counters_of(world.told_in).drift_ppb - DRIFT_PPB + 20, 0, 40);
    assert_streams(&world, false);
    world.lost = true;
    run(&world, 5);
    in = counters_of(world.in);
    assert_int_equal(in.state, TT_CRF_HOLDOVER);
    assert_int_equal(in.crf.holdovers, 1);
    /* what it tells on is as uncertain as itself, and goes on */
    in = counters_of(world.told_in);
    assert_true(in.state == TT_CRF_LOCKED && in.uncertain);
    assert_streams(&world, true);
    world.lost = false;
    run(&world, 5);
    in = counters_of(world.in);
    assert_true(in.state == TT_CRF_LOCKED && !in.uncertain);
    assert_false(counters_of(world.told_in).uncertain);
    assert_int_equal(in.crf.resyncs, 0);
    assert_in_range(in.crf.holdover_ns, 5300000000, 5700000000);
    assert_streams(&world, true);
    tt_clock_out_counters(world.told_out, &told);
    assert_in_range(told.pdus_uncertain, 2650, 2800);
    assert_int_equal(told.pdus_dropped + told.pdus_refused, 0);
    assert_int_equal(tt_clock_in_log(world.in)->n, 3);
    world_free(&world);
}

/* A master that says that its own clock is not synchronised is followed, and nothing is lost. */
static void follows_an_uncertain_master(void **state)
{
    struct tt_clock_in_counters in;
    struct world world;

    (void)state;
    world_new(&world);
    world.master.uncertain = true;
    run(&world, 5);
    in = counters_of(world.in);
    assert_true(in.state == TT_CRF_LOCKED && in.uncertain);
    assert_int_equal(in.crf.holdovers, 0);
    for (size_t i = 0; i < STREAMS; i++) {
        struct tt_listen_counters listen;
        unsigned notes = tt_talk_notes(world.talks[i]);

        tt_listen_counters(world.listens[i], &listen);
        assert_true(listen.talker_present && listen.stream.pdus_uncertain > 0);
        assert_int_equal(notes & TT_NOTE_MASTER_LOST, 0);
        assert_true(notes & TT_NOTE_MASTER_UNCERTAIN);
    }
    world_free(&world);
}

/* Without a clock to follow they run on TAI again; TAI steps under a clock that does not. */
static void stops_starts_and_steps(void **state)
{
    struct world world;
    struct tt_talk_counters before;
    struct tt_talk_counters after;

    (void)state;
    world_new(&world);
    run(&world, 5);
    tt_engine_stop(world.engines[FOLLOWER]);
    assert_int_equal(tt_engine_start(world.engines[FOLLOWER], false), 0);
    tt_talk_counters(world.talks[1], &before);
    run(&world, 1);
    tt_talk_counters(world.talks[1], &after); /* at once: its clock is known */
    assert_in_range(after.pdus_sent - before.pdus_sent, 1990, 2002);
    world.clock.tai_minus_mono_ns += 3 * TT_NS_PER_S + 1;
    run(&world, 1);
    tt_talk_counters(world.talks[1], &after);
    assert_int_equal(after.clock_steps, 1);
    assert_in_range(after.pdus_sent - before.pdus_sent, 3980, 4004);
    assert_int_equal(after.pdus_dropped, before.pdus_dropped);
    assert_int_equal(counters_of(world.in).state, TT_CRF_LOCKED);
    assert_int_equal(counters_of(world.in).crf.holdovers, 0);
    tt_engine_stop(world.engines[FOLLOWER]);
    tt_engine_follow(world.engines[FOLLOWER], NULL);
    tt_engine_tell(world.engines[FOLLOWER], NULL);
    assert_int_equal(tt_engine_start(world.engines[FOLLOWER], false), 0);
    tt_talk_counters(world.talks[1], &before);
    run(&world, 1);
    tt_talk_counters(world.talks[1], &after);
    assert_in_range(after.pdus_sent - before.pdus_sent, 1990, 2002);
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_clock_for_all),
        cmocka_unit_test(follows_an_uncertain_master),
        cmocka_unit_test(stops_starts_and_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
