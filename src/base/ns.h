/*
 * Time arithmetic: int64_t nanoseconds, exact for every audio rate.
 *
 * Invariants: no drift and no step however long a stream runs (a period is never rounded and then
 * multiplied); a 32-bit AVTP time is widened here and nowhere else.
 * Source: IEEE 1722-2016, 4.4.4.8 (avtp_timestamp is gPTP nanoseconds modulo 2^32).
 */
#ifndef TT_BASE_NS_H
#define TT_BASE_NS_H

#include <stdint.h>

#define TT_NS_PER_US INT64_C(1000)
#define TT_NS_PER_MS INT64_C(1000000)
#define TT_NS_PER_S  INT64_C(1000000000)

/* a / b rounded towards minus infinity; b > 0. */
static inline int64_t tt_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return a % b < 0 ? q - 1 : q;
}

/* The time of the start of frame `frames`, rounded to the nearest ns (halves up).
 * Any frame count whose time fits int64_t (292 years); negative counts too. rate_hz 1 … 2^30. */
static inline int64_t tt_frames_to_ns(int64_t frames, uint32_t rate_hz)
{
    int64_t rate = rate_hz;
    int64_t seconds = frames >= 0 && frames < rate ? 0 : tt_floor_div(frames, rate);
    int64_t rest = frames - seconds * rate;

    return seconds * TT_NS_PER_S + (rest * TT_NS_PER_S * 2 + rate) / (rate * 2);
}

/* The last frame that starts at or before `ns`: the largest f with tt_frames_to_ns(f) <= ns.
 * So tt_ns_to_frames(tt_frames_to_ns(f)) == f. rate_hz 1 … 500 000 000. */
static inline int64_t tt_ns_to_frames(int64_t ns, uint32_t rate_hz)
{
    int64_t rate = rate_hz;
    int64_t seconds = tt_floor_div(ns, TT_NS_PER_S);
    int64_t rest = ns - seconds * TT_NS_PER_S;
    int64_t frame = seconds * rate + rest * rate / TT_NS_PER_S;

    return tt_frames_to_ns(frame + 1, rate_hz) <= ns ? frame + 1 : frame;
}

/* The 64-bit time nearest to `near_ns` whose low 32 bits are `low`: on either side of a 2^32 ns
 * boundary. The result lies in [near_ns - 2^31, near_ns + 2^31). */
static inline int64_t tt_widen32(uint32_t low, int64_t near_ns)
{
    return near_ns + (int32_t)(low - (uint32_t)near_ns);
}

#endif
