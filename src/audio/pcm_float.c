/*
 * See pcm_float.h.
 */
#include "audio/pcm_float.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

static float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void tt_pcm_to_float(enum tt_aaf_format format, const uint8_t *wire, size_t samples,
                     float *ret_samples)
{
    unsigned bytes = tt_aaf_sample_bytes(format);

    for (size_t i = 0; i < samples; i++, wire += bytes) {
        switch (format) {
        case TT_AAF_INT16:
            ret_samples[i] = (float)(int16_t)tt_get_be16(wire) * 0x1p-15F;
            break;
        case TT_AAF_INT24:
            ret_samples[i] =
                (float)((int32_t)((uint32_t)tt_get_be16(wire) << 16 | (uint32_t)wire[2] << 8) >>
                        8) *
                0x1p-23F;
            break;
        case TT_AAF_INT32:
            ret_samples[i] = (float)((double)(int32_t)tt_get_be32(wire) * 0x1p-31);
            break;
        case TT_AAF_FLOAT32:
            ret_samples[i] = float_of_bits(tt_get_be32(wire));
            break;
        case TT_AAF_AES3:
            ret_samples[i] = 0;
            break;
        }
    }
}

/* To `bits` bits; *clipped counts. */
static int32_t quantise(float sample, int bits, size_t *clipped)
{
    double full = ldexp(1, bits - 1);
    double scaled = rint((double)sample * full);

    if (scaled >= -full && scaled < full) {
        return (int32_t)scaled;
    }
    (*clipped)++;
    return (int32_t)(scaled > 0 ? full - 1 : scaled < 0 ? -full : 0);
}

size_t tt_pcm_from_float(enum tt_aaf_format format, const float *samples, size_t count,
                         uint8_t *ret_wire)
{
    unsigned bytes = tt_aaf_sample_bytes(format);
    size_t clipped = 0;
    uint32_t sample;

    for (size_t i = 0; i < count; i++, ret_wire += bytes) {
        switch (format) {
        case TT_AAF_INT16:
            tt_put_be16(ret_wire, (uint16_t)quantise(samples[i], 16, &clipped));
            break;
        case TT_AAF_INT24:
            sample = (uint32_t)quantise(samples[i], 24, &clipped);
            tt_put_be16(ret_wire, (uint16_t)(sample >> 8));
            ret_wire[2] = (uint8_t)sample;
            break;
        case TT_AAF_INT32:
            tt_put_be32(ret_wire, (uint32_t)quantise(samples[i], 32, &clipped));
            break;
        case TT_AAF_FLOAT32:
            tt_put_be32(ret_wire, bits_of_float(samples[i]));
            break;
        case TT_AAF_AES3:
            break;
        }
    }
    return clipped;
}
