/*
 * See meter_page.h.
 */
#include "cli/meter_page.h"

#include <stdio.h>
#include <string.h>

#include "cli/machine_card.h"
#include "report/html.h"
#include "report/html_chart.h"

/* Rows whose loads are all drawn; of more, the worst load of each. */
#define ROWS_DRAWN 2

static void write_verdicts(struct tt_html *page, const struct tt_meter_row *rows, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        struct tt_verdict verdict;
        char text[TT_METER_TEXT];

        tt_meter_verdict_find(&rows[r], &verdict);
        tt_html_paragraph(page, "%s.", tt_meter_verdict_text(&rows[r], &verdict, text));
    }
}

static void write_worst(struct tt_html *page, const struct tt_meter_row *rows, size_t n)
{
    struct tt_meter_table worst;

    tt_meter_table_worst(&worst, rows, n);
    tt_html_table(page, "Worst latency in ms (times the device ran empty; timer: missed periods)",
                  &worst.table);
    tt_table_done(&worst.table);
    tt_html_paragraph(page, "A latency is the time that the device had to live on what it had. One "
                            "longer than the buffer is a dropout that is heard.");
}

/* The two curves of 1999, and their lines. */
static void draw_timeline(struct tt_html *page, const struct tt_meter_row *row,
                          const struct tt_meter_result *result)
{
    int64_t period_ns = result->cell->period_ns;
    const struct tt_chart_mark marks[] = {{period_ns, "fragment"},
                                          {period_ns * row->shape.count, "buffer"}};
    const struct tt_curve curves[] = {{&result->cell->period_curve, "cycle"},
                                      {&result->cell->compute_curve, "computation"}};
    char caption[128];
    struct tt_chart chart = {.caption = caption,
                             .quantity = "time",
                             .marks = marks,
                             .mark_count = row->shape.count > 0 ? 2 : 1};

    snprintf(caption, sizeof(caption), "%s: each cycle, and the computation in it",
             tt_meter_load_text(result->load_name));
    tt_chart_curves(page, &chart, curves);
}

static void draw_tail(struct tt_html *page, const struct tt_meter_row *row,
                      const struct tt_meter_result *result)
{
    static const unsigned counts[] = {2, 3, 4};
    static const char *const labels[] = {"2 fragments", "3", "4"};
    struct tt_chart_mark marks[TT_COUNT_OF(counts)];
    char caption[128];
    struct tt_chart chart = {.caption = caption, .quantity = "handed over late", .marks = marks};

    for (size_t i = 0; i < TT_COUNT_OF(counts) && row->shape.count > 0; i++) {
        marks[chart.mark_count++] =
            (struct tt_chart_mark){result->cell->period_ns * (counts[i] - 1), labels[i]};
    }
    snprintf(caption, sizeof(caption),
             "%s: the tail, and the lateness that each buffer lives through",
             tt_meter_load_text(result->load_name));
    tt_chart_tail(page, &chart, &result->cell->late);
}

static void draw_load(struct tt_html *page, const struct tt_meter_row *row, size_t load)
{
    tt_html_row_begin(page);
    draw_timeline(page, row, &row->results[load]);
    draw_tail(page, row, &row->results[load]);
    tt_html_row_end(page);
}

static void write_row(struct tt_html *page, const struct tt_meter_row *row, bool all)
{
    struct tt_verdict verdict;
    struct tt_table table;
    char shape[TT_DURATION_TEXT];
    char heading[64];

    snprintf(heading, sizeof(heading), "%s%s", tt_meter_shape_text(&row->shape, shape),
             row->tuned ? ", tuned" : "");
    tt_html_heading(page, heading);
    tt_meter_table_periods(&table, row);
    tt_html_table(page, "Each period accounted for; lateness in us", &table);
    tt_table_done(&table);
    if (tt_meter_table_causes(&table, row) > 0) {
        tt_html_table(page, "Time lost, by cause", &table);
    }
    tt_table_done(&table);
    tt_meter_verdict_find(row, &verdict);
    for (size_t i = 0; i < row->count; i++) {
        if (all || i == verdict.worst) {
            draw_load(page, row, i);
        }
    }
}

enum tt_exit tt_meter_page_write(const struct tt_meter_job *job, const struct tt_meter_row *rows,
                                 size_t n, const char *path)
{
    struct tt_html page;
    char title[96];
    char shape[TT_DURATION_TEXT];
    int error;

    if (n > 1) {
        snprintf(title, sizeof(title), "Which buffers does this machine hold?");
    } else {
        snprintf(title, sizeof(title), "Will this machine hold %s?",
                 tt_meter_shape_text(&rows[0].shape, shape));
    }
    error = tt_html_open(&page, path, title);
    if (!error) {
        write_verdicts(&page, rows, n);
        write_worst(&page, rows, n);
        for (size_t r = 0; r < n; r++) {
            write_row(&page, &rows[r], n <= ROWS_DRAWN);
        }
        tt_machine_card(&page, job->policy.cpu, NULL);
        error = tt_html_close(&page);
    }
    if (error) {
        tt_cli_say(TT_METER_COMMAND, "cannot write %s: %s", path, strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}
