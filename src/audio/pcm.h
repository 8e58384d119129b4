/*
 * Samples between a program's memory and the wire: byte order, container, interleaving.
 *
 * Every conversion is exact (bit for bit, both ways): integers keep their width, and a wire format
 * is only ever paired with program formats of the same width (tt_pcm_wire_format). Wire:
 * interleaved, big-endian (IEEE 1722-2016, 7.3.5).
 */
#ifndef TT_AUDIO_PCM_H
#define TT_AUDIO_PCM_H

#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"

enum tt_pcm_format {
    TT_PCM_S16_LE,
    TT_PCM_S16_BE,
    TT_PCM_S24_3LE,
    TT_PCM_S24_3BE,
    TT_PCM_S24_LE, /* low three bytes of four; written back sign-extended */
    TT_PCM_S24_BE,
    TT_PCM_S32_LE,
    TT_PCM_S32_BE,
    TT_PCM_FLOAT_LE,
    TT_PCM_FLOAT_BE,
    TT_PCM_FORMATS
};

/* One channel in a program's memory: the first sample, and bytes from one sample to the next. */
struct tt_pcm_area {
    uint8_t *first;
    size_t step_bytes;
};

/* S16 -> INT16, S24 and S24_3 -> INT24, S32 -> INT32, FLOAT -> FLOAT32. */
enum tt_aaf_format tt_pcm_wire_format(enum tt_pcm_format format);
/* ALSA's name: "S16_LE", "S24_3LE", "FLOAT_LE", … */
const char *tt_pcm_format_name(enum tt_pcm_format format);
/* By that name, any case; 0 or -EINVAL. */
int tt_pcm_format_parse(const char *name, enum tt_pcm_format *ret_format);
/* Bytes of one sample in the program's memory: 2, 3 or 4. */
unsigned tt_pcm_sample_bytes(enum tt_pcm_format format);

/* areas: `channels` of them. wire: frames x channels samples, interleaved. */
TT_RT void tt_pcm_to_wire(enum tt_pcm_format format, const struct tt_pcm_area *areas,
                          unsigned channels, size_t frames, uint8_t *ret_wire);
TT_RT void tt_pcm_from_wire(enum tt_pcm_format format, const uint8_t *wire, unsigned channels,
                            size_t frames, const struct tt_pcm_area *areas);

#endif
