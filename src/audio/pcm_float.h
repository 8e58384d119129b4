/*
 * Samples of the wire as float in -1 … 1 and back: for what computes with them. Exact for 24 bits
 * and fewer, both ways.
 */
#ifndef TT_AUDIO_PCM_FLOAT_H
#define TT_AUDIO_PCM_FLOAT_H

#include <stddef.h>
#include <stdint.h>

#include "audio/aaf.h"
#include "base/attr.h"

TT_RT void tt_pcm_to_float(enum tt_aaf_format format, const uint8_t *wire, size_t samples,
                           float *ret_samples);

/* Rounded to nearest; what is beyond full scale (or no number) becomes full scale (or silence) and
 * is counted. Returns how many were. FLOAT32 passes. */
TT_RT size_t tt_pcm_from_float(enum tt_aaf_format format, const float *samples, size_t count,
                               uint8_t *ret_wire);

#endif
