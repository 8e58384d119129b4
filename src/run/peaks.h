/*
 * The greatest amplitude of each channel since somebody looked last: one thread raises, another
 * takes. A peak that is raised just as it is taken may be seen twice, and none is missed.
 */
#ifndef TT_RUN_PEAKS_H
#define TT_RUN_PEAKS_H

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/attr.h"

/* `samples`: frames x channels, interleaved; full scale is 1. */
TT_RT static inline void tt_peaks_raise(_Atomic float *peaks, unsigned channels,
                                        const float *samples, size_t frames)
{
    for (unsigned c = 0; c < channels; c++) {
        float peak = atomic_load_explicit(&peaks[c], memory_order_relaxed);

        for (size_t i = 0; i < frames; i++) {
            peak = fmaxf(peak, fabsf(samples[i * channels + c]));
        }
        atomic_store_explicit(&peaks[c], peak, memory_order_relaxed);
    }
}

/* Raises `into` to the peaks, which begin anew. */
static inline void tt_peaks_take(_Atomic float *peaks, unsigned channels, float *into)
{
    for (unsigned c = 0; c < channels; c++) {
        into[c] = fmaxf(into[c], atomic_exchange_explicit(&peaks[c], 0, memory_order_relaxed));
    }
}

#endif
