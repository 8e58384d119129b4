/*
 * See event.h.
 */
#include "audio/event.h"

/* Silence in front of a frame takes no frames of its own. */
static int64_t end_of(const struct tt_event *event)
{
    return event->frame + (event->kind == TT_EVENT_SILENCE ? 0 : event->frames);
}

void tt_event_log_add(struct tt_event_log *log, struct tt_event event)
{
    struct tt_event *last = log->n > 0 ? &log->events[log->n - 1] : NULL;

    if (last && last->kind == event.kind && end_of(last) == event.frame && event.frames > 0) {
        last->frames += event.frames;
        return;
    }
    if (log->n == log->capacity) {
        log->unkept++;
        return;
    }
    log->events[log->n++] = event;
}

const char *tt_event_kind_name(enum tt_event_kind kind)
{
    static const char *const names[TT_EVENT_KINDS] = {
        [TT_EVENT_START] = "start",
        [TT_EVENT_ABSENT] = "absent",
        [TT_EVENT_LOST] = "lost",
        [TT_EVENT_LATE] = "late",
        [TT_EVENT_RESYNC] = "resync",
        [TT_EVENT_DROPPED] = "dropped",
        [TT_EVENT_REFUSED] = "refused",
        [TT_EVENT_XRUN] = "xrun",
        [TT_EVENT_CLOCK] = "clock",
        [TT_EVENT_CLOCK_LOCKED] = "clock_locked",
        [TT_EVENT_CLOCK_LOST] = "clock_lost",
        [TT_EVENT_SILENCE] = "silence",
    };

    return names[kind];
}
