/*
 * A run cut into windows of equal length: what is compared, for samples depend on each other and
 * windows hardly do. Constant memory: when all places are taken, two windows become one and a
 * window is twice as long.
 *
 * A window ends when a cycle comes that is behind it; windows in which none fell are not there.
 */
#ifndef TT_METER_WINDOW_H
#define TT_METER_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/compare.h"
#include "base/hist.h"
#include "meter/fragment.h"

struct tt_windows {
    int64_t start_ns;
    int64_t length_ns;
    size_t count;
    int64_t median_late_ns[TT_COMPARE_WINDOWS_MAX]; /* hand-over - due */
    int64_t misses[TT_COMPARE_WINDOWS_MAX];         /* late and skipped */
    /* The window that is open. */
    int64_t open;
    int64_t open_misses;
    struct tt_hist open_late;
};

void tt_windows_init(struct tt_windows *windows, int64_t start_ns, int64_t length_ns);
void tt_windows_add(struct tt_windows *windows, int64_t now_ns,
                    const struct tt_fragment_fate *fate);
/* Two windows become one, of twice the length; one that is left over at the end is dropped. */
void tt_windows_halve(int64_t *medians, int64_t *misses, size_t *count, int64_t *length_ns);

#endif
