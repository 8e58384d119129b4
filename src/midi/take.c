/*
 * See take.h.
 */
#include "midi/take.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"

void tt_midi_take_init(struct tt_midi_take *take, uint8_t port, uint8_t *sysex, size_t capacity)
{
    *take = (struct tt_midi_take){.port = port};
    tt_midi_parser_init(&take->parser, sysex, capacity);
}

void tt_midi_take_start(struct tt_midi_take *take, int64_t mono_ns)
{
    take->start_mono_ns = mono_ns;
    take->tick = 0;
}

/* "12.000034567 s", of the file. */
static const char *format_time(const struct tt_midi_take *take, int64_t mono_ns, char text[32])
{
    int64_t ns = mono_ns > take->start_mono_ns ? mono_ns - take->start_mono_ns : 0;

    snprintf(text, 32, "%" PRId64 ".%09" PRId64 " s", ns / TT_NS_PER_S, ns % TT_NS_PER_S);
    return text;
}

static void write_loss(struct tt_midi_take *take, const struct tt_midi_log_loss *loss)
{
    char since[32];
    char until[32];
    char bytes[32] = "bytes";

    if (loss->bytes > 0)
        snprintf(bytes, sizeof(bytes), "%" PRIu64 " %s", loss->bytes,
                 loss->bytes == 1 ? "byte" : "bytes");
    snprintf(take->text, sizeof(take->text), "lost: %s between %s and %s", bytes,
             format_time(take, loss->since_mono_ns, since),
             format_time(take, take->frame.time_mono_ns, until));
    take->text_mono_ns = tt_min64(loss->since_mono_ns, take->frame.time_mono_ns);
}

static void write_marker(struct tt_midi_take *take)
{
    struct tt_midi_log_loss loss;
    char at[32];

    take->text_mono_ns = take->frame.time_mono_ns;
    format_time(take, take->frame.time_mono_ns, at);
    switch (take->frame.type) {
    case TT_MIDI_LOG_LOSS:
        take->marker = tt_midi_log_loss_of(&take->frame, &loss) == 0;
        if (take->marker)
            write_loss(take, &loss);
        break;
    case TT_MIDI_LOG_GONE:
        take->marker = true;
        snprintf(take->text, sizeof(take->text), "port gone at %s", at);
        break;
    case TT_MIDI_LOG_BACK:
        take->marker = true;
        snprintf(take->text, sizeof(take->text), "port back at %s", at);
        break;
    default:
        break;
    }
    take->flushing = take->marker;
}

void tt_midi_take_frame(struct tt_midi_take *take, const struct tt_midi_frame *frame)
{
    if (frame->port != take->port)
        return;
    take->frame = *frame;
    take->used = frame->type == TT_MIDI_LOG_BYTES ? 0 : frame->length;
    if (frame->type != TT_MIDI_LOG_BYTES)
        write_marker(take);
}

void tt_midi_take_finish(struct tt_midi_take *take)
{
    take->flushing = true;
}

static uint64_t tick_of(struct tt_midi_take *take, int64_t mono_ns)
{
    int64_t ns = mono_ns > take->start_mono_ns ? mono_ns - take->start_mono_ns : 0;
    uint64_t tick = tt_smf_tick_of(ns);

    if (tick > take->tick)
        take->tick = tick;
    return take->tick;
}

static bool next_parsed(struct tt_midi_take *take, struct tt_midi_event *ret_event)
{
    size_t used = 0;
    bool there;

    if (take->flushing) {
        take->flushing = tt_midi_parser_flush(&take->parser, ret_event);
        return take->flushing;
    }
    there = tt_midi_parser_step(&take->parser, take->frame.data + take->used,
                                take->frame.length - take->used, take->frame.time_mono_ns, &used,
                                ret_event);
    take->used += used;
    return there;
}

bool tt_midi_take_next(struct tt_midi_take *take, struct tt_smf_event *ret_event,
                       int64_t *ret_mono_ns)
{
    struct tt_midi_event event;

    if (next_parsed(take, &event)) {
        *ret_mono_ns = event.first_ns;
        *ret_event = tt_smf_event_of(&event, tick_of(take, event.first_ns));
        return true;
    }
    if (!take->marker)
        return false;
    take->marker = false;
    *ret_mono_ns = take->text_mono_ns;
    *ret_event = (struct tt_smf_event){.kind = TT_SMF_META,
                                       .type = TT_SMF_META_MARKER,
                                       .tick = tick_of(take, take->text_mono_ns),
                                       .data = (const uint8_t *)take->text,
                                       .bytes = strlen(take->text)};
    return true;
}
