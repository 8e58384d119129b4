/*
 * See clock.h. Everything goes through clock_gettime, so that a preloaded shim shifts all clocks
 * alike.
 */
#include "os/clock.h"

#include <errno.h>
#include <sys/timex.h>
#include <time.h>

#include "base/ns.h"

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return t.tv_sec * TT_NS_PER_S + t.tv_nsec;
}

int64_t tt_clock_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* A bracket wider than this was widened by a preemption; another reading is likely to be better. */
#define BRACKET_GOOD_NS (5 * TT_NS_PER_US)

static void system_read(struct tt_clock *clock, struct tt_clock_reading *ret_reading)
{
    (void)clock;
    for (int attempt = 0; attempt < 3; attempt++) {
        ret_reading->mono_before_ns = clock_ns(CLOCK_MONOTONIC);
        ret_reading->tai_ns = clock_ns(CLOCK_TAI);
        ret_reading->mono_after_ns = clock_ns(CLOCK_MONOTONIC);
        if (ret_reading->mono_after_ns - ret_reading->mono_before_ns < BRACKET_GOOD_NS) {
            return;
        }
    }
}

static int64_t system_mono_ns(struct tt_clock *clock)
{
    (void)clock;
    return clock_ns(CLOCK_MONOTONIC);
}

static int system_tai_offset_s(struct tt_clock *clock)
{
    int seconds;

    (void)clock;
    return tt_clock_tai_offset(&seconds) == 0 ? seconds : 0;
}

static bool system_unsynchronised(struct tt_clock *clock)
{
    struct timex state = {.modes = 0};

    (void)clock;
    return adjtimex(&state) >= 0 && state.status & STA_UNSYNC;
}

static void system_sleep_until(struct tt_clock *clock, int64_t mono_ns)
{
    struct timespec t;

    (void)clock;
    if (mono_ns <= 0) {
        return;
    }
    t.tv_sec = (time_t)(mono_ns / TT_NS_PER_S);
    t.tv_nsec = (long)(mono_ns % TT_NS_PER_S);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static const struct tt_clock_ops system_ops = {
    .read = system_read,
    .mono_ns = system_mono_ns,
    .tai_offset_s = system_tai_offset_s,
    .unsynchronised = system_unsynchronised,
    .sleep_until = system_sleep_until,
};

struct tt_clock *tt_clock_system(void)
{
    static struct tt_clock clock = {.ops = &system_ops};

    return &clock;
}

int tt_clock_tai_offset(int *ret_seconds)
{
    /* A preemption between two readings widens the bracket; a bracket this narrow rounds safely. */
    for (int attempt = 0; attempt < 10; attempt++) {
        int64_t before_ns = clock_ns(CLOCK_REALTIME);
        int64_t tai_ns = clock_ns(CLOCK_TAI);
        int64_t after_ns = clock_ns(CLOCK_REALTIME);

        if (after_ns >= before_ns && after_ns - before_ns < 100 * TT_NS_PER_MS) {
            *ret_seconds = (int)tt_floor_div(tai_ns - before_ns + TT_NS_PER_S / 2, TT_NS_PER_S);
            return 0;
        }
    }
    return -EAGAIN;
}

static struct tt_clock_script *script_of(struct tt_clock *clock)
{
    return (struct tt_clock_script *)clock; /* its first member */
}

static void script_read(struct tt_clock *clock, struct tt_clock_reading *ret_reading)
{
    const struct tt_clock_script *script = script_of(clock);

    ret_reading->mono_before_ns = script->mono_ns;
    ret_reading->tai_ns = script->mono_ns + script->tai_minus_mono_ns;
    ret_reading->mono_after_ns = script->mono_ns;
}

static int64_t script_mono_ns(struct tt_clock *clock)
{
    return script_of(clock)->mono_ns;
}

static int script_tai_offset_s(struct tt_clock *clock)
{
    return script_of(clock)->tai_offset_s;
}

static bool script_unsynchronised(struct tt_clock *clock)
{
    return script_of(clock)->unsynchronised;
}

static void script_sleep_until(struct tt_clock *clock, int64_t mono_ns)
{
    struct tt_clock_script *script = script_of(clock);

    if (mono_ns > script->mono_ns) {
        script->mono_ns = mono_ns;
    }
    script->mono_ns += script->wake_late_ns;
}

static const struct tt_clock_ops script_ops = {
    .read = script_read,
    .mono_ns = script_mono_ns,
    .tai_offset_s = script_tai_offset_s,
    .unsynchronised = script_unsynchronised,
    .sleep_until = script_sleep_until,
};

void tt_clock_script_init(struct tt_clock_script *script, int64_t mono_ns,
                          int64_t tai_minus_mono_ns)
{
    *script = (struct tt_clock_script){
        .clock.ops = &script_ops,
        .mono_ns = mono_ns,
        .tai_minus_mono_ns = tai_minus_mono_ns,
        .tai_offset_s = 37,
    };
}
