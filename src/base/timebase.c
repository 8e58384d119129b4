/*
 * See timebase.h.
 */
#include "base/timebase.h"

int64_t tt_timebase_follow(struct tt_timebase *timebase, const struct tt_clock_reading *reading)
{
    int64_t half_bracket = (reading->mono_after_ns - reading->mono_before_ns) / 2;
    int64_t offset = reading->tai_ns - (reading->mono_before_ns + half_bracket);
    int64_t deviation = offset - timebase->tai_minus_mono_ns;
    int64_t slew_max_ns = 100;

    if (!timebase->valid) {
        timebase->valid = true;
        timebase->tai_minus_mono_ns = offset;
        return 0;
    }
    if (deviation > half_bracket + TT_TIMEBASE_STEP_NS ||
        deviation < -half_bracket - TT_TIMEBASE_STEP_NS) {
        timebase->tai_minus_mono_ns = offset;
        return deviation;
    }
    /* What the bracket cannot explain is real; it is approached slowly, so that stamps never jump.
     */
    if (deviation > half_bracket) {
        int64_t excess = deviation - half_bracket;
        timebase->tai_minus_mono_ns += excess < slew_max_ns ? excess : slew_max_ns;
    } else if (deviation < -half_bracket) {
        int64_t excess = -deviation - half_bracket;
        timebase->tai_minus_mono_ns -= excess < slew_max_ns ? excess : slew_max_ns;
    }
    return 0;
}
