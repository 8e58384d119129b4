/*
 * See probe.h.
 */
#include "midi/probe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "base/random.h"

#define NON_COMMERCIAL 0x7D /* a manufacturer's number that is free for such uses */
#define CLOCK_AT       12

size_t tt_probe_message(size_t number, bool sysex, uint8_t ret_message[TT_PROBE_MESSAGE])
{
    if (!sysex) {
        ret_message[0] = (uint8_t)(TT_MIDI_NOTE_ON | (number >> 14 & 15));
        ret_message[1] = (uint8_t)(number >> 7 & 127);
        ret_message[2] = (uint8_t)(number & 127);
        return TT_PROBE_NOTE;
    }
    for (size_t i = 0; i < TT_PROBE_SYSEX; i++)
        ret_message[i] = (uint8_t)((number + i) & 127);
    ret_message[0] = TT_MIDI_SYSEX;
    ret_message[1] = NON_COMMERCIAL;
    ret_message[2] = (uint8_t)(number >> 14 & 15);
    ret_message[3] = (uint8_t)(number >> 7 & 127);
    ret_message[4] = (uint8_t)(number & 127);
    ret_message[CLOCK_AT] = TT_MIDI_CLOCK;
    ret_message[TT_PROBE_SYSEX - 1] = TT_MIDI_SYSEX_END;
    return TT_PROBE_SYSEX;
}

/* Of those that follow: how many, and how far apart. */
struct group {
    size_t left;
    int64_t gap_ns;
    bool sysex;
};

static struct group next_group(uint64_t *seed)
{
    uint64_t kind = tt_random_next(seed) % 100;

    if (kind < 4)
        return (struct group){.left = 19, .gap_ns = TT_NS_PER_MS};
    if (kind < 8)
        return (struct group){.left = 7, .sysex = true};
    return (struct group){.left = kind < 18 ? 3 : 0};
}

/* From the last one to the next. */
static int64_t next_gap(const struct tt_probe_plan *plan, uint64_t *seed, struct group *group)
{
    int64_t gap_ns;

    if (plan->even)
        return plan->gap_ns;
    if (group->left > 0) {
        group->left--;
        return group->gap_ns;
    }
    gap_ns = (int64_t)(tt_random_next(seed) % (uint64_t)(2 * plan->gap_ns));
    *group = next_group(seed);
    return gap_ns;
}

void tt_probe_plan(const struct tt_probe_plan *plan, struct tt_probe_due *ret_due)
{
    uint64_t seed = plan->seed;
    struct group group = {0};
    int64_t due_ns = 0;

    for (size_t i = 0; i < plan->count; i++) {
        ret_due[i] = (struct tt_probe_due){due_ns, group.sysex};
        due_ns += tt_max64(next_gap(plan, &seed, &group),
                           plan->byte_ns * (ret_due[i].sysex ? TT_PROBE_SYSEX : TT_PROBE_NOTE));
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

/* The number of a message that is whole; -1: it is none of ours. */
static int64_t number_of(const struct tt_midi_event *event)
{
    uint8_t expected[TT_PROBE_MESSAGE];
    const uint8_t *data = event->data;
    size_t number;
    size_t bytes;

    if (event->kind == TT_MIDI_EVENT_MESSAGE)
        return event->bytes == TT_PROBE_NOTE && (data[0] & 0xF0) == TT_MIDI_NOTE_ON
                   ? (data[0] & 15) << 14 | data[1] << 7 | data[2]
                   : -1;
    if (event->kind != TT_MIDI_EVENT_SYSEX || event->bytes != TT_PROBE_SYSEX - 1)
        return -1;
    number = (size_t)(data[2] << 14 | data[3] << 7 | data[4]);
    bytes = tt_probe_message(number, true, expected);
    /* The clock byte has become an event of its own. */
    memmove(expected + CLOCK_AT, expected + CLOCK_AT + 1, bytes - CLOCK_AT - 1);
    return memcmp(data, expected, bytes - 1) == 0 ? (int64_t)number : -1;
}

void tt_probe_event(struct tt_probe *probe, const struct tt_midi_event *event)
{
    int64_t found = number_of(event);
    size_t number = (size_t)found;

    if (event->kind == TT_MIDI_EVENT_MESSAGE && event->data[0] == TT_MIDI_CLOCK) {
        probe->clocks++;
    } else if (found < 0 || number >= probe->count) {
        probe->foreign++;
    } else if (probe->got_ns[number] != TT_PROBE_NOT_THERE) {
        probe->duplicated++;
    } else {
        probe->got_ns[number] = event->first_ns;
        probe->reordered += number < probe->next;
        probe->next = number < probe->next ? probe->next : number + 1;
    }
}

/* The value that would be in the middle if they were sorted; n > 0. They are left in any order. */
static int64_t median(int64_t *values, size_t n)
{
    size_t low = 0;
    size_t high = n - 1;

    while (low < high) {
        int64_t pivot = values[low + (high - low) / 2];
        size_t i = low;
        size_t j = high;

        for (;; i++, j--) {
            int64_t swapped;

            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            swapped = values[i];
            values[i] = values[j];
            values[j] = swapped;
        }
        if (j < n / 2)
            low = j + 1;
        else
            high = j;
    }
    return values[n / 2];
}

/* Of the numbers from..to that came: recorded - sent - rate * time. Returns how many. */
static size_t gather(const struct tt_probe *probe, size_t from, size_t to, double rate,
                     int64_t *ret_ns)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        int64_t sent_ns = probe->sent[i].before_ns;

        if (probe->got_ns[i] != TT_PROBE_NOT_THERE)
            ret_ns[n++] = probe->got_ns[i] - sent_ns -
                          (int64_t)(rate * (double)(sent_ns - probe->sent[0].before_ns));
    }
    return n;
}

struct point {
    bool there;
    int64_t sent_ns;
    int64_t off_ns;
    int64_t spread_ns; /* the median of the distances from off_ns */
};

static struct point middle_of(const struct tt_probe *probe, size_t from, size_t to,
                              int64_t *scratch_ns)
{
    size_t n = gather(probe, from, to, 0, scratch_ns);
    struct point point = {.there = n > 0};
    size_t seen = 0;

    if (n > 0) {
        point.off_ns = median(scratch_ns, n);
        for (size_t i = 0; i < n; i++)
            scratch_ns[i] = llabs(scratch_ns[i] - point.off_ns);
        point.spread_ns = median(scratch_ns, n);
    }
    for (size_t i = from; i < to; i++) {
        if (probe->got_ns[i] != TT_PROBE_NOT_THERE && seen++ == n / 2)
            point.sent_ns = probe->sent[i].before_ns;
    }
    return point;
}

/* recorded - sent = offset + rate * (sent - the first sent) */
struct line {
    int64_t offset_ns;
    double rate;
};

/* No two clocks differ more. What does is no clock: messages that all came at once, at the end. */
#define RATE_MAX 1e-3

/* 0 where it is less than what is usual between one message and the next. */
static double rate_between(const struct point *first, const struct point *last)
{
    int64_t off_ns = last->off_ns - first->off_ns;
    double rate;

    if (!first->there || !last->there || last->sent_ns <= first->sent_ns ||
        llabs(off_ns) < 2 * (first->spread_ns + last->spread_ns))
        return 0;
    rate = (double)off_ns / (double)(last->sent_ns - first->sent_ns);
    return rate > RATE_MAX || rate < -RATE_MAX ? 0 : rate;
}

/* Through the medians of the first and the last third: what is far off does not bend it. */
static struct line best_line(const struct tt_probe *probe, int64_t *scratch_ns)
{
    size_t third = probe->count / 3;
    struct point first = middle_of(probe, 0, third, scratch_ns);
    struct point last = middle_of(probe, probe->count - third, probe->count, scratch_ns);
    struct line line = {.rate = rate_between(&first, &last)};
    size_t n = gather(probe, 0, probe->count, line.rate, scratch_ns);

    if (n > 0)
        line.offset_ns = median(scratch_ns, n);
    return line;
}

void tt_probe_finish(const struct tt_probe *probe, int64_t *scratch_ns, struct tt_hist *errors,
                     struct tt_probe_result *ret_result)
{
    struct line line = best_line(probe, scratch_ns);
    int64_t from_ns = probe->count > 0 ? probe->sent[0].before_ns : 0;
    size_t last = SIZE_MAX;
    uint64_t clocks = 0;

    *ret_result = (struct tt_probe_result){
        .offset_ns = line.offset_ns, .drift_ppm = line.rate * 1e6, .worst_interval_ns = INT64_MIN};
    for (size_t i = 0; i < probe->count; i++) {
        const struct tt_probe_sent *sent = &probe->sent[i];
        int64_t got_ns = probe->got_ns[i];
        int64_t drift_ns = (int64_t)(line.rate * (double)(sent->before_ns - from_ns));

        clocks += sent->sysex;
        if (got_ns == TT_PROBE_NOT_THERE) {
            ret_result->lost++;
            continue;
        }
        tt_hist_record(errors, got_ns - sent->before_ns - line.offset_ns - drift_ns);
        ret_result->inside += got_ns >= sent->before_ns && got_ns <= sent->after_ns;
        if (last != SIZE_MAX)
            ret_result->worst_interval_ns = tt_max64(
                tt_max64(ret_result->worst_interval_ns, 0),
                got_ns - probe->got_ns[last] - (sent->before_ns - probe->sent[last].before_ns));
        last = i;
    }
    ret_result->clocks_lost = clocks > probe->clocks ? clocks - probe->clocks : 0;
}
