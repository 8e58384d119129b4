/*
 * See talk_inside.h: the talker's clock.
 */
#include "run/talk_inside.h"

#include "base/ns.h"

void tt_talk_read_tai_offset(struct tt_talk *talk)
{
    int offset_s = tt_engine_tai_offset(talk->engine);

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

void tt_talk_set_clock(struct tt_talk *talk, bool unsynchronised)
{
    bool uncertain = unsynchronised && talk->config.tu == TT_TU_AUTO;

    tt_talker_set_uncertain(&talk->talker, uncertain);
    atomic_fetch_or(&talk->notes, uncertain ? TT_NOTE_UNSYNCHRONISED : 0);
}

void tt_talk_clock_step(struct tt_talk *talk, int64_t step_ns, int64_t now_tai_ns)
{
    tt_talker_clock_step(&talk->talker, step_ns);
    tt_talk_read_tai_offset(talk);
    talk->last_launch_tai_ns += step_ns;
    talk->next_tai_ns += step_ns;
    tt_launch_trial_start(&talk->trial, tt_talker_next_launch(&talk->talker));
    talk->live.counters.clock_steps++;
    atomic_fetch_or(&talk->notes, TT_NOTE_CLOCK_STEP);
    tt_talk_log_event(talk, TT_EVENT_CLOCK, tt_talk_position(talk), 0, now_tai_ns);
}
