/*
 * What an observer saw as a page: the tables of the terminal, drawings for each stream, and,
 * live, the machine.
 */
#include <inttypes.h>

#include "cli/machine_card.h"
#include "cli/watch_show.h"
#include "report/html_chart.h"

#define DRAWN_MAX 32 /* streams: a page of more is slow to open */

static void draw_stream(struct tt_html *page, size_t number, const struct tt_observed *o)
{
    const struct tt_chart_mark late = {0, "presentation"};
    const struct tt_chart interval = {.caption = "Interval between arrivals",
                                      .quantity = "interval",
                                      .start_ns = o->first_ns,
                                      .span_ns = o->last_ns - o->first_ns};
    const struct tt_chart spread = {.caption = "Intervals, how many of each",
                                    .quantity = "interval"};
    const struct tt_chart lateness = {.caption = "Lateness over time",
                                      .quantity = "lateness",
                                      .start_ns = o->first_ns,
                                      .span_ns = o->last_ns - o->first_ns};
    const struct tt_chart histogram = {.caption = "Lateness, how many of each",
                                       .quantity = "lateness"};
    const struct tt_chart tail = {.caption = "Lateness, the tail", .quantity = "lateness"};
    const struct tt_chart margin = {.caption = "Margin before presentation",
                                    .quantity = "margin",
                                    .marks = &late,
                                    .mark_count = 1};
    char heading[TT_STREAM_ID_TEXT + TT_SUBTYPE_TEXT + 40];
    char id[TT_STREAM_ID_TEXT];
    char subtype[TT_SUBTYPE_TEXT];

    snprintf(heading, sizeof(heading), "Stream %zu: %s %s", number,
             tt_watch_subtype(o->avtp.subtype, subtype),
             o->avtp.sv ? tt_stream_id_format(o->avtp.stream_id, id) : "");
    tt_html_heading(page, heading);
    tt_html_row_begin(page);
    tt_chart_timeline(page, &interval, &o->interval_history);
    tt_chart_histogram(page, &spread, &o->interval);
    tt_chart_timeline(page, &lateness, &o->lateness_history);
    tt_chart_histogram(page, &histogram, &o->lateness);
    tt_chart_tail(page, &tail, &o->lateness);
    tt_chart_histogram(page, &margin, &o->margin);
    tt_html_row_end(page);
}

int tt_watch_page(const struct tt_watch_view *view, const char *path)
{
    const struct tt_observer *observer = view->observer;
    struct tt_html page;
    const struct tt_out to = {.page = &page};
    int error = tt_html_open(&page, path, "tactus watch: AVTP streams");

    if (error) {
        return error;
    }
    tt_watch_lines(view, &to);
    if (view->error) {
        tt_html_paragraph(&page,
                          "The capture cannot be read whole: %s. The figures are of what could.",
                          view->error);
    }
    if (observer->count > 0) {
        tt_watch_tables(view, &to);
    }
    for (size_t i = 0; i < observer->count && i < DRAWN_MAX; i++) {
        draw_stream(&page, i + 1, observer->streams[i]);
    }
    if (observer->count > DRAWN_MAX) {
        tt_html_paragraph(&page, "Drawings are of the first %d streams; the tables have all.",
                          DRAWN_MAX);
    }
    if (view->live) { /* a file may be of another machine */
        tt_machine_card(&page, -1, view->source);
    }
    return tt_html_close(&page);
}
