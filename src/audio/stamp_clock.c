/*
 * See stamp_clock.h.
 */
#include "audio/stamp_clock.h"

#include <stdlib.h>

#include "base/ns.h"

#define RATE_HZ       1000000
#define BANDWIDTH_MHZ 50
#define STEP_NS       TT_NS_PER_MS

static int64_t convert(const struct tt_stamp_clock *clock, int64_t phc_ns)
{
    int64_t us = tt_floor_div(phc_ns, TT_NS_PER_US);

    return tt_media_clock_time(&clock->clock, us) + (phc_ns - us * TT_NS_PER_US);
}

static void place(struct tt_stamp_clock *clock, int64_t us, int64_t utc_ns)
{
    tt_media_clock_init(&clock->clock, RATE_HZ, us, utc_ns);
    tt_media_clock_quieten(&clock->clock, BANDWIDTH_MHZ);
}

void tt_stamp_clock_follow(struct tt_stamp_clock *clock, int64_t phc_ns, int64_t utc_ns)
{
    int64_t us = tt_floor_div(phc_ns, TT_NS_PER_US);
    int64_t at_us_ns = utc_ns - (phc_ns - us * TT_NS_PER_US);

    if (!clock->known) {
        place(clock, us, at_us_ns);
        clock->known = true;
    } else if (us <= clock->clock.frame || llabs(convert(clock, phc_ns) - utc_ns) > STEP_NS) {
        place(clock, us, at_us_ns);
        clock->steps++;
    } else {
        tt_media_clock_follow(&clock->clock, us, at_us_ns);
    }
}

int64_t tt_stamp_clock_utc(struct tt_stamp_clock *clock, int64_t stamp_ns, int64_t now_utc_ns)
{
    int64_t utc_ns = clock->known ? convert(clock, stamp_ns) : stamp_ns;

    if (llabs(utc_ns - now_utc_ns) <= llabs(stamp_ns - now_utc_ns)) {
        return utc_ns;
    }
    clock->foreign++;
    return stamp_ns;
}
