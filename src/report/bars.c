/*
 * See bars.h.
 */
#include "report/bars.h"

void tt_bars_fill(struct tt_bars *bars, const struct tt_hist *hist, size_t most)
{
    int64_t least = tt_hist_percentile(hist, 1);
    int64_t greatest = tt_hist_percentile(hist, 999);
    int64_t step =
        tt_hist_step(least) > tt_hist_step(greatest) ? tt_hist_step(least) : tt_hist_step(greatest);
    /* Unsigned: the two can be any int64_t. */
    uint64_t steps = ((uint64_t)greatest - (uint64_t)least) / (uint64_t)step + 1;
    int64_t value;
    uint64_t count;
    size_t at = 0;

    *bars = (struct tt_bars){.width = (int64_t)((steps + most - 1) / most) * step};
    bars->from = least - least % step - (least % step < 0 ? step : 0);
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
