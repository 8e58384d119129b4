/*
 * MIDI bytes to events: what the standard says of running status, real-time bytes and system
 * exclusive, and any bytes at all.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "midi/parser.h"

#define SYSEX_BYTES 8
#define TEXT        4096

/* Byte i of the input arrives at time i. An event is written as its bytes, "@first-last", and a
 * mark: S SysEx, s a piece of it that goes on, ? stray. */
static void describe(char *text, const struct tt_midi_event *event)
{
    size_t at = strlen(text);

    for (size_t i = 0; i < event->bytes; i++)
        at += (size_t)snprintf(text + at, TEXT - at, "%02X", event->data[i]);
    snprintf(text + at, TEXT - at, "@%d-%d%s%s%s ", (int)event->first_ns, (int)event->last_ns,
             event->kind == TT_MIDI_EVENT_STRAY ? "?" : "",
             event->kind == TT_MIDI_EVENT_SYSEX ? (event->more ? "s" : "S") : "",
             event->kind == TT_MIDI_EVENT_SYSEX && !event->begins ? "+" : "");
}

static void parse(const uint8_t *data, size_t n, char *text)
{
    uint8_t sysex[SYSEX_BYTES];
    struct tt_midi_parser parser;
    struct tt_midi_event event;

    tt_midi_parser_init(&parser, sysex, sizeof(sysex));
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t used = 0;
        size_t taken;

        while (
            tt_midi_parser_step(&parser, data + i + used, 1 - used, (int64_t)i, &taken, &event)) {
            used += taken;
            describe(text, &event);
        }
        assert_int_equal(used + taken, 1);
    }
    while (tt_midi_parser_flush(&parser, &event))
        describe(text, &event);
}

struct vector {
    const char *bytes; /* hex */
    const char *events;
};

static size_t from_hex(const char *hex, uint8_t *data)
{
    size_t n = 0;

    for (; hex[0] && hex[1]; hex += hex[2] == ' ' ? 3 : 2) {
        unsigned value;

        assert_int_equal(sscanf(hex, "%2x", &value), 1);
        data[n++] = (uint8_t)value;
        if (!hex[2])
            break;
    }
    return n;
}

static void test_vectors(void **state)
{
    static const struct vector vectors[] = {
        {"90 3C 40", "903C40@0-2 "},
        {"90 3C 40 3C 00 3E 40", "903C40@0-2 903C00@3-4 903E40@5-6 "}, /* running status */
        {"C0 05 06", "C005@0-1 C006@2-2 "},
        {"D3 05 E3 00 40", "D305@0-1 E30040@2-4 "},
        /* real-time bytes leave the message and the running status whole, and come behind its start
         */
        {"90 F8 3C F8 40 FE 3C FA 00", "903C40@0-4 F8@1-1 F8@3-3 FE@5-5 903C00@6-8 FA@7-7 "},
        {"F0 01 F8 02 F7", "F00102F7@0-4S F8@2-2 "},
        /* any other status ends system exclusive, F7 or not */
        {"F0 01 02 90 3C 40", "F00102@0-2S 903C40@3-5 "},
        {"F0 01 F8 F0 02 F7", "F001@0-1S F8@2-2 F002F7@3-5S "},
        /* system common clears running status, system exclusive too, real time does not */
        {"90 3C 40 F6 3C 40", "903C40@0-2 F6@3-3 3C@4-4? 40@5-5? "},
        {"90 3C 40 F0 F7 3C", "903C40@0-2 F0F7@3-4S 3C@5-5? "},
        {"F1 05 F2 01 02 F3 04", "F105@0-1 F20102@2-4 F304@5-6 "},
        {"F4 F5 F9 FD FF", "F4@0-0 F5@1-1 F9@2-2 FD@3-3 FF@4-4 "}, /* undefined, one byte each */
        {"3C 40", "3C@0-0? 40@1-1? "},
        {"F7", "F7@0-0? "},
        {"90 3C 80 3C 40", "903C@0-1? 803C40@2-4 "}, /* cut off by another status */
        {"90 3C F8", "903C@0-1? F8@2-2 "},
        {"F0 01", "F001@0-1S "},
        /* longer than the buffer: pieces, and the end is where it is */
        {"F0 01 02 03 04 05 06 07 08 F7", "F001020304050607@0-7s 08F7@8-9S+ "},
        {"F0 01 02 03 04 05 06 F7", "F0010203040506F7@0-7S "},
        {"F0 01 02 03 04 05 06 07 F7", "F001020304050607@0-7s F7@8-8S+ "},
        {"F0 01 02 03 04 05 06 07 90 01 02", "F001020304050607@0-7S 900102@8-10 "},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(vectors); i++) {
        uint8_t data[64];
        char text[TEXT];

        parse(data, from_hex(vectors[i].bytes, data), text);
        assert_string_equal(text, vectors[i].events);
    }
}

/* More real-time bytes than can wait: SysEx is cut, a short message comes behind them. */
static void test_waiting(void **state)
{
    static const uint8_t begin[] = {TT_MIDI_SYSEX, 0x90};

    (void)state;
    for (size_t k = 0; k < TT_COUNT_OF(begin); k++) {
        uint8_t data[TT_MIDI_WAITING + 4] = {begin[k], 1};
        char text[TT_MIDI_WAITING * 16];
        char *more;

        memset(data + 2, TT_MIDI_CLOCK, TT_MIDI_WAITING + 1);
        data[TT_MIDI_WAITING + 3] = k == 0 ? TT_MIDI_SYSEX_END : 2;
        parse(data, sizeof(data), text);
        assert_memory_equal(text, k == 0 ? "F001@0-1s F8@2-2 " : "F8@2-2 F8@3-3 ", 14);
        more = strstr(text, k == 0 ? "F8@257-257 " : "900102@0-259 ");
        assert_non_null(more);
        assert_string_equal(more, k == 0 ? "F8@257-257 F7@259-259S+ F8@258-258 "
                                         : "900102@0-259 F8@258-258 ");
    }
}

/* After a loss nothing is taken for the rest of a message, and running status is forgotten. */
static void test_flush(void **state)
{
    static const uint8_t data[] = {0x90, 0x3C, 0x40, 0x3E};
    uint8_t sysex[SYSEX_BYTES];
    struct tt_midi_parser parser;
    struct tt_midi_event event;
    size_t used;

    (void)state;
    tt_midi_parser_init(&parser, sysex, sizeof(sysex));
    assert_true(tt_midi_parser_step(&parser, data, 4, 5, &used, &event));
    assert_int_equal(used, 3);
    assert_false(tt_midi_parser_step(&parser, data + 3, 1, 6, &used, &event));
    assert_true(tt_midi_parser_flush(&parser, &event));
    assert_int_equal(event.kind, TT_MIDI_EVENT_STRAY);
    assert_int_equal(event.bytes, 2);
    assert_false(tt_midi_parser_flush(&parser, &event));
    assert_true(tt_midi_parser_step(&parser, data + 2, 1, 7, &used, &event));
    assert_int_equal(event.kind, TT_MIDI_EVENT_STRAY);
}

static void test_names(void **state)
{
    static const struct vector vectors[] = {
        {"90 3C 64", "note on, channel 1, C4 (60), velocity 100"},
        {"8F 00 40", "note off, channel 16, C-1 (0), velocity 64"},
        {"A0 7F 01", "key pressure, channel 1, G9 (127), value 1"},
        {"B1 40 7F", "controller 64, channel 2, value 127"},
        {"C0 00", "program 1, channel 1"},
        {"D0 05", "channel pressure, channel 1, value 5"},
        {"E0 00 40", "pitch bend, channel 1, +0"},
        {"E0 00 00", "pitch bend, channel 1, -8192"},
        {"F2 01 02", "song position 257"},
        {"F8", "clock"},
        {"F0", "F0"},
        {"3C", "3C"},
        {"F0 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F F7",
         "F0 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F ..."},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(vectors); i++) {
        uint8_t data[64];
        char text[TT_MIDI_MESSAGE_TEXT];

        tt_midi_message_format(data, from_hex(vectors[i].bytes, data), text);
        assert_string_equal(text, vectors[i].events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
