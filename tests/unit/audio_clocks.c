/*
 * See audio_clocks.h.
 */
#include "audio_clocks.h"

#include <math.h>

#include "test.h"

#define TWO_PI 6.28318530717959

static double unit(uint64_t *random)
{
    return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

/* Served late: 25 us in the mean, and one in 300 up to 2 ms. */
static double service_ns(uint64_t *random)
{
    double late_ns = -25000 * log(unit(random));

    return random_below(random, 300) == 0 ? late_ns + 2e6 * unit(random) : late_ns;
}

double audio_clock_frames(const struct audio_clock *clock, double ns)
{
    double span_ns = ns - clock->since_ns;
    double swing_ns = 0;

    if (clock->wander_ppb != 0) {
        double turn = TWO_PI / (clock->wander_s * 1e9);

        swing_ns = (double)clock->wander_ppb * 1e-9 * (1 - cos(turn * span_ns)) / turn;
    }
    return clock->frame + (span_ns + span_ns * (double)clock->ppb * 1e-9 + swing_ns) *
                              (double)clock->rate_hz * 1e-9;
}

double audio_clock_ns(const struct audio_clock *clock, double frame)
{
    double ns = clock->since_ns +
                (frame - clock->frame) * 1e9 / clock->rate_hz / (1 + (double)clock->ppb * 1e-9);

    for (int i = 0; i < 4 && clock->wander_ppb != 0; i++) {
        ns -= (audio_clock_frames(clock, ns) - frame) * 1e9 / clock->rate_hz;
    }
    return ns;
}

void audio_clock_change(struct audio_clock *clock, int64_t ns, int64_t ppb)
{
    clock->frame = audio_clock_frames(clock, (double)ns);
    clock->since_ns = (double)ns;
    clock->ppb = ppb;
}

double audio_clock_pointer_lag_ns(enum pointer_kind kind)
{
    static const double lags_ns[POINTER_KINDS] = {25000, 7.5e9 / 48000, 500000};

    return lags_ns[kind];
}

struct tt_servo_sight audio_clock_pointer(const struct audio_clock *clock, enum pointer_kind kind,
                                          int64_t ns, uint64_t *random)
{
    static const int64_t steps[POINTER_KINDS] = {256, 16, 48};
    double now_frames = audio_clock_frames(clock, (double)ns);
    int64_t step = steps[kind];
    int64_t frame = (int64_t)(now_frames / (double)step) * step;
    double stamp_ns = (double)ns - 2000 * unit(random);

    if (kind == POINTER_PERIODS) {
        stamp_ns = audio_clock_ns(clock, (double)frame) + service_ns(random);
        if (stamp_ns > (double)ns) { /* not served yet: the one before it is what can be seen */
            frame -= step;
            stamp_ns = audio_clock_ns(clock, (double)frame) + service_ns(random) / 10;
        }
    } else if (kind == POINTER_USB) {
        /* a packet a ms of the bus's clock, in which there are as many frames as have come up */
        double ms_ns = floor((double)ns / 1e6) * 1e6;

        frame = (int64_t)audio_clock_frames(clock, ms_ns);
    }
    return (struct tt_servo_sight){true, frame, AUDIO_CLOCKS_EPOCH_NS + (int64_t)stamp_ns};
}

struct tt_servo_sight audio_clock_stamp(const struct audio_clock *clock, int64_t ns,
                                        int64_t jitter_ns, uint64_t *random)
{
    int64_t frame = (int64_t)(audio_clock_frames(clock, (double)ns) / 6) * 6;
    double off_ns = (double)jitter_ns * (2 * unit(random) - 1);

    return (struct tt_servo_sight){true, frame,
                                   AUDIO_CLOCKS_EPOCH_NS +
                                       llround(audio_clock_ns(clock, (double)frame) + off_ns)};
}

int64_t audio_clock_sleep(uint64_t *random)
{
    int64_t late_ns = (int64_t)random_below(random, 100000);

    if (random_below(random, 1000) == 0) {
        late_ns += (int64_t)random_below(random, 15000000);
    }
    return 5000000 + late_ns;
}
