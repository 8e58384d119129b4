/*
 * The soft edges of holes: what arrived is not touched, ramps are monotone, nothing overflows, and
 * a tone that breaks off clicks less.
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audio/timeline.h"
#include "base/bytes.h"
#include "base/min_max.h"
#include "malloc_trap.h"

#define RAMP         48
#define BUFFER       200
#define RING         2000
#define CHANNELS_MAX 3
#define END          6000

struct shape {
    enum tt_aaf_format format;
    unsigned channels;
};

static const struct shape shapes[] = {
    {TT_AAF_INT16, 2}, {TT_AAF_INT24, 3}, {TT_AAF_INT32, 1}, {TT_AAF_FLOAT32, 2}};

/* A sample as -1 … 1; `step` is what one is worth. */
static double read_sample(enum tt_aaf_format format, const uint8_t *from, double *ret_step)
{
    uint32_t bits;
    float value;

    switch (format) {
    case TT_AAF_INT16:
        *ret_step = 1.0 / 32768;
        return (int16_t)tt_get_be16(from) / 32768.0;
    case TT_AAF_INT24:
        *ret_step = 1.0 / 8388608;
        return ((int8_t)from[0] * 65536 + tt_get_be16(from + 1)) / 8388608.0;
    case TT_AAF_INT32:
        *ret_step = 1.0 / 2147483648.0;
        return (int32_t)tt_get_be32(from) / 2147483648.0;
    default:
        bits = tt_get_be32(from);
        memcpy(&value, &bits, sizeof value);
        *ret_step = 1e-7;
        return (double)value;
    }
}

static void write_sample(enum tt_aaf_format format, double value, uint8_t *to)
{
    float narrow = (float)value;
    uint32_t bits;
    int64_t whole;

    if (format == TT_AAF_FLOAT32) {
        memcpy(&bits, &narrow, sizeof bits);
    } else {
        whole = llround(value * 2147483648.0);
        whole = whole > INT32_MAX ? INT32_MAX : whole;
        bits = (uint32_t)whole;
    }
    for (unsigned i = 0; i < tt_aaf_sample_bytes(format); i++) {
        to[i] = (uint8_t)(bits >> (24 - 8 * i));
    }
}

struct rig {
    struct tt_timeline timeline;
    struct shape shape;
    unsigned sample_bytes;
    size_t frame_bytes;
    uint8_t ring[RING * CHANNELS_MAX * 4];
    struct tt_hole holes[RING];
    uint8_t seen[END * CHANNELS_MAX * 4]; /* what was presented */
};

static void build(struct rig *rig, const struct shape *shape, int64_t ramp)
{
    memset(rig, 0, sizeof *rig);
    rig->shape = *shape;
    rig->sample_bytes = tt_aaf_sample_bytes(shape->format);
    rig->frame_bytes = (size_t)rig->sample_bytes * shape->channels;
    assert_int_equal(
        tt_timeline_init(&rig->timeline,
                         &(struct tt_timeline_memory){rig->ring, RING, rig->holes, 500},
                         rig->frame_bytes, BUFFER, NULL),
        0);
    rig->timeline.fade = (struct tt_fade){shape->format, shape->channels, ramp};
    tt_timeline_start(&rig->timeline, 0);
}

/* Presents up to `device`, and keeps what a reader sees. */
static void present(struct rig *rig, int64_t device)
{
    int64_t from = rig->timeline.device;

    tt_trap_arm();
    tt_timeline_advance(&rig->timeline, device, 0);
    tt_trap_disarm();
    for (int64_t run; from < device; from += run) {
        const uint8_t *there = tt_timeline_frames(&rig->timeline, from, device, &run);

        memcpy(rig->seen + (size_t)from * rig->frame_bytes, there, (size_t)run * rig->frame_bytes);
    }
}

static double seen(const struct rig *rig, int64_t frame, unsigned channel)
{
    double step;

    return read_sample(rig->shape.format,
                       rig->seen + (size_t)frame * rig->frame_bytes + channel * rig->sample_bytes,
                       &step);
}

static void place_value(struct rig *rig, int64_t frame, int64_t frames, double value)
{
    uint8_t payload[END * CHANNELS_MAX * 4];

    for (size_t i = 0; i < (size_t)frames * rig->shape.channels; i++) {
        write_sample(rig->shape.format, value, payload + i * rig->sample_bytes);
    }
    tt_timeline_place(&rig->timeline, frame, frames, payload, TT_EVENT_LOST, 0);
}

/* PDUs of six frames: lost, late, in time, in any order of presenting; frames are random at full
 * scale. Outside of holes every bit is as it came; inside nothing is louder than its edges. */
static void random_holes(void **state)
{
    static struct rig rig;
    static uint8_t source[END * CHANNELS_MAX * 4];
    static bool placed[END];

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        uint64_t random = seed;
        int64_t booked = 0;
        int64_t missing = 0;

        build(&rig, &shapes[seed % TT_COUNT_OF(shapes)], 1 + (int64_t)random_below(&random, RAMP));
        memset(placed, 0, sizeof placed);
        for (size_t i = 0; i < END * rig.shape.channels; i++) {
            write_sample(rig.shape.format, random_next(&random) & 1 ? 1.0 : -1.0,
                         source + i * rig.sample_bytes);
        }
        for (int64_t frame = 6; frame + 6 <= END; frame += 6) {
            if (random_below(&random, 20) == 0) {
                frame += 6 * (int64_t)random_below(&random, 40);
            }
            if (random_below(&random, 3) == 0) { /* the PDU comes in time, or too late */
                int64_t device = frame + (int64_t)random_below(&random, 60) - 50;

                present(&rig, device < END ? device : END);
            }
            if (frame + 6 <= END && random_below(&random, 10) != 0) {
                for (int64_t f = frame; f < frame + 6; f++) {
                    placed[f] = placed[f] || f >= rig.timeline.device;
                }
                tt_timeline_place(&rig.timeline, frame, 6, source + (size_t)frame * rig.frame_bytes,
                                  TT_EVENT_LOST, 0);
            }
        }
        present(&rig, END);
        tt_timeline_close(&rig.timeline, TT_EVENT_ABSENT, 0);
        for (int64_t f = 0; f < END; f++) {
            missing += !placed[f];
            if (placed[f]) {
                assert_memory_equal(rig.seen + (size_t)f * rig.frame_bytes,
                                    source + (size_t)f * rig.frame_bytes, rig.frame_bytes);
            }
        }
        for (size_t kind = 0; kind < TT_EVENT_KINDS; kind++) {
            booked += (int64_t)rig.timeline.silent[kind];
        }
        assert_int_equal(booked, missing);
    }
}

/* A constant before and another behind: down to silence and up again, or straight across. */
static void ramps_are_monotone(void **state)
{
    static struct rig rig;
    static const double values[] = {-1, -0.5, 0.3, 1};

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t random = seed;
        const struct shape *shape = &shapes[seed % TT_COUNT_OF(shapes)];
        double before = values[random_below(&random, 4)];
        double behind = values[random_below(&random, 4)];
        int64_t length = 1 + (int64_t)random_below(&random, 3 * RAMP);
        int64_t piece = 1 + (int64_t)random_below(&random, 2 * RAMP);
        int64_t end = 100 + length;
        double step;
        double last;

        build(&rig, shape, RAMP);
        place_value(&rig, 0, 100, before);
        place_value(&rig, end, 100, behind);
        for (int64_t device = 50; device < end + 100; device += piece) {
            present(&rig, device);
        }
        present(&rig, end + 100);
        read_sample(shape->format, rig.seen, &step);
        before = seen(&rig, 99, 0); /* as the format holds it */
        behind = seen(&rig, end, 0);
        last = before;
        for (int64_t f = 100; f < end; f++) {
            double value = seen(&rig, f, shape->channels - 1);

            if (length > 2 * RAMP && f >= 100 + RAMP && f < end - RAMP) {
                assert_true(value == 0);
            } else if (length <= RAMP) {
                assert_true((value - last) * (behind - before) >= -step);
            } else if (length > 2 * RAMP) {
                assert_true(f < 100 + RAMP ? fabs(value) <= fabs(last) : fabs(value) >= fabs(last));
            }
            assert_true(fabs(value) <= fmax(fabs(before), fabs(behind)));
            assert_true(fabs(value - last) <=
                        2.0 / (double)(tt_min64(length, RAMP) + 1) + 2 * step);
            last = value;
        }
        assert_true(fabs(behind - last) <= 2.0 / (double)(tt_min64(length, RAMP) + 1) + 2 * step);
    }
}

/* What is behind comes too late to be known: the hole ends hard. Nothing before: it begins so. */
static void one_edge_only(void **state)
{
    static struct rig rig;

    (void)state;
    build(&rig, &shapes[0], RAMP);
    place_value(&rig, 100, 50, 0.5);
    present(&rig, 400);
    assert_true(seen(&rig, 100 - RAMP - 1, 0) == 0);
    assert_true(seen(&rig, 99, 0) > 0.48);
    assert_true(seen(&rig, 150, 0) > 0.48);
    assert_true(seen(&rig, 150 + RAMP - 1, 0) > 0);
    assert_true(seen(&rig, 150 + RAMP, 0) == 0);
    place_value(&rig, 380, 50, 0.5);
    present(&rig, 430);
    assert_true(seen(&rig, 399, 0) == 0);
    assert_true(seen(&rig, 400, 0) == 0.5);
    tt_timeline_start(&rig.timeline, 430); /* what was before the start is not held */
    present(&rig, 450);
    assert_true(seen(&rig, 430, 0) == 0);
}

/* What was placed behind and taken away again is no edge; two holes side by side are one. */
static void edges_that_are_none(void **state)
{
    static struct rig rig;

    (void)state;
    build(&rig, &shapes[0], RAMP);
    place_value(&rig, 0, 100, 0.5);
    place_value(&rig, 200, 50, 0.5);
    tt_timeline_truncate(&rig.timeline, 200);
    present(&rig, 200);
    assert_true(seen(&rig, 199, 0) == 0);

    build(&rig, &shapes[0], RAMP);
    place_value(&rig, 0, 100, 0.5);
    place_value(&rig, 110, 10, 0.25);
    place_value(&rig, 230, 10, 0.25);
    tt_timeline_shift(&rig.timeline, 110, 200, 0); /* leaves a hole beside the one before it */
    assert_int_equal(rig.timeline.memory.holes[0].end, rig.timeline.memory.holes[1].frame);
    present(&rig, 310);
    assert_true(seen(&rig, 109, 0) > 0.35); /* still going down, towards nothing near */
    assert_true(seen(&rig, 150, 0) == 0);
    assert_true(seen(&rig, 309, 0) > 0.2);
}

/* Once around the ring and more: the ramp is long past, and does not come again. */
static void a_stall_longer_than_the_ring(void **state)
{
    static struct rig rig;
    int64_t run;

    (void)state;
    build(&rig, &shapes[0], RAMP);
    place_value(&rig, 0, 100, 0.5);
    tt_timeline_advance(&rig.timeline, 2 * RING + 200, 0);
    for (int64_t f = 2 * RING; f < 2 * RING + 200; f++) {
        assert_int_equal(tt_get_be32(tt_timeline_frames(&rig.timeline, f, f + 1, &run)), 0);
    }
}

/* To the nearest step, on either side of 0. */
static void ramps_are_rounded(void **state)
{
    static const struct tt_fade fade = {TT_AAF_INT16, 1, 3};

    (void)state;
    for (int value = -6; value <= 6; value++) {
        uint8_t last[2];
        uint8_t made[2];

        tt_put_be16(last, (uint16_t)value);
        for (int64_t since = 1; since <= 4; since++) {
            tt_fade_frame(&fade, &(struct tt_fade_edges){.last = last, .since_last = since}, made);
            assert_int_equal((int16_t)tt_get_be16(made), lround(value * (double)(4 - since) / 4.0));
        }
    }
}

/* The reason is booked in pieces while the device runs on: the ramp goes on where it was. */
static void a_ramp_in_pieces(void **state)
{
    static struct rig rig;
    double last = 0.5;

    (void)state;
    build(&rig, &shapes[2], RAMP);
    place_value(&rig, 0, 100, 0.5);
    for (int64_t device = 90; device <= 200; device += 7) {
        present(&rig, device);
        tt_timeline_close(&rig.timeline, TT_EVENT_ABSENT, 0);
    }
    for (int64_t f = 100; f < 190; f++) {
        assert_true(f < 100 + RAMP ? seen(&rig, f, 0) < last : seen(&rig, f, 0) == 0);
        last = seen(&rig, f, 0);
    }
}

/* What is no number is silent and does not spread. */
static void floats_that_are_none(void **state)
{
    static struct rig rig;

    (void)state;
    build(&rig, &shapes[3], RAMP);
    place_value(&rig, 0, 100, (double)NAN);
    place_value(&rig, 150, 100, (double)INFINITY);
    present(&rig, 200);
    for (int64_t f = 100; f < 150; f++) {
        assert_true(seen(&rig, f, 0) == 0);
    }
}

/* The power of one frequency over a window of 20 ms around the hole, by Goertzel's sum. */
static double power_at(const struct rig *rig, int64_t from, int64_t frames, double hz)
{
    double re = 0;
    double im = 0;

    for (int64_t i = 0; i < frames; i++) {
        double window = 0.5 - 0.5 * cos(2 * M_PI * (double)i / (double)frames);
        double phase = 2 * M_PI * hz * (double)i / 48000;

        re += window * seen(rig, from + i, 0) * cos(phase);
        im += window * seen(rig, from + i, 0) * sin(phase);
    }
    return re * re + im * im;
}

/* 1 kHz that is missing for 5 ms from its crest on. The greatest step between two frames, and what
 * the break adds above 8 kHz. */
static void a_tone_breaks_off(void **state)
{
    static struct rig rig;
    double greatest[2] = {0};
    double above[2] = {0};

    (void)state;
    for (int fades = 0; fades < 2; fades++) {
        build(&rig, &shapes[2], fades ? RAMP : 0);
        for (int64_t f = 0; f < 1500; f++) {
            if (f < 637 || f >= 637 + 240) {
                place_value(&rig, f, 1, 0.5 * sin(2 * M_PI * 1000 * (double)f / 48000));
            }
        }
        present(&rig, 1500);
        for (int64_t f = 600; f < 900; f++) {
            greatest[fades] = fmax(greatest[fades], fabs(seen(&rig, f + 1, 0) - seen(&rig, f, 0)));
        }
        for (double hz = 8000; hz < 24000; hz += 50) {
            above[fades] += power_at(&rig, 277, 960, hz);
        }
    }
    printf("1 kHz at -6 dBFS, 5 ms missing: greatest step %.3f of full scale, %.3f with a fade; "
           "above 8 kHz %.1f dB less\n",
           greatest[0], greatest[1], 10 * log10(above[0] / above[1]));
    assert_true(greatest[0] > 0.45);
    assert_true(greatest[1] < 0.08); /* the tone's own is 0.065 */
    assert_true(above[1] < above[0] / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_holes),        cmocka_unit_test(ramps_are_monotone),
        cmocka_unit_test(one_edge_only),       cmocka_unit_test(a_ramp_in_pieces),
        cmocka_unit_test(edges_that_are_none), cmocka_unit_test(a_stall_longer_than_the_ring),
        cmocka_unit_test(ramps_are_rounded),   cmocka_unit_test(floats_that_are_none),
        cmocka_unit_test(a_tone_breaks_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
