/*
 * See compare_show.h.
 */
#include "cli/compare_show.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/min_max.h"
#include "report/out.h"
#include "report/html_chart.h"
#include "report/json.h"
#include "report/table.h"

static const char *const sides[] = {"before", "after"};

static const struct {
    const char *text;
    const char *key;
} figures[TT_COMPARED] = {
    [TT_COMPARED_JITTER] = {"stdev of the interval, ns", "interval_stdev_ns"},
    [TT_COMPARED_RANGE] = {"range of the interval, ns", "interval_range_ns"},
    [TT_COMPARED_LATENESS] = {"p99 - p50 of the lateness, ns", "lateness_p99_over_p50_ns"},
    [TT_COMPARED_LOST] = {"PDUs lost", "pdus_lost"},
};

typedef const struct tt_hist *hist_of(const struct tt_observed *o);

static const struct tt_hist *interval_of(const struct tt_observed *o)
{
    return &o->interval;
}

static const struct tt_hist *lateness_of(const struct tt_observed *o)
{
    return &o->lateness;
}

static void show_sides(const struct tt_compared *compared, const struct tt_out *out,
                       const char *caption, hist_of *hist)
{
    static const struct tt_column columns[] = {{"", TT_ALIGN_LEFT}, TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (int i = 0; i < 2; i++) {
        tt_table_cell(&table, "%s", sides[i]);
        tt_table_cells_summary(&table, hist(compared->streams[i]));
    }
    tt_out_table(out, caption, &table);
}

static void show_answers(const struct tt_compared *compared, const struct tt_out *out)
{
    static const struct tt_column columns[] = {
        {"in a window", TT_ALIGN_LEFT}, {"windows", TT_ALIGN_RIGHT}, {"before", TT_ALIGN_RIGHT},
        {"after", TT_ALIGN_RIGHT},      {"differs", TT_ALIGN_RIGHT}, {"floor", TT_ALIGN_RIGHT},
        {"p", TT_ALIGN_RIGHT},          {"after is", TT_ALIGN_LEFT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (int f = 0; f < TT_COMPARED; f++) {
        const struct tt_compare_result *result = &compared->results[f];
        const double values[] = {result->a, result->b, result->difference, result->floor};

        tt_table_cell(&table, "%s", figures[f].text);
        tt_table_cell(&table, "%zu", result->windows);
        for (size_t i = 0; i < TT_COUNT_OF(values); i++) {
            if (result->answer == TT_COMPARE_TOO_FEW) {
                tt_table_cell(&table, "-");
            } else if (f == TT_COMPARED_LOST) {
                tt_table_cell(&table, "%.2f", values[i]);
            } else {
                tt_table_cell_number(&table, llround(values[i]));
            }
        }
        if (result->answer == TT_COMPARE_TOO_FEW) {
            tt_table_cell(&table, "-");
        } else {
            tt_table_cell(&table, result->p < 0.001 ? "< 0.001" : "%.3f", result->p);
        }
        tt_table_cell(&table, "%s", tt_compare_answer_text(result->answer));
    }
    tt_out_table(out,
                 "Window by window (of PDUs lost the mean of all; else without the fifth of them "
                 "at either end)",
                 &table);
}

/* What the figures are of is not the same: that is no fault, and has to be known. */
static void show_differences(const struct tt_compared *compared, const struct tt_out *out)
{
    const struct tt_observed *a = compared->streams[0];
    const struct tt_observed *b = compared->streams[1];

    if (a->avtp.stream_id != b->avtp.stream_id) {
        tt_out_line(out, "These are two streams: their IDs differ.");
    }
    if (a->period.hz > 0 && b->period.hz > 0 &&
        tt_conduct_period_ns(&a->period, 1) != tt_conduct_period_ns(&b->period, 1)) {
        tt_out_line(out,
                    "Their PDUs are not of one length: %.3f us and %.3f us. Intervals differ by "
                    "that too.",
                    (double)tt_conduct_period_ns(&a->period, 1) / 1e3,
                    (double)tt_conduct_period_ns(&b->period, 1) / 1e3);
    }
}

static void show_all(const struct tt_compared *compared, const struct tt_out *out)
{
    for (int i = 0; i < 2; i++) {
        tt_out_line(out, "%s: %s, %llu PDUs, %llu lost.", sides[i], compared->paths[i],
                    (unsigned long long)compared->streams[i]->pdus,
                    (unsigned long long)compared->streams[i]->lost);
    }
    show_differences(compared, out);
    tt_out_line(out, "Windows are %.3f ms long.", (double)compared->window_ns / 1e6);
    show_sides(compared, out, "Interval between arrivals, ns", interval_of);
    show_sides(compared, out, "Lateness against the media grid, ns", lateness_of);
    show_answers(compared, out);
}

static json_t *json_answer(const struct tt_compare_result *result)
{
    bool known = result->answer != TT_COMPARE_TOO_FEW;

    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "answer",
                     tt_compare_answer_text(result->answer), "windows",
                     tt_json_u64(result->windows), "before",
                     known ? json_real(result->a) : json_null(), "after",
                     known ? json_real(result->b) : json_null(), "difference",
                     known ? json_real(result->difference) : json_null(), "floor",
                     known ? json_real(result->floor) : json_null(), "p",
                     known ? json_real(result->p) : json_null());
}

static json_t *json_side(const struct tt_compared *compared, int i)
{
    const struct tt_observed *o = compared->streams[i];

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "source", tt_json_name(compared->paths[i]),
                     "stream_id", o->avtp.sv ? tt_json_stream_id(o->avtp.stream_id) : json_null(),
                     "pdus", tt_json_u64(o->pdus), "lost", tt_json_u64(o->lost), "interval_ns",
                     tt_json_summary(&o->interval), "lateness_ns", tt_json_summary(&o->lateness));
}

static json_t *json_all(const struct tt_compared *compared)
{
    json_t *object = json_pack("{s:I, s:o, s:o}", "window_ns", (json_int_t)compared->window_ns,
                               sides[0], json_side(compared, 0), sides[1], json_side(compared, 1));
    json_t *answers = json_object();

    for (int f = 0; f < TT_COMPARED; f++) {
        json_object_set_new(answers, figures[f].key, json_answer(&compared->results[f]));
    }
    json_object_set_new(object, "comparison", answers);
    return object;
}

static void draw(struct tt_html *page, const struct tt_compared *compared)
{
    int64_t spans_ns[2];

    for (int i = 0; i < 2; i++) {
        spans_ns[i] = compared->streams[i]->last_ns - compared->streams[i]->first_ns;
    }
    for (int i = 0; i < 2; i++) {
        const struct tt_observed *o = compared->streams[i];
        const struct tt_observed *other = compared->streams[1 - i];
        const struct tt_chart interval = {.caption = "Interval over time",
                                          .quantity = "interval",
                                          .start_ns = o->first_ns,
                                          .span_ns = tt_max64(spans_ns[0], spans_ns[1]),
                                          .beside = &other->interval_history};
        const struct tt_chart tail = {.caption = "Lateness, the tail",
                                      .quantity = "lateness",
                                      .tail_beside = &other->lateness};

        tt_html_heading(page, sides[i]);
        tt_html_row_begin(page);
        tt_chart_timeline(page, &interval, &o->interval_history);
        tt_chart_tail(page, &tail, &o->lateness);
        tt_html_row_end(page);
    }
}

static int write_page(const struct tt_compared *compared, const char *path)
{
    struct tt_html page;
    const struct tt_out out = {.page = &page};
    int error = tt_html_open(&page, path, "tactus watch: before and after");

    if (error) {
        return error;
    }
    show_all(compared, &out);
    draw(&page, compared);
    return tt_html_close(&page);
}

int tt_compare_show(const struct tt_watch_compare *options, const struct tt_compared *compared)
{
    const struct tt_out out = {.text = stdout};
    int error = 0;

    if (options->json) {
        json_t *json = json_all(compared);

        error = json ? tt_json_print_line(stdout, json) : -ENOMEM;
        json_decref(json);
    } else {
        show_all(compared, &out);
        fflush(stdout);
    }
    if (error) {
        tt_cli_say(options->command, "cannot write the figures: %s", strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    error = options->html_path ? write_page(compared, options->html_path) : 0;
    if (error) {
        tt_cli_say(options->command, "cannot write the page %s: %s", options->html_path,
                   strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}
