/*
 * What people and programs read: tables, notes, JSON, the report of a stream.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "report/finding_text.h"
#include "report/json.h"
#include "report/line.h"
#include "report/loss_line.h"
#include "report/note.h"
#include "report/stream_report.h"
#include "report/table.h"

static struct tt_hist hist;

static void fill_hist(void)
{
    tt_hist_init(&hist);
    tt_hist_record(&hist, -1000);
    tt_hist_record(&hist, 1);
}

static void test_table(void **state)
{
    static const struct tt_column columns[] = {
        {"name", TT_ALIGN_LEFT}, {"ns", TT_ALIGN_RIGHT}, {"VLAN", TT_ALIGN_RIGHT}};
    struct tt_table table;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    tt_table_cell(&table, "%s", "a long name");
    tt_table_cell_number(&table, -1229893);
    tt_table_cell_known(&table, -1, 0);
    tt_table_cell(&table, "b");
    tt_table_cell_number(&table, 999);
    tt_table_cell_known(&table, 0, 0);
    tt_table_print(&table, out);
    fclose(out);
    assert_string_equal(text, "name                 ns  VLAN\n"
                              "a long name  -1,229,893     -\n"
                              "b                   999     0\n");
    free(text);
    tt_table_done(&table);
}

/* What a terminal would obey: C0, DEL, C1 in both forms, and what is no UTF-8. */
static void test_names_in_lines(void **state)
{
    static const struct {
        const char *name;
        const char *text;
    } names[] = {
        {"t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8E\xB5", "t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8E\xB5"},
        {"\033[2Jred\007", "?[2Jred?"},
        {"two\nlines\r\t\177", "two?lines???"},
        {"\xC2\x9B"
         "2J\x9B",
         "??2J?"},
        {"\xC2\xA0", "\xC2\xA0"},
        {"t\xE9", "t?"},
        {"\xC0\x80\xE0\x9F\xBF\xF0\x8F\xBF\xBF", "?????????"},
        {"\xED\xA0\x80\xF4\x90\x80\x80\xF8", "????????"},
        {"\xE2\x82", "??"}};
    static const struct tt_column columns[] = {{"name", TT_ALIGN_LEFT}};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(names); i++) {
        struct tt_table table;
        char want[64];
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);

        tt_table_init(&table, columns, 1);
        tt_table_cell(&table, "%s", names[i].name);
        assert_string_equal(tt_table_text(&table, 0), names[i].text);
        tt_table_done(&table);
        tt_line_print(out, "%s is it", names[i].name);
        fclose(out);
        snprintf(want, sizeof(want), "%s is it\n", names[i].text);
        assert_string_equal(text, want);
        free(text);
    }
}

static void test_json_names(void **state)
{
    static const struct {
        const char *name;
        const char *text;
    } names[] = {{"take.mid", "take.mid"},
                 {"t\xC3\xA9.mid", "t\xC3\xA9.mid"},
                 {"", ""},
                 {"t\xE9.mid", "t\\xE9.mid"},
                 {"\xC3\xA9\xFF", "\\xC3\\xA9\\xFF"}};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(names); i++) {
        json_t *json = tt_json_name(names[i].name);

        assert_string_equal(json_string_value(json), names[i].text);
        json_decref(json);
    }
    assert_true(json_is_null(tt_json_name(NULL)));
}

static void test_summary_cells(void **state)
{
    static const struct tt_column columns[] = {TT_TABLE_SUMMARY_COLUMNS};
    static const char *const want[] = {"-499.5", "500.5", "-1,000", "-1,000", "1",
                                       "1",      "1",     "1,001",  "2"};
    struct tt_table table;

    (void)state;
    fill_hist();
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    tt_table_cells_summary(&table, &hist);
    tt_hist_init(&hist);
    tt_table_cells_summary(&table, &hist);
    assert_int_equal(table.cell_count, 2 * TT_COUNT_OF(want));
    for (size_t i = 0; i < TT_COUNT_OF(want); i++) {
        assert_string_equal(table.cells[i], want[i]);
        assert_string_equal(table.cells[9 + i], i < 8 ? "-" : "0");
    }
    tt_table_done(&table);
}

static void test_notes(void **state)
{
    unsigned notes = TT_NOTE_LINK_DOWN | TT_NOTE_NO_REALTIME;

    (void)state;
    for (unsigned bit = 1; bit <= TT_NOTE_MASTER_UNCERTAIN; bit <<= 1) {
        const char *text = tt_note_text((enum tt_note)bit);

        assert_non_null(text);
        assert_null(strchr(text, '\n'));
    }
    assert_string_equal(tt_note_next(&notes), tt_note_text(TT_NOTE_NO_REALTIME));
    assert_string_equal(tt_note_next(&notes), tt_note_text(TT_NOTE_LINK_DOWN));
    assert_null(tt_note_next(&notes));
}

static json_int_t integer_at(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static json_t *load(const char *path)
{
    json_t *report = json_load_file(path, 0, NULL);

    assert_non_null(report);
    unlink(path);
    return report;
}

static void test_listen_report(void **state)
{
    char path[] = "report-XXXXXX";
    struct tt_stream_config config = {.ifname = "eth7", .stream_id = 7, .frames_per_pdu = 6};
    struct tt_listen_counters counters = {.stream = {.frames_lost = 12}, .drift_ppb = -40};
    struct tt_event event = {.kind = TT_EVENT_LOST, .frame = 60, .frames = 12, .time_tai_ns = 99};
    struct tt_event_log log = {.events = &event, .capacity = 1, .n = 1, .unkept = 3};
    json_t *report;
    json_t *part;

    (void)state;
    close(mkstemp(path));
    counters.stream.pdus_refused[TT_AAF_RAGGED] = 5;
    fill_hist();
    assert_int_equal(tt_stream_report_listen(path, &config, &counters, &hist, &log, 0), 0);
    report = load(path);
    assert_string_equal(json_string_value(json_object_get(report, "role")), "listener");
    assert_string_equal(json_string_value(json_object_get(report, "interface")), "eth7");
    assert_true(json_is_null(json_object_get(report, "rate_hz"))); /* not fixed: not 0 */
    assert_true(json_is_null(json_object_get(report, "format")));
    assert_int_equal(integer_at(report, "frames_per_pdu"), 6);
    assert_int_equal(integer_at(report, "events_unkept"), 3);
    part = json_object_get(report, "counters");
    assert_int_equal(integer_at(part, "frames_lost"), 12);
    assert_int_equal(integer_at(part, "drift_ppb"), -40);
    assert_int_equal(integer_at(json_object_get(part, "pdus_refused"), "ragged"), 5);
    part = json_object_get(report, "lateness_ns");
    assert_int_equal(integer_at(part, "min_ns"), -1000);
    assert_true(json_real_value(json_object_get(part, "mean_ns")) == -499.5);
    part = json_array_get(json_object_get(report, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(part, "kind")), "lost");
    assert_int_equal(integer_at(part, "frame"), 60);
    json_decref(report);
}

static void test_talk_report(void **state)
{
    char path[] = "report-XXXXXX";
    struct tt_stream_config config = {
        .format = TT_AAF_INT24, .rate_hz = 44100, .channels = 2, .frames_per_pdu = 6};
    struct tt_talk_counters counters = {.pdus_sent = 1, .launch_invalid = 10};
    json_t *report;

    (void)state;
    close(mkstemp(path));
    assert_int_equal(
        tt_stream_report_talk(path, &config, &counters, NULL, NULL, TT_NOTE_SOFTWARE_PACE), 0);
    report = load(path);
    assert_string_equal(json_string_value(json_object_get(report, "format")), "INT24");
    assert_int_equal(integer_at(json_object_get(report, "counters"), "launch_invalid"), 10);
    assert_int_equal(integer_at(json_object_get(report, "lateness_ns"), "n"), 0);
    assert_true(json_is_null(json_object_get(json_object_get(report, "lateness_ns"), "mean_ns")));
    assert_int_equal(json_array_size(json_object_get(report, "notes")), 1);
    assert_int_equal(json_array_size(json_object_get(report, "events")), 0);
    json_decref(report);
}

static void test_report_nowhere(void **state)
{
    struct tt_stream_config config = {0};
    struct tt_talk_counters counters = {0};

    (void)state;
    assert_int_equal(
        tt_stream_report_talk("no-such-folder/report", &config, &counters, NULL, NULL, 0), -ENOENT);
}

static void test_loss_of_a_talker(void **state)
{
    struct tt_talk_counters counters = {.pdus_sent = 100, .pdus_late = 7, .frames_sent = 600};
    struct tt_loss_line line;

    (void)state;
    tt_loss_line_talk(&counters, 0, &line);
    assert_string_equal(line.text, ""); /* late, but sent in time to be presented */
    counters.pdus_dropped = 3;
    counters.pdus_refused = 1;
    counters.xruns = 2;
    tt_loss_line_talk(&counters, 0, &line);
    assert_string_equal(line.text,
                        "packets not sent: 4 of 104 (could not meet their presentation time any "
                        "more: 3, refused by the interface or the kernel: 1); times that the "
                        "program did not write in time: 2");
    counters = (struct tt_talk_counters){.pdus_sent = 100};
    tt_loss_line_talk(&counters, TT_NOTE_LINK_DOWN, &line);
    assert_string_equal(line.text, "the interface was down or without carrier: what was sent then "
                                   "is lost");
    counters.underruns = 2;
    counters.frames_inserted = 960;
    tt_loss_line_talk(&counters, TT_NOTE_LINK_DOWN | TT_NOTE_LINK_GONE, &line);
    assert_string_equal(line.text, "the interface is gone: what came after that is lost; times "
                                   "that the program did not write in time and silence went out: "
                                   "2 (frames of silence: 960)");
}

static void test_loss_of_a_listener(void **state)
{
    struct tt_stream_config config = {.ifname = "eth0",
                                      .dest = {0x91, 0xE0, 0xF0, 0, 0xFE, 1},
                                      .stream_id = UINT64_C(0x0200000000010001),
                                      .format = TT_AAF_INT32,
                                      .rate_hz = 48000,
                                      .channels = 2};
    struct tt_listen_counters counters = {.packets = 0};
    struct tt_loss_line line;

    (void)state;
    tt_loss_line_listen(&config, &counters, &line);
    assert_string_equal(line.text, "no packet of stream 02:00:00:00:00:01:0001 to "
                                   "91:E0:F0:00:FE:01 came in on eth0");
    counters.packets = 1000;
    counters.stream.frames_absent = 48000;
    tt_loss_line_listen(&config, &counters, &line);
    assert_string_equal(line.text, ""); /* silence before and after a talker is no loss */
    counters.stream.frames_lost = 60;
    counters.stream.frames_late = 6;
    counters.stream.pdus_other_format = 5;
    tt_loss_line_listen(&config, &counters, &line);
    assert_string_equal(line.text,
                        "frames recorded as silence: 66 (lost: 60, too late: 6); packets "
                        "in another format than INT32, 48000 Hz, channels: 2: 5");
    counters.stream = (struct tt_listener_counters){.pdus_early = 7};
    tt_loss_line_listen(&config, &counters, &line);
    assert_string_equal(line.text, "packets whose presentation time made no sense here: 7");
    counters.stream.pdus_other_timescale = 7;
    tt_loss_line_listen(&config, &counters, &line);
    assert_string_equal(line.text, "packets stamped in UTC instead of TAI (set the talker's clock, "
                                   "or give timescale utc): 7");
    config.timescale = TT_TIMESCALE_UTC;
    tt_loss_line_listen(&config, &counters, &line);
    assert_string_equal(line.text, "packets stamped in TAI instead of UTC (give timescale tai): 7");
    /* Everything at once still fits, or is cut without harm. */
    memset(&counters, 0x7F, sizeof counters);
    tt_loss_line_listen(&config, &counters, &line);
    assert_true(strlen(line.text) < sizeof line.text);
}

/* Every kind, with the longest figures there can be, fits its line and has a code of its own. */
static void test_finding_texts(void **state)
{
    (void)state;
    for (int kind = 0; kind < TT_FINDING_KINDS; kind++) {
        struct tt_finding finding = {.kind = (enum tt_finding_kind)kind,
                                     .has = (1u << TT_FIGURES) - 1,
                                     .detail = tt_aaf_reason_text(TT_AAF_TRUNCATED)};
        char text[TT_FINDING_TEXT];

        for (int i = 0; i < TT_FIGURES; i++) {
            finding.figures[i] = INT64_MIN + 1;
        }
        assert_true(strlen(tt_finding_text(&finding, text)) > 20);
        assert_null(strpbrk(text, "{}\n"));
        for (int other = 0; other < kind; other++) {
            assert_string_not_equal(tt_finding_code(finding.kind),
                                    tt_finding_code((enum tt_finding_kind)other));
        }
    }
}

static void test_finding_forms(void **state)
{
    struct tt_finding finding = {
        .kind = TT_FINDING_LATE,
        .severity = TT_SEVERITY_FAULT,
        .has = 1u << TT_FIGURE_COUNT | 1u << TT_FIGURE_OF | 1u << TT_FIGURE_WORST_NS,
        .figures = {
            [TT_FIGURE_COUNT] = 1234, [TT_FIGURE_OF] = 20000, [TT_FIGURE_WORST_NS] = 5295517}};
    char text[TT_FINDING_TEXT];
    json_t *object = tt_finding_json(&finding);
    json_t *want = json_pack("{s:s, s:s, s:s, s:{s:i, s:i, s:i}, s:n}", "code", "late", "severity",
                             "fault", "text", tt_finding_text(&finding, text), "figures", "count",
                             1234, "of", 20000, "worst_ns", 5295517, "reason");

    (void)state;
    assert_non_null(strstr(text, "1,234 of 20,000 stamped PDUs (6.17 %)"));
    assert_non_null(strstr(text, "5.296 ms"));
    assert_true(want && json_equal(object, want));
    json_decref(object);
    json_decref(want);
    finding = (struct tt_finding){.kind = TT_FINDING_REFUSED,
                                  .has = 1u << TT_FIGURE_COUNT | 1u << TT_FIGURE_OF,
                                  .figures = {[TT_FIGURE_OF] = 1},
                                  .detail = "because"};
    assert_non_null(strstr(tt_finding_text(&finding, text), ": because"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_of_a_talker),
        cmocka_unit_test(test_loss_of_a_listener),
        cmocka_unit_test(test_finding_texts),
        cmocka_unit_test(test_finding_forms),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_names_in_lines),
        cmocka_unit_test(test_json_names),
        cmocka_unit_test(test_summary_cells),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_listen_report),
        cmocka_unit_test(test_talk_report),
        cmocka_unit_test(test_report_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
