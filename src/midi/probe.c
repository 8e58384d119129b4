/*
 * See probe.h.
 */
#include "midi/probe.h"

#include <assert.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "base/random.h"

void tt_probe_message(size_t number, uint8_t ret_message[TT_PROBE_MESSAGE])
{
    ret_message[0] = (uint8_t)(TT_MIDI_NOTE_ON | (number >> 14 & 15));
    ret_message[1] = (uint8_t)(number >> 7 & 127);
    ret_message[2] = (uint8_t)(number & 127);
}

/* Of those that follow: how many, and how far apart. */
struct group {
    size_t left;
    int64_t gap_ns;
};

static struct group next_group(uint64_t *seed)
{
    uint64_t kind = tt_random_next(seed) % 100;

    if (kind < 4)
        return (struct group){19, TT_NS_PER_MS};
    return (struct group){kind < 14 ? 3 : 0, 0};
}

void tt_probe_plan(size_t count, int64_t gap_ns, bool even, uint64_t seed, int64_t *ret_due_ns)
{
    struct group group = {0, 0};
    int64_t due_ns = 0;

    for (size_t i = 0; i < count; i++) {
        ret_due_ns[i] = due_ns;
        if (even) {
            due_ns += gap_ns;
        } else if (group.left > 0) {
            due_ns += group.gap_ns;
            group.left--;
        } else {
            due_ns += (int64_t)(tt_random_next(&seed) % (uint64_t)(2 * gap_ns));
            group = next_group(&seed);
        }
    }
}

void tt_probe_init(struct tt_probe *probe, const struct tt_probe_sent *sent, int64_t *got_ns,
                   size_t count)
{
    assert(count <= TT_PROBE_NUMBERS);
    *probe = (struct tt_probe){.sent = sent, .got_ns = got_ns, .count = count};
    for (size_t i = 0; i < count; i++)
        got_ns[i] = TT_PROBE_NOT_THERE;
}

void tt_probe_event(struct tt_probe *probe, const struct tt_midi_event *event)
{
    const uint8_t *data = event->data;
    size_t number;

    if (event->kind != TT_MIDI_EVENT_MESSAGE || event->bytes != TT_PROBE_MESSAGE ||
        (data[0] & 0xF0) != TT_MIDI_NOTE_ON) {
        probe->foreign++;
        return;
    }
    number = (size_t)(data[0] & 15) << 14 | (size_t)data[1] << 7 | data[2];
    if (number >= probe->count) {
        probe->foreign++;
    } else if (probe->got_ns[number] != TT_PROBE_NOT_THERE) {
        probe->duplicated++;
    } else {
        probe->got_ns[number] = event->first_ns;
        probe->reordered += number < probe->next;
        probe->next = number < probe->next ? probe->next : number + 1;
    }
}

/* No two clocks differ more. What does is no clock: messages that all came at once, at the end. */
#define RATE_MAX 1e-3

/* recorded - sent = offset + rate * (sent - the first sent), by least squares. */
struct line {
    double offset_ns;
    double rate;
};

static struct line best_line(const struct tt_probe *probe)
{
    int64_t from_ns = probe->count > 0 ? probe->sent[0].before_ns : 0;
    double n = 0;
    double sum_x = 0;
    double sum_y = 0;
    double sum_xx = 0;
    double sum_xy = 0;
    double spread;
    struct line line = {0, 0};

    for (size_t i = 0; i < probe->count; i++) {
        double x;
        double y;

        if (probe->got_ns[i] == TT_PROBE_NOT_THERE)
            continue;
        x = (double)(probe->sent[i].before_ns - from_ns);
        y = (double)(probe->got_ns[i] - probe->sent[i].before_ns);
        n++;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    spread = n * sum_xx - sum_x * sum_x;
    if (n >= 2 && spread > 0)
        line.rate = (n * sum_xy - sum_x * sum_y) / spread;
    if (line.rate > RATE_MAX || line.rate < -RATE_MAX)
        line.rate = 0;
    if (n > 0)
        line.offset_ns = (sum_y - line.rate * sum_x) / n;
    return line;
}

void tt_probe_finish(const struct tt_probe *probe, struct tt_hist *errors,
                     struct tt_probe_result *ret_result)
{
    struct line line = best_line(probe);
    int64_t from_ns = probe->count > 0 ? probe->sent[0].before_ns : 0;
    size_t last = SIZE_MAX;

    *ret_result = (struct tt_probe_result){.offset_ns = (int64_t)line.offset_ns,
                                           .drift_ppm = line.rate * 1e6,
                                           .worst_interval_ns = INT64_MIN};
    for (size_t i = 0; i < probe->count; i++) {
        const struct tt_probe_sent *sent = &probe->sent[i];
        int64_t got_ns = probe->got_ns[i];
        double due_ns = line.offset_ns + line.rate * (double)(sent->before_ns - from_ns);

        if (got_ns == TT_PROBE_NOT_THERE) {
            ret_result->lost++;
            continue;
        }
        tt_hist_record(errors, got_ns - sent->before_ns - (int64_t)due_ns);
        ret_result->inside += got_ns >= sent->before_ns && got_ns <= sent->after_ns;
        if (last != SIZE_MAX)
            ret_result->worst_interval_ns = tt_max64(
                ret_result->worst_interval_ns,
                got_ns - probe->got_ns[last] - (sent->before_ns - probe->sent[last].before_ns));
        last = i;
    }
}
