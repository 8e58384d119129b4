/*
 * audio/match: seeded edits of a source (silence around, frames lost in place, frames added, frames
 * left out) are found again where they were made.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "audio/match.h"

#define CAPACITY 60000

struct bench {
    uint64_t seed;
    struct tt_match_pair pair;
    uint8_t *source;
    uint8_t *recording;
    int64_t *place; /* of each source frame in the recording; -1: not kept */
    struct tt_match match;
};

static uint64_t draw(struct bench *bench, uint64_t below)
{
    bench->seed ^= bench->seed << 13;
    bench->seed ^= bench->seed >> 7;
    bench->seed ^= bench->seed << 17;
    return bench->seed % below;
}

static struct bench *bench_new(uint64_t seed, size_t frame_bytes)
{
    struct bench *bench = calloc(1, sizeof *bench);

    assert_non_null(bench);
    bench->seed = seed * 2654435761u + 88172645463325252u;
    bench->source = calloc(CAPACITY, frame_bytes);
    bench->recording = calloc(CAPACITY, frame_bytes);
    bench->place = calloc(CAPACITY, sizeof *bench->place);
    assert_non_null(bench->source);
    assert_non_null(bench->recording);
    assert_non_null(bench->place);
    bench->pair.source = bench->source;
    bench->pair.recording = bench->recording;
    bench->pair.frame_bytes = frame_bytes;
    return bench;
}

static void bench_free(struct bench *bench)
{
    free(bench->source);
    free(bench->recording);
    free(bench->place);
    free(bench);
}

static void noise(struct bench *bench, int64_t frames)
{
    for (size_t i = 0; i < (size_t)frames * bench->pair.frame_bytes; i++) {
        bench->source[i] = (uint8_t)(1 + draw(bench, 255));
    }
    bench->pair.source_frames = frames;
}

/* A sine of exactly `period` frames, 16 bits in each channel. */
static void sine(struct bench *bench, int64_t frames, int64_t period)
{
    for (int64_t i = 0; i < frames; i++) {
        double phase = 2 * 3.14159265358979 * (double)(i % period) / (double)period + 0.1;
        uint16_t sample = (uint16_t)(int)(sin(phase) * 20000);

        for (size_t c = 0; c < bench->pair.frame_bytes; c++) {
            bench->source[(size_t)i * bench->pair.frame_bytes + c] =
                (uint8_t)(c % 2 ? sample >> 8 : sample);
        }
    }
    bench->pair.source_frames = frames;
}

static void source_silence(struct bench *bench, int64_t frame, int64_t frames)
{
    memset(bench->source + (size_t)frame * bench->pair.frame_bytes, 0,
           (size_t)frames * bench->pair.frame_bytes);
}

static void record_silence(struct bench *bench, int64_t frames)
{
    memset(bench->recording + (size_t)bench->pair.recording_frames * bench->pair.frame_bytes, 0,
           (size_t)frames * bench->pair.frame_bytes);
    bench->pair.recording_frames += frames;
}

static void record_source(struct bench *bench, int64_t frame, int64_t frames)
{
    memcpy(bench->recording + (size_t)bench->pair.recording_frames * bench->pair.frame_bytes,
           bench->source + (size_t)frame * bench->pair.frame_bytes,
           (size_t)frames * bench->pair.frame_bytes);
    for (int64_t i = 0; i < frames; i++) {
        bench->place[frame + i] = bench->pair.recording_frames + i;
    }
    bench->pair.recording_frames += frames;
}

static void source_lost(struct bench *bench, int64_t frame, int64_t frames)
{
    for (int64_t i = 0; i < frames; i++) {
        bench->place[frame + i] = -1;
    }
}

static struct tt_match_range only_range(struct bench *bench)
{
    struct tt_match_cursor cursor = {0};
    struct tt_match_range range;
    struct tt_match_range more;

    assert_true(tt_match_next(&bench->pair, &bench->match, &cursor, &range));
    assert_false(tt_match_next(&bench->pair, &bench->match, &cursor, &more));
    return range;
}

static void find(struct bench *bench)
{
    tt_match_find(&bench->pair, &bench->match);
}

static const size_t frame_sizes[] = {2, 3, 4, 6, 8, 12, 64, 128};

static void exact_within_silence(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct bench *bench = bench_new(seed, frame_sizes[seed % 8]);
        struct tt_match_cursor cursor = {0};
        struct tt_match_range range;
        int64_t lead = (int64_t)draw(bench, 3000);

        noise(bench, 2 + (int64_t)draw(bench, 3000));
        source_silence(bench, (int64_t)draw(bench, (uint64_t)bench->pair.source_frames), 1);
        record_silence(bench, lead);
        record_source(bench, 0, bench->pair.source_frames);
        record_silence(bench, (int64_t)draw(bench, 3000));
        find(bench);
        assert_int_equal(bench->match.verdict, TT_MATCH_EXACT);
        assert_int_equal(bench->match.equal_frames, bench->pair.source_frames);
        assert_int_equal(bench->match.segment_count, 1);
        assert_int_equal(bench->match.segments[0].source, 0);
        assert_int_equal(bench->match.segments[0].recording, lead);
        assert_false(tt_match_next(&bench->pair, &bench->match, &cursor, &range));
        bench_free(bench);
    }
}

static void silence_at_the_ends_of_the_source_counts(void **state)
{
    struct bench *bench = bench_new(3, 4);

    (void)state;
    noise(bench, 2000);
    source_silence(bench, 0, 500);
    source_silence(bench, 1500, 500);
    record_silence(bench, 100);
    record_source(bench, 0, 2000);
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_EXACT);
    assert_int_equal(bench->match.segments[0].recording, 100);

    bench->pair.recording_frames = 2000; /* the last 100 frames were not recorded */
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_DIFFERENT);
    assert_int_equal(bench->match.equal_frames, 1900);
    assert_int_equal(only_range(bench).source, 1900);
    assert_int_equal(only_range(bench).source_frames, 100);
    assert_int_equal(only_range(bench).recording, 2000);
    assert_int_equal(only_range(bench).recording_frames, 0);

    bench->pair.recording += 300 * 4; /* nor the first 200 */
    bench->pair.recording_frames = 1700;
    find(bench);
    assert_int_equal(bench->match.equal_frames, 1700);
    bench_free(bench);
}

static void one_bit_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bench *bench = bench_new(seed, frame_sizes[seed % 8]);
        int64_t frame = (int64_t)draw(bench, 2000);
        int64_t lead = (int64_t)draw(bench, 500);

        noise(bench, 2000);
        record_silence(bench, lead);
        record_source(bench, 0, 2000);
        bench->recording[(size_t)(lead + frame) * bench->pair.frame_bytes +
                         draw(bench, bench->pair.frame_bytes)] ^= (uint8_t)(1 << draw(bench, 8));
        find(bench);
        assert_int_equal(bench->match.verdict, TT_MATCH_DIFFERENT);
        assert_int_equal(bench->match.equal_frames, 1999);
        assert_int_equal(only_range(bench).source, frame);
        assert_int_equal(only_range(bench).source_frames, 1);
        assert_int_equal(only_range(bench).recording, lead + frame);
        assert_false(only_range(bench).shift);
        bench_free(bench);
    }
}

static void silence_of_exact_length_keeps_the_alignment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct bench *bench = bench_new(seed, frame_sizes[seed % 8]);
        int64_t frame = (int64_t)draw(bench, 4000);
        int64_t lost = 1 + (int64_t)draw(bench, 4000);
        int64_t lead = (int64_t)draw(bench, 5000);

        if (seed % 2) {
            noise(bench, 10000);
        } else {
            sine(bench, 10000, 48);
        }
        record_silence(bench, lead);
        record_source(bench, 0, frame);
        record_silence(bench, lost);
        record_source(bench, frame + lost, 10000 - frame - lost);
        record_silence(bench, 700);
        find(bench);
        assert_int_equal(bench->match.verdict, TT_MATCH_DIFFERENT);
        assert_int_equal(bench->match.segment_count, 1);
        assert_int_equal(bench->match.segments[0].recording, lead);
        assert_int_equal(bench->match.equal_frames, 10000 - lost);
        assert_int_equal(only_range(bench).source, frame);
        assert_int_equal(only_range(bench).source_frames, lost);
        assert_int_equal(only_range(bench).recording_frames, lost);
        bench_free(bench);
    }
}

static void lost_begin_or_end(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct bench *bench = bench_new(seed, 4);
        int64_t lost = 1 + 97 * (int64_t)draw(bench, 30); /* no whole period: one answer only */
        bool begin = seed % 2;

        if (seed % 4 < 2) {
            noise(bench, 8000);
        } else {
            sine(bench, 8000, 97);
        }
        record_silence(bench, begin ? 1000 + lost : 1000);
        record_source(bench, begin ? lost : 0, 8000 - lost);
        record_silence(bench, begin ? 1000 : 1000 + lost);
        find(bench);
        assert_int_equal(bench->match.equal_frames, 8000 - lost);
        assert_int_equal(bench->match.segments[0].recording - bench->match.segments[0].source,
                         1000);
        assert_int_equal(only_range(bench).source, begin ? 0 : 8000 - lost);
        bench_free(bench);
    }
}

static void added_frames_shift_the_alignment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct bench *bench = bench_new(seed, frame_sizes[seed % 8]);
        int64_t frame = 500 + (int64_t)draw(bench, 9000);
        int64_t added = 1 + (int64_t)draw(bench, 4000);

        noise(bench, 10000);
        record_silence(bench, 300);
        record_source(bench, 0, frame);
        record_silence(bench, added);
        record_source(bench, frame, 10000 - frame);
        record_silence(bench, 300);
        find(bench);
        assert_int_equal(bench->match.verdict, TT_MATCH_DIFFERENT);
        assert_int_equal(bench->match.equal_frames, 10000);
        assert_int_equal(bench->match.segment_count, 2);
        assert_true(only_range(bench).shift);
        assert_int_equal(only_range(bench).source, frame);
        assert_int_equal(only_range(bench).source_frames, 0);
        assert_int_equal(only_range(bench).recording, 300 + frame);
        assert_int_equal(only_range(bench).recording_frames, added);
        assert_int_equal(only_range(bench).slide_frames, 0);
        bench_free(bench);
    }
}

static void left_out_frames_shift_the_alignment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct bench *bench = bench_new(seed, frame_sizes[1 + seed % 7]);
        int64_t frame = 500 + (int64_t)draw(bench, 4000);
        int64_t left_out = 1 + (int64_t)draw(bench, 4000);
        struct tt_match_range range;

        noise(bench, 10000);
        record_silence(bench, 300);
        record_source(bench, 0, frame);
        record_source(bench, frame + left_out, 10000 - frame - left_out);
        record_silence(bench, 5000);
        find(bench);
        assert_int_equal(bench->match.equal_frames, 10000 - left_out);
        assert_int_equal(bench->match.segment_count, 2);
        range = only_range(bench);
        assert_true(range.shift);
        assert_int_equal(range.source_frames, left_out);
        assert_int_equal(range.recording_frames, 0);
        assert_true(range.source - range.slide_frames <= frame && frame <= range.source);
        bench_free(bench);
    }
}

static void a_shift_within_silence_may_slide(void **state)
{
    struct bench *bench = bench_new(5, 4);
    struct tt_match_range range;

    (void)state;
    noise(bench, 6000);
    source_silence(bench, 2000, 1000);
    record_source(bench, 0, 2400);
    record_silence(bench, 333);
    record_source(bench, 2400, 3600);
    find(bench);
    assert_int_equal(bench->match.equal_frames, 6000);
    range = only_range(bench);
    assert_true(range.shift);
    assert_int_equal(range.recording_frames, 333);
    assert_int_equal(range.source, 3000);
    assert_int_equal(range.slide_frames, 1000);
    bench_free(bench);
}

static void periodic_sound_takes_the_fullest_alignment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct bench *bench = bench_new(seed, 4);
        int64_t lead = (int64_t)draw(bench, 20000);

        sine(bench, 20000, 2 + (int64_t)draw(bench, 500));
        record_silence(bench, lead);
        record_source(bench, 0, 20000);
        record_silence(bench, 100);
        find(bench);
        assert_int_equal(bench->match.verdict, TT_MATCH_EXACT);
        assert_int_equal(bench->match.segments[0].recording, lead);
        bench_free(bench);
    }
}

static void a_constant_and_single_clicks_align(void **state)
{
    struct bench *bench = bench_new(9, 4);

    (void)state;
    memset(bench->source, 0x55, 3000 * 4);
    bench->pair.source_frames = 3000;
    record_silence(bench, 77);
    record_source(bench, 0, 3000);
    record_silence(bench, 50);
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_EXACT);
    assert_int_equal(bench->match.segments[0].recording, 77);

    source_silence(bench, 0, 3000);
    for (size_t at = 500; at < 3000; at += 1000) {
        bench->source[at * 4] = 1;
    }
    bench->pair.recording_frames = 0;
    record_silence(bench, 1234);
    record_source(bench, 0, 3000);
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_EXACT);
    assert_int_equal(bench->match.segments[0].recording, 1234);
    bench_free(bench);
}

static void what_cannot_be_aligned_is_named(void **state)
{
    struct bench *bench = bench_new(11, 4);

    (void)state;
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_SOURCE_EMPTY);
    bench->pair.source_frames = 100;
    record_silence(bench, 1000);
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_SOURCE_SILENT);
    noise(bench, 500);
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_RECORDING_SILENT);
    bench->pair.recording_frames = 0;
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_RECORDING_SILENT);
    record_source(bench, 0, 500);
    noise(bench, 500);
    find(bench);
    assert_int_equal(bench->match.verdict, TT_MATCH_NOWHERE);
    assert_int_equal(bench->match.equal_frames, 0);
    bench_free(bench);
}

/* Random edits of every kind, at least 200 frames apart. */
static void edit(struct bench *bench)
{
    int64_t at = 0;

    record_silence(bench, (int64_t)draw(bench, 2000));
    while (at < bench->pair.source_frames) {
        int64_t left = bench->pair.source_frames - at;
        int64_t keep = 200 + (int64_t)draw(bench, 6000);
        int64_t length = 1 + (int64_t)draw(bench, 900);
        uint64_t kind = draw(bench, 8);

        keep = keep < left ? keep : left;
        record_source(bench, at, keep);
        at += keep;
        left -= keep;
        length = length < left ? length : left;
        if (kind == 0) {
            record_silence(bench, length);
        } else {
            source_lost(bench, at, length);
            record_silence(bench, kind == 1 ? 0 : length);
            at += length;
        }
    }
    record_silence(bench, (int64_t)draw(bench, 2000));
}

/* Every kept frame is equal, and every frame called equal stands where it was put. */
static void assert_edits_found(struct bench *bench)
{
    struct tt_match_cursor cursor = {0};
    struct tt_match_range range;
    int64_t kept = 0;
    int64_t at = 0;

    for (int64_t i = 0; i < bench->pair.source_frames; i++) {
        kept += bench->place[i] >= 0;
    }
    assert_int_equal(bench->match.equal_frames, kept);
    while (tt_match_next(&bench->pair, &bench->match, &cursor, &range)) {
        assert_true(range.source >= at);
        for (; at < range.source; at++) {
            assert_true(bench->place[at] >= 0);
        }
        for (; at < range.source + range.source_frames; at++) {
            assert_int_equal(bench->place[at], -1);
        }
    }
}

static void random_edits_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct bench *bench = bench_new(seed, 8);

        noise(bench, 4000 + (int64_t)draw(bench, 20000));
        edit(bench);
        find(bench);
        assert_edits_found(bench);
        bench_free(bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_within_silence),
        cmocka_unit_test(silence_at_the_ends_of_the_source_counts),
        cmocka_unit_test(one_bit_is_seen),
        cmocka_unit_test(silence_of_exact_length_keeps_the_alignment),
        cmocka_unit_test(lost_begin_or_end),
        cmocka_unit_test(added_frames_shift_the_alignment),
        cmocka_unit_test(left_out_frames_shift_the_alignment),
        cmocka_unit_test(a_shift_within_silence_may_slide),
        cmocka_unit_test(periodic_sound_takes_the_fullest_alignment),
        cmocka_unit_test(a_constant_and_single_clicks_align),
        cmocka_unit_test(what_cannot_be_aligned_is_named),
        cmocka_unit_test(random_edits_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
