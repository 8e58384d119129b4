/*
 * Sample conversion against a slow reference that reads and writes each sample as a number, in
 * every layout of memory. Buffers are of the exact size, so that the address sanitizer sees a byte
 * too many.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "audio/pcm.h"

#define FRAMES       7
#define CHANNELS_MAX 1023

/* What a format is, said once more and independently of pcm.c. */
struct kind {
    const char *name;
    unsigned bytes;
    unsigned wire_bytes;
    bool big;
};

static const struct kind kinds[TT_PCM_FORMATS] = {
    [TT_PCM_S16_LE] = {"S16_LE", 2, 2, false},     [TT_PCM_S16_BE] = {"S16_BE", 2, 2, true},
    [TT_PCM_S24_3LE] = {"S24_3LE", 3, 3, false},   [TT_PCM_S24_3BE] = {"S24_3BE", 3, 3, true},
    [TT_PCM_S24_LE] = {"S24_LE", 4, 3, false},     [TT_PCM_S24_BE] = {"S24_BE", 4, 3, true},
    [TT_PCM_S32_LE] = {"S32_LE", 4, 4, false},     [TT_PCM_S32_BE] = {"S32_BE", 4, 4, true},
    [TT_PCM_FLOAT_LE] = {"FLOAT_LE", 4, 4, false}, [TT_PCM_FLOAT_BE] = {"FLOAT_BE", 4, 4, true},
};

static uint32_t get_number(const uint8_t *p, unsigned bytes, bool big)
{
    uint32_t number = 0;

    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | p[big ? i : bytes - 1 - i];
    return number;
}

static void put_number(uint8_t *p, unsigned bytes, bool big, uint32_t number)
{
    for (unsigned i = 0; i < bytes; i++)
        p[big ? bytes - 1 - i : i] = (uint8_t)(number >> 8 * i);
}

enum layout {
    INTERLEAVED,
    PLANES,      /* one channel after the other, packed */
    WIDE_FRAMES, /* interleaved among channels that are not ours */
    REVERSED,    /* interleaved, the last channel first */
    ODD,         /* planes with odd steps */
    LAYOUTS
};

/* A program's memory, filled with bytes that no conversion may touch, at an odd address or an even
 * one. */
struct memory {
    uint8_t *base;
    size_t bytes;
    struct tt_pcm_area areas[CHANNELS_MAX];
};

static void lay_out(struct memory *m, enum layout layout, unsigned channels, unsigned bytes,
                    size_t skew)
{
    size_t step = (size_t)channels * bytes;
    size_t between = bytes;

    switch (layout) {
    case PLANES:
        step = bytes;
        between = FRAMES * (size_t)bytes;
        break;
    case WIDE_FRAMES:
        step += 3 * (size_t)bytes;
        break;
    case ODD:
        step = (size_t)bytes * 2 + 1;
        between = FRAMES * step;
        break;
    case INTERLEAVED:
    case REVERSED:
    case LAYOUTS:
        break;
    }
    m->bytes = skew + (channels - 1) * between + (FRAMES - 1) * step + bytes;
    m->base = (uint8_t *)malloc(m->bytes);
    assert_non_null(m->base);
    memset(m->base, 0xA5, m->bytes);
    for (unsigned c = 0; c < channels; c++) {
        unsigned place = layout == REVERSED ? channels - 1 - c : c;

        m->areas[c] = (struct tt_pcm_area){m->base + skew + place * between, step};
    }
}

static uint8_t *sample_at(const struct memory *m, unsigned channel, size_t frame)
{
    return m->areas[channel].first + frame * m->areas[channel].step_bytes;
}

static void check_to_wire(const struct kind *kind, const struct memory *m, unsigned channels,
                          const uint8_t *wire)
{
    for (size_t f = 0; f < FRAMES; f++) {
        for (unsigned c = 0; c < channels; c++) {
            uint32_t number = get_number(sample_at(m, c, f), kind->bytes, kind->big);
            uint8_t expected[4];

            put_number(expected, kind->wire_bytes, true, number);
            assert_memory_equal(wire + (f * channels + c) * kind->wire_bytes, expected,
                                kind->wire_bytes);
        }
    }
}

/* What memory must hold after the wire was written into it: samples, and the rest untouched. */
static void reference_from_wire(const struct kind *kind, struct memory *m, unsigned channels,
                                const uint8_t *wire)
{
    for (size_t f = 0; f < FRAMES; f++) {
        for (unsigned c = 0; c < channels; c++) {
            uint32_t number =
                get_number(wire + (f * channels + c) * kind->wire_bytes, kind->wire_bytes, true);

            if (kind->bytes > kind->wire_bytes && (number & 0x800000) != 0)
                number |= 0xFF000000;
            put_number(sample_at(m, c, f), kind->bytes, kind->big, number);
        }
    }
}

static void check_layout(enum tt_pcm_format format, enum layout layout, unsigned channels,
                         size_t skew, uint64_t *seed)
{
    static struct memory from;
    static struct memory to;
    static struct memory expected;
    const struct kind *kind = &kinds[format];
    size_t wire_bytes = (size_t)FRAMES * channels * kind->wire_bytes;
    uint8_t *wire_base = (uint8_t *)malloc(wire_bytes + skew);
    uint8_t *wire = wire_base + skew;

    assert_non_null(wire_base);
    lay_out(&from, layout, channels, kind->bytes, skew);
    lay_out(&to, layout, channels, kind->bytes, skew);
    lay_out(&expected, layout, channels, kind->bytes, skew);
    for (size_t i = 0; i < from.bytes; i++)
        from.base[i] = (uint8_t)random_next(seed);
    tt_pcm_to_wire(format, from.areas, channels, FRAMES, wire);
    check_to_wire(kind, &from, channels, wire);
    tt_pcm_from_wire(format, wire, channels, FRAMES, to.areas);
    reference_from_wire(kind, &expected, channels, wire);
    assert_memory_equal(to.base, expected.base, to.bytes);
    free(expected.base);
    free(to.base);
    free(from.base);
    free(wire_base);
}

static void test_every_layout(void **state)
{
    static const unsigned channels[] = {1, 2, 3, 8, 32, CHANNELS_MAX};
    uint64_t seed = 9;

    (void)state;
    for (unsigned format = 0; format < TT_PCM_FORMATS; format++) {
        for (unsigned layout = 0; layout < LAYOUTS; layout++) {
            for (size_t c = 0; c < TT_COUNT_OF(channels); c++) {
                for (size_t skew = 0; skew < 4; skew++)
                    check_layout((enum tt_pcm_format)format, (enum layout)layout, channels[c], skew,
                                 &seed);
            }
        }
    }
}

/* By hand: 1 and -2 in each format. */
static void test_vectors(void **state)
{
    static const struct {
        enum tt_pcm_format format;
        uint8_t memory[8];
        uint8_t wire[8];
    } v[] = {
        {TT_PCM_S16_LE, {0x01, 0x00, 0xFE, 0xFF}, {0x00, 0x01, 0xFF, 0xFE}},
        {TT_PCM_S16_BE, {0x00, 0x01, 0xFF, 0xFE}, {0x00, 0x01, 0xFF, 0xFE}},
        {TT_PCM_S24_3LE, {1, 0, 0, 0xFE, 0xFF, 0xFF}, {0, 0, 1, 0xFF, 0xFF, 0xFE}},
        {TT_PCM_S24_3BE, {0, 0, 1, 0xFF, 0xFF, 0xFE}, {0, 0, 1, 0xFF, 0xFF, 0xFE}},
        {TT_PCM_S24_LE, {1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF}, {0, 0, 1, 0xFF, 0xFF, 0xFE}},
        {TT_PCM_S24_BE, {0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, {0, 0, 1, 0xFF, 0xFF, 0xFE}},
        {TT_PCM_S32_LE, {1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF}, {0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}},
        {TT_PCM_S32_BE, {0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, {0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}},
        /* 1.0 and -2.0 */
        {TT_PCM_FLOAT_LE, {0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}, {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}},
        {TT_PCM_FLOAT_BE, {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}, {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}},
    };

    (void)state;
    assert_int_equal(TT_COUNT_OF(v), TT_PCM_FORMATS);
    for (size_t i = 0; i < TT_COUNT_OF(v); i++) {
        unsigned bytes = tt_pcm_sample_bytes(v[i].format);
        uint8_t memory[8];
        uint8_t wire[8] = {0};
        struct tt_pcm_area area = {memory, bytes};

        memcpy(memory, v[i].memory, sizeof(memory));
        tt_pcm_to_wire(v[i].format, &area, 1, 2, wire);
        assert_memory_equal(wire, v[i].wire, sizeof(wire));
        memset(memory, 0, sizeof(memory));
        tt_pcm_from_wire(v[i].format, wire, 1, 2, &area);
        assert_memory_equal(memory, v[i].memory, sizeof(memory));
    }
}

/* The top byte of S24 in memory is no part of the sample. */
static void test_s24_ignores_the_fourth_byte(void **state)
{
    uint8_t memory[4] = {0x56, 0x34, 0x12, 0x99};
    uint8_t wire[3];
    struct tt_pcm_area area = {memory, 4};

    (void)state;
    tt_pcm_to_wire(TT_PCM_S24_LE, &area, 1, 1, wire);
    assert_memory_equal(wire, ((const uint8_t[]){0x12, 0x34, 0x56}), 3);
    tt_pcm_from_wire(TT_PCM_S24_LE, wire, 1, 1, &area);
    assert_memory_equal(memory, ((const uint8_t[]){0x56, 0x34, 0x12, 0x00}), 4);
}

static void test_no_frames(void **state)
{
    uint8_t memory[2] = {1, 2};
    uint8_t wire[2] = {3, 4};
    struct tt_pcm_area area = {memory, 2};

    (void)state;
    tt_pcm_to_wire(TT_PCM_S16_LE, &area, 1, 0, wire);
    tt_pcm_from_wire(TT_PCM_S16_LE, wire, 1, 0, &area);
    assert_int_equal(wire[0], 3);
    assert_int_equal(memory[0], 1);
}

static void test_names_and_sizes(void **state)
{
    enum tt_pcm_format format = TT_PCM_FORMATS;

    (void)state;
    for (unsigned i = 0; i < TT_PCM_FORMATS; i++) {
        enum tt_aaf_format wire = tt_pcm_wire_format((enum tt_pcm_format)i);

        assert_string_equal(tt_pcm_format_name((enum tt_pcm_format)i), kinds[i].name);
        assert_int_equal(tt_pcm_sample_bytes((enum tt_pcm_format)i), kinds[i].bytes);
        assert_int_equal(tt_aaf_sample_bytes(wire), kinds[i].wire_bytes);
        assert_int_equal(tt_pcm_format_parse(kinds[i].name, &format), 0);
        assert_int_equal(format, i);
    }
    assert_int_equal(tt_pcm_wire_format(TT_PCM_FLOAT_LE), TT_AAF_FLOAT32);
    assert_int_equal(tt_pcm_wire_format(TT_PCM_S32_LE), TT_AAF_INT32);
    assert_int_equal(tt_pcm_format_parse("s24_3le", &format), 0);
    assert_int_equal(format, TT_PCM_S24_3LE);
    assert_int_equal(tt_pcm_format_parse("S24", &format), -EINVAL);
    assert_int_equal(tt_pcm_format_parse("", &format), -EINVAL);
    assert_int_equal(format, TT_PCM_S24_3LE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_layout),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_s24_ignores_the_fourth_byte),
        cmocka_unit_test(test_no_frames),
        cmocka_unit_test(test_names_and_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
