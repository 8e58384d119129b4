/*
 * See streams_beat.h.
 */
#include "cli/streams_beat.h"

#include <stdio.h>

#include "cli/cmd.h"
#include "os/notify.h"
#include "report/plural.h"

/* Every talker sends; a listener's work is to wait, too. */
static bool is_ready(const struct tt_stream_status *statuses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (statuses[i].state == TT_STREAM_FILLING || statuses[i].without_clock) {
            return false;
        }
    }
    return true;
}

/* Whether the feeder and every running engine have moved since the last time. */
static bool have_moved(struct tt_streams_beat *beat, const struct tt_stream_status *statuses,
                       size_t count, struct tt_feeder *feeder)
{
    uint_least64_t rounds = atomic_load(&feeder->rounds);
    bool moved = rounds != beat->rounds;

    beat->rounds = rounds;
    for (size_t i = 0; i < count; i++) {
        const struct tt_stream_status *status = &statuses[i];

        if (status->state == TT_STREAM_RUNNING && !status->without_clock &&
            status->engine_frame == beat->frames[i]) {
            moved = false;
        }
        beat->frames[i] = status->engine_frame;
    }
    return moved;
}

void tt_streams_beat(struct tt_streams_beat *beat, const struct tt_stream_status *statuses,
                     size_t count, struct tt_feeder *feeder)
{
    int64_t watchdog_ns = tt_notify_watchdog_ns();
    char text[128];

    if (!beat->ready && is_ready(statuses, count)) {
        snprintf(text, sizeof(text), "READY=1\nSTATUS=%zu %s at work", count,
                 tt_plural(count, "stream", "streams"));
        tt_notify(text);
        beat->ready = true;
        beat->next_ns = tt_cli_now_mono_ns();
    }
    if (beat->ready && watchdog_ns > 0 && tt_cli_now_mono_ns() >= beat->next_ns &&
        have_moved(beat, statuses, count, feeder)) {
        tt_notify("WATCHDOG=1");
        beat->next_ns = tt_cli_now_mono_ns() + watchdog_ns / 3;
    }
}
