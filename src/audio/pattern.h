/*
 * Samples as 32-bit patterns, the form in which sources, sinks and conversions meet: an integer of
 * any width stands left-justified, a 32-bit float as it is. Host byte order.
 *
 * Invariants: integer to a wider integer, and an integer of up to 24 bits to float and back, is
 * exact; what is narrowed is rounded to nearest (no dither), what lies beyond full scale is clipped
 * and counted, and what is no number is silence.
 */
#ifndef TT_AUDIO_PATTERN_H
#define TT_AUDIO_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"
#include "audio/pcm.h"

struct tt_pattern {
    bool is_float;
    unsigned bits; /* of an integer: valid ones, 8 … 32; 32 for a float */
};

struct tt_pattern tt_pattern_of(enum tt_aaf_format format);
/* The format that carries it bit for bit. */
enum tt_aaf_format tt_pattern_wire_format(struct tt_pattern pattern);
/* Whether every sample of `from` is one of `to`. */
bool tt_pattern_is_exact(struct tt_pattern from, struct tt_pattern to);

/* In place. Returns how many samples were clipped. */
uint64_t tt_pattern_convert(struct tt_pattern from, struct tt_pattern to, uint32_t *patterns,
                            size_t samples);

/* Where samples of a wire format stand in interleaved patterns, for tt_talk_write and
 * tt_listen_read; reading leaves the bytes beside them alone. Returns their format. */
enum tt_pcm_format tt_pattern_areas(enum tt_aaf_format format, uint32_t *patterns,
                                    unsigned channels, struct tt_pcm_area *ret_areas);

/* Samples in a program's memory to patterns and back: of the width of the format's wire. */
void tt_pattern_read(enum tt_pcm_format format, const uint8_t *samples, size_t count,
                     uint32_t *ret_patterns);
void tt_pattern_write(enum tt_pcm_format format, uint32_t *patterns, size_t count,
                      uint8_t *ret_samples);

/* Raises each channel's peak to the largest magnitude there is, full scale being 1. */
void tt_pattern_peaks(struct tt_pattern pattern, const uint32_t *patterns, unsigned channels,
                      size_t frames, float *peaks);

#endif
