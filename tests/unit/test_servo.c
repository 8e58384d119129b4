/*
 * The servo between two audio clocks, alone: a network 60 ppm slow, a card 80 ppm fast, pointers as
 * cards have them, ten hours, loss, wander and xruns. What it holds is judged by the true clocks.
 */
#include "test.h"

#include <math.h>
#include <stdio.h>

#include "audio_clocks.h"
#include "audio/servo.h"
#include "base/ns.h"

#define TARGET_NS (30 * TT_NS_PER_MS)
#define BUFFER_NS (80 * TT_NS_PER_MS) /* the card's */
#define FILTER    144                 /* source frames that a resampler keeps in hand */
/* 64-bit divisions are dear in 32 bits, where it is the widths that are tried: a tenth of the time.
 */
#define SHARE        (sizeof(void *) < 8 ? 10 : 1)
#define LEVEL_MAX_NS 500000

struct bridge {
    struct audio_clock source;
    struct audio_clock sink;
    enum pointer_kind kind;
    int64_t jitter_ns;
    int64_t nap_ns; /* longer than the usual sleep by so much */
    bool capture;   /* the source is the card */
    uint64_t random;
    int64_t now_ns; /* since the epoch */
    bool lost;      /* nothing is seen of the network */
    struct tt_servo servo;
    int64_t given; /* source frames so far */
    int64_t locked_ns;
    double worst_ns; /* of the true level, since it was locked */
    double mean_ns;
    int64_t xruns;
    double ratio_low; /* against true, ppm; since the test reset them */
    double ratio_high;
    uint64_t steps;
};

static void bridge_init(struct bridge *bridge, enum pointer_kind kind, uint64_t seed)
{
    *bridge = (struct bridge){
        .source = {.rate_hz = 48000, .ppb = -60000},
        .sink = {.rate_hz = 48000, .ppb = 80000},
        .kind = kind,
        .jitter_ns = 500,
        .random = seed,
        .now_ns = TT_NS_PER_S,
    };
}

static void bridge_start(struct bridge *bridge)
{
    int64_t sink_frame =
        (int64_t)audio_clock_frames(&bridge->sink, (double)(bridge->now_ns + TARGET_NS));

    tt_servo_init(&bridge->servo, bridge->source.rate_hz, bridge->sink.rate_hz, TARGET_NS);
    bridge->given = (int64_t)audio_clock_frames(&bridge->source, (double)bridge->now_ns);
    tt_servo_place(&bridge->servo, bridge->given, sink_frame);
    bridge->now_ns += 1000000;
}

static struct tt_servo_sight look_at(struct bridge *bridge, const struct audio_clock *clock,
                                     bool card)
{
    struct tt_servo_sight sight;

    if (card) {
        return audio_clock_pointer(clock, bridge->kind, bridge->now_ns, &bridge->random);
    }
    sight = audio_clock_stamp(clock, bridge->now_ns, bridge->jitter_ns, &bridge->random);
    sight.seen = !bridge->lost;
    return sight;
}

/* The resampler: as many frames as what it was given allows. */
static void make_frames(struct bridge *bridge)
{
    struct tt_servo *servo = &bridge->servo;
    double frames;

    bridge->given = (int64_t)audio_clock_frames(&bridge->source, (double)bridge->now_ns);
    frames =
        floor(((double)(bridge->given - FILTER - servo->source.frame) - servo->source.fraction) *
              servo->ratio);
    tt_servo_made(servo, frames > 0 ? (int64_t)frames : 0);
}

static void watch(struct bridge *bridge)
{
    const struct tt_servo *servo = &bridge->servo;
    double source_ns =
        audio_clock_ns(&bridge->source, (double)servo->source.frame + servo->source.fraction);
    double lag_ns = audio_clock_pointer_lag_ns(bridge->kind);
    double level_ns = audio_clock_ns(&bridge->sink, (double)servo->sink.frame) - source_ns +
                      (bridge->capture ? -lag_ns : lag_ns);
    double off_ppm = (servo->ratio * (1 + (double)bridge->source.ppb * 1e-9) /
                          (1 + (double)bridge->sink.ppb * 1e-9) -
                      1) *
                     1e6;

    if (servo->state == TT_SERVO_LOCKED && bridge->locked_ns == 0) {
        bridge->locked_ns = bridge->now_ns;
    }
    if (bridge->locked_ns > 0) {
        bridge->worst_ns = fmax(bridge->worst_ns, fabs(level_ns - (double)TARGET_NS));
        bridge->mean_ns += level_ns - (double)TARGET_NS;
        bridge->steps++;
        bridge->ratio_low = fmin(bridge->ratio_low, off_ppm);
        bridge->ratio_high = fmax(bridge->ratio_high, off_ppm);
    }
}

/* The card must not have run out before this step, nor be asked to take more than it can. */
static void step(struct bridge *bridge)
{
    struct tt_servo *servo = &bridge->servo;
    struct tt_servo_sight source = look_at(bridge, &bridge->source, bridge->capture);
    struct tt_servo_sight sink = look_at(bridge, &bridge->sink, !bridge->capture);
    double played = audio_clock_frames(&bridge->sink, (double)bridge->now_ns);
    double room = (double)BUFFER_NS * 1e-9 * bridge->sink.rate_hz;

    bridge->xruns += played >= (double)servo->sink.frame;
    tt_servo_step(servo, &source, &sink, AUDIO_CLOCKS_EPOCH_NS + bridge->now_ns);
    make_frames(bridge);
    bridge->xruns += (double)servo->sink.frame - played > room;
    watch(bridge);
    bridge->now_ns += audio_clock_sleep(&bridge->random) + bridge->nap_ns;
}

static void run(struct bridge *bridge, double seconds)
{
    int64_t until_ns = bridge->now_ns + (int64_t)(seconds * 1e9);

    while (bridge->now_ns < until_ns) {
        step(bridge);
    }
}

static void forget_extremes(struct bridge *bridge)
{
    bridge->ratio_low = INFINITY;
    bridge->ratio_high = -INFINITY;
}

static void say(const struct bridge *bridge, const char *what)
{
    print_message("%s: locked after %.1f s, level within %.1f us (mean %+.1f), ratio within %+.3f "
                  "and %+.3f ppm, %lld xruns, %llu slips, %llu holdovers\n",
                  what, (double)(bridge->locked_ns - TT_NS_PER_S) * 1e-9, bridge->worst_ns * 1e-3,
                  bridge->mean_ns * 1e-3 / (double)bridge->steps, bridge->ratio_low,
                  bridge->ratio_high, (long long)bridge->xruns,
                  (unsigned long long)bridge->servo.slips,
                  (unsigned long long)bridge->servo.holdovers);
}

static void assert_held(const struct bridge *bridge)
{
    assert_int_equal(bridge->xruns, 0);
    assert_int_equal(bridge->servo.slips, 0);
    assert_in_range(bridge->locked_ns, TT_NS_PER_S + 1, 11 * TT_NS_PER_S);
    assert_true(bridge->worst_ns < LEVEL_MAX_NS);
}

/* Two exact clocks: the level is right to the ns, whatever the fraction of a frame. */
static void the_level_knows_fractions(void **state)
{
    struct tt_servo servo;
    struct tt_servo_sight source = {true, 0, AUDIO_CLOCKS_EPOCH_NS};
    struct tt_servo_sight sink = {true, 0, AUDIO_CLOCKS_EPOCH_NS};

    (void)state;
    tt_servo_init(&servo, 48000, 44100, TT_NS_PER_MS);
    tt_servo_place(&servo, 0, 44);
    tt_servo_step(&servo, &source, &sink, AUDIO_CLOCKS_EPOCH_NS);
    servo.ratio = 0.91875; /* 44100 / 48000: each frame of the sink is as long as it is here */
    source.seen = false;
    sink.seen = false;
    for (int i = 0; i < 1000; i++) {
        tt_servo_made(&servo, 1 + i % 3);
        servo.ratio = 0.91875;
        tt_servo_step(&servo, &source, &sink, AUDIO_CLOCKS_EPOCH_NS);
        assert_in_range(servo.level_ns - 997732 + 2, 0, 4);
    }
    servo.ratio = 1; /* 1 / 44100 s of the sink for 1 / 48000 s of the source */
    tt_servo_made(&servo, 100);
    tt_servo_step(&servo, &source, &sink, AUDIO_CLOCKS_EPOCH_NS);
    assert_in_range(servo.level_ns - 997732 - 184240 + 2, 0, 4);
}

static void ten_hours(void **state)
{
    struct bridge bridge;

    (void)state;
    bridge_init(&bridge, POINTER_PERIODS, 1);
    bridge.nap_ns = 5000000;
    bridge_start(&bridge);
    run(&bridge, 60);
    forget_extremes(&bridge);
    for (int hour = 0; hour < 10 / SHARE; hour++) {
        run(&bridge, 3594);
        bridge.lost = true;
        run(&bridge, 5);
        assert_int_equal(bridge.servo.state, TT_SERVO_HOLDOVER);
        bridge.lost = false;
        run(&bridge, 1);
    }
    run(&bridge, 2);
    say(&bridge, "10 h");
    assert_held(&bridge);
    assert_int_equal(bridge.servo.state, TT_SERVO_LOCKED);
    assert_int_equal(bridge.servo.holdovers, 10 / SHARE);
}

static void every_pointer_both_ways(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < POINTER_KINDS; kind++) {
        for (unsigned capture = 0; capture < 2; capture++) {
            for (uint64_t seed = 1; seed <= (SHARE > 1 ? 1 : 2); seed++) {
                static const char *const names[POINTER_KINDS] = {"periods", "dma", "usb"};
                char text[64];
                struct bridge bridge;

                bridge_init(&bridge, (enum pointer_kind)kind, seed);
                bridge.capture = capture != 0;
                if (capture) {
                    struct audio_clock network = bridge.source;

                    bridge.source = bridge.sink;
                    bridge.sink = network;
                }
                bridge_start(&bridge);
                run(&bridge, 60);
                forget_extremes(&bridge);
                run(&bridge, 240);
                snprintf(text, sizeof text, "%s %s, seed %u", names[kind],
                         capture ? "capture" : "playback", (unsigned)seed);
                say(&bridge, text);
                assert_held(&bridge);
            }
        }
    }
}

/* 5 s without the network: the ratio stays what it was to the last bit, and neither its going nor
 * its coming moves the level. */
static void frozen_while_the_network_is_gone(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < POINTER_KINDS; kind++) {
        struct bridge bridge;
        double ratio;

        bridge_init(&bridge, (enum pointer_kind)kind, 7);
        bridge_start(&bridge);
        run(&bridge, 120);
        bridge.worst_ns = 0;
        bridge.lost = true;
        run(&bridge, 0.4);
        assert_int_equal(bridge.servo.state, TT_SERVO_HOLDOVER);
        ratio = bridge.servo.ratio;
        run(&bridge, 4.6);
        assert_true(ratio == bridge.servo.ratio);
        bridge.lost = false;
        forget_extremes(&bridge);
        run(&bridge, 60);
        say(&bridge, "after the loss");
        assert_int_equal(bridge.servo.state, TT_SERVO_LOCKED);
        assert_held(&bridge);
        assert_true(bridge.worst_ns < 100000);
        assert_true(bridge.ratio_high - bridge.ratio_low < 2);
    }
}

/* An hour without the network: the frozen ratio is wrong by some parts in 10^8, and the card warms
 * up by 2 ppm; the level leaves its band for no more than it takes to steer it back. */
static void an_hour_of_holdover(void **state)
{
    struct bridge bridge;

    (void)state;
    bridge_init(&bridge, POINTER_DMA, 3);
    bridge.sink.wander_ppb = 2000;
    bridge.sink.wander_s = 3600;
    bridge_start(&bridge);
    run(&bridge, 120);
    bridge.lost = true;
    run(&bridge, 3600.0 / SHARE);
    say(&bridge, "an hour");
    assert_int_equal(bridge.servo.state, TT_SERVO_HOLDOVER);
    assert_held(&bridge);
}

/* Clocks that wander by +-5 ppm in ten minutes, 0.05 ppm a second at most. */
static void clocks_that_wander(void **state)
{
    struct bridge bridge;

    (void)state;
    bridge_init(&bridge, POINTER_PERIODS, 4);
    bridge.sink.wander_ppb = 5000;
    bridge.sink.wander_s = 600;
    bridge.source.wander_ppb = -5000;
    bridge.source.wander_s = 700;
    bridge_start(&bridge);
    run(&bridge, 1800.0 / SHARE);
    say(&bridge, "wandering");
    assert_held(&bridge);
}

/* Another talker, of a clock that is 150 ppm off the last one's. */
static void another_rate_at_once(void **state)
{
    static const int64_t changes_ppb[] = {150000, -150000};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(changes_ppb); i++) {
        struct bridge bridge;

        bridge_init(&bridge, POINTER_PERIODS, 5);
        bridge_start(&bridge);
        run(&bridge, 300);
        /* the frame that is now is the same by both rates */
        audio_clock_change(&bridge.source, bridge.now_ns, bridge.source.ppb + changes_ppb[i]);
        run(&bridge, 300);
        say(&bridge, "another rate");
        assert_held(&bridge);
        assert_in_range(
            tt_media_clock_drift_ppb(&bridge.servo.source.clock) - bridge.source.ppb + 100, 0, 200);
    }
}

static void every_pair_of_rates(void **state)
{
    static const uint32_t rates[] = {44100, 48000, 96000, 192000};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(rates); i++) {
        for (size_t o = 0; o < TT_COUNT_OF(rates); o++) {
            struct bridge bridge;

            bridge_init(&bridge, POINTER_DMA, 6);
            bridge.source.rate_hz = rates[i];
            bridge.sink.rate_hz = rates[o];
            bridge_start(&bridge);
            run(&bridge, 60);
            assert_held(&bridge);
            assert_in_range(tt_servo_ratio_ppb(&bridge.servo) - 140000 + 2000, 0, 4000);
        }
    }
}

/* The card stood still for 40 ms and counts anew; then time itself steps. */
static void xrun_and_step(void **state)
{
    struct bridge bridge;
    int64_t sink_frame;

    (void)state;
    bridge_init(&bridge, POINTER_PERIODS, 8);
    bridge_start(&bridge);
    run(&bridge, 60);
    bridge.now_ns += 40000000;
    sink_frame = (int64_t)audio_clock_frames(&bridge.sink, (double)(bridge.now_ns + TARGET_NS));
    tt_servo_forget_sink(&bridge.servo);
    tt_servo_place(&bridge.servo, bridge.servo.source.frame, sink_frame);
    run(&bridge, 60);
    assert_int_equal(bridge.servo.slips, 1);
    bridge.servo.slips = 0;
    assert_held(&bridge);
    tt_servo_clock_step(&bridge.servo, TT_NS_PER_S);
    assert_int_equal(bridge.servo.source.clock.tai_ns - bridge.servo.step_tai_ns < TT_NS_PER_S, 1);
    assert_int_equal(bridge.servo.state, TT_SERVO_LOCKED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pointer_both_ways),
        cmocka_unit_test(the_level_knows_fractions),
        cmocka_unit_test(ten_hours),
        cmocka_unit_test(frozen_while_the_network_is_gone),
        cmocka_unit_test(an_hour_of_holdover),
        cmocka_unit_test(clocks_that_wander),
        cmocka_unit_test(another_rate_at_once),
        cmocka_unit_test(every_pair_of_rates),
        cmocka_unit_test(xrun_and_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
