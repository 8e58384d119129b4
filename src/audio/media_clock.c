/*
 * See media_clock.h. The loop is the usual one of second order (phase and rate), damped by 0.7,
 * with a fixed bandwidth: wide enough to catch ±200 ppm within a few µs, narrow enough to smooth
 * stamps that jitter by tens of µs.
 */
#include "audio/media_clock.h"

#include <math.h>

#include "base/ns.h"

#define BANDWIDTH_HZ 2.0
#define OMEGA_MAX    0.5 /* sparse observations: the loop must stay stable */

/* Whole ns and the rest of (time of `frame` - anchor), exactly split so that no rounding adds up.
 */
static int64_t offset_ns(const struct tt_media_clock *clock, int64_t frame, double *ret_fraction)
{
    int64_t rate = clock->rate_hz;
    int64_t frames = frame - clock->frame;
    int64_t seconds = tt_floor_div(frames, rate);
    int64_t scaled = (frames - seconds * rate) * TT_NS_PER_S;
    double length_ns = (double)frames * 1e9 / (double)rate;
    double fraction =
        clock->fraction_ns + (double)(scaled % rate) / (double)rate + length_ns * clock->drift;
    double whole = floor(fraction);

    *ret_fraction = fraction - whole;
    return seconds * TT_NS_PER_S + scaled / rate + (int64_t)whole;
}

void tt_media_clock_init(struct tt_media_clock *clock, uint32_t rate_hz, int64_t frame,
                         int64_t tai_ns)
{
    *clock = (struct tt_media_clock){.rate_hz = rate_hz, .frame = frame, .tai_ns = tai_ns};
}

void tt_media_clock_anchor(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns)
{
    clock->frame = frame;
    clock->tai_ns = tai_ns;
    clock->fraction_ns = 0;
}

void tt_media_clock_follow(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns)
{
    double span_ns = (double)(frame - clock->frame) * 1e9 / (double)clock->rate_hz;
    double omega = 2 * 3.14159265358979 * BANDWIDTH_HZ * span_ns * 1e-9;
    double fraction;
    int64_t whole;
    double error_ns;
    double whole_step;

    if (frame <= clock->frame) {
        return;
    }
    if (omega > OMEGA_MAX) {
        omega = OMEGA_MAX;
    }
    whole = offset_ns(clock, frame, &fraction);
    error_ns = (double)(tai_ns - (clock->tai_ns + whole)) - fraction;
    clock->drift += omega * omega * error_ns / span_ns;
    clock->drift = fmin(fmax(clock->drift, -TT_MEDIA_CLOCK_DRIFT_MAX), TT_MEDIA_CLOCK_DRIFT_MAX);
    fraction += 1.41421356237310 * omega * error_ns;
    whole_step = floor(fraction);
    clock->frame = frame;
    clock->tai_ns += whole + (int64_t)whole_step;
    clock->fraction_ns = fraction - whole_step;
}

int64_t tt_media_clock_time(const struct tt_media_clock *clock, int64_t frame)
{
    double fraction;
    int64_t whole = offset_ns(clock, frame, &fraction);

    return clock->tai_ns + whole + (fraction >= 0.5);
}

int64_t tt_media_clock_frame(const struct tt_media_clock *clock, int64_t tai_ns)
{
    int64_t span_ns = tai_ns - clock->tai_ns;
    int64_t nominal = tt_ns_to_frames(span_ns, clock->rate_hz);
    int64_t frame = clock->frame + nominal -
                    (int64_t)floor((double)nominal * clock->drift / (1 + clock->drift));

    while (tt_media_clock_time(clock, frame) > tai_ns) {
        frame--;
    }
    while (tt_media_clock_time(clock, frame + 1) <= tai_ns) {
        frame++;
    }
    return frame;
}

int64_t tt_media_clock_drift_ppb(const struct tt_media_clock *clock)
{
    return llround(-clock->drift * 1e9);
}
