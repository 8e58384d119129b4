/*
 * The raw log: the kernel's layout to the byte, what befalls a recording, and its way into a track.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/ns.h"
#include "midi/survey.h"
#include "midi/take.h"
#include "midi/tempo.h"

#define LOG_MAX   (1 << 16)
#define SYSEX_MAX 64

/* A log as it is written. */
struct written {
    uint8_t bytes[LOG_MAX];
    size_t n;
};

static void begin(struct written *log, int64_t mono_ns)
{
    struct tt_midi_log_header header = {mono_ns, {INT64_C(1767225600000000000), 700}};

    tt_midi_log_header_write(&header, log->bytes);
    log->n = TT_MIDI_LOG_HEADER_BYTES;
}

static void put(struct written *log, struct tt_midi_frame frame)
{
    assert_true(log->n + TT_MIDI_FRAME_BYTES <= LOG_MAX);
    tt_midi_frame_write(&frame, log->bytes + log->n);
    log->n += TT_MIDI_FRAME_BYTES;
}

static void put_bytes(struct written *log, uint8_t port, int64_t mono_ns, const char *bytes,
                      size_t n)
{
    struct tt_midi_frame frame = {.port = port, .length = (uint8_t)n, .time_mono_ns = mono_ns};

    memcpy(frame.data, bytes, n);
    put(log, frame);
}

static void test_layout(void **state)
{
    static const uint8_t kernel[TT_MIDI_FRAME_BYTES] = {0, 3, 7, 0, 0xFF, 0xC9, 0x9A, 0x3B, 5,   0,
                                                        0, 0, 0, 0, 0,    0,    0x90, 0x3C, 0x40};
    struct tt_midi_frame frame;
    uint8_t again[TT_MIDI_FRAME_BYTES];

    (void)state;
    assert_int_equal(tt_midi_frame_read(kernel, &frame), TT_MIDI_FRAME_OK);
    assert_int_equal(frame.length, 3);
    assert_int_equal(frame.port, 7);
    assert_true(frame.time_mono_ns == INT64_C(5999999999));
    tt_midi_frame_write(&frame, again);
    assert_memory_equal(again, kernel, sizeof(kernel));
}

static void test_bad_frames(void **state)
{
    static const struct {
        unsigned at;
        uint8_t value;
        enum tt_midi_frame_reason reason;
    } changes[] = {
        {0, 0x77, TT_MIDI_FRAME_OK},       {1, 16, TT_MIDI_FRAME_OK},
        {1, 17, TT_MIDI_FRAME_LENGTH},     {7, 0x3B, TT_MIDI_FRAME_OK},
        {7, 0x3C, TT_MIDI_FRAME_NSEC},     {13, 1, TT_MIDI_FRAME_SECONDS},
        {15, 0x80, TT_MIDI_FRAME_SECONDS}, {12, 2, TT_MIDI_FRAME_OK},
    };
    struct tt_midi_frame frame;
    uint8_t blank[TT_MIDI_FRAME_BYTES] = {0};

    (void)state;
    assert_int_equal(tt_midi_frame_read(blank, &frame), TT_MIDI_FRAME_BLANK);
    for (size_t i = 0; i < TT_COUNT_OF(changes); i++) {
        uint8_t bytes[TT_MIDI_FRAME_BYTES] = {0, 1, [16] = 0xF8};

        bytes[changes[i].at] = changes[i].value;
        assert_int_equal(tt_midi_frame_read(bytes, &frame), changes[i].reason);
    }
    for (unsigned reason = 0; reason < TT_MIDI_FRAME_REASONS; reason++)
        assert_true(strlen(tt_midi_frame_reason_text((enum tt_midi_frame_reason)reason)) > 0);
}

static void test_header(void **state)
{
    static const struct {
        unsigned at;
        uint8_t value;
        enum tt_midi_log_refusal refusal;
    } changes[] = {
        {0, 0x09, TT_MIDI_LOG_MAGIC}, {6, '\n', TT_MIDI_LOG_MAGIC}, {8, 2, TT_MIDI_LOG_VERSION},
        {10, 63, TT_MIDI_LOG_LAYOUT}, {11, 1, TT_MIDI_LOG_LAYOUT},  {12, 33, TT_MIDI_LOG_LAYOUT},
        {10, 96, TT_MIDI_LOG_OK},
    };
    struct written written;
    struct tt_midi_log log;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(changes); i++) {
        begin(&written, 1000);
        put_bytes(&written, 0, 2000, "\xF8", 1);
        written.bytes[changes[i].at] = changes[i].value;
        assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), changes[i].refusal);
    }
    assert_true(log.header.mono_ns == 1000 && log.header.clock.bracket_ns == 700);
    assert_true(log.header.clock.utc_ns == INT64_C(1767225600000000000));
    begin(&written, 1000);
    for (size_t n = 0; n < TT_MIDI_LOG_HEADER_BYTES; n++)
        assert_int_equal(tt_midi_log_open(&log, written.bytes, n),
                         n == 0 ? TT_MIDI_LOG_MAGIC : TT_MIDI_LOG_SHORT);
    for (unsigned i = 0; i < TT_MIDI_LOG_REFUSALS; i++)
        assert_true(strlen(tt_midi_log_refusal_text((enum tt_midi_log_refusal)i)) > 0);
}

/* Its times stand there twice: any bit that is flipped is seen, and moves the start no further from
 * the first frame than it was. Logs of before have no second place. */
static void test_damaged_start(void **state)
{
    struct written written;
    struct tt_midi_log log;

    (void)state;
    begin(&written, TT_NS_PER_S);
    put_bytes(&written, 0, TT_NS_PER_S + 1000, "\xF8", 1);
    assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), TT_MIDI_LOG_OK);
    assert_false(log.start_damaged);
    for (unsigned bit = 8 * TT_MIDI_LOG_START_AT; bit < 8 * TT_MIDI_LOG_HEADER_BYTES; bit++) {
        written.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), TT_MIDI_LOG_OK);
        assert_true(log.start_damaged);
        assert_in_range(log.header.mono_ns, TT_NS_PER_S, TT_NS_PER_S + 2000);
        written.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    memset(written.bytes + 40, 0, 24);
    assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), TT_MIDI_LOG_OK);
    assert_false(log.start_damaged);
    assert_true(log.header.mono_ns == TT_NS_PER_S);
}

/* Cut anywhere, a log has every whole frame, and says that it was cut. */
static void test_cut(void **state)
{
    struct written written;
    struct tt_midi_survey *survey = (struct tt_midi_survey *)malloc(sizeof(*survey));

    (void)state;
    assert_non_null(survey);
    begin(&written, 0);
    for (int i = 0; i < 10; i++)
        put_bytes(&written, 0, 1000 + i, "\x90\x3C\x40", 3);
    put(&written, (struct tt_midi_frame){.type = TT_MIDI_LOG_END, .time_mono_ns = 2000});
    for (size_t n = TT_MIDI_LOG_HEADER_BYTES; n <= written.n; n++) {
        struct tt_midi_log log;
        size_t frames = (n - TT_MIDI_LOG_HEADER_BYTES) / TT_MIDI_FRAME_BYTES;

        assert_int_equal(tt_midi_log_open(&log, written.bytes, n), TT_MIDI_LOG_OK);
        tt_midi_survey_log(&log, survey);
        assert_int_equal(survey->frames, frames);
        assert_int_equal(survey->ports[0].bytes, 3 * (frames < 10 ? frames : 10));
        assert_int_equal(survey->cut, n % TT_MIDI_FRAME_BYTES != 0);
        assert_int_equal(survey->ended, frames == 11);
    }
    free(survey);
}

static void test_survey(void **state)
{
    static const char name[] = "a name of more than sixteen bytes";
    struct written written;
    struct tt_midi_log log;
    struct tt_midi_survey *survey = (struct tt_midi_survey *)malloc(sizeof(*survey));
    struct tt_midi_log_clock clock;

    (void)state;
    assert_non_null(survey);
    begin(&written, 0);
    for (size_t at = 0; at < strlen(name); at += TT_MIDI_FRAME_DATA)
        put(&written, tt_midi_log_name_frame(2, 5, name, at));
    put(&written, tt_midi_log_stamp_frame(2, 5, TT_MIDI_STAMP_READ));
    put(&written, tt_midi_log_stamp_frame(2, 5, TT_MIDI_STAMP_KERNEL));
    put(&written, tt_midi_log_loss_frame(2, 90, (struct tt_midi_log_loss){80, 37}));
    put(&written, (struct tt_midi_frame){.type = TT_MIDI_LOG_GONE, .port = 2, .time_mono_ns = 95});
    put_bytes(&written, 9, 100, "\xF8", 1);
    memset(written.bytes + written.n, 0, TT_MIDI_FRAME_BYTES);
    written.n += TT_MIDI_FRAME_BYTES;
    put(&written, tt_midi_log_clock_frame(110, (struct tt_midi_log_clock){-1, 30}));
    assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), TT_MIDI_LOG_OK);
    tt_midi_survey_log(&log, survey);
    assert_int_equal(survey->port_count, 1);
    assert_string_equal(survey->ports[2].name, name);
    assert_int_equal(survey->ports[2].stamp, TT_MIDI_STAMP_READ);
    assert_int_equal(survey->ports[2].bytes_lost, 37);
    assert_int_equal(survey->ports[2].gone, 1);
    assert_false(survey->ports[9].seen);
    assert_int_equal(survey->bad[TT_MIDI_FRAME_PORT], 1);
    assert_int_equal(survey->bad[TT_MIDI_FRAME_BLANK], 1);
    assert_int_equal(survey->frames_bad, 2);
    assert_int_equal(survey->losses, 1);
    assert_true(survey->last_mono_ns == 110);
    assert_false(survey->ended || survey->cut);
    assert_int_equal(tt_midi_log_clock_of(
                         &(struct tt_midi_frame){.type = TT_MIDI_LOG_CLOCK, .length = 8}, &clock),
                     -22);
    free(survey);
}

/* Whatever byte of a frame's head is damaged: no other port comes of it, and each frame is counted.
 */
static void test_damage(void **state)
{
    struct written written;
    struct tt_midi_survey *survey = (struct tt_midi_survey *)malloc(sizeof(*survey));

    (void)state;
    assert_non_null(survey);
    for (size_t frame = 0; frame < 10; frame++) {
        for (unsigned bit = 0; bit < 24; bit++) {
            struct tt_midi_log log;

            begin(&written, 0);
            put(&written, tt_midi_log_name_frame(0, 5, "a", 0));
            put(&written, tt_midi_log_stamp_frame(0, 5, TT_MIDI_STAMP_READ));
            for (int i = 0; i < 8; i++)
                put_bytes(&written, 0, 100 + i, "\xF8", 1);
            written.bytes[TT_MIDI_LOG_HEADER_BYTES + frame * TT_MIDI_FRAME_BYTES + bit / 8] ^=
                (uint8_t)(1U << bit % 8);
            assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), TT_MIDI_LOG_OK);
            tt_midi_survey_log(&log, survey);
            assert_int_equal(survey->port_count, 1);
            assert_true(survey->ports[0].seen);
            assert_true(survey->ports[0].frames + survey->frames_bad == 10);
            assert_true(bit < 16 || survey->bad[TT_MIDI_FRAME_PORT] == 1);
        }
    }
    free(survey);
}

/* Any bit of a stamp that makes it wrong by more than senders and readers are: that frame is
 * counted, and no other. */
static void test_damaged_stamp(void **state)
{
    const int64_t start = 400 * TT_NS_PER_S;
    struct tt_midi_survey *survey = (struct tt_midi_survey *)malloc(sizeof(*survey));
    struct written written;

    (void)state;
    assert_non_null(survey);
    for (size_t damaged = 0; damaged < 10; damaged++) {
        for (unsigned bit = 0; bit < 34; bit++) {
            size_t at = TT_MIDI_LOG_HEADER_BYTES + (2 + damaged) * TT_MIDI_FRAME_BYTES;
            enum tt_midi_frame_reason reason;
            struct tt_midi_frame frame;
            struct tt_midi_log log;
            size_t offset;

            begin(&written, start);
            put(&written, tt_midi_log_name_frame(0, start, "a", 0));
            put(&written, tt_midi_log_stamp_frame(0, start, TT_MIDI_STAMP_READ));
            for (int i = 0; i < 10; i++)
                put_bytes(&written, 0, start + i * 10000000, "\xF8", 1);
            written.bytes[at + 8 + bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(tt_midi_log_open(&log, written.bytes, written.n), TT_MIDI_LOG_OK);
            tt_midi_survey_log(&log, survey);
            /* The last one, with nothing behind it, can be true up to a month. */
            if (damaged == 9 && bit < 22 && !(start / TT_NS_PER_S >> bit & 1)) {
                assert_int_equal(survey->frames_bad, 0);
                continue;
            }
            /* Too early at the beginning: it moves no other. */
            if ((start / TT_NS_PER_S >> bit & 1) && damaged < 2)
                continue;
            assert_int_equal(survey->bad[TT_MIDI_FRAME_STAMP], 1);
            assert_int_equal(survey->ports[0].bytes, 9);
            assert_true(survey->last_mono_ns <= start + 90000000);
            while (tt_midi_log_next(&log, &offset, &frame, &reason) == TT_MIDI_LOG_FRAME)
                assert_int_equal(tt_midi_survey_judge(survey, &log, offset, &frame),
                                 offset == at ? TT_MIDI_FRAME_STAMP : TT_MIDI_FRAME_OK);
        }
    }
    free(survey);
}

struct expected {
    uint64_t tick;
    enum tt_smf_kind kind;
    const char *data;
    size_t bytes;
};

static void take_all(struct tt_midi_take *take, const struct expected *expected, size_t *at)
{
    struct tt_smf_event event;
    int64_t mono_ns;

    while (tt_midi_take_next(take, &event, &mono_ns)) {
        const struct expected *e = &expected[(*at)++];

        assert_int_equal(event.tick, e->tick);
        assert_int_equal(event.kind, e->kind);
        assert_int_equal(event.bytes, e->bytes);
        assert_memory_equal(event.data, e->data, e->bytes);
    }
}

#define TEXT_OF(text) text, sizeof(text) - 1

static void test_take(void **state)
{
    static const struct expected expected[] = {
        {0, TT_SMF_MESSAGE, TEXT_OF("\x90\x3C\x40")}, /* half a tick short of one */
        {1, TT_SMF_MESSAGE, TEXT_OF("\x90\x3C\x00")},
        {2, TT_SMF_SYSEX, TEXT_OF("\x01\x02\xF7")}, /* of two frames, at its first byte */
        {3, TT_SMF_ESCAPE, TEXT_OF("\xF8")},        /* in its midst */
        {50, TT_SMF_ESCAPE, TEXT_OF("\x90\x3E")},   /* cut off by the loss */
        {60, TT_SMF_META, TEXT_OF("lost: 37 bytes between 0.001200000 s and 0.001400000 s")},
        {100, TT_SMF_ESCAPE, TEXT_OF("\x3E")}, /* running status is not trusted behind it */
        {150, TT_SMF_META, TEXT_OF("port gone at 0.003000000 s")},
        {200, TT_SMF_META, TEXT_OF("port back at 0.004000000 s")},
        {250, TT_SMF_MESSAGE, TEXT_OF("\xC0\x05")},
        {300, TT_SMF_SYSEX, TEXT_OF("\x07")}, /* the log ends */
    };
    const int64_t start = 1000000000;
    uint8_t sysex[SYSEX_MAX];
    struct written log;
    struct tt_midi_log reader;
    struct tt_midi_frame frame;
    enum tt_midi_frame_reason reason;
    struct tt_midi_take take;
    size_t offset;
    size_t at = 0;

    (void)state;
    begin(&log, start);
    put_bytes(&log, 1, start + 9999, "\x90\x3C\x40", 3);
    put_bytes(&log, 2, start + 9999, "\x90\x10\x10", 3); /* of another port */
    put_bytes(&log, 1, start + 20000, "\x3C\x00", 2);
    put_bytes(&log, 1, start + 40000, "\xF0\x01", 2);
    put_bytes(&log, 1, start + 60000, "\xF8", 1);
    put_bytes(&log, 1, start + 80000, "\x02\xF7", 2);
    put_bytes(&log, 1, start + 1000000, "\x90\x3E", 2);
    put(&log,
        tt_midi_log_loss_frame(1, start + 1400000, (struct tt_midi_log_loss){start + 1200000, 37}));
    put_bytes(&log, 1, start + 2000000, "\x3E", 1);
    put(&log, (struct tt_midi_frame){
                  .type = TT_MIDI_LOG_GONE, .port = 1, .time_mono_ns = start + 3000000});
    put(&log, (struct tt_midi_frame){
                  .type = TT_MIDI_LOG_BACK, .port = 1, .time_mono_ns = start + 4000000});
    put(&log, (struct tt_midi_frame){.type = 0x44, .port = 1, .length = 3, .data = "\x90\x01\x01"});
    put_bytes(&log, 1, start + 5000000, "\xC0\x05", 2);
    put_bytes(&log, 1, start + 6000000, "\xF0\x07", 2);
    assert_int_equal(tt_midi_log_open(&reader, log.bytes, log.n), TT_MIDI_LOG_OK);
    tt_midi_take_init(&take, 1, sysex, sizeof(sysex));
    tt_midi_take_start(&take, start);
    while (tt_midi_log_next(&reader, &offset, &frame, &reason) == TT_MIDI_LOG_FRAME) {
        tt_midi_take_frame(&take, &frame);
        take_all(&take, expected, &at);
    }
    tt_midi_take_finish(&take);
    take_all(&take, expected, &at);
    assert_int_equal(at, TT_COUNT_OF(expected));
}

/* Ten hours: from the stamps through the file and back no event is off by more than half a tick. */
static void test_ten_hours(void **state)
{
    const int64_t start = INT64_C(86400) * TT_NS_PER_S * 400 + 12345;
    const int64_t end = start + 36000 * TT_NS_PER_S;
    struct tt_tempo_map map = {.division = {.ppq = TT_SMF_PPQ}};
    uint8_t sysex[SYSEX_MAX];
    struct tt_midi_take take;
    uint64_t seed = 10;
    unsigned events = 0;
    int64_t worst_ns = 0;

    (void)state;
    tt_midi_take_init(&take, 0, sysex, sizeof(sysex));
    tt_midi_take_start(&take, start);
    for (int64_t at = start; at < end; at += (int64_t)random_below(&seed, 700000000)) {
        struct tt_midi_frame frame = {.length = 3, .time_mono_ns = at, .data = "\x90\x3C\x40"};
        struct tt_smf_event event;
        int64_t stamp_ns;
        int64_t off_ns;

        tt_midi_take_frame(&take, &frame);
        assert_true(tt_midi_take_next(&take, &event, &stamp_ns));
        assert_true(stamp_ns == at);
        off_ns = tt_tempo_ns(&map, event.tick) - (at - start);
        worst_ns = off_ns > worst_ns ? off_ns : -off_ns > worst_ns ? -off_ns : worst_ns;
        assert_false(tt_midi_take_next(&take, &event, &stamp_ns));
        events++;
    }
    print_message("%u events in ten hours, off by %d ns at most\n", events, (int)worst_ns);
    assert_true(worst_ns <= TT_SMF_TICK_NS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout), cmocka_unit_test(test_bad_frames),
        cmocka_unit_test(test_header), cmocka_unit_test(test_damaged_start),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_survey),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_damaged_stamp),
        cmocka_unit_test(test_take),   cmocka_unit_test(test_ten_hours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
