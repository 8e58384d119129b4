/*
 * Stamps of an interface's own clock (a PTP hardware clock), in UTC: that clock, followed against
 * the system's by readings of both.
 *
 * Pure. Readings are noisy by what they take; the clock is audio/media_clock, quiet, in
 * microseconds. Where a reading is off by more than a millisecond, one of the two was set, and it
 * is placed anew.
 */
#ifndef TT_AUDIO_STAMP_CLOCK_H
#define TT_AUDIO_STAMP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/media_clock.h"

/* Zeroed has read nothing. */
struct tt_stamp_clock {
    struct tt_media_clock clock; /* its frames are microseconds of the interface's clock */
    bool known;
    uint64_t steps;
    uint64_t foreign; /* stamps that were the kernel's */
};

/* The interface's clock was at phc_ns when UTC was utc_ns; both only grow, unless they were set. */
void tt_stamp_clock_follow(struct tt_stamp_clock *clock, int64_t phc_ns, int64_t utc_ns);

/* When a packet with this stamp, read at about now_utc_ns, came. Where the interface did not stamp
 * it, the kernel did, in UTC: whichever makes sense is taken. Before any reading, the stamp. */
int64_t tt_stamp_clock_utc(struct tt_stamp_clock *clock, int64_t stamp_ns, int64_t now_utc_ns);

#endif
