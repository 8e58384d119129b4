/*
 * CLOCK_MONOTONIC to TAI by a followed offset. Loops pace on the monotonic clock, which never
 * steps; stamps are TAI, which may. Readings are noisy (the reader can be preempted between two
 * clocks), so each comes with its bracket.
 */
#ifndef TT_BASE_TIMEBASE_H
#define TT_BASE_TIMEBASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_TIMEBASE_STEP_NS INT64_C(1000000) /* beyond this the clock stepped */

/* TAI was read between two readings of the monotonic clock. */
struct tt_clock_reading {
    int64_t mono_before_ns;
    int64_t tai_ns;
    int64_t mono_after_ns;
};

struct tt_timebase {
    bool valid;
    int64_t tai_minus_mono_ns;
};

/* Follows a reading: small deviations beyond its bracket are slewed, a deviation beyond
 * TT_TIMEBASE_STEP_NS is a step. Returns the step in ns (0: none). The first reading is no step. */
TT_RT int64_t tt_timebase_follow(struct tt_timebase *timebase,
                                 const struct tt_clock_reading *reading);

static inline int64_t tt_timebase_tai(const struct tt_timebase *timebase, int64_t mono_ns)
{
    return mono_ns + timebase->tai_minus_mono_ns;
}

static inline int64_t tt_timebase_mono(const struct tt_timebase *timebase, int64_t tai_ns)
{
    return tai_ns - timebase->tai_minus_mono_ns;
}

#endif
