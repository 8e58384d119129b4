/*
 * report/html: what is given as text stays text, the page is whole or not there, and the drawings
 * hold what was recorded.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ns.h"
#include "report/html_chart.h"

static char folder[] = "/tmp/tactus-html-XXXXXX";
static char path[64];

static char *read_page(void)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t bytes = 0;

    assert_non_null(file);
    assert_true(getdelim(&text, &bytes, 0, file) > 0);
    fclose(file);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) {
        n++;
    }
    return n;
}

static void test_text_stays_text(void **state)
{
    static const struct tt_column columns[] = {{"a<b", TT_ALIGN_RIGHT}, {"c", TT_ALIGN_LEFT}};
    static const struct tt_html_fact facts[] = {{"kernel", "\"6\" & <more>"}};
    struct tt_html page;
    struct tt_table table;
    char *text;

    (void)state;
    assert_int_equal(tt_html_open(&page, path, "<script>alert(1)</script>\n\x01"), 0);
    tt_table_init(&table, columns, 2);
    tt_table_cell(&table, "1 < 2");
    tt_table_cell(&table, "</td>");
    tt_html_table(&page, "\"quoted\"", &table);
    tt_html_card(&page, "Machine", facts, 1);
    tt_html_paragraph(&page, "%s & %d", "<p>", 7);
    tt_table_done(&table);
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    assert_null(strstr(text, "<script"));
    assert_null(strchr(text, 1));
    assert_non_null(strstr(text, "<td class=\"n\">1 &lt; 2</td><td>&lt;/td&gt;</td>"));
    assert_non_null(strstr(text, "aria-label=\"&quot;quoted&quot;\""));
    assert_non_null(strstr(text, "<dd>&quot;6&quot; &amp; &lt;more&gt;</dd>"));
    assert_non_null(strstr(text, "<p>&lt;p&gt; &amp; 7</p>"));
    assert_null(strstr(text, "://"));
    free(text);
}

static void test_page_is_whole_or_not_there(void **state)
{
    struct tt_html page;

    (void)state;
    unlink(path);
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(tt_html_close(&page), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(tt_html_open(&page, "/nowhere/at/all.html", "title"), -ENOENT);
}

/* Of what is no file of ours the place is not taken: a link stays one, and so does a pipe. */
static void test_page_into_what_is_there(void **state)
{
    char link[sizeof(path) + 8];
    char fifo[sizeof(path) + 8];
    struct tt_html page;
    struct stat status;
    char byte;
    int reader;

    (void)state;
    snprintf(link, sizeof(link), "%s.link", path);
    snprintf(fifo, sizeof(fifo), "%s.fifo", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(tt_html_open(&page, link, "title"), 0);
    assert_int_equal(tt_html_close(&page), 0);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    reader = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_int_equal(tt_html_open(&page, fifo, "title"), 0);
    assert_int_equal(tt_html_close(&page), 0);
    assert_int_equal(read(reader, &byte, 1), 1);
    assert_int_equal(byte, '<');
    assert_int_equal(lstat(fifo, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    close(reader);
    unlink(link);
    unlink(fifo);
}

static void draw(struct tt_html *page, const struct tt_hist *hist, const struct tt_history *history)
{
    static const struct tt_chart_mark marks[] = {{1500, "deadline"}, {90000, "period"}};
    struct tt_chart chart = {.caption = "Lateness",
                             .quantity = "lateness",
                             .marks = marks,
                             .mark_count = TT_COUNT_OF(marks)};

    tt_html_row_begin(page);
    tt_chart_timeline(page, &chart, history);
    tt_chart_histogram(page, &chart, hist);
    tt_chart_tail(page, &chart, hist);
    tt_html_row_end(page);
}

static void record(struct tt_hist *hist, struct tt_history *history, int64_t time_ns, int64_t value)
{
    tt_hist_record(hist, value);
    tt_history_record(history, time_ns, value);
}

static void test_nothing_is_drawn_of_nothing(void **state)
{
    struct tt_hist *hist = calloc(1, sizeof(*hist));
    struct tt_history *history = calloc(1, sizeof(*history));
    struct tt_html page;
    char *text;

    (void)state;
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    draw(&page, hist, history);
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    assert_null(strstr(text, "<svg"));
    free(text);
    free(hist);
    free(history);
}

/* Any values: no drawing is out of its frame, and none has a place that is no number. */
static void test_any_values(void **state)
{
    static const int64_t values[] = {
        0, 1, -1, 1024, -70000, INT64_MAX, INT64_MIN, INT64_C(1) << 41, 123456789};
    struct tt_hist *hist = calloc(1, sizeof(*hist));
    struct tt_history *history = calloc(1, sizeof(*history));
    struct tt_html page;
    char *text;

    (void)state;
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    for (size_t i = 0; i < TT_COUNT_OF(values); i++) {
        memset(hist, 0, sizeof(*hist));
        memset(history, 0, sizeof(*history));
        record(hist, history, values[i], values[i]);
        draw(&page, hist, history);
        for (size_t k = 0; k <= i; k++) {
            record(hist, history, values[k], values[k]);
        }
        draw(&page, hist, history);
    }
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_null(strstr(text, "H-"));
    assert_int_equal(count(text, "<svg"), 6 * TT_COUNT_OF(values) - 2); /* no tail of zeros alone */
    assert_int_equal(count(text, "<title id="), count(text, "<svg"));
    free(text);
    free(hist);
    free(history);
}

/* A hundred values of 10 us, one of 1 ms: the bars leave out one, and the tail ends at 1 ms. */
static void test_what_is_outside_is_counted(void **state)
{
    struct tt_hist *hist = calloc(1, sizeof(*hist));
    struct tt_history *history = calloc(1, sizeof(*history));
    struct tt_html page;
    char *text;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        record(hist, history, i * TT_NS_PER_MS, 10000);
    }
    record(hist, history, 2000 * TT_NS_PER_MS, TT_NS_PER_MS);
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    draw(&page, hist, history);
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    assert_non_null(strstr(text, "Histogram of 2001 values in 1 bars of 16 ns"));
    assert_non_null(strstr(text, "; 1 values lie outside."));
    assert_non_null(strstr(text, "The latest is 1 ms, the earliest 10 us."));
    assert_non_null(strstr(text, "between 10 us and 1 ms."));
    free(text);
    free(hist);
    free(history);
}

/* The tail reaches the marks, and begins with the decade of the least. */
static void test_tail_reaches_its_marks(void **state)
{
    static const struct tt_chart_mark marks[] = {{1300000, "buffer"}};
    struct tt_chart chart = {.caption = "Lateness",
                             .quantity = "lateness",
                             .marks = marks,
                             .mark_count = TT_COUNT_OF(marks)};
    struct tt_hist *hist = calloc(1, sizeof(*hist));
    struct tt_html page;
    char *text;

    (void)state;
    tt_hist_record(hist, 2000);
    tt_hist_record(hist, 3000);
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    tt_chart_tail(&page, &chart, hist);
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    assert_non_null(strstr(text, ">buffer</text>"));
    assert_non_null(strstr(text, ">1 us</text>"));
    assert_null(strstr(text, ">100 ns</text>"));
    assert_non_null(strstr(text, ">10 ms</text>"));
    free(text);
    free(hist);
}

/* Where a name would run over the next line, it stands before its own. */
static void test_names_of_close_marks(void **state)
{
    static const struct tt_chart_mark marks[] = {
        {1000000, "2 fragments"}, {2000000, "3"}, {3000000, "4"}};
    struct tt_chart chart = {.caption = "Lateness",
                             .quantity = "lateness",
                             .marks = marks,
                             .mark_count = TT_COUNT_OF(marks)};
    struct tt_hist *hist = calloc(1, sizeof(*hist));
    struct tt_html page;
    char *text;

    (void)state;
    tt_hist_record(hist, 20);
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    tt_chart_tail(&page, &chart, hist);
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    assert_int_equal(count(text, "class=\"tm end\""), 1);
    assert_true(strstr(text, "class=\"tm end\"") < strstr(text, ">2 fragments<"));
    assert_true(strstr(text, ">2 fragments<") < strstr(text, "class=\"tm\""));
    free(text);
    free(hist);
}

/* A value that took several stretches is drawn over them, and no ramp leads to it. */
static void test_curve_over_a_gap(void **state)
{
    struct tt_chart chart = {.caption = "Cycles", .quantity = "time"};
    struct tt_history *history = calloc(1, sizeof(*history));
    const struct tt_curve curves[2] = {{history, "one"}, {history, "other"}};
    struct tt_html page;
    const char *path_data;
    char *text;

    (void)state;
    for (int64_t at = 0; at < 10; at++)
        tt_history_record(history, at * 1000000, 1000000);
    tt_history_record(history, 2000000000, 1990000000);
    assert_int_equal(tt_html_open(&page, path, "title"), 0);
    tt_chart_curves(&page, &chart, curves);
    assert_int_equal(tt_html_close(&page), 0);
    text = read_page();
    path_data = strstr(text, "<path class=\"a\" d=\"");
    assert_non_null(path_data);
    assert_true(strchr(path_data, 'L') == NULL || strchr(path_data, 'L') > strstr(path_data, "/>"));
    free(text);
    free(history);
}

static int start(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/page.html", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_stays_text),
        cmocka_unit_test(test_page_is_whole_or_not_there),
        cmocka_unit_test(test_page_into_what_is_there),
        cmocka_unit_test(test_nothing_is_drawn_of_nothing),
        cmocka_unit_test(test_tail_reaches_its_marks),
        cmocka_unit_test(test_names_of_close_marks),
        cmocka_unit_test(test_curve_over_a_gap),
        cmocka_unit_test(test_any_values),
        cmocka_unit_test(test_what_is_outside_is_counted),
    };

    return cmocka_run_group_tests(tests, start, end);
}
