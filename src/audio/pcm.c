/*
 * See pcm.h. Interleaved memory is converted as one run of samples, any other shape channel by
 * channel; the format is decided outside the loops.
 */
#include "audio/pcm.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"

/* Samples of one kind, `step` bytes from one to the next. */
struct run {
    uint8_t *to;
    size_t to_step;
    const uint8_t *from;
    size_t from_step;
    size_t samples;
};

static inline void copy_2(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 2);
}

static inline void copy_3(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 3);
}

static inline void copy_4(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 4);
}

static inline void swap_2(uint8_t *to, const uint8_t *from)
{
    uint16_t sample;

    memcpy(&sample, from, 2);
    sample = __builtin_bswap16(sample);
    memcpy(to, &sample, 2);
}

static inline void swap_3(uint8_t *to, const uint8_t *from)
{
    uint8_t first = from[0];

    to[0] = from[2];
    to[1] = from[1];
    to[2] = first;
}

static inline void swap_4(uint8_t *to, const uint8_t *from)
{
    uint32_t sample;

    memcpy(&sample, from, 4);
    sample = __builtin_bswap32(sample);
    memcpy(to, &sample, 4);
}

static inline uint8_t sign_byte(uint8_t top)
{
    return (top & 0x80) != 0 ? 0xFF : 0;
}

static inline void narrow_le(uint8_t *to, const uint8_t *from)
{
    swap_3(to, from);
}

static inline void narrow_be(uint8_t *to, const uint8_t *from)
{
    copy_3(to, from + 1);
}

static inline void widen_be(uint8_t *to, const uint8_t *from)
{
    to[0] = sign_byte(from[0]);
    copy_3(to + 1, from);
}

static inline void widen_le(uint8_t *to, const uint8_t *from)
{
    swap_3(to, from);
    to[3] = sign_byte(from[0]);
}

/* Steps known to the compiler make tight loops of the common case. */
#define RUN(sample, to_bytes, from_bytes)                                                          \
    static void sample##_run(const struct run *run)                                                \
    {                                                                                              \
        uint8_t *restrict to = run->to;                                                            \
        const uint8_t *restrict from = run->from;                                                  \
                                                                                                   \
        if (run->to_step == (to_bytes) && run->from_step == (from_bytes)) {                        \
            for (size_t i = 0; i < run->samples; i++)                                              \
                sample(to + i * (to_bytes), from + i * (from_bytes));                              \
        } else {                                                                                   \
            for (size_t i = 0; i < run->samples; i++)                                              \
                sample(to + i * run->to_step, from + i * run->from_step);                          \
        }                                                                                          \
    }

RUN(copy_2, 2, 2)
RUN(copy_3, 3, 3)
RUN(copy_4, 4, 4)
RUN(swap_2, 2, 2)
RUN(swap_4, 4, 4)
RUN(narrow_le, 3, 4)
RUN(narrow_be, 3, 4)
RUN(widen_be, 4, 3)
RUN(widen_le, 4, 3)

/* Two samples at a time: what is written beyond them belongs to the third, which comes next. */
static void swap_3_run(const struct run *run)
{
    uint8_t *restrict to = run->to;
    const uint8_t *restrict from = run->from;
    size_t i = 0;

    if (run->to_step == 3 && run->from_step == 3) {
        for (; i + 3 <= run->samples; i += 2) {
            uint64_t big = tt_get_be64(from + i * 3);
            uint64_t little = htole64(big >> 40 | (big >> 16 & 0xFFFFFF) << 24);

            memcpy(to + i * 3, &little, sizeof(little));
        }
    }
    for (; i < run->samples; i++) {
        swap_3(to + i * run->to_step, from + i * run->from_step);
    }
}

struct trait {
    const char *name;
    enum tt_aaf_format wire;
    unsigned bytes;
    void (*to_wire)(const struct run *run);
    void (*from_wire)(const struct run *run);
};

static const struct trait traits[TT_PCM_FORMATS] = {
    [TT_PCM_S16_LE] = {"S16_LE", TT_AAF_INT16, 2, swap_2_run, swap_2_run},
    [TT_PCM_S16_BE] = {"S16_BE", TT_AAF_INT16, 2, copy_2_run, copy_2_run},
    [TT_PCM_S24_3LE] = {"S24_3LE", TT_AAF_INT24, 3, swap_3_run, swap_3_run},
    [TT_PCM_S24_3BE] = {"S24_3BE", TT_AAF_INT24, 3, copy_3_run, copy_3_run},
    [TT_PCM_S24_LE] = {"S24_LE", TT_AAF_INT24, 4, narrow_le_run, widen_le_run},
    [TT_PCM_S24_BE] = {"S24_BE", TT_AAF_INT24, 4, narrow_be_run, widen_be_run},
    [TT_PCM_S32_LE] = {"S32_LE", TT_AAF_INT32, 4, swap_4_run, swap_4_run},
    [TT_PCM_S32_BE] = {"S32_BE", TT_AAF_INT32, 4, copy_4_run, copy_4_run},
    [TT_PCM_FLOAT_LE] = {"FLOAT_LE", TT_AAF_FLOAT32, 4, swap_4_run, swap_4_run},
    [TT_PCM_FLOAT_BE] = {"FLOAT_BE", TT_AAF_FLOAT32, 4, copy_4_run, copy_4_run},
};

enum tt_aaf_format tt_pcm_wire_format(enum tt_pcm_format format)
{
    return traits[format].wire;
}

const char *tt_pcm_format_name(enum tt_pcm_format format)
{
    return traits[format].name;
}

int tt_pcm_format_parse(const char *name, enum tt_pcm_format *ret_format)
{
    for (unsigned i = 0; i < TT_PCM_FORMATS; i++) {
        if (strcasecmp(traits[i].name, name) == 0) {
            *ret_format = (enum tt_pcm_format)i;
            return 0;
        }
    }
    return -EINVAL;
}

unsigned tt_pcm_sample_bytes(enum tt_pcm_format format)
{
    return traits[format].bytes;
}

static bool is_interleaved(const struct tt_pcm_area *areas, unsigned channels, unsigned bytes)
{
    for (unsigned c = 0; c < channels; c++) {
        if (areas[c].first != areas[0].first + (size_t)c * bytes ||
            areas[c].step_bytes != (size_t)channels * bytes)
            return false;
    }
    return true;
}

void tt_pcm_to_wire(enum tt_pcm_format format, const struct tt_pcm_area *areas, unsigned channels,
                    size_t frames, uint8_t *ret_wire)
{
    const struct trait *trait = &traits[format];
    unsigned wire_bytes = tt_aaf_sample_bytes(trait->wire);

    if (is_interleaved(areas, channels, trait->bytes)) {
        trait->to_wire(
            &(struct run){ret_wire, wire_bytes, areas[0].first, trait->bytes, frames * channels});
        return;
    }
    for (unsigned c = 0; c < channels; c++) {
        trait->to_wire(&(struct run){ret_wire + (size_t)c * wire_bytes,
                                     (size_t)channels * wire_bytes, areas[c].first,
                                     areas[c].step_bytes, frames});
    }
}

void tt_pcm_from_wire(enum tt_pcm_format format, const uint8_t *wire, unsigned channels,
                      size_t frames, const struct tt_pcm_area *areas)
{
    const struct trait *trait = &traits[format];
    unsigned wire_bytes = tt_aaf_sample_bytes(trait->wire);

    if (is_interleaved(areas, channels, trait->bytes)) {
        trait->from_wire(
            &(struct run){areas[0].first, trait->bytes, wire, wire_bytes, frames * channels});
        return;
    }
    for (unsigned c = 0; c < channels; c++) {
        trait->from_wire(&(struct run){areas[c].first, areas[c].step_bytes,
                                       wire + (size_t)c * wire_bytes, (size_t)channels * wire_bytes,
                                       frames});
    }
}
