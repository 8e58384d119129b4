/*
 * What every unit test includes: cmocka with what it needs before it, and seeded random numbers
 * that are the same on every machine.
 */
#ifndef TT_TESTS_UNIT_TEST_H
#define TT_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/attr.h"

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* 0 … limit - 1 */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

static inline size_t random_size(uint64_t *state, size_t limit)
{
    return (size_t)random_below(state, limit);
}

#endif
