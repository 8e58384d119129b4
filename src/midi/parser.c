/*
 * See parser.h.
 */
#include "midi/parser.h"

#include <assert.h>

/* What became of one byte. */
enum outcome {
    TAKEN,
    TAKEN_EVENT, /* and there is an event */
    LEFT_EVENT,  /* there is an event, and the byte comes again */
};

void tt_midi_parser_init(struct tt_midi_parser *parser, uint8_t *sysex, size_t capacity)
{
    assert(capacity >= TT_MIDI_SYSEX_MINIMUM);
    *parser = (struct tt_midi_parser){.sysex = sysex, .capacity = capacity};
}

static void give(const struct tt_midi_parser *parser, enum tt_midi_kind kind, bool more,
                 struct tt_midi_event *ret_event)
{
    bool sysex = kind == TT_MIDI_EVENT_SYSEX;

    *ret_event = (struct tt_midi_event){
        .kind = kind,
        .begins = sysex && parser->begins,
        .more = more,
        .data = sysex ? parser->sysex : parser->message,
        .bytes = parser->held,
        .first_ns = parser->first_ns,
        .last_ns = parser->last_ns,
    };
}

/* What is open is over. */
static void close_open(struct tt_midi_parser *parser, enum tt_midi_kind kind,
                       struct tt_midi_event *ret_event)
{
    give(parser, kind, false, ret_event);
    parser->state = TT_MIDI_IDLE;
    parser->held = 0;
    parser->releasing = parser->waiting_count > 0;
}

static void close_unfinished(struct tt_midi_parser *parser, struct tt_midi_event *ret_event)
{
    close_open(parser,
               parser->state == TT_MIDI_IN_SYSEX ? TT_MIDI_EVENT_SYSEX : TT_MIDI_EVENT_STRAY,
               ret_event);
}

static void give_piece(struct tt_midi_parser *parser, struct tt_midi_event *ret_event)
{
    give(parser, TT_MIDI_EVENT_SYSEX, true, ret_event);
    parser->held = 0;
    parser->begins = false;
}

static void give_byte(struct tt_midi_parser *parser, enum tt_midi_kind kind, uint8_t byte,
                      int64_t time_ns, struct tt_midi_event *ret_event)
{
    parser->message[0] = byte;
    *ret_event = (struct tt_midi_event){
        .kind = kind, .data = parser->message, .bytes = 1, .first_ns = time_ns, .last_ns = time_ns};
}

/* Of a short message that is open, `message` has to stay: its bytes are given out of the waiting
 * ones themselves. */
static void give_waiting(struct tt_midi_parser *parser, struct tt_midi_event *ret_event)
{
    const struct tt_midi_waiting *waiting = &parser->waiting[parser->waiting_at++];

    *ret_event = (struct tt_midi_event){.kind = TT_MIDI_EVENT_MESSAGE,
                                        .data = &waiting->byte,
                                        .bytes = 1,
                                        .first_ns = waiting->time_ns,
                                        .last_ns = waiting->time_ns};
    if (parser->waiting_at == parser->waiting_count) {
        parser->waiting_at = 0;
        parser->waiting_count = 0;
        parser->releasing = false;
    }
}

/* Ends what is open before it is whole. False: nothing is left of it to give. */
static bool end_open(struct tt_midi_parser *parser, struct tt_midi_event *ret_event)
{
    if (parser->held > 0) {
        close_unfinished(parser, ret_event);
        return true;
    }
    parser->state = TT_MIDI_IDLE; /* between two pieces, and the last one is out */
    if (parser->waiting_count == 0)
        return false;
    parser->releasing = true;
    give_waiting(parser, ret_event);
    return true;
}

static void open_with(struct tt_midi_parser *parser, enum tt_midi_state state, uint8_t byte,
                      int64_t time_ns)
{
    parser->state = state;
    parser->held = 1;
    parser->begins = true;
    parser->first_ns = time_ns;
    parser->last_ns = time_ns;
    *(state == TT_MIDI_IN_SYSEX ? parser->sysex : parser->message) = byte;
}

static enum outcome step_realtime(struct tt_midi_parser *parser, uint8_t byte, int64_t time_ns,
                                  struct tt_midi_event *ret_event)
{
    if (parser->state == TT_MIDI_IDLE) {
        give_byte(parser, TT_MIDI_EVENT_MESSAGE, byte, time_ns, ret_event);
        return TAKEN_EVENT;
    }
    if (parser->waiting_count < TT_MIDI_WAITING) {
        parser->waiting[parser->waiting_count++] =
            (struct tt_midi_waiting){.time_ns = time_ns, .byte = byte};
        return TAKEN;
    }
    parser->releasing = true;
    if (parser->state == TT_MIDI_IN_SYSEX && parser->held > 0)
        give_piece(parser, ret_event);
    else
        give_waiting(parser, ret_event);
    return LEFT_EVENT;
}

static enum outcome step_sysex(struct tt_midi_parser *parser, uint8_t byte, int64_t time_ns,
                               struct tt_midi_event *ret_event)
{
    if (parser->held == parser->capacity) {
        give_piece(parser, ret_event);
        return LEFT_EVENT;
    }
    if (parser->held == 0)
        parser->first_ns = time_ns;
    parser->sysex[parser->held++] = byte;
    parser->last_ns = time_ns;
    if (byte != TT_MIDI_SYSEX_END)
        return TAKEN;
    close_open(parser, TT_MIDI_EVENT_SYSEX, ret_event);
    return TAKEN_EVENT;
}

static enum outcome step_status(struct tt_midi_parser *parser, uint8_t byte, int64_t time_ns,
                                struct tt_midi_event *ret_event)
{
    unsigned bytes = tt_midi_message_bytes(byte);

    if (parser->state == TT_MIDI_IN_SYSEX && byte == TT_MIDI_SYSEX_END)
        return step_sysex(parser, byte, time_ns, ret_event);
    if (parser->state != TT_MIDI_IDLE && end_open(parser, ret_event))
        return LEFT_EVENT;
    parser->running = byte < TT_MIDI_SYSTEM ? byte : 0;
    if (bytes == 1 || byte == TT_MIDI_SYSEX_END) {
        give_byte(parser, bytes == 1 ? TT_MIDI_EVENT_MESSAGE : TT_MIDI_EVENT_STRAY, byte, time_ns,
                  ret_event);
        return TAKEN_EVENT;
    }
    open_with(parser, byte == TT_MIDI_SYSEX ? TT_MIDI_IN_SYSEX : TT_MIDI_IN_MESSAGE, byte, time_ns);
    return TAKEN;
}

static enum outcome step_data(struct tt_midi_parser *parser, uint8_t byte, int64_t time_ns,
                              struct tt_midi_event *ret_event)
{
    if (parser->state == TT_MIDI_IN_SYSEX)
        return step_sysex(parser, byte, time_ns, ret_event);
    if (parser->state == TT_MIDI_IDLE) {
        if (parser->running == 0) {
            give_byte(parser, TT_MIDI_EVENT_STRAY, byte, time_ns, ret_event);
            return TAKEN_EVENT;
        }
        open_with(parser, TT_MIDI_IN_MESSAGE, parser->running, time_ns);
    }
    parser->message[parser->held++] = byte;
    parser->last_ns = time_ns;
    if (parser->held < tt_midi_message_bytes(parser->message[0]))
        return TAKEN;
    close_open(parser, TT_MIDI_EVENT_MESSAGE, ret_event);
    return TAKEN_EVENT;
}

bool tt_midi_parser_step(struct tt_midi_parser *parser, const uint8_t *data, size_t n,
                         int64_t time_ns, size_t *ret_used, struct tt_midi_event *ret_event)
{
    *ret_used = 0;
    if (parser->releasing) {
        give_waiting(parser, ret_event);
        return true;
    }
    while (*ret_used < n) {
        uint8_t byte = data[*ret_used];
        enum outcome outcome;

        if (byte >= TT_MIDI_REALTIME)
            outcome = step_realtime(parser, byte, time_ns, ret_event);
        else if (byte >= TT_MIDI_STATUS)
            outcome = step_status(parser, byte, time_ns, ret_event);
        else
            outcome = step_data(parser, byte, time_ns, ret_event);
        *ret_used += outcome != LEFT_EVENT;
        if (outcome != TAKEN)
            return true;
    }
    return false;
}

bool tt_midi_parser_flush(struct tt_midi_parser *parser, struct tt_midi_event *ret_event)
{
    parser->running = 0;
    if (parser->releasing) {
        give_waiting(parser, ret_event);
        return true;
    }
    return parser->state != TT_MIDI_IDLE && end_open(parser, ret_event);
}
