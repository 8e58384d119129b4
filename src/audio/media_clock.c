/*
 * See media_clock.h. The loop is the usual one of second order (phase and rate, damping 0.71). Wide
 * is wide enough to catch ±200 ppm within a few µs, narrow enough to smooth stamps that jitter by
 * tens of µs.
 *
 * A line fitted to the n observations so far moves by 4/n of the last one's error in phase and
 * 6/n^2 in rate; the loop of bandwidth omega by 1.41 omega T and (omega T)^2. So omega = 2.45 / (n
 * T) is that fit, and the loop at its final omega forgets what is older than 2.45 / omega.
 */
#include "audio/media_clock.h"

#include <math.h>
#include <stdlib.h>

#include "base/ns.h"

#define TWO_PI       6.28318530717959
#define OMEGA_WIDE   (TWO_PI * 2.0)
#define OMEGA_LINE   2.44948974278318 /* times the age of what is fitted, */
#define AGE_MIN_S    0.05             /* to which at first belongs a guess: the nominal rate */
#define STEP_MAX     0.5              /* omega T; sparse observations: the loop must stay stable */
#define ANCHORED_S   1.0
#define CLIP_SPREADS 3.0
#define ASTRAY_MAX   64

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
    clock->followed_s = fmin(clock->followed_s, ANCHORED_S);
}

void tt_media_clock_quieten(struct tt_media_clock *clock, unsigned bandwidth_mhz)
{
    clock->quiet_omega = TWO_PI * bandwidth_mhz * 1e-3;
}

/* omega T of an observation that comes span_s after the last. */
static double step_of(struct tt_media_clock *clock, double span_s)
{
    double omega = OMEGA_WIDE;

    if (clock->quiet_omega > 0) {
        clock->followed_s += span_s;
        omega = fmax(OMEGA_LINE / (AGE_MIN_S + clock->followed_s), clock->quiet_omega);
    }
    return fmin(omega * span_s, STEP_MAX);
}

/* An error beyond the usual tells of the observer (a late interrupt), hardly of the clock: it
 * counts as far as the usual goes. Where one follows the other, the clock itself has moved. */
static double clip(struct tt_media_clock *clock, double error_ns)
{
    double most_ns = CLIP_SPREADS * clock->spread_ns + 1;

    if (clock->followed_s < ANCHORED_S || fabs(error_ns) <= most_ns) {
        clock->astray = 0;
        return error_ns;
    }
    if (error_ns > 0) {
        clock->astray = clock->astray > 0 ? clock->astray + 1 : 1;
    } else {
        clock->astray = clock->astray < 0 ? clock->astray - 1 : -1;
    }
    if (abs(clock->astray) > ASTRAY_MAX) {
        clock->astray = 0;
        clock->followed_s = 0;
        clock->spread_ns = fabs(error_ns);
    }
    return fmin(fmax(error_ns, -most_ns), most_ns);
}

void tt_media_clock_follow(struct tt_media_clock *clock, int64_t frame, int64_t tai_ns)
{
    double span_ns = (double)(frame - clock->frame) * 1e9 / (double)clock->rate_hz;
    double fraction;
    int64_t whole;
    double step;
    double error_ns;
    double whole_step;

    if (frame <= clock->frame) {
        return;
    }
    step = step_of(clock, span_ns * 1e-9);
    whole = offset_ns(clock, frame, &fraction);
    error_ns = (double)(tai_ns - (clock->tai_ns + whole)) - fraction;
    if (clock->quiet_omega > 0) {
        error_ns = clip(clock, error_ns);
        clock->spread_ns += step * (fabs(error_ns) - clock->spread_ns);
    }
    clock->drift += step * step * error_ns / span_ns;
    clock->drift = fmin(fmax(clock->drift, -TT_MEDIA_CLOCK_DRIFT_MAX), TT_MEDIA_CLOCK_DRIFT_MAX);
    fraction += 1.41421356237310 * step * error_ns;
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
