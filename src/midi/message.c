/*
 * See message.h.
 */
#include "midi/message.h"

#include <stdio.h>

#include "base/attr.h"

unsigned tt_midi_message_bytes(uint8_t status)
{
    static const uint8_t channel[] = {3, 3, 3, 3, 2, 2, 3};
    static const uint8_t system[] = {0, 2, 3, 2, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1};

    if (status < TT_MIDI_STATUS)
        return 0;
    return status < TT_MIDI_SYSTEM ? channel[(status >> 4) - 8] : system[status & 15];
}

static void format_note(const uint8_t *data, char *text)
{
    static const char *const names[] = {"C",  "C#", "D",  "D#", "E",  "F",
                                        "F#", "G",  "G#", "A",  "A#", "B"};
    static const char *const what[] = {"note off", "note on", "key pressure"};

    snprintf(text, TT_MIDI_MESSAGE_TEXT, "%s, channel %d, %s%d (%d), %s %d",
             what[(data[0] >> 4) - 8], (data[0] & 15) + 1, names[data[1] % 12], data[1] / 12 - 1,
             data[1], data[0] >> 4 == 10 ? "value" : "velocity", data[2]);
}

static void format_channel(const uint8_t *data, char *text)
{
    int channel = (data[0] & 15) + 1;

    switch (data[0] >> 4) {
    case 0xB:
        snprintf(text, TT_MIDI_MESSAGE_TEXT, "controller %d, channel %d, value %d", data[1],
                 channel, data[2]);
        break;
    case 0xC:
        snprintf(text, TT_MIDI_MESSAGE_TEXT, "program %d, channel %d", data[1] + 1, channel);
        break;
    case 0xD:
        snprintf(text, TT_MIDI_MESSAGE_TEXT, "channel pressure, channel %d, value %d", channel,
                 data[1]);
        break;
    case 0xE:
        snprintf(text, TT_MIDI_MESSAGE_TEXT, "pitch bend, channel %d, %+d", channel,
                 (data[2] << 7 | data[1]) - 8192);
        break;
    default:
        format_note(data, text);
        break;
    }
}

static void format_system(const uint8_t *data, char *text)
{
    static const char *const names[] = {"system exclusive",
                                        "time code",
                                        "song position",
                                        "song select",
                                        "undefined (F4)",
                                        "undefined (F5)",
                                        "tune request",
                                        "end of system exclusive",
                                        "clock",
                                        "undefined (F9)",
                                        "start",
                                        "continue",
                                        "stop",
                                        "undefined (FD)",
                                        "active sensing",
                                        "reset"};
    unsigned bytes = tt_midi_message_bytes(data[0]);
    int value = bytes == 3 ? data[2] << 7 | data[1] : data[1];

    if (bytes > 1)
        snprintf(text, TT_MIDI_MESSAGE_TEXT, "%s %d", names[data[0] & 15], value);
    else
        snprintf(text, TT_MIDI_MESSAGE_TEXT, "%s", names[data[0] & 15]);
}

static void format_bytes(const uint8_t *data, size_t bytes, char *text)
{
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < bytes && i < 16; i++)
        at += (size_t)snprintf(text + at, TT_MIDI_MESSAGE_TEXT - at, i > 0 ? " %02X" : "%02X",
                               data[i]);
    if (bytes > 16)
        snprintf(text + at, TT_MIDI_MESSAGE_TEXT - at, " ...");
}

void tt_midi_message_format(const uint8_t *data, size_t bytes, char ret_text[TT_MIDI_MESSAGE_TEXT])
{
    uint8_t whole[TT_MIDI_MESSAGE_MAX] = {0};

    if (bytes == 0 || tt_midi_message_bytes(data[0]) != bytes) {
        format_bytes(data, bytes, ret_text);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        whole[i] = data[i];
    if (data[0] < TT_MIDI_SYSTEM)
        format_channel(whole, ret_text);
    else
        format_system(whole, ret_text);
}
