/*
 * The player in virtual time: each event when it is due, or when the wire is free; real-time bytes
 * inside long messages; what has to be ended.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "malloc_trap.h"
#include "midi/parser.h"
#include "midi/player.h"

#define DIN_BYTE_NS 320000
#define TEXT        4096

#define EVENT(due, text)                                                                           \
    {                                                                                              \
        .due_ns = (due), .data = (const uint8_t *)(text), .bytes = sizeof(text) - 1                \
    }

/* "TIME:BYTES " of all that is sent; time in us. The clock goes from wake-up to wake-up. */
static void play(struct tt_player *player, char *text)
{
    int64_t now_ns = 0;
    size_t at = 0;

    text[0] = '\0';
    for (unsigned steps = 0;; steps++) {
        struct tt_player_output output;
        int64_t wake_ns = 0;
        bool more;

        assert_true(steps < 1000);
        tt_trap_arm();
        more = tt_player_step(player, now_ns, &output, &wake_ns);
        tt_trap_disarm();
        if (!more && wake_ns == INT64_MAX)
            return;
        if (!more) {
            assert_true(wake_ns > now_ns);
            now_ns = wake_ns;
            continue;
        }
        at += (size_t)snprintf(text + at, TEXT - at, "%d:", (int)(now_ns / 1000));
        for (size_t i = 0; i < output.bytes; i++)
            at += (size_t)snprintf(text + at, TEXT - at, "%02X", output.data[i]);
        at += (size_t)snprintf(text + at, TEXT - at, " ");
    }
}

static void test_times(void **state)
{
    struct tt_player_event events[] = {EVENT(1000000, "\x90\x3C\x40"),
                                       EVENT(1000000, "\x90\x40\x40"), EVENT(9000000, "\xF8")};
    struct tt_player_event again[TT_COUNT_OF(events)];
    struct tt_player player;
    char text[TEXT];

    (void)state;
    memcpy(again, events, sizeof(events));
    tt_player_init(&player, events, TT_COUNT_OF(events), 0);
    play(&player, text);
    assert_string_equal(text, "1000:903C40 1000:904040 9000:F8 ");
    assert_int_equal(player.sent, 3);
    /* A chord on a DIN wire: the second note is 960 us later. */
    tt_player_init(&player, again, TT_COUNT_OF(again), DIN_BYTE_NS);
    play(&player, text);
    assert_string_equal(text, "1000:903C40 1960:904040 9000:F8 ");
}

/* A clock gets in while a long message is on its way; a note does not, nor what it holds up. */
static void test_long_message(void **state)
{
    struct tt_player_event events[] = {
        EVENT(0, "\1\2\3\4\5\6\7\x8\x9\xA\xB\xC\xD\xE\xF\x10\x11\x12\x13\xF7"),
        EVENT(1000000, "\x90\x3C\x40"),
        EVENT(2000000, "\xF8"),
        EVENT(50000000, "\xF8"),
    };
    struct tt_player player;
    char text[TEXT];

    (void)state;
    events[0].starts_sysex = true;
    tt_player_init(&player, events, TT_COUNT_OF(events), DIN_BYTE_NS);
    play(&player, text);
    assert_string_equal(text, "0:F00102030405060708090A0B0C0D0E0F 5120:F8 5440:10111213F7 "
                              "7040:903C40 50000:F8 ");
    assert_int_equal(player.sent, 4);
}

static void test_silence(void **state)
{
    static const uint8_t expected[] = {0x80, 0x3C, 64, 0xB0, 64, 0, 0xB0, 123, 0,
                                       0x8F, 0x7F, 64, 0xBF, 64, 0, 0xBF, 123, 0};
    struct tt_player_event events[] = {
        EVENT(0, "\x90\x3C\x40"), EVENT(0, "\x90\x40\x40"), EVENT(1, "\x90\x40\x00"),
        EVENT(1, "\x9F\x7F\x01"), EVENT(2, "\x9F\x00\x01"), EVENT(3, "\x8F\x00\x01"),
        EVENT(4, "\xF3\x01"),
    };
    struct tt_player_event sysex[] = {EVENT(0, "\1\2\3\4\5\6\7\x8\x9\xA\xB\xC\xD\xE\xF\x10\xF7")};
    struct tt_player player;
    struct tt_player_output output;
    uint8_t offs[TT_PLAYER_OFFS_MAX];
    char text[TEXT];
    int64_t wake_ns;

    (void)state;
    tt_player_init(&player, events, TT_COUNT_OF(events), 0);
    assert_int_equal(tt_player_silence(&player, offs), 0);
    play(&player, text);
    assert_int_equal(tt_player_silence(&player, offs), sizeof(expected));
    assert_memory_equal(offs, expected, sizeof(expected));

    sysex[0].starts_sysex = true;
    tt_player_init(&player, sysex, 1, 0);
    assert_true(tt_player_step(&player, 0, &output, &wake_ns));
    assert_int_equal(tt_player_silence(&player, offs), 1);
    assert_int_equal(offs[0], TT_MIDI_SYSEX_END);
}

/* Random lists on a slow wire: all is sent, no event early, and the bytes parse to the events. */
static void test_random(void **state)
{
    enum { COUNT = 200 };
    static struct tt_player_event events[COUNT];
    uint64_t seed = 4;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint8_t sysex[64];
        struct tt_midi_parser parser;
        struct tt_player player;
        int64_t due_ns = 0;
        int64_t now_ns = 0;
        size_t heard = 0;

        for (int i = 0; i < COUNT; i++) {
            static const char *const texts[] = {"\x90\x3C\x40", "\xC0\x05", "\xF8",
                                                "0123456789abcdefghijklmnopqrstuvwxyz\xF7"};
            const char *text = texts[random_size(&seed, 4)];

            due_ns += (int64_t)random_below(&seed, 2000000);
            events[i] = (struct tt_player_event){.due_ns = due_ns,
                                                 .data = (const uint8_t *)text,
                                                 .bytes = strlen(text),
                                                 .starts_sysex = text[0] == '0'};
        }
        tt_player_init(&player, events, COUNT, round % 2 ? DIN_BYTE_NS : 0);
        tt_midi_parser_init(&parser, sysex, sizeof(sysex));
        for (;;) {
            struct tt_player_output output;
            struct tt_midi_event event;
            int64_t wake_ns = 0;
            size_t at = 0;
            size_t used;

            if (!tt_player_step(&player, now_ns, &output, &wake_ns)) {
                if (wake_ns == INT64_MAX)
                    break;
                now_ns = wake_ns;
                continue;
            }
            assert_true(output.due_ns <= now_ns);
            for (; tt_midi_parser_step(&parser, output.data + at, output.bytes - at, 0, &used,
                                       &event);
                 at += used) {
                assert_int_not_equal(event.kind, TT_MIDI_EVENT_STRAY);
                heard++;
            }
        }
        assert_int_equal(player.sent, COUNT);
        assert_int_equal(heard, COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
