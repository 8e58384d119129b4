/*
 * See html_chart.h.
 */
#include "report/html_chart.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/bars.h"
#include "report/chart_axis.h"

#define BARS        48
#define DESCRIPTION 400
#define CHARACTER   6   /* its width in a label, about */
#define NAMES_SHARE 0.3 /* of the height, above all curves: there stand their names */
#define POINT_APART 0.6 /* points of a curve closer than this are one */

/* Of values that a double cannot tell apart, an axis still has a length. */
static double beyond(double from, double to)
{
    return fmax(to, from + 1 + fabs(from) * 1e-9);
}

static struct tt_axis axis_across(double from, double to, bool logarithmic)
{
    return (struct tt_axis){from, logarithmic ? to : beyond(from, to), TT_CHART_LEFT,
                            TT_CHART_RIGHT, logarithmic};
}

static struct tt_axis axis_up(double from, double to, bool logarithmic)
{
    return (struct tt_axis){from, logarithmic ? to : beyond(from, to), TT_CHART_BOTTOM,
                            TT_CHART_TOP, logarithmic};
}

/* To the left of its line, where it would run over the next one, or the end, at the right. */
static bool reads_to_the_left(const struct tt_chart *chart, const struct tt_axis *axis, size_t mark)
{
    double width = CHARACTER * (double)strlen(chart->marks[mark].label) + 4;
    double at = tt_axis_place(axis, (double)chart->marks[mark].at_ns);
    double left = TT_CHART_LEFT;
    double right = TT_CHART_RIGHT;

    for (size_t i = 0; i < chart->mark_count; i++) {
        double other = tt_axis_place(axis, (double)chart->marks[i].at_ns);

        left = other < at ? fmax(left, other) : left;
        right = other > at ? fmin(right, other) : right;
    }
    return at + width > right && at - width >= left;
}

static void draw_marks(struct tt_html *page, const struct tt_chart *chart,
                       const struct tt_axis *axis, bool vertical)
{
    FILE *out = page->file.out;

    for (size_t i = 0; i < chart->mark_count; i++) {
        double value = (double)chart->marks[i].at_ns;
        double at = tt_axis_place(axis, value);

        if (value < axis->from || value > axis->to) {
            continue;
        }
        if (vertical) {
            fprintf(
                out,
                "<path class=\"mark\" d=\"M%d %.1fH%d\"/>"
                "<text class=\"tm\" x=\"%d\" y=\"%.1f\">", /* names of curves are at the right */
                TT_CHART_LEFT, at, TT_CHART_RIGHT, TT_CHART_LEFT + 4, at - 4);
        } else {
            bool left = reads_to_the_left(chart, axis, i);

            fprintf(out,
                    "<path class=\"mark\" d=\"M%.1f %dV%d\"/>"
                    "<text class=\"tm%s\" x=\"%.1f\" y=\"%d\">",
                    at, TT_CHART_TOP, TT_CHART_BOTTOM, left ? " end" : "", left ? at - 4 : at + 4,
                    TT_CHART_TOP + 12 + 14 * (int)i);
        }
        tt_html_text(out, chart->marks[i].label);
        fputs("</text>\n", out);
    }
}

static void bars_draw(FILE *out, const struct tt_bars *bars, const struct tt_axis *across,
                      const struct tt_axis *up)
{
    fputs("<path class=\"bar\" d=\"", out);
    for (size_t i = 0; i < bars->count; i++) {
        double start = (double)bars->from + (double)i * (double)bars->width;
        double from = tt_axis_place(across, start);
        double to = tt_axis_place(across, start + (double)bars->width);
        double gap = to - from > 4 ? 1 : 0;

        if (bars->of[i] > 0) {
            /* Few are seen too. */
            fprintf(out, "M%.1f %dV%.1fH%.1fV%dz", from + gap / 2, TT_CHART_BOTTOM,
                    fmin(tt_axis_place(up, (double)bars->of[i]), TT_CHART_BOTTOM - 1), to - gap / 2,
                    TT_CHART_BOTTOM);
        }
    }
    fputs("\"/>\n", out);
}

void tt_chart_histogram(struct tt_html *page, const struct tt_chart *chart,
                        const struct tt_hist *hist)
{
    char description[DESCRIPTION];
    char text[3][TT_AXIS_TEXT];
    struct tt_axis across;
    struct tt_axis up;
    struct tt_bars bars;

    if (hist->n == 0) {
        return;
    }
    tt_bars_fill(&bars, hist, BARS);
    across = axis_across((double)bars.from,
                         (double)bars.from + (double)bars.count * (double)bars.width, false);
    up = axis_up(0, (double)bars.most, false);
    snprintf(description, sizeof(description),
             "Histogram of %" PRIu64 " values in %zu bars of %s from %s to %s; %" PRIu64
             " values lie outside.",
             hist->n, bars.count, tt_axis_time((double)bars.width, text[0]),
             tt_axis_time(across.from, text[1]), tt_axis_time(across.to, text[2]), bars.outside);
    tt_html_svg_begin(page, TT_CHART_WIDTH, TT_CHART_HEIGHT, chart->caption, description);
    tt_axis_draw(page, &across, TT_AXIS_TIME, false, chart->quantity);
    tt_axis_draw(page, &up, TT_AXIS_COUNT, true, "count");
    bars_draw(page->file.out, &bars, &across, &up);
    draw_marks(page, chart, &across, false);
    tt_html_svg_end(page);
}

struct tail {
    FILE *out;
    struct tt_axis across;
    struct tt_axis up;
    double x;
    double y;
    bool open;
};

/* Shares fall as sizes grow: a step at each value. */
static void tail_point(struct tail *tail, double size, double share)
{
    double x = tt_axis_place(&tail->across, size);
    double y = tt_axis_place(&tail->up, share);

    if (tail->open && fabs(x - tail->x) < POINT_APART && fabs(y - tail->y) < POINT_APART) {
        return;
    }
    if (tail->open) {
        fprintf(tail->out, "H%.1fV%.1f", x, y);
    } else {
        fprintf(tail->out, "M%.1f %.1f", x, y);
    }
    tail->open = true;
    tail->x = x;
    tail->y = y;
}

/* The late side with the share that is later than each value, down to the last of them. */
static void tail_late(struct tail *tail, const struct tt_hist *hist)
{
    uint64_t left = hist->n;
    int64_t value;
    uint64_t count;
    size_t at = 0;

    tail->open = false;
    while (tt_hist_next(hist, &at, &value, &count)) {
        if (value > 0) {
            tail_point(tail, (double)value, (double)left / (double)hist->n);
        }
        left -= count;
    }
    if (tail->open) {
        fprintf(tail->out, "V%d", TT_CHART_BOTTOM);
    }
}

static void tail_early(struct tail *tail, const struct tt_hist *hist)
{
    uint64_t seen = 0;
    int64_t value;
    uint64_t count;
    size_t at = 0;

    tail->open = false;
    while (tt_hist_next(hist, &at, &value, &count) && value < 0) {
        seen += count;
        if (!tail->open) {
            fprintf(tail->out, "M%.1f %d", tt_axis_place(&tail->across, -(double)value),
                    TT_CHART_BOTTOM);
            tail->open = true;
        }
        tail_point(tail, -(double)value, (double)seen / (double)hist->n);
    }
}

/* Whole decades, so that the ends are seen and the marks as well: how far off they are is what one
 * looks for. Where values are on both sides, or none is small, sizes begin at 1 ns. */
static void tail_axes(struct tail *tail, const struct tt_chart *chart, const struct tt_hist *hist)
{
    const struct tt_hist *beside =
        chart->tail_beside && chart->tail_beside->n > 0 ? chart->tail_beside : hist;
    double min = fmin((double)hist->min, (double)beside->min);
    double size = fmax(fabs(min), fmax(fabs((double)hist->max), fabs((double)beside->max)));
    double to;

    for (size_t i = 0; i < chart->mark_count; i++) {
        size = fmax(size, (double)chart->marks[i].at_ns);
    }
    to = pow(10, ceil(log10(fmax(size, 10))));
    tail->across = axis_across(min > 0 ? fmin(pow(10, floor(log10(min))), to / 10) : 1, to, true);
    tail->up = axis_up(pow(10, floor(log10(1 / fmax((double)hist->n, (double)beside->n)) - 1e-9)),
                       1, true);
}

void tt_chart_tail(struct tt_html *page, const struct tt_chart *chart, const struct tt_hist *hist)
{
    struct tail tail = {.out = page->file.out};
    char description[DESCRIPTION];
    char text[2][TT_AXIS_TEXT];

    if (hist->n == 0 || (hist->min == 0 && hist->max == 0)) {
        return;
    }
    tail_axes(&tail, chart, hist);
    snprintf(description, sizeof(description),
             "The share of %" PRIu64 " values that is so late or later, and so early or earlier, "
             "on logarithmic axes. The latest is %s, the earliest %s.",
             hist->n, tt_axis_time((double)hist->max, text[0]),
             tt_axis_time((double)hist->min, text[1]));
    tt_html_svg_begin(page, TT_CHART_WIDTH, TT_CHART_HEIGHT, chart->caption, description);
    tt_axis_draw(page, &tail.across, TT_AXIS_TIME, false, chart->quantity);
    tt_axis_draw(page, &tail.up, TT_AXIS_SHARE, true, "share of all");
    fputs("<path class=\"b\" d=\"", tail.out);
    tail_early(&tail, hist);
    fputs("\"/>\n<path class=\"a\" d=\"", tail.out);
    tail_late(&tail, hist);
    fputs("\"/>\n", tail.out);
    if (hist->min < 0) {
        fprintf(tail.out,
                "<text class=\"ta end\" x=\"%d\" y=\"%d\">late</text>"
                "<text class=\"tb end\" x=\"%d\" y=\"%d\">early</text>\n",
                TT_CHART_RIGHT - 4, TT_CHART_TOP + 14, TT_CHART_RIGHT - 4, TT_CHART_TOP + 30);
    }
    draw_marks(page, chart, &tail.across, false);
    tt_html_svg_end(page);
}

static void band_bounds(const struct tt_history *history, double *ret_least, double *ret_most)
{
    double least = INFINITY;
    double most = -INFINITY;

    for (size_t i = 0; i < history->used; i++) {
        if (history->cells[i].n > 0) {
            least = fmin(least, (double)history->cells[i].min);
            most = fmax(most, (double)history->cells[i].max);
        }
    }
    *ret_least = least;
    *ret_most = most;
}

/* One rectangle a cell, at least a line: a stretch without values stays empty. */
static void band_draw(FILE *out, const struct tt_history *history, double lead_ns,
                      const struct tt_axis *across, const struct tt_axis *up)
{
    fputs("<path class=\"band\" d=\"", out);
    for (size_t i = 0; i < history->used; i++) {
        const struct tt_history_cell *cell = &history->cells[i];
        double from = lead_ns + (double)i * (double)history->cell_ns;

        if (cell->n > 0) {
            fprintf(out, "M%.1f %.1fH%.1fV%.1fH%.1fz", tt_axis_place(across, from),
                    tt_axis_place(up, (double)cell->max),
                    tt_axis_place(across, from + (double)history->cell_ns),
                    tt_axis_place(up, (double)cell->min), tt_axis_place(across, from));
        }
    }
    fputs("\"/>\n", out);
}

void tt_chart_timeline(struct tt_html *page, const struct tt_chart *chart,
                       const struct tt_history *history)
{
    double lead_ns =
        chart->start_ns != 0 ? fmax((double)history->start_ns - (double)chart->start_ns, 0) : 0;
    double span_ns = (double)history->used * (double)history->cell_ns;
    char description[DESCRIPTION];
    char text[4][TT_AXIS_TEXT];
    struct tt_axis across;
    struct tt_axis up;
    double least;
    double most;
    double room;

    if (history->used == 0) {
        return;
    }
    band_bounds(history, &least, &most);
    across = axis_across(0, chart->span_ns > 0 ? (double)chart->span_ns : lead_ns + span_ns, false);
    snprintf(description, sizeof(description),
             "From the least to the greatest value of every %s, over %s: between %s and %s.",
             tt_axis_time((double)history->cell_ns, text[0]), tt_axis_time(span_ns, text[1]),
             tt_axis_time(least, text[2]), tt_axis_time(most, text[3]));
    if (chart->beside && chart->beside->used > 0) {
        double other[2];

        band_bounds(chart->beside, &other[0], &other[1]);
        least = fmin(least, other[0]);
        most = fmax(most, other[1]);
    }
    room = fmax((most - least) * 0.05, 1);
    up = axis_up(least - room, most + room, false);
    tt_html_svg_begin(page, TT_CHART_WIDTH, TT_CHART_HEIGHT, chart->caption, description);
    tt_axis_draw(page, &across, TT_AXIS_TIME, false, "time since the first");
    tt_axis_draw(page, &up, TT_AXIS_TIME, true, chart->quantity);
    band_draw(page->file.out, history, lead_ns, &across, &up);
    draw_marks(page, chart, &up, true);
    tt_html_svg_end(page);
}

/* The greatest of each stretch, as one curve. Stretches without any belong to the value that ends
 * them: nothing came because that took so long. */
static void curve_draw(FILE *out, const char *class, const struct tt_history *history,
                       const struct tt_axis *across, const struct tt_axis *up)
{
    bool begun = false;

    fprintf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < history->used; i++) {
        const struct tt_history_cell *cell = &history->cells[i];
        double from = (double)i * (double)history->cell_ns;

        if (cell->n > 0) {
            double y = tt_axis_place(up, fmax((double)cell->max, 1));

            if (begun) {
                fprintf(out, "V%.1f", y);
            } else {
                fprintf(out, "M%.1f %.1f", tt_axis_place(across, from), y);
            }
            fprintf(out, "H%.1f", tt_axis_place(across, from + (double)history->cell_ns));
            begun = true;
        }
    }
    fputs("\"/>\n", out);
}

/* All values that are not 0 or less, and all marks; logarithmic, for a stall is a thousand times
 * what it falls among. */
static struct tt_axis axis_of_curves(const struct tt_chart *chart, const struct tt_history *a,
                                     const struct tt_history *b)
{
    double bounds[4];
    double least;
    double most;

    band_bounds(a, &bounds[0], &bounds[1]);
    band_bounds(b, &bounds[2], &bounds[3]);
    least = fmin(bounds[0], bounds[2]);
    most = fmax(bounds[1], bounds[3]);
    for (size_t i = 0; i < chart->mark_count; i++) {
        least = fmin(least, (double)chart->marks[i].at_ns);
        most = fmax(most, (double)chart->marks[i].at_ns);
    }
    least = fmax(least, most / 1e6) / 1.5;
    return axis_up(least, most * pow(most / least, NAMES_SHARE), true);
}

void tt_chart_curves(struct tt_html *page, const struct tt_chart *chart,
                     const struct tt_curve curves[2])
{
    const struct tt_history *a = curves[0].history;
    const struct tt_history *b = curves[1].history;
    FILE *out = page->file.out;
    char description[DESCRIPTION];
    char text[TT_AXIS_TEXT];
    struct tt_axis across;
    struct tt_axis up;

    if (a->used == 0 || b->used == 0) {
        return;
    }
    across = axis_across(0, (double)a->used * (double)a->cell_ns, false);
    up = axis_of_curves(chart, a, b);
    snprintf(description, sizeof(description), "The greatest %s and %s of every %s.",
             curves[0].name, curves[1].name, tt_axis_time((double)a->cell_ns, text));
    tt_html_svg_begin(page, TT_CHART_WIDTH, TT_CHART_HEIGHT, chart->caption, description);
    tt_axis_draw(page, &across, TT_AXIS_TIME, false, "time since the first");
    tt_axis_draw(page, &up, TT_AXIS_TIME, true, chart->quantity);
    curve_draw(out, "b", b, &across, &up);
    curve_draw(out, "a", a, &across, &up);
    fprintf(out,
            "<text class=\"ta end\" x=\"%d\" y=\"%d\">%s</text>"
            "<text class=\"tb end\" x=\"%d\" y=\"%d\">%s</text>\n",
            TT_CHART_RIGHT - 4, TT_CHART_TOP + 14, curves[0].name, TT_CHART_RIGHT - 4,
            TT_CHART_TOP + 30, curves[1].name);
    draw_marks(page, chart, &up, true);
    tt_html_svg_end(page);
}
