/*
 * The lesser and the greater of two signed 64-bit values: frames, positions, times.
 */
#ifndef TT_BASE_MIN_MAX_H
#define TT_BASE_MIN_MAX_H

#include <stdint.h>

static inline int64_t tt_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tt_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
