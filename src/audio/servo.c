/*
 * See servo.h.
 *
 * A level that is off by e is steered back at e * gain (s/s), through a low pass that is ten times
 * as fast: together a well damped loop of second order. It starts quick, and settles to a gain at
 * which the noise of the followed clocks (parts of a us) moves the ratio by less than 0.1 ppm, and
 * slowly. Wobble of a resampling ratio is heard as sidebands: 1 ppm of it at 1 kHz is some -83 dB.
 */
#include "audio/servo.h"

#include <math.h>
#include <string.h>

#include "base/ns.h"

#define BANDWIDTH_MHZ 10
#define GAIN_FIRST    2.0 /* 1/s … */
#define GAIN_LAST     0.02
#define GAIN_AGE      1.0 /* … as 1 / age */
#define LAG           0.1 /* gain times the time constant of the low pass */
#define SETTLE_S      2.0
#define NEAR_NS       (1 * TT_NS_PER_S)
#define JUMP_NS       (TT_SERVO_SLIP_NS / 2) /* a clock that is seen so far off … */
#define JUMPS_MAX     8                      /* … so often in a row has jumped */

static double nominal(const struct tt_servo *servo)
{
    return (double)servo->sink.clock.rate_hz / (double)servo->source.clock.rate_hz;
}

void tt_servo_init(struct tt_servo *servo, uint32_t source_hz, uint32_t sink_hz, int64_t target_ns)
{
    memset(servo, 0, sizeof *servo);
    tt_media_clock_init(&servo->source.clock, source_hz, 0, 0);
    tt_media_clock_init(&servo->sink.clock, sink_hz, 0, 0);
    tt_media_clock_quieten(&servo->source.clock, BANDWIDTH_MHZ);
    tt_media_clock_quieten(&servo->sink.clock, BANDWIDTH_MHZ);
    servo->ratio = nominal(servo);
    servo->target_ns = target_ns;
    servo->near_tai_ns = INT64_MAX;
}

void tt_servo_place(struct tt_servo *servo, int64_t source_frame, int64_t sink_frame)
{
    servo->source.frame = source_frame;
    servo->source.fraction = 0;
    servo->sink.frame = sink_frame;
}

void tt_servo_forget_source(struct tt_servo *servo)
{
    servo->source.started = false;
}

void tt_servo_forget_sink(struct tt_servo *servo)
{
    servo->sink.started = false;
}

static void look(struct tt_servo_side *side, const struct tt_servo_sight *sight, int64_t now_tai_ns)
{
    int64_t off_ns = sight->tai_ns - tt_media_clock_time(&side->clock, sight->frame);

    if (!sight->seen) {
        return;
    }
    side->seen_tai_ns = now_tai_ns;
    side->jumps = off_ns > JUMP_NS || off_ns < -JUMP_NS ? side->jumps + 1 : 0;
    if (!side->started || side->jumps > JUMPS_MAX) {
        tt_media_clock_anchor(&side->clock, sight->frame, sight->tai_ns);
        side->started = true;
        side->jumps = 0;
    } else if (side->jumps == 0) {
        tt_media_clock_follow(&side->clock, sight->frame, sight->tai_ns);
    }
}

static void measure(struct tt_servo *servo)
{
    const struct tt_servo_side *source = &servo->source;
    double frame_ns = 1e9 / (double)source->clock.rate_hz;

    servo->level_ns = tt_media_clock_time(&servo->sink.clock, servo->sink.frame) -
                      tt_media_clock_time(&source->clock, source->frame) -
                      llrint(source->fraction * frame_ns);
}

/* Sets a level that is too far off; what is to be done about it in frames. */
static int64_t slip(struct tt_servo *servo)
{
    int64_t off_ns = servo->level_ns - servo->target_ns;
    int64_t frames;

    if (off_ns >= -TT_SERVO_SLIP_NS && off_ns <= TT_SERVO_SLIP_NS) {
        return 0;
    }
    servo->slips++;
    if (off_ns < 0) {
        frames = tt_ns_to_frames(-off_ns, servo->sink.clock.rate_hz);
        servo->sink.frame += frames;
    } else {
        frames = -tt_ns_to_frames(off_ns, servo->source.clock.rate_hz);
        servo->source.frame -= frames;
    }
    measure(servo);
    return frames;
}

/* For how long both clocks have been followed without having to look for them anew. */
static double age_s(const struct tt_servo *servo)
{
    return fmin(servo->source.clock.followed_s, servo->sink.clock.followed_s);
}

static void steer(struct tt_servo *servo, double span_s)
{
    double gain = fmin(fmax(GAIN_AGE / fmax(age_s(servo), 1e-3), GAIN_LAST), GAIN_FIRST);
    double most = TT_SERVO_PPB_MAX * 1e-9;
    double feed = (1 + servo->source.clock.drift) / (1 + servo->sink.clock.drift) - 1;
    double off_s = (double)(servo->level_ns - servo->target_ns) * 1e-9;
    double to = fmin(fmax(feed - gain * off_s, -most), most);
    double now = servo->ratio / nominal(servo) - 1;

    servo->ratio = nominal(servo) * (1 + now + (to - now) * span_s / (span_s + LAG / gain));
}

static void judge(struct tt_servo *servo, bool both, bool is_near, int64_t now_tai_ns)
{
    if (!is_near || !both) {
        servo->near_tai_ns = INT64_MAX;
    } else if (servo->near_tai_ns == INT64_MAX) {
        servo->near_tai_ns = now_tai_ns;
    }
    if (!both && servo->state == TT_SERVO_LOCKED) {
        servo->state = TT_SERVO_HOLDOVER;
        servo->holdovers++;
    }
    if (both && servo->state != TT_SERVO_LOCKED) {
        bool settled =
            is_near && now_tai_ns - servo->near_tai_ns >= NEAR_NS && age_s(servo) >= SETTLE_S;

        servo->state = settled                             ? TT_SERVO_LOCKED
                       : servo->state == TT_SERVO_HOLDOVER ? TT_SERVO_HOLDOVER
                                                           : TT_SERVO_ACQUIRING;
    }
}

int64_t tt_servo_step(struct tt_servo *servo, const struct tt_servo_sight *source,
                      const struct tt_servo_sight *sink, int64_t now_tai_ns)
{
    double span_s = (double)(now_tai_ns - servo->step_tai_ns) * 1e-9;
    int64_t frames;
    int64_t off_ns;
    bool both;

    look(&servo->source, source, now_tai_ns);
    look(&servo->sink, sink, now_tai_ns);
    if (!servo->source.started || !servo->sink.started) {
        servo->step_tai_ns = now_tai_ns;
        return 0;
    }
    both = now_tai_ns - servo->source.seen_tai_ns <= TT_SERVO_ABSENCE_NS &&
           now_tai_ns - servo->sink.seen_tai_ns <= TT_SERVO_ABSENCE_NS;
    measure(servo);
    frames = slip(servo);
    off_ns = servo->level_ns - servo->target_ns;
    if (servo->state == TT_SERVO_WAITING) {
        servo->state = TT_SERVO_ACQUIRING;
        span_s = 0;
    }
    if (both || off_ns > TT_SERVO_BAND_NS || off_ns < -TT_SERVO_BAND_NS) {
        steer(servo, fmin(span_s, 1.0));
    }
    judge(servo, both, off_ns <= TT_SERVO_BAND_NS && off_ns >= -TT_SERVO_BAND_NS, now_tai_ns);
    servo->step_tai_ns = now_tai_ns;
    return frames;
}

void tt_servo_made(struct tt_servo *servo, int64_t frames)
{
    double position = servo->source.fraction + (double)frames / servo->ratio;
    double whole = floor(position);

    servo->source.frame += (int64_t)whole;
    servo->source.fraction = position - whole;
    servo->sink.frame += frames;
}

void tt_servo_clock_step(struct tt_servo *servo, int64_t step_ns)
{
    servo->source.clock.tai_ns += step_ns;
    servo->sink.clock.tai_ns += step_ns;
    servo->source.seen_tai_ns += step_ns;
    servo->sink.seen_tai_ns += step_ns;
    servo->step_tai_ns += step_ns;
    if (servo->near_tai_ns != INT64_MAX) {
        servo->near_tai_ns += step_ns;
    }
}

int64_t tt_servo_ratio_ppb(const struct tt_servo *servo)
{
    return llround((servo->ratio / nominal(servo) - 1) * 1e9);
}

const char *tt_servo_state_name(enum tt_servo_state state)
{
    static const char *const names[] = {
        [TT_SERVO_WAITING] = "waiting",
        [TT_SERVO_ACQUIRING] = "acquiring",
        [TT_SERVO_LOCKED] = "locked",
        [TT_SERVO_HOLDOVER] = "holdover",
    };

    return names[state];
}
