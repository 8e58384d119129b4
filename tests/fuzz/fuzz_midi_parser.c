/*
 * Any bytes, in frames of any length, through the MIDI parser: every byte comes out once, in the
 * order of the first bytes, and what is called a message is one.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "midi/parser.h"

enum { MESSAGE, RUNNING, REALTIME_INSIDE, SYSEX, PIECE, CUT_OFF, STRAY, TOO_MANY_WAIT, REASONS };

static struct fuzz_reason reasons[REASONS] = {
    [MESSAGE] = {"a message", 0},
    [RUNNING] = {"a running status", 0},
    [REALTIME_INSIDE] = {"a real-time byte inside a message", 0},
    [SYSEX] = {"system exclusive, whole", 0},
    [PIECE] = {"a piece of system exclusive", 0},
    [CUT_OFF] = {"system exclusive without its end", 0},
    [STRAY] = {"a stray byte", 0},
    [TOO_MANY_WAIT] = {"more real-time bytes than can wait", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

#define SYSEX_BYTES 16

struct run {
    struct tt_midi_parser parser;
    uint8_t sysex[SYSEX_BYTES];
    size_t in[256];  /* how many of each byte went in … */
    size_t out[256]; /* … and came out */
    int64_t last_first_ns;
};

static void check_message(struct run *run, const struct tt_midi_event *event)
{
    uint8_t status = event->data[0];

    hold(tt_midi_message_bytes(status) == event->bytes);
    for (size_t i = 1; i < event->bytes; i++)
        hold(event->data[i] < TT_MIDI_STATUS);
    reasons[MESSAGE].reached++;
    reasons[REALTIME_INSIDE].reached += status >= TT_MIDI_REALTIME && run->parser.releasing;
}

static void check_sysex(const struct tt_midi_event *event)
{
    hold(event->bytes <= SYSEX_BYTES);
    for (size_t i = 0; i < event->bytes; i++) {
        bool first = i == 0 && event->begins && event->data[i] == TT_MIDI_SYSEX;
        bool last = i + 1 == event->bytes && !event->more && event->data[i] == TT_MIDI_SYSEX_END;

        hold(first || last || event->data[i] < TT_MIDI_STATUS);
    }
    if (event->more || !event->begins)
        reasons[PIECE].reached++;
    else if (event->data[event->bytes - 1] == TT_MIDI_SYSEX_END)
        reasons[SYSEX].reached++;
    else
        reasons[CUT_OFF].reached++;
}

/* A status that ran on is in no input byte: what came out more often than it went in. */
static void check_event(struct run *run, const struct tt_midi_event *event)
{
    hold(event->bytes > 0 && event->first_ns <= event->last_ns);
    if (event->first_ns < run->last_first_ns) {
        hold(event->kind == TT_MIDI_EVENT_MESSAGE || event->kind == TT_MIDI_EVENT_STRAY);
        reasons[TOO_MANY_WAIT].reached++;
    } else {
        run->last_first_ns = event->first_ns;
    }
    for (size_t i = 0; i < event->bytes; i++)
        run->out[event->data[i]]++;
    if (event->kind == TT_MIDI_EVENT_MESSAGE)
        check_message(run, event);
    else if (event->kind == TT_MIDI_EVENT_SYSEX)
        check_sysex(event);
    else
        reasons[STRAY].reached++;
}

static void feed(struct run *run, const uint8_t *data, size_t n, int64_t time_ns)
{
    struct tt_midi_event event;
    size_t at = 0;
    size_t used;

    while (tt_midi_parser_step(&run->parser, data + at, n - at, time_ns, &used, &event)) {
        at += used;
        hold(at <= n);
        check_event(run, &event);
    }
    hold(at + used == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run run;
    struct tt_midi_event event;
    size_t at = 0;

    memset(&run, 0, sizeof(run));
    tt_midi_parser_init(&run.parser, run.sysex, sizeof(run.sysex));
    for (int64_t time_ns = 1; at < size; time_ns++) {
        size_t n = 1 + data[at++] % 16;

        if (n > size - at)
            n = size - at;
        for (size_t i = 0; i < n; i++)
            run.in[data[at + i]]++;
        feed(&run, data + at, n, time_ns);
        at += n;
    }
    while (tt_midi_parser_flush(&run.parser, &event))
        check_event(&run, &event);
    for (unsigned byte = 0; byte < 256; byte++) {
        bool may_run = byte >= TT_MIDI_STATUS && byte < TT_MIDI_SYSTEM;

        hold(may_run ? run.out[byte] >= run.in[byte] : run.out[byte] == run.in[byte]);
        reasons[RUNNING].reached += run.out[byte] > run.in[byte];
    }
    return 0;
}
