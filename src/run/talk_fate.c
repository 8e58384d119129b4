/*
 * See talk_inside.h: what became of the talker engine's PDUs, counted, located and judged.
 */
#include "run/talk_inside.h"

#include "base/ns.h"

void tt_talk_publish(struct tt_talk *talk)
{
    tt_counters_begin(&talk->lock);
    talk->shared = talk->live;
    tt_counters_end(&talk->lock);
}

void tt_talk_log_event(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame, int64_t frames,
                       int64_t now_tai_ns)
{
    tt_event_log_add(
        &talk->log, (struct tt_event){
                        .kind = kind, .frame = frame, .frames = frames, .time_tai_ns = now_tai_ns});
}

void tt_talk_collect_errors(struct tt_talk *talk)
{
    struct tt_link_errors errors = {.last_launch_tai_ns = talk->found.refused_tai_ns};

    talk->link->ops->collect_errors(talk->link, &errors);
    talk->live.counters.launch_missed += errors.launch_missed;
    talk->live.counters.launch_invalid += errors.launch_invalid;
    /* They were counted as sent; the invalid ones were refused at once. */
    talk->live.counters.pdus_refused += errors.launch_missed;
    talk->live.counters.pdus_sent -= errors.launch_missed;
    talk->live.counters.frames_sent -= errors.launch_missed * talk->config.frames_per_pdu;
    if (errors.launch_missed + errors.launch_invalid > 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_LOST);
    }
    talk->found.refused_tai_ns = errors.last_launch_tai_ns;
    talk->found.refused += (unsigned)errors.launch_missed;
}

void tt_talk_book(const struct tt_talk_batch *batch, int i, int64_t done_tai_ns)
{
    struct tt_talk *talk = batch->talks[i];
    struct tt_talk_counters *counters = &talk->live.counters;
    const struct tt_talker_pdu *pdu = &batch->pdus[i];
    int64_t departure_ns = talk->kernel_pace ? pdu->launch_tai_ns : done_tai_ns;

    if (batch->refused[i]) {
        talk->found.refused++;
        counters->pdus_refused++;
        tt_talk_log_event(talk, TT_EVENT_REFUSED, pdu->frame, talk->config.frames_per_pdu,
                          done_tai_ns);
        return;
    }
    counters->pdus_sent++;
    counters->frames_sent += (uint64_t)batch->frames[i];
    counters->frames_padded += talk->config.frames_per_pdu - (uint64_t)batch->frames[i];
    tt_hist_record(&talk->lateness, departure_ns - pdu->due_tai_ns);
    counters->lateness_max_ns = talk->lateness.max;
    if (departure_ns - pdu->due_tai_ns > talk->talker.interval_ns) {
        counters->pdus_late++;
    }
}

void tt_talk_judge_kernel(struct tt_talk *talk)
{
    int64_t launch_tai_ns = talk->found.refused_tai_ns;

    if (!tt_launch_trial_add(&talk->trial, talk->found.handed, talk->found.refused,
                             launch_tai_ns)) {
        return;
    }
    tt_launch_trial_start(&talk->trial, launch_tai_ns);
    if (talk->link->ops->bypass(talk->link) == 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_REFUSED);
        talk->kernel_pace = false;
        talk->reports_until_tai_ns = talk->last_launch_tai_ns + TT_NS_PER_MS;
    }
}
