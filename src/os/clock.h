/*
 * The clock seam: the system's clocks, or a scripted one in tests (clock_script).
 */
#ifndef TT_OS_CLOCK_H
#define TT_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timebase.h"

struct tt_clock;

struct tt_clock_ops {
    /* Reads CLOCK_MONOTONIC, CLOCK_TAI, CLOCK_MONOTONIC. */
    void (*read)(struct tt_clock *clock, struct tt_clock_reading *ret_reading);
    /* CLOCK_MONOTONIC alone, which costs a third of that. */
    int64_t (*mono_ns)(struct tt_clock *clock);
    /* TAI - UTC in whole seconds; 0 means that nobody set it (or that it cannot be told). */
    int (*tai_offset_s)(struct tt_clock *clock);
    /* Whether the system's clock is known not to be synchronised; false where it cannot be told. */
    bool (*unsynchronised)(struct tt_clock *clock);
    /* Returns at or after mono_ns (at once where that is past), or earlier after a signal. */
    void (*sleep_until)(struct tt_clock *clock, int64_t mono_ns);
};

struct tt_clock {
    const struct tt_clock_ops *ops;
};

/* The system's; no state, shared by all threads. */
struct tt_clock *tt_clock_system(void);

/* CLOCK_MONOTONIC. */
int64_t tt_clock_mono_ns(void);

/* The kernel's TAI - UTC in whole seconds; 0 means that nobody set it. 0 or -errno. */
int tt_clock_tai_offset(int *ret_seconds);

/* A clock that only moves when it is told to: sleep_until sets it. Its TAI offset is 37 s at first.
 */
struct tt_clock_script {
    struct tt_clock clock;
    int64_t mono_ns;
    int64_t tai_minus_mono_ns; /* change it to step TAI */
    int tai_offset_s;
    bool unsynchronised;
    int64_t wake_late_ns; /* how late the next sleep wakes; the test changes it at will */
};

void tt_clock_script_init(struct tt_clock_script *script, int64_t mono_ns,
                          int64_t tai_minus_mono_ns);

#endif
