/*
 * See talk_inside.h: what became of the talker engine's PDUs, counted, located and judged.
 */
#include "run/talk_inside.h"

#include "base/ns.h"

/* A full error queue is read over some steps. */
#define REPORT_ROUNDS_MAX 16
/* What is sent without a carrier is located to so much. */
#define LINK_LOOK_NS (10 * TT_NS_PER_MS)

void tt_talk_publish(struct tt_talk *talk)
{
    talk->live.next_frame = tt_talk_position(talk);
    talk->live.next_due_tai_ns = tt_talker_due(&talk->talker, talk->talker.next_frame);
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

void tt_talk_log_lost(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame, int64_t frames,
                      int64_t now_tai_ns)
{
    if (frames > 0) {
        tt_talk_log_event(talk, kind, frame, frames, now_tai_ns);
    }
}

/* Without a carrier the kernel takes packets, drops them and says that they were sent. */
void tt_talk_look_at_link(struct tt_link *link, int64_t now_mono_ns)
{
    if (now_mono_ns >= link->ask_mono_ns) {
        link->ask_mono_ns = now_mono_ns + LINK_LOOK_NS;
        link->was_up = link->ops->is_up(link);
    }
}

/* A PDU that was counted as sent was not. NULL: which one is not known. */
static void take_back(struct tt_talk *talk, const struct tt_flight_pdu *pdu, int64_t now_tai_ns)
{
    struct tt_talk_counters *counters = &talk->live.counters;
    uint64_t frames = pdu ? (uint64_t)pdu->frames : talk->config.frames_per_pdu;

    counters->pdus_refused++;
    counters->pdus_sent--;
    counters->frames_sent -= frames;
    counters->frames_padded -= talk->config.frames_per_pdu - frames;
    if (pdu) {
        tt_talk_log_lost(talk, TT_EVENT_REFUSED, pdu->frame, pdu->frames, now_tai_ns);
    }
}

static void book_errors(struct tt_talk *talk, const struct tt_link_errors *errors,
                        int64_t now_tai_ns)
{
    /* The invalid ones were refused at once. */
    talk->live.counters.launch_missed += errors->launch_missed;
    talk->live.counters.launch_invalid += errors->launch_invalid;
    for (int i = 0; i < errors->located; i++) {
        const struct tt_flight_pdu *pdu = tt_flight_lose(&talk->flight, errors->missed_tai_ns[i]);

        if (pdu) { /* or it was missed already (tt_talk_find_unkept) */
            take_back(talk, pdu, now_tai_ns);
        }
    }
    for (uint64_t i = (uint64_t)errors->located; i < errors->launch_missed; i++) {
        take_back(talk, NULL, now_tai_ns);
    }
    if (errors->launch_missed + errors->launch_invalid > 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_LOST);
    }
}

void tt_talk_collect_errors(struct tt_talk *talk, int64_t now_tai_ns)
{
    int n = TT_LINK_BATCH;

    for (int round = 0; round < REPORT_ROUNDS_MAX && n == TT_LINK_BATCH; round++) {
        struct tt_link_errors errors = {.last_launch_tai_ns = talk->found.refused_tai_ns};

        n = talk->link->ops->collect_errors(talk->link, &errors);
        book_errors(talk, &errors, now_tai_ns);
        talk->found.refused += (unsigned)errors.launch_missed;
        talk->found.refused_tai_ns = errors.last_launch_tai_ns;
    }
}

/* By the clock that the kernel goes by. */
static int64_t released_by_now(const struct tt_talk *talk)
{
    struct tt_clock_reading reading;

    tt_engine_read(talk->engine, &reading);
    return reading.tai_ns + (reading.mono_after_ns - reading.mono_before_ns) +
           talk->plan.release_ns;
}

void tt_talk_find_unkept(struct tt_talk *talk)
{
    int waiting = talk->link->ops->waiting(talk->link);
    int64_t released_ns =
        released_by_now(talk); /* after that: what leaves in between is not missed */
    size_t ahead = tt_flight_ahead(&talk->flight, released_ns);
    unsigned unkept =
        waiting >= 0 && ahead > (size_t)waiting ? (unsigned)ahead - (unsigned)waiting : 0;

    if (unkept == 0) {
        return;
    }
    for (unsigned i = 0; i < unkept; i++) {
        take_back(talk, tt_flight_lose_first(&talk->flight, released_ns), released_ns);
    }
    talk->live.counters.launch_unkept += unkept;
    if (!talk->link->ops->is_up(talk->link)) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LINK_DOWN);
        return;
    }
    atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_UNKEPT);
    /* A qdisc that is replaced takes all of its packets along, once. That the new one keeps none
     * either is said by what one step has handed over. */
    talk->found.refused +=
        unkept < (unsigned)talk->plan.batch ? unkept : (unsigned)talk->plan.batch;
}

void tt_talk_book(const struct tt_talk_batch *batch, int i, int64_t done_tai_ns)
{
    struct tt_talk *talk = batch->talks[i];
    struct tt_talk_counters *counters = &talk->live.counters;
    const struct tt_talker_pdu *pdu = &batch->pdus[i];
    int64_t departure_ns = talk->kernel_pace ? pdu->launch_tai_ns : done_tai_ns;

    if (batch->refused[i] || talk->found.link_down) {
        talk->found.refused++;
        counters->pdus_refused++;
        tt_talk_log_lost(talk, TT_EVENT_REFUSED, pdu->frame, batch->frames[i], done_tai_ns);
        return;
    }
    counters->pdus_sent++;
    counters->frames_sent += (uint64_t)batch->frames[i];
    counters->frames_padded += talk->config.frames_per_pdu - (uint64_t)batch->frames[i];
    if (talk->kernel_pace) {
        tt_flight_add(&talk->flight, pdu->launch_tai_ns, pdu->frame, batch->frames[i]);
    }
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
    if (!talk->link->ops->is_up(talk->link)) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LINK_DOWN);
        return;
    }
    if (talk->link->ops->bypass(talk->link) == 0) {
        atomic_fetch_or(&talk->notes, TT_NOTE_LAUNCH_REFUSED);
        talk->kernel_pace = false;
        talk->reports_until_tai_ns = talk->last_launch_tai_ns + TT_NS_PER_MS;
    }
}
