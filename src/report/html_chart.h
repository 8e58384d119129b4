/*
 * The drawings of a report, as inline SVG: how a time (in ns) is distributed, its tail, and how it
 * went.
 *
 * Nothing is left out without a word: what lies outside a drawing is counted in its description,
 * and a timeline shows the least and the greatest of each stretch, never an average.
 */
#ifndef TT_REPORT_HTML_CHART_H
#define TT_REPORT_HTML_CHART_H

#include "base/hist.h"
#include "base/history.h"
#include "report/html.h"

/* A line at a value that means something, such as a period or a deadline. */
struct tt_chart_mark {
    int64_t at_ns;
    const char *label;
};

struct tt_chart {
    const char *caption;  /* "Lateness" */
    const char *quantity; /* what a value is, for the axis: "lateness" */
    const struct tt_chart_mark *marks;
    size_t mark_count;
    /* For drawings that are looked at together, as one. A timeline's time from start_ns on, for
     * span_ns; 0: its own. Its values, and the sizes of a tail, are drawn as large as these are;
     * NULL: it stands alone. */
    int64_t start_ns;
    int64_t span_ns;
    const struct tt_history *beside;
    const struct tt_hist *tail_beside;
};

/* Counts in up to 48 bars, from the 0.1 % to the 99.9 % percentile. Nothing where it is empty. */
void tt_chart_histogram(struct tt_html *page, const struct tt_chart *chart,
                        const struct tt_hist *hist);
/* What share was so late or later, and so early or earlier; both axes logarithmic. Nothing where
 * all values are 0. */
void tt_chart_tail(struct tt_html *page, const struct tt_chart *chart, const struct tt_hist *hist);
/* From least to greatest over time. Nothing where it is empty. */
void tt_chart_timeline(struct tt_html *page, const struct tt_chart *chart,
                       const struct tt_history *history);
/* The greatest of each stretch of two values in one drawing, on a logarithmic axis. Names are plain
 * text. Nothing where one is empty. */
struct tt_curve {
    const struct tt_history *history;
    const char *name;
};
void tt_chart_curves(struct tt_html *page, const struct tt_chart *chart,
                     const struct tt_curve curves[2]);

#endif
