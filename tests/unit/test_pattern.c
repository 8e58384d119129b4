/*
 * audio/pattern: which conversions are exact, how the others round, and that samples of every
 * format come through unchanged.
 */
#include <math.h>
#include <string.h>

#include "audio/pattern.h"
#include "test.h"

static const struct tt_pattern i16 = {.bits = 16};
static const struct tt_pattern i24 = {.bits = 24};
static const struct tt_pattern i32 = {.bits = 32};
static const struct tt_pattern f32 = {.is_float = true, .bits = 32};

static uint32_t of_float(float value)
{
    uint32_t pattern;

    memcpy(&pattern, &value, sizeof(pattern));
    return pattern;
}

static uint32_t convert(struct tt_pattern from, struct tt_pattern to, uint32_t pattern,
                        uint64_t *clipped)
{
    *clipped += tt_pattern_convert(from, to, &pattern, 1);
    return pattern;
}

static void test_what_is_exact(void **state)
{
    (void)state;
    assert_true(tt_pattern_is_exact(i16, i16));
    assert_true(tt_pattern_is_exact(i16, i32));
    assert_true(tt_pattern_is_exact(i24, f32));
    assert_true(tt_pattern_is_exact(f32, f32));
    assert_false(tt_pattern_is_exact(i24, i16));
    assert_false(tt_pattern_is_exact(i32, f32));
    assert_false(tt_pattern_is_exact(f32, i32));
}

static void test_what_is_exact_comes_back(void **state)
{
    static const struct tt_pattern kinds[] = {
        {.bits = 16}, {.bits = 24}, {.bits = 32}, {.is_float = true, .bits = 32}};
    uint64_t seed = 1;
    uint64_t clipped = 0;

    (void)state;
    for (size_t from = 0; from < 3; from++) {
        for (size_t to = 0; to < 4; to++) {
            for (int n = 0; n < 2000 && tt_pattern_is_exact(kinds[from], kinds[to]); n++) {
                uint32_t mask = UINT32_MAX << (32 - kinds[from].bits);
                uint32_t pattern = (uint32_t)random_next(&seed) & mask;
                uint32_t there = convert(kinds[from], kinds[to], pattern, &clipped);

                assert_int_equal(convert(kinds[to], kinds[from], there, &clipped), pattern);
            }
        }
    }
    assert_int_equal(clipped, 0);
}

static void test_rounding(void **state)
{
    uint64_t clipped = 0;

    (void)state;
    assert_int_equal(convert(i24, i16, 0x00017F00, &clipped), 0x00010000);
    assert_int_equal(convert(i24, i16, 0x00018000, &clipped), 0x00020000);
    assert_int_equal(convert(i24, i16, 0xFFFF7F00, &clipped), 0xFFFF0000);
    assert_int_equal(convert(i24, i16, 0xFFFF8000, &clipped), 0x00000000);
    assert_int_equal(convert(i32, i16, 0x7FFFFFFF, &clipped), 0x7FFF0000);
    assert_int_equal(convert(i32, i16, 0x80000000, &clipped), 0x80000000);
    assert_int_equal(convert(f32, i16, of_float(0.5f), &clipped), 0x40000000);
    assert_int_equal(convert(f32, i16, of_float(-0.5f / 32768), &clipped), 0xFFFF0000);
    assert_int_equal(convert(f32, i16, of_float(0.49f / 32768), &clipped), 0);
    assert_int_equal(convert(f32, i32, of_float(1.0f), &clipped), 0x7FFFFFFF);
    assert_int_equal(convert(f32, i24, of_float(-1.0f), &clipped), 0x80000000);
    assert_int_equal(convert(i32, f32, 0x80000000, &clipped), of_float(-1.0f));
    assert_int_equal(clipped, 0);
}

static void test_what_is_beyond(void **state)
{
    uint64_t clipped = 0;

    (void)state;
    assert_int_equal(convert(f32, i16, of_float(1.5f), &clipped), 0x7FFF0000);
    assert_int_equal(convert(f32, i24, of_float(-1e30f), &clipped), 0x80000000);
    assert_int_equal(convert(f32, i32, of_float(INFINITY), &clipped), 0x7FFFFFFF);
    assert_int_equal(clipped, 3);
    assert_int_equal(convert(f32, i32, of_float(NAN), &clipped), 0);
    assert_int_equal(clipped, 3);
}

/* Samples of any format to patterns and back; the signs that S24_LE puts are its own. */
static void test_memory_comes_back(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int format = 0; format < TT_PCM_FORMATS; format++) {
        unsigned bytes = tt_pcm_sample_bytes((enum tt_pcm_format)format);
        uint8_t samples[1000 * 4];
        uint8_t back[1000 * 4];
        uint32_t patterns[1000];

        for (size_t i = 0; i < sizeof(samples); i++) {
            samples[i] = (uint8_t)random_next(&seed);
        }
        tt_pattern_read((enum tt_pcm_format)format, samples, 1000, patterns);
        tt_pattern_write((enum tt_pcm_format)format, patterns, 1000, back);
        tt_pattern_read((enum tt_pcm_format)format, back, 1000, patterns);
        tt_pattern_write((enum tt_pcm_format)format, patterns, 1000, samples);
        assert_memory_equal(samples, back, (size_t)1000 * bytes);
    }
}

static void test_patterns_are_left_justified(void **state)
{
    static const uint8_t low[] = {0xAB, 0xCD, 0xEF, 0xFF};
    uint32_t pattern;

    (void)state;
    tt_pattern_read(TT_PCM_S16_LE, low, 1, &pattern);
    assert_int_equal(pattern, 0xCDAB0000);
    tt_pattern_read(TT_PCM_S24_LE, low, 1, &pattern);
    assert_int_equal(pattern, 0xEFCDAB00);
    tt_pattern_read(TT_PCM_S24_3BE, low, 1, &pattern);
    assert_int_equal(pattern, 0xABCDEF00);
    tt_pattern_read(TT_PCM_S32_BE, low, 1, &pattern);
    assert_int_equal(pattern, 0xABCDEFFF);
}

static void test_peaks(void **state)
{
    static const uint32_t integers[] = {0x40000000, 0xE0000000, 0xC0000000, 0};
    float peaks[2] = {0, 0};
    uint32_t floats[2] = {of_float(-1.5f), of_float(0.1f)};

    (void)state;
    tt_pattern_peaks(i32, integers, 2, 2, peaks);
    assert_true(peaks[0] == 0.5f && peaks[1] == 0.25f);
    tt_pattern_peaks(f32, floats, 2, 1, peaks);
    assert_true(peaks[0] == 1.5f && peaks[1] == 0.25f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_exact),
        cmocka_unit_test(test_what_is_exact_comes_back),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_what_is_beyond),
        cmocka_unit_test(test_memory_comes_back),
        cmocka_unit_test(test_patterns_are_left_justified),
        cmocka_unit_test(test_peaks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
