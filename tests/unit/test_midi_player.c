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
#include "midi/sounding.h"

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

static void sent(struct tt_sounding *sounding, const char *bytes, size_t n)
{
    tt_trap_arm();
    tt_sounding_sent(sounding, (const uint8_t *)bytes, n);
    tt_trap_disarm();
}

#define SENT(sounding, text) sent(sounding, text, sizeof(text) - 1)

static void test_silence(void **state)
{
    static const uint8_t expected[] = {0x80, 0x3C, 64, 0xB0, 64, 0, 0xB0, 123, 0,
                                       0x8F, 0x7F, 64, 0xBF, 64, 0, 0xBF, 123, 0};
    static const uint8_t used[] = {0xF7, 0xBE, 64, 0, 0xBE, 123, 0};
    uint8_t offs[TT_SOUNDING_SILENCE_MAX];
    struct tt_sounding sounding;

    (void)state;
    tt_sounding_init(&sounding);
    assert_int_equal(tt_sounding_silence(&sounding, offs), 0);
    SENT(&sounding, "\x90\x3C\x40\x40\x40\xF8\x40\x00"); /* the last two by running status */
    SENT(&sounding, "\x9F\x7F");                         /* a message in two goes */
    SENT(&sounding, "\x01\x00\x01\x8F\x00\x01\xF3\x01");
    assert_int_equal(tt_sounding_notes(&sounding), 2);
    assert_int_equal(tt_sounding_silence(&sounding, offs), sizeof(expected));
    assert_memory_equal(offs, expected, sizeof(expected));

    tt_sounding_init(&sounding);
    SENT(&sounding, "\xCE\x05\xF0\1\2\3\4\5\6\xF8");
    assert_int_equal(tt_sounding_notes(&sounding), 0);
    assert_int_equal(tt_sounding_silence(&sounding, offs), sizeof(used));
    assert_memory_equal(offs, used, sizeof(used));
}

/* Whatever bytes went out, and in whatever pieces: behind its silence nothing is left to be ended.
 */
static void test_silence_of_anything(void **state)
{
    static const uint8_t likely[] = {0x80, 0x90, 0x9F, 0xC3, 0xF0, 0xF2, 0xF6, 0xF7, 0xF8, 0, 0x3C};
    unsigned most = 0;
    uint64_t seed = 9;

    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t offs[TT_SOUNDING_SILENCE_MAX];
        struct tt_sounding sounding;
        size_t n;

        tt_sounding_init(&sounding);
        for (unsigned piece = 0; piece < 20; piece++) {
            uint8_t bytes[8];
            size_t count = 1 + random_size(&seed, sizeof(bytes));

            for (size_t i = 0; i < count; i++)
                bytes[i] = random_size(&seed, 2) ? likely[random_size(&seed, sizeof(likely))]
                                                 : (uint8_t)random_size(&seed, 128);
            tt_sounding_sent(&sounding, bytes, count);
        }
        most = tt_sounding_notes(&sounding) > most ? tt_sounding_notes(&sounding) : most;
        n = tt_sounding_silence(&sounding, offs);
        tt_sounding_sent(&sounding, offs, n);
        assert_int_equal(tt_sounding_notes(&sounding), 0);
        assert_int_not_equal(sounding.parser.state, TT_MIDI_IN_SYSEX);
    }
    assert_true(most > 5);
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
        cmocka_unit_test(test_times),   cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_silence), cmocka_unit_test(test_silence_of_anything),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
