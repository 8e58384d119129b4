/*
 * See sounding.h.
 */
#include "midi/sounding.h"

#define SUSTAIN       64
#define ALL_NOTES_OFF 123

void tt_sounding_init(struct tt_sounding *sounding)
{
    *sounding = (struct tt_sounding){0};
    tt_midi_parser_init(&sounding->parser, sounding->sysex, sizeof(sounding->sysex));
}

static void take_message(struct tt_sounding *sounding, const uint8_t *data)
{
    unsigned channel = data[0] & 15;
    uint64_t *on = &sounding->on[channel][data[1] >> 6 & 1];
    uint64_t note = UINT64_C(1) << (data[1] & 63);

    if (data[0] >= TT_MIDI_SYSTEM)
        return;
    sounding->channels |= (uint16_t)(1U << channel);
    if (data[0] >= TT_MIDI_NOTE_ON + 16)
        return;
    if (data[0] >= TT_MIDI_NOTE_ON && data[2] > 0)
        *on |= note;
    else
        *on &= ~note;
}

void tt_sounding_sent(struct tt_sounding *sounding, const uint8_t *data, size_t n)
{
    struct tt_midi_event event;
    size_t used;

    for (size_t at = 0; tt_midi_parser_step(&sounding->parser, data + at, n - at, 0, &used, &event);
         at += used) {
        if (event.kind == TT_MIDI_EVENT_MESSAGE && event.bytes > 1)
            take_message(sounding, event.data);
    }
}

static bool is_on(const struct tt_sounding *sounding, unsigned channel, unsigned note)
{
    return (sounding->on[channel][note >> 6] >> (note & 63) & 1) != 0;
}

unsigned tt_sounding_notes(const struct tt_sounding *sounding)
{
    unsigned notes = 0;

    for (unsigned channel = 0; channel < 16; channel++) {
        for (unsigned note = 0; note < 128; note++)
            notes += is_on(sounding, channel, note);
    }
    return notes;
}

static size_t put(uint8_t *bytes, size_t at, unsigned status, unsigned first, unsigned second)
{
    bytes[at] = (uint8_t)status;
    bytes[at + 1] = (uint8_t)first;
    bytes[at + 2] = (uint8_t)second;
    return at + 3;
}

size_t tt_sounding_silence(const struct tt_sounding *sounding,
                           uint8_t ret_bytes[TT_SOUNDING_SILENCE_MAX])
{
    size_t at = 0;

    if (sounding->parser.state == TT_MIDI_IN_SYSEX)
        ret_bytes[at++] = TT_MIDI_SYSEX_END;
    for (unsigned channel = 0; channel < 16; channel++) {
        if ((sounding->channels >> channel & 1) == 0)
            continue;
        for (unsigned note = 0; note < 128; note++) {
            if (is_on(sounding, channel, note))
                at = put(ret_bytes, at, TT_MIDI_NOTE_OFF | channel, note, 64);
        }
        at = put(ret_bytes, at, TT_MIDI_CONTROLLER | channel, SUSTAIN, 0);
        at = put(ret_bytes, at, TT_MIDI_CONTROLLER | channel, ALL_NOTES_OFF, 0);
    }
    return at;
}
