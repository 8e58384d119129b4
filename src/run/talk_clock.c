/*
 * See talk_inside.h: the talker engine's clock.
 */
#include "run/talk_inside.h"

#include "base/ns.h"

/* What is sent without a carrier is located to so much. */
#define LINK_LOOK_NS (10 * TT_NS_PER_MS)

void tt_talk_read_tai_offset(struct tt_talk *talk)
{
    int offset_s = talk->clock->ops->tai_offset_s(talk->clock);

    if (talk->config.timescale == TT_TIMESCALE_UTC) {
        talk->talker.stamp_offset_ns = -offset_s * TT_NS_PER_S;
    } else if (offset_s == 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_TAI_UNSET);
    }
}

int64_t tt_talk_position(const struct tt_talk *talk)
{
    return talk->talker.next_frame - talk->live.shift_frames;
}

/* The kernel is asked once a second: that costs nothing, and is soon enough for what it tells. */
static void look_at_clock(struct tt_talk *talk, int64_t mono_ns)
{
    bool uncertain = talk->config.tu == TT_TU_AUTO && talk->clock->ops->unsynchronised(talk->clock);

    talk->clock_look_mono_ns = mono_ns + TT_NS_PER_S;
    tt_talker_set_uncertain(&talk->talker, uncertain);
    atomic_fetch_or(&talk->notes, uncertain ? TT_NOTE_UNSYNCHRONISED : 0);
}

/* Without a carrier the kernel takes packets, drops them and says that they were sent. */
static void look_at_link(struct tt_talk *talk, int64_t mono_ns)
{
    talk->link_look_mono_ns = mono_ns + LINK_LOOK_NS;
    talk->link_up = talk->link->ops->is_up(talk->link);
    atomic_fetch_or(&talk->notes, talk->link_up ? 0 : TT_NOTE_LINK_DOWN);
}

int64_t tt_talk_mono(struct tt_talk *talk)
{
    struct tt_clock_reading reading;

    talk->clock->ops->read(talk->clock, &reading);
    return reading.mono_after_ns;
}

int64_t tt_talk_follow_tai(struct tt_talk *talk)
{
    struct tt_clock_reading reading;
    int64_t step_ns;
    int64_t now_tai_ns;

    talk->clock->ops->read(talk->clock, &reading);
    step_ns = tt_timebase_follow(&talk->timebase, &reading);
    now_tai_ns = tt_timebase_tai(&talk->timebase, reading.mono_after_ns);
    if (reading.mono_after_ns >= talk->clock_look_mono_ns) {
        look_at_clock(talk, reading.mono_after_ns);
    }
    if (reading.mono_after_ns >= talk->link_look_mono_ns) {
        look_at_link(talk, reading.mono_after_ns);
    }
    if (step_ns != 0) {
        tt_talker_clock_step(&talk->talker, step_ns);
        tt_talk_read_tai_offset(talk);
        talk->last_launch_tai_ns += step_ns;
        tt_launch_trial_start(&talk->trial, tt_talker_next_launch(&talk->talker));
        talk->live.counters.clock_steps++;
        atomic_fetch_or(&talk->notes, TT_NOTE_CLOCK_STEP);
        tt_talk_log_event(talk, TT_EVENT_CLOCK, tt_talk_position(talk), 0, now_tai_ns);
    }
    return now_tai_ns;
}
