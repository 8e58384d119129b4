/*
 * What is heard of two clocks that meet: a tone through servo and resampler while the clocks drift
 * and the card's pointer jitters, in 24 bits, and how pure it is. The meter itself is shown first.
 */
#include "../unit/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../unit/audio_clocks.h"
#include "../unit/malloc_trap.h"
#include "audio/pcm_float.h"
#include "audio/servo.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "purity.h"
#include "run/resampler.h"

#define RATE      48000
#define TONE_HZ   1000.0
#define AMPLITUDE 0.9
#define TWO_PI    6.283185307179586
#define TARGET_NS (30 * TT_NS_PER_MS)
#define SETTLE_S  12
#define BLOCK     4096      /* frames; a program that slept long has so many to make */
#ifdef __SANITIZE_ADDRESS__ /* looks at memory, whatever the figure */
#define SECONDS 6
#else
#define SECONDS 60
#endif
#define SAMPLES       ((size_t)SECONDS * RATE)
#define METER_SAMPLES ((size_t)6 * RATE)

struct tone {
    const char *name;
    enum pointer_kind kind;
    enum tt_quality quality;
    uint64_t seed;
    bool capture;
    int seconds; /* to be heard, at most SECONDS */
    double most_db;
};

static double *heard; /* SAMPLES */

/* A sample as the wire has it. */
static float source_sample(enum tt_aaf_format format, int64_t frame)
{
    uint8_t wire[4];
    float sample;

    /* the phase of a tone of 1 kHz repeats every 48 frames */
    sample = (float)(AMPLITUDE * sin(TWO_PI * TONE_HZ * (double)(frame % RATE) / RATE));
    tt_pcm_from_float(format, &sample, 1, wire);
    tt_pcm_to_float(format, wire, 1, &sample);
    return sample;
}

static double sink_sample(float sample)
{
    uint8_t wire[3];

    tt_pcm_from_float(TT_AAF_INT24, &sample, 1, wire);
    return (double)((int32_t)((uint32_t)tt_get_be16(wire) << 16 | (uint32_t)wire[2] << 8) >> 8) *
           0x1p-23;
}

struct run {
    struct audio_clock source;
    struct audio_clock sink;
    struct tt_servo servo;
    struct tt_resampler *resampler;
    const struct tone *tone;
    uint64_t random;
    int64_t now_ns;
    int64_t given;  /* source frames that went in */
    size_t samples; /* to be kept */
    size_t heard;   /* kept */
};

static void run_start(struct run *run, const struct tone *tone)
{
    *run = (struct run){
        .source = {.rate_hz = RATE, .ppb = tone->capture ? 80000 : -60000},
        .sink = {.rate_hz = RATE, .ppb = tone->capture ? -60000 : 80000},
        .tone = tone,
        .samples = (size_t)tone->seconds * RATE,
        .random = tone->seed,
        .now_ns = TT_NS_PER_S,
    };
    /* and drift on, by 1 ppm either way within five minutes */
    run->sink.wander_ppb = 1000;
    run->sink.wander_s = 300;
    assert_int_equal(tt_resampler_new(tone->quality, 1, &run->resampler), 0);
    tt_servo_init(&run->servo, RATE, RATE, TARGET_NS);
    run->given = (int64_t)audio_clock_frames(&run->source, (double)run->now_ns);
    tt_servo_place(&run->servo, run->given,
                   (int64_t)audio_clock_frames(&run->sink, (double)(run->now_ns + TARGET_NS)));
    run->now_ns += 1000000;
}

static struct tt_servo_sight look_at(struct run *run, const struct audio_clock *clock, bool card)
{
    return card ? audio_clock_pointer(clock, run->tone->kind, run->now_ns, &run->random)
                : audio_clock_stamp(clock, run->now_ns, 500, &run->random);
}

static void keep(struct run *run, const float *samples, size_t count)
{
    if (run->now_ns < (SETTLE_S + 1) * TT_NS_PER_S) {
        return;
    }
    for (size_t i = 0; i < count && run->heard < run->samples; i++) {
        heard[run->heard++] = sink_sample(samples[i]);
    }
}

static void run_step(struct run *run)
{
    static float in[BLOCK];
    static float out[BLOCK + 64];
    int64_t there = (int64_t)audio_clock_frames(&run->source, (double)run->now_ns);
    struct tt_servo_sight source = look_at(run, &run->source, run->tone->capture);
    struct tt_servo_sight sink = look_at(run, &run->sink, !run->tone->capture);
    struct tt_resampler_block block = {
        .source = in, .source_frames = (size_t)(there - run->given), .sink = out};

    block.sink_frames = TT_COUNT_OF(out);
    assert_true(block.source_frames <= BLOCK);
    for (size_t i = 0; i < block.source_frames; i++) {
        in[i] = source_sample(TT_AAF_INT32, run->given + (int64_t)i);
    }
    tt_trap_arm();
    tt_servo_step(&run->servo, &source, &sink, AUDIO_CLOCKS_EPOCH_NS + run->now_ns);
    tt_resampler_run(run->resampler, run->servo.ratio, &block);
    tt_servo_made(&run->servo, (int64_t)block.made);
    tt_trap_disarm();
    assert_int_equal(block.used, block.source_frames);
    run->given = there;
    assert_true((double)(run->given - run->servo.source.frame) <=
                (double)tt_resampler_latency(run->tone->quality, run->servo.ratio));
    keep(run, out, block.made);
    run->now_ns += audio_clock_sleep(&run->random);
}

static void measure(const struct tone *tone)
{
    struct run run;
    double tone_hz;
    double db;

    run_start(&run, tone);
    while (run.heard < run.samples) {
        run_step(&run);
    }
    tt_resampler_free(run.resampler);
    assert_int_equal(run.servo.state, TT_SERVO_LOCKED);
    db = purity_thd_n(heard, run.samples, RATE, &tone_hz);
    print_message("%s, seed %u: THD+N %.1f dB\n", tone->name, (unsigned)tone->seed, db);
    assert_true(fabs(tone_hz - TONE_HZ) < 1);
    assert_true(db < tone->most_db);
}

/* The meter, on tones that are computed: as pure as double precision has it, in 24 bits, and with
 * what it must find. */
static void the_meter(void **state)
{
    static const struct {
        const char *what;
        double third;  /* harmonic, of the tone */
        double wobble; /* of the frequency, at 50 Hz */
        bool rounded;
        double db;
        double within;
    } tones[] = {
        {"a computed tone", 0, 0, false, -170, 15},
        {"a computed tone in 24 bits", 0, 0, true, -145, 5},
        {"its third harmonic at -90 dB", 3.16227766e-5, 0, false, -90, 0.1},
        {"1 ppm of wobble at 50 Hz", 0, 1e-6, false, -97, 0.3},
    };

    (void)state;
    for (size_t t = 0; t < TT_COUNT_OF(tones); t++) {
        double tone_hz;
        double db;

        for (size_t i = 0; i < METER_SAMPLES; i++) {
            double seconds = (double)i / RATE;
            double phase = TWO_PI * TONE_HZ * 1.00014 * seconds -
                           tones[t].wobble * TONE_HZ / 50 * cos(TWO_PI * 50 * seconds);
            double sample = AMPLITUDE * (sin(phase) + tones[t].third * sin(3 * phase));

            heard[i] = tones[t].rounded ? rint(sample * 0x1p23) * 0x1p-23 : sample;
        }
        db = purity_thd_n(heard, METER_SAMPLES, RATE, &tone_hz);
        print_message("%s: %.1f dB\n", tones[t].what, db);
        assert_true(fabs(db - tones[t].db) < tones[t].within);
    }
}

static void a_tone_through_two_clocks(void **state)
{
    static const struct tone tones[] = {
        {"best, periods, playback", POINTER_PERIODS, TT_QUALITY_BEST, 1, false, SECONDS, -130},
        {"medium, usb, capture", POINTER_USB, TT_QUALITY_MEDIUM, 2, true, 6, -130},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(tones); i++) {
        measure(&tones[i]);
    }
}

/* By hand, with the argument `all`: every pointer, both ways, both qualities, three seeds. */
static void all_tones(void **state)
{
    static const char *const pointers[POINTER_KINDS] = {"periods", "dma", "usb"};
    static const char *const qualities[] = {"best", "medium"};

    (void)state;
    for (unsigned i = 0; i < POINTER_KINDS * 2 * 2 * 3; i++) {
        char name[64];
        struct tone tone = {.name = name,
                            .kind = (enum pointer_kind)(i / 3 % POINTER_KINDS),
                            .quality = (enum tt_quality)(i / 18),
                            .seed = 10 + i % 3,
                            .capture = i / 9 % 2 != 0,
                            .seconds = SECONDS,
                            .most_db = -130};

        snprintf(name, sizeof name, "%s, %s, %s", qualities[tone.quality], pointers[tone.kind],
                 tone.capture ? "capture" : "playback");
        measure(&tone);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_meter),
        cmocka_unit_test(a_tone_through_two_clocks),
    };
    const struct CMUnitTest all[] = {cmocka_unit_test(all_tones)};
    int failed;

    heard = calloc(SAMPLES, sizeof *heard);
    if (!heard) {
        return 1;
    }
    if (argc == 2 && strcmp(argv[1], "all") == 0) {
        failed = cmocka_run_group_tests(all, NULL, NULL);
    } else {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    }
    free(heard);
    return failed;
}
