/*
 * See pattern.h.
 */
#include "audio/pattern.h"

#include <string.h>

#define BLOCK     256
#define FULL      2147483648.0f /* 2^31 */
#define IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

struct tt_pattern tt_pattern_of(enum tt_aaf_format format)
{
    return (struct tt_pattern){.is_float = format == TT_AAF_FLOAT32,
                               .bits = tt_aaf_sample_bytes(format) * 8};
}

enum tt_aaf_format tt_pattern_wire_format(struct tt_pattern pattern)
{
    if (pattern.is_float) {
        return TT_AAF_FLOAT32;
    }
    return pattern.bits <= 16 ? TT_AAF_INT16 : pattern.bits <= 24 ? TT_AAF_INT24 : TT_AAF_INT32;
}

bool tt_pattern_is_exact(struct tt_pattern from, struct tt_pattern to)
{
    if (from.is_float || to.is_float) {
        return to.is_float && (from.is_float || from.bits <= 24);
    }
    return from.bits <= to.bits;
}

static float as_float(uint32_t pattern)
{
    float value;

    memcpy(&value, &pattern, sizeof(value));
    return value;
}

static uint32_t from_integer(uint32_t pattern)
{
    float value = (float)(int32_t)pattern / FULL;

    memcpy(&pattern, &value, sizeof(value));
    return pattern;
}

/* To the nearest value of `bits` bits, halves up; the largest is within one step of full scale. */
static uint32_t narrow(uint32_t pattern, unsigned bits)
{
    int64_t step = INT64_C(1) << (32 - bits);
    int64_t value = ((int64_t)(int32_t)pattern + step / 2) & -step;

    return (uint32_t)(value > INT32_MAX ? INT64_C(0x80000000) - step : value);
}

/* Rounded once, at the width that is wanted. */
static uint32_t from_float(uint32_t pattern, unsigned bits, uint64_t *clipped)
{
    int64_t step = INT64_C(1) << (32 - bits);
    double most = (double)FULL / (double)step;
    double value = (double)as_float(pattern) * most;
    int64_t rounded;

    if (value != value) {
        return 0;
    }
    if (value > most || value < -most) {
        (*clipped)++;
        value = value > 0 ? most : -most;
    }
    rounded = value < 0 ? -(int64_t)(0.5 - value) : (int64_t)(value + 0.5);
    return (uint32_t)((rounded < (int64_t)most ? rounded : (int64_t)most - 1) * step);
}

uint64_t tt_pattern_convert(struct tt_pattern from, struct tt_pattern to, uint32_t *patterns,
                            size_t samples)
{
    uint64_t clipped = 0;

    if (from.is_float == to.is_float && tt_pattern_is_exact(from, to)) {
        return 0;
    }
    for (size_t i = 0; i < samples; i++) {
        if (!from.is_float && to.is_float) {
            patterns[i] = from_integer(patterns[i]);
        } else if (from.is_float) {
            patterns[i] = from_float(patterns[i], to.bits, &clipped);
        } else {
            patterns[i] = narrow(patterns[i], to.bits);
        }
    }
    return clipped;
}

enum tt_pcm_format tt_pattern_areas(enum tt_aaf_format format, uint32_t *patterns,
                                    unsigned channels, struct tt_pcm_area *ret_areas)
{
    size_t skip = IS_LITTLE ? sizeof(*patterns) - tt_aaf_sample_bytes(format) : 0;

    for (unsigned c = 0; c < channels; c++) {
        ret_areas[c] = (struct tt_pcm_area){.first = (uint8_t *)(patterns + c) + skip,
                                            .step_bytes = sizeof(*patterns) * channels};
    }
    switch (format) {
    case TT_AAF_INT16:
        return IS_LITTLE ? TT_PCM_S16_LE : TT_PCM_S16_BE;
    case TT_AAF_INT24:
        return IS_LITTLE ? TT_PCM_S24_3LE : TT_PCM_S24_3BE;
    case TT_AAF_FLOAT32:
        return IS_LITTLE ? TT_PCM_FLOAT_LE : TT_PCM_FLOAT_BE;
    default:
        return IS_LITTLE ? TT_PCM_S32_LE : TT_PCM_S32_BE;
    }
}

/* By way of the wire's bytes, in blocks: that is what audio/pcm converts from and to. */
static void pass(enum tt_pcm_format format, uint8_t *samples, size_t count, uint32_t *patterns,
                 bool reading)
{
    enum tt_aaf_format wire_format = tt_pcm_wire_format(format);
    uint8_t wire[BLOCK * sizeof(uint32_t)];

    while (count > 0) {
        size_t n = count < BLOCK ? count : BLOCK;
        struct tt_pcm_area in = {samples, tt_pcm_sample_bytes(format)};
        struct tt_pcm_area out;
        enum tt_pcm_format host = tt_pattern_areas(wire_format, patterns, 1, &out);

        if (reading) {
            memset(patterns, 0, n * sizeof(*patterns));
            tt_pcm_to_wire(format, &in, 1, n, wire);
            tt_pcm_from_wire(host, wire, 1, n, &out);
        } else {
            tt_pcm_to_wire(host, &out, 1, n, wire);
            tt_pcm_from_wire(format, wire, 1, n, &in);
        }
        samples += n * in.step_bytes;
        patterns += n;
        count -= n;
    }
}

void tt_pattern_read(enum tt_pcm_format format, const uint8_t *samples, size_t count,
                     uint32_t *ret_patterns)
{
    pass(format, (uint8_t *)(uintptr_t)samples, count, ret_patterns, true);
}

void tt_pattern_write(enum tt_pcm_format format, uint32_t *patterns, size_t count,
                      uint8_t *ret_samples)
{
    pass(format, ret_samples, count, patterns, false);
}

void tt_pattern_peaks(struct tt_pattern pattern, const uint32_t *patterns, unsigned channels,
                      size_t frames, float *peaks)
{
    for (size_t i = 0; i < frames * channels; i++) {
        float value = pattern.is_float ? as_float(patterns[i]) : (float)(int32_t)patterns[i] / FULL;

        value = value < 0 ? -value : value;
        if (value > peaks[i % channels]) {
            peaks[i % channels] = value;
        }
    }
}
