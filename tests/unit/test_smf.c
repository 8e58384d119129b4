/*
 * Standard MIDI Files as they are met: each fault with its offset and with what is kept, tempo
 * maps, and what the writer makes.
 */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "midi/smf.h"
#include "midi/tempo.h"

#define TEXT 2048

#define HEADER    "4D546864 00000006 0001 0001 0060 "
#define TRACK(n)  "4D54726B 000000" n " "
#define END       "00FF2F00 "
#define NOTE      "00903C40 "
#define SEEN_NOTE "0:M903C40 "
#define SEEN_END  "0:T2F "

static size_t from_hex(const char *hex, uint8_t *data)
{
    size_t n = 0;

    for (; *hex; hex++) {
        unsigned value;

        if (*hex == ' ')
            continue;
        assert_int_equal(sscanf(hex, "%2x", &value), 1);
        data[n++] = (uint8_t)value;
        hex++;
    }
    return n;
}

/* "TICK:KIND BYTES" of events (M message, S SysEx, s a piece with more to come, + a further piece,
 * E escape, T meta with its type), "!FAULT@OFFSET" of faults; "|" where a track begins. */
static void describe(char *text, size_t *at, const struct tt_smf_item *item)
{
    static const char kinds[] = {'M', 'S', 'E', 'T'};
    const struct tt_smf_event *event = &item->event;

    if (item->kind == TT_SMF_ITEM_FAULT) {
        *at += (size_t)snprintf(text + *at, TEXT - *at, "!%d@%zu ", item->fault, item->offset);
        return;
    }
    *at += (size_t)snprintf(text + *at, TEXT - *at, "%" PRIu64 ":%s%c", event->tick,
                            event->kind == TT_SMF_SYSEX && !event->begins ? "+" : "",
                            event->more ? 's' : kinds[event->kind]);
    if (event->kind == TT_SMF_META)
        *at += (size_t)snprintf(text + *at, TEXT - *at, "%02X", event->type);
    for (size_t i = 0; i < event->bytes; i++)
        *at += (size_t)snprintf(text + *at, TEXT - *at, "%02X", event->data[i]);
    *at += (size_t)snprintf(text + *at, TEXT - *at, " ");
}

static bool read_all(const uint8_t *data, size_t n, char *text)
{
    struct tt_smf smf;
    struct tt_smf_item item;
    enum tt_smf_fault fault = tt_smf_open(&smf, data, n);
    size_t at = 0;
    unsigned track = 0;
    bool loses = false;

    if (fault != TT_SMF_FINE) {
        snprintf(text, TEXT, "refused %d", fault);
        return true;
    }
    text[0] = '\0';
    while (tt_smf_next(&smf, &item)) {
        if (item.track != track)
            at += (size_t)snprintf(text + at, TEXT - at, "| ");
        track = item.track;
        describe(text, &at, &item);
        loses = loses || (item.kind == TT_SMF_ITEM_FAULT && tt_smf_fault_loses(item.fault));
    }
    return loses;
}

struct vector {
    const char *what;
    const char *bytes;
    const char *items;
    enum tt_smf_fault fault; /* that has to be among them */
    bool loses;
};

/* The offsets: a track's events begin at 22. */
static const struct vector vectors[] = {
    {"nothing wrong", HEADER TRACK("08") NOTE END, SEEN_NOTE SEEN_END, TT_SMF_FINE, false},
    {"no header", "4D54726B 00000000", "refused 1", TT_SMF_FINE, true},
    {"empty file", "", "refused 1", TT_SMF_FINE, true},
    {"header cut", "4D546864 0000", "refused 2", TT_SMF_FINE, true},
    {"header cut behind its length", "4D546864 00000006 0001", "refused 2", TT_SMF_FINE, true},
    {"header short", "4D546864 00000004 0001 0001", "refused 3", TT_SMF_FINE, true},
    {"header long", "4D546864 00000008 0001 0001 0060 ABCD " TRACK("08") NOTE END,
     SEEN_NOTE SEEN_END, TT_SMF_FINE, false},
    {"no track", HEADER, "!4@14 ", TT_SMF_NO_TRACK, true},
    {"format 7", "4D546864 00000006 0007 0001 0060 " TRACK("08") NOTE END,
     "!5@8 " SEEN_NOTE SEEN_END, TT_SMF_FORMAT, false},
    {"format 0 of two tracks",
     "4D546864 00000006 0000 0002 0060 " TRACK("08") NOTE END TRACK("04") END,
     "!6@8 " SEEN_NOTE SEEN_END "| " SEEN_END, TT_SMF_FORMAT_0, false},
    {"division 0", "4D546864 00000006 0001 0001 0000 " TRACK("08") NOTE END,
     "!7@12 " SEEN_NOTE SEEN_END, TT_SMF_DIVISION, true},
    {"SMPTE with no ticks", "4D546864 00000006 0001 0001 E700 " TRACK("08") NOTE END,
     "!7@12 " SEEN_NOTE SEEN_END, TT_SMF_DIVISION, true},
    {"SMPTE of 23 frames", "4D546864 00000006 0001 0001 E928 " TRACK("08") NOTE END,
     "!8@12 " SEEN_NOTE SEEN_END, TT_SMF_DIVISION_SMPTE, false},
    {"an unknown chunk", HEADER "58464948 00000003 010203 " TRACK("08") NOTE END,
     "!9@14 " SEEN_NOTE SEEN_END, TT_SMF_CHUNK_UNKNOWN, false},
    {"bytes behind the last chunk", HEADER TRACK("08") NOTE END "0D0A",
     SEEN_NOTE SEEN_END "!10@30 ", TT_SMF_CHUNK_HEAD, false},
    {"a length beyond the file", HEADER TRACK("FF") NOTE END, "!11@18 " SEEN_NOTE SEEN_END,
     TT_SMF_CHUNK_LONG, false},
    {"and a track behind it",
     "4D546864 00000006 0001 0002 0060 4D54726B FFFFFFFF " NOTE END TRACK("04") END,
     "!11@18 " SEEN_NOTE SEEN_END "| " SEEN_END, TT_SMF_CHUNK_LONG, false},
    {"the file is cut", HEADER TRACK("08") NOTE, "!11@18 " SEEN_NOTE "!12@26 ", TT_SMF_TRACK_CUT,
     true},
    {"fewer tracks than announced", "4D546864 00000006 0001 0003 0060 " TRACK("08") NOTE END,
     SEEN_NOTE SEEN_END "!13@30 ", TT_SMF_TRACKS_FEWER, false},
    {"more tracks than announced", HEADER TRACK("08") NOTE END TRACK("04") END,
     SEEN_NOTE SEEN_END "| !14@30 " SEEN_END, TT_SMF_TRACKS_MORE, false},
    {"no end of track", HEADER TRACK("04") NOTE, SEEN_NOTE "!15@26 ", TT_SMF_NO_END, false},
    {"an empty track", HEADER TRACK("00"), "!15@22 ", TT_SMF_NO_END, false},
    {"bytes behind the end", HEADER TRACK("06") END "0000", "!16@26 " SEEN_END, TT_SMF_AFTER_END,
     true},
    {"a number of five bytes", HEADER TRACK("10") NOTE "8180808000 903C40 " END,
     SEEN_NOTE "!17@26 ", TT_SMF_LONG_NUMBER, true},
    {"a length of five bytes", HEADER TRACK("0C") "00FF01 8080808001 41 000000", "!17@25 ",
     TT_SMF_LONG_NUMBER, true},
    {"the longest number", HEADER TRACK("0B") "FFFFFF7F 903C40 " END,
     "268435455:M903C40 268435455:T2F ", TT_SMF_FINE, false},
    {"a number with zeros in front", HEADER TRACK("0A") "808000 903C40 " END, SEEN_NOTE SEEN_END,
     TT_SMF_FINE, false},
    {"an event cut", HEADER TRACK("06") NOTE "0090", SEEN_NOTE "!18@27 ", TT_SMF_EVENT_CUT, true},
    {"a delta alone", HEADER TRACK("05") NOTE "00", SEEN_NOTE "!18@26 ", TT_SMF_EVENT_CUT, true},
    {"a delta cut", HEADER TRACK("05") NOTE "81", SEEN_NOTE "!18@26 ", TT_SMF_EVENT_CUT, true},
    {"a meta event cut", HEADER TRACK("06") NOTE "00FF", SEEN_NOTE "!18@27 ", TT_SMF_EVENT_CUT,
     true},
    {"a text longer than the track", HEADER TRACK("09") "00FF01 7F 4142434445", "!18@25 ",
     TT_SMF_EVENT_CUT, true},
    {"data without status", HEADER TRACK("06") "003C" END, "!19@23 ", TT_SMF_NO_STATUS, true},
    {"running status", HEADER TRACK("0B") NOTE "003C00 " END, SEEN_NOTE "0:M903C00 " SEEN_END,
     TT_SMF_FINE, false},
    {"running status across a meta event", HEADER TRACK("0F") NOTE "00FF0100 003C00 " END,
     SEEN_NOTE "0:T01 !20@31 0:M903C00 " SEEN_END, TT_SMF_RUNNING_ACROSS, false},
    {"running status across SysEx", HEADER TRACK("0F") NOTE "00F001F7 003C00 " END,
     SEEN_NOTE "0:SF7 !20@31 0:M903C00 " SEEN_END, TT_SMF_RUNNING_ACROSS, false},
    {"a velocity of 80", HEADER TRACK("0C") "00903C80 " NOTE END, "!21@23 " SEEN_NOTE SEEN_END,
     TT_SMF_DATA_BYTE, true},
    {"a note that the next cuts off", HEADER TRACK("0A") "00903C 903E40 " END,
     "!21@23 0:M903E40 " SEEN_END, TT_SMF_DATA_BYTE, true},
    {"a note that the next cuts off, then running status",
     HEADER TRACK("0D") "00903C 903E40 054040 " END, "!21@23 0:M903E40 5:M904040 5:T2F ",
     TT_SMF_DATA_BYTE, true},
    {"a note that the end cuts off", HEADER TRACK("06") "00903C FF2F00", "!21@23 " SEEN_END,
     TT_SMF_DATA_BYTE, true},
    {"a note that SysEx cuts off", HEADER TRACK("0B") "0090 F0034142F7 " END,
     "!21@23 0:S4142F7 " SEEN_END, TT_SMF_DATA_BYTE, true},
    {"a clock inside a note", HEADER TRACK("09") "00903CF840 " END,
     "!22@25 0:M903C40 0:MF8 " SEEN_END, TT_SMF_BARE_SYSTEM, false},
    {"clocks inside a note, then running status", HEADER TRACK("0D") "0090F83CFE40 053C00 " END,
     "!22@24 0:M903C40 0:MF8 0:MFE 5:M903C00 5:T2F ", TT_SMF_BARE_SYSTEM, false},
    {"a bare clock", HEADER TRACK("0A") "00F8 " NOTE END, "!22@23 0:MF8 " SEEN_NOTE SEEN_END,
     TT_SMF_BARE_SYSTEM, false},
    {"a bare song position", HEADER TRACK("08") "00F20102 " END, "!22@23 0:MF20102 " SEEN_END,
     TT_SMF_BARE_SYSTEM, false},
    {"SysEx", HEADER TRACK("0A") "00F0034142F7 " END, "0:S4142F7 " SEEN_END, TT_SMF_FINE, false},
    {"SysEx in pieces, without its end", HEADER TRACK("11") "00F0024142 05F70143 05F70144 " END,
     "0:s4142 5:+s43 10:+s44 !23@23 10:T2F ", TT_SMF_SYSEX_UNFINISHED, false},
    {"SysEx in pieces", HEADER TRACK("12") "00F0024142 05F70143 05F70244F7 " END,
     "0:s4142 5:+s43 10:+S44F7 10:T2F ", TT_SMF_FINE, false},
    {"a clock between pieces", HEADER TRACK("12") "00F0024142 05F701F8 05F70244F7 " END,
     "0:s4142 5:EF8 10:+S44F7 10:T2F ", TT_SMF_FINE, false},
    {"SysEx without its end", HEADER TRACK("0D") "00F0024142 " NOTE END,
     "0:s4142 !23@23 " SEEN_NOTE SEEN_END, TT_SMF_SYSEX_UNFINISHED, false},
    {"SysEx without its end, then escape", HEADER TRACK("11") "00F0024142 " NOTE "00F70143 " END,
     "0:s4142 !23@23 " SEEN_NOTE "0:E43 " SEEN_END, TT_SMF_SYSEX_UNFINISHED, false},
    {"an escape", HEADER TRACK("0A") "00F703F38101 " END, "0:EF38101 " SEEN_END, TT_SMF_FINE,
     false},
    {"a key of one byte", HEADER TRACK("09") "00FF590100 " END, "!24@23 0:T5900 " SEEN_END,
     TT_SMF_META_LENGTH, false},
    {"a key of three bytes", HEADER TRACK("0B") "00FF5903000102 " END,
     "!24@23 0:T59000102 " SEEN_END, TT_SMF_META_LENGTH, false},
    {"a tempo of two bytes", HEADER TRACK("0A") "00FF510207A1 " END, "!25@23 0:T5107A1 " SEEN_END,
     TT_SMF_TEMPO_LENGTH, true},
    {"a tempo of four bytes", HEADER TRACK("0C") "00FF510407A12000 " END,
     "!24@23 0:T5107A12000 " SEEN_END, TT_SMF_META_LENGTH, false},
    {"a tempo of 0", HEADER TRACK("0B") "00FF5103000000 " END, "!26@23 0:T51000000 " SEEN_END,
     TT_SMF_TEMPO_ZERO, true},
    {"a meta type that there is not", HEADER TRACK("08") "00FF8000 " END, "0:T80 " SEEN_END,
     TT_SMF_FINE, false},
    {"an end of track with data", HEADER TRACK("05") "00FF2F0100", "!24@23 0:T2F00 ",
     TT_SMF_META_LENGTH, false},
};

static void test_faults(void **state)
{
    unsigned reached[TT_SMF_FAULTS] = {0};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(vectors); i++) {
        uint8_t data[256];
        size_t n = from_hex(vectors[i].bytes, data);
        uint8_t *exact = (uint8_t *)malloc(n);
        char text[TEXT];
        char mark[16];
        unsigned refused;
        bool loses;

        assert_true(exact || n == 0);
        if (n > 0)
            memcpy(exact, data, n);
        loses = read_all(exact, n, text);
        free(exact);
        if (strcmp(text, vectors[i].items) != 0 || loses != vectors[i].loses)
            print_message("%s:\n", vectors[i].what);
        assert_string_equal(text, vectors[i].items);
        assert_int_equal(loses, vectors[i].loses);
        snprintf(mark, sizeof(mark), "!%d@", vectors[i].fault);
        if (vectors[i].fault != TT_SMF_FINE)
            assert_non_null(strstr(text, mark));
        reached[sscanf(text, "refused %u", &refused) == 1 ? refused : vectors[i].fault]++;
    }
    for (unsigned fault = 0; fault < TT_SMF_FAULTS; fault++) {
        assert_true(strlen(tt_smf_fault_text((enum tt_smf_fault)fault)) > 0);
        assert_true(reached[fault] > 0);
    }
}

struct time_vector {
    const char *bytes;
    uint64_t tick;
    int64_t ns;
};

static void test_times(void **state)
{
    static const struct time_vector times[] = {
        /* 120 BPM where nothing is said; ppq 96 */
        {HEADER TRACK("04") END, 96, 500000000},
        {HEADER TRACK("04") END, 1, 5208333},
        /* E7 28: 25 frames of 40 ticks, 1 ms; tempo does not count */
        {"4D546864 00000006 0001 0001 E728 " TRACK("0B") "00FF5103030000 " END, 12345,
         INT64_C(12345000000)},
        /* 29.97: E3 is 29, 30000/1001 frames a second */
        {"4D546864 00000006 0001 0001 E301 " TRACK("04") END, 30000, INT64_C(1001000000000)},
        /* 96 ticks at 333333 us, then 1,000,000 us: no ns is lost on the way */
        {HEADER TRACK("12") "00FF5103051615 60FF51030F4240 " END, 192, 1333333000},
        {HEADER TRACK("12") "00FF5103051615 60FF51030F4240 " END, 95, 329860781},
        /* a tempo in a later track counts from its tick for all */
        {"4D546864 00000006 0001 0002 0060 " TRACK("0B") "60FF51030F4240 " END TRACK(
             "0B") "30FF5103030D40 " END,
         192, INT64_C(1350000000)},
        /* two of one tick: the later one */
        {HEADER TRACK("12") "00FF51030F4240 00FF5103030D40 " END, 96, 200000000},
        /* past 292 years */
        {"4D546864 00000006 0001 0001 0001 " TRACK("0B") "00FF5103FFFFFF " END, UINT64_C(1) << 62,
         INT64_MAX},
        {"4D546864 00000006 0001 0001 FF01 " TRACK("04") END, UINT64_MAX, INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(times); i++) {
        uint8_t data[256];
        size_t n = from_hex(times[i].bytes, data);
        struct tt_tempo tempos[4];
        struct tt_tempo_map map;
        struct tt_smf smf;

        assert_int_equal(tt_smf_open(&smf, data, n), TT_SMF_FINE);
        assert_in_range(tt_tempo_count(&smf, -1), 0, 4);
        tt_tempo_map_init(&map, &smf, -1, tempos);
        assert_true(tt_tempo_known(&map));
        if (tt_tempo_ns(&map, times[i].tick) != times[i].ns)
            print_message("case %zu: %" PRId64 "\n", i, tt_tempo_ns(&map, times[i].tick));
        assert_true(tt_tempo_ns(&map, times[i].tick) == times[i].ns);
    }
}

/* Of a thousand tempos in tracks that are out of step none is out of place. */
static void test_tempo_order(void **state)
{
    enum { COUNT = 1000 };
    struct tt_tempo *tempos = (struct tt_tempo *)calloc(COUNT, sizeof(*tempos));
    uint8_t *data = (uint8_t *)malloc(TT_SMF_HEADER_BYTES + COUNT * 24);
    struct tt_tempo_map map;
    struct tt_smf smf;
    uint64_t seed = 5;
    size_t n = TT_SMF_HEADER_BYTES;

    (void)state;
    assert_true(tempos && data);
    tt_smf_header_write(1, COUNT, 96, data);
    for (int i = 0; i < COUNT; i++) {
        uint8_t value[3] = {1, 2, 3};
        struct tt_smf_event event = {.kind = TT_SMF_META,
                                     .type = TT_SMF_META_TEMPO,
                                     .tick = random_below(&seed, 500),
                                     .data = value,
                                     .bytes = 3};
        struct tt_smf_track track = {0};
        uint8_t head[TT_SMF_HEAD_BYTES];
        size_t head_bytes;

        assert_int_equal(tt_smf_event_write(&track, &event, head, &head_bytes), 0);
        assert_int_equal(tt_smf_chunk_write(track.bytes, data + n), 0);
        memcpy(data + n + TT_SMF_CHUNK_BYTES, head, head_bytes);
        memcpy(data + n + TT_SMF_CHUNK_BYTES + head_bytes, value, 3);
        n += TT_SMF_CHUNK_BYTES + (size_t)track.bytes;
    }
    assert_int_equal(tt_smf_open(&smf, data, n), TT_SMF_FINE);
    assert_int_equal(tt_tempo_count(&smf, -1), COUNT);
    assert_int_equal(tt_tempo_count(&smf, 7), 1);
    tt_tempo_map_init(&map, &smf, -1, tempos);
    for (int i = 1; i < COUNT; i++) {
        assert_true(tempos[i - 1].tick < tempos[i].tick || (tempos[i - 1].tick == tempos[i].tick &&
                                                            tempos[i - 1].order < tempos[i].order));
        assert_true(tempos[i - 1].ns <= tempos[i].ns);
    }
    free(tempos);
    free(data);
}

static void test_writer(void **state)
{
    static const uint8_t note[] = {0x90, 0x3C, 0x40};
    static const uint8_t bad[] = {0x90, 0x3C, 0x80};
    struct tt_smf_event event = {.kind = TT_SMF_MESSAGE, .data = note, .bytes = 3};
    struct tt_smf_track track = {0};
    uint8_t head[TT_SMF_HEAD_BYTES];
    size_t n;

    (void)state;
    event.tick = UINT64_C(2) * TT_SMF_DELTA_MAX + 5;
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), 1);
    assert_int_equal(n, 7);
    assert_memory_equal(head, "\xFF\xFF\xFF\x7F\xFF\x01\x00", 7);
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), 1);
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(head[0], 5);
    assert_int_equal(track.bytes, 7 + 7 + 1 + 3);
    event.tick--;
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), -22);
    event.tick++;
    event.data = bad;
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), -22);
    event.data = (const uint8_t[]){TT_MIDI_CLOCK};
    event.bytes = 1; /* never an event of its own */
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), -22);
    event.bytes = 0;
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), -22);
    event = (struct tt_smf_event){.kind = TT_SMF_META, .type = 0x80, .tick = event.tick};
    assert_int_equal(tt_smf_event_write(&track, &event, head, &n), -22);
    assert_int_equal(tt_smf_chunk_write(UINT64_C(1) << 32, head), -27);
    assert_int_equal(tt_smf_tick_of(9999), 0);
    assert_int_equal(tt_smf_tick_of(10000), 1);
    assert_true(tt_smf_tick_of(INT64_MAX) == UINT64_C(461168601842739));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_tempo_order),
        cmocka_unit_test(test_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
