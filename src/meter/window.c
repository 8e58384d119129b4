/*
 * See window.h.
 */
#include "meter/window.h"

void tt_windows_init(struct tt_windows *windows, int64_t start_ns, int64_t length_ns)
{
    windows->start_ns = start_ns;
    windows->length_ns = length_ns;
    windows->count = 0;
    windows->open = 0;
    windows->open_misses = 0;
    tt_hist_init(&windows->open_late);
}

void tt_windows_halve(int64_t *medians, int64_t *misses, size_t *count, int64_t *length_ns)
{
    *count /= 2;
    for (size_t i = 0; i < *count; i++) {
        medians[i] = (medians[2 * i] + medians[2 * i + 1]) / 2;
        misses[i] = misses[2 * i] + misses[2 * i + 1];
    }
    *length_ns *= 2;
}

static void close_window(struct tt_windows *windows)
{
    if (windows->open_late.n > 0) {
        windows->median_late_ns[windows->count] = tt_hist_percentile(&windows->open_late, 500);
        windows->misses[windows->count] = windows->open_misses;
        windows->count++;
    }
    if (windows->count == TT_COMPARE_WINDOWS_MAX) {
        tt_windows_halve(windows->median_late_ns, windows->misses, &windows->count,
                         &windows->length_ns);
    }
    windows->open_misses = 0;
    tt_hist_init(&windows->open_late);
}

void tt_windows_add(struct tt_windows *windows, int64_t now_ns, const struct tt_fragment_fate *fate)
{
    int64_t window = (now_ns - windows->start_ns) / windows->length_ns;

    if (window != windows->open) {
        close_window(windows);
        windows->open = (now_ns - windows->start_ns) / windows->length_ns;
    }
    windows->open_misses += fate->late + (int64_t)fate->skipped;
    tt_hist_record(&windows->open_late, fate->late_ns);
}
