/*
 * See bars.h.
 */
#include "report/bars.h"

#include "base/min_max.h"

void tt_bars_fill(struct tt_bars *bars, const struct tt_hist *hist, size_t most)
{
    int64_t least = tt_hist_percentile(hist, 1);
    int64_t greatest = tt_hist_percentile(hist, 999);
    int64_t step = tt_max64(tt_hist_step(hist, least), tt_hist_step(hist, greatest));
    int64_t beyond = (int64_t)((uint64_t)least - (uint64_t)hist->origin) % step;
    /* Unsigned: the two can be any int64_t. */
    uint64_t steps = ((uint64_t)greatest - (uint64_t)least) / (uint64_t)step + 1;
    int64_t value;
    uint64_t count;
    size_t at = 0;

    *bars = (struct tt_bars){.width = (int64_t)((steps + most - 1) / most) * step};
    if (__builtin_sub_overflow(least, beyond < 0 ? beyond + step : beyond, &bars->from)) {
        bars->from = INT64_MIN; /* else as the buckets lie */
    }
    bars->count = (size_t)(((uint64_t)greatest - (uint64_t)bars->from) / (uint64_t)bars->width) + 1;
    while (tt_hist_next(hist, &at, &value, &count)) {
        uint64_t bar = ((uint64_t)value - (uint64_t)bars->from) / (uint64_t)bars->width;

        if (value < bars->from || bar >= bars->count) {
            bars->outside += count;
            continue;
        }
        bars->of[bar] += count;
        bars->most = bars->of[bar] > bars->most ? bars->of[bar] : bars->most;
    }
}
