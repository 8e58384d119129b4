/*
 * See chart_axis.h.
 */
#include "report/chart_axis.h"

#include <math.h>
#include <string.h>

#define TICKS_WANTED 4

struct unit {
    const char *name;
    double ns;
};

static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

static const struct unit *unit_of(double ns)
{
    size_t i = TT_COUNT_OF(units) - 1;

    while (i > 0 && fabs(ns) < units[i].ns) {
        i--;
    }
    return &units[i];
}

double tt_axis_place(const struct tt_axis *axis, double value)
{
    double share;

    value = fmin(fmax(value, axis->from), axis->to);
    if (axis->logarithmic) {
        share = log(value / axis->from) / log(axis->to / axis->from);
    } else {
        share = (value - axis->from) / (axis->to - axis->from);
    }
    return axis->from_at + share * (axis->to_at - axis->from_at);
}

/* 1, 2 or 5 times a power of ten, so that there are about TICKS_WANTED. */
static double round_step(double span)
{
    double power = pow(10, floor(log10(span / TICKS_WANTED)));
    double rest = span / TICKS_WANTED / power;

    return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

static size_t linear_ticks(const struct tt_axis *axis, bool whole, double ret_ticks[TT_AXIS_TICKS],
                           double *ret_step)
{
    double step = round_step(axis->to - axis->from);
    double first;
    size_t n = 0;

    if (whole && step < 1) {
        step = 1;
    }
    first = ceil(axis->from / step) * step;
    while (n < TT_AXIS_TICKS && first + (double)n * step <= axis->to * (1 + 1e-9)) {
        ret_ticks[n] = first + (double)n * step;
        n++;
    }
    *ret_step = step;
    return n;
}

/* 1, 2 and 5, and what is between them where even these are few. */
static size_t steps_in_a_decade(const struct tt_axis *axis, double ret_ticks[TT_AXIS_TICKS])
{
    static const double steps[] = {1, 2, 5};
    int last = (int)ceil(log10(axis->to));
    double step;
    size_t n = 0;

    for (int i = (int)floor(log10(axis->from)); i <= last; i++) {
        for (size_t k = 0; k < TT_COUNT_OF(steps) && n < TT_AXIS_TICKS; k++) {
            double value = steps[k] * pow(10, i);

            if (value >= axis->from && value <= axis->to) {
                ret_ticks[n++] = value;
            }
        }
    }
    return n >= 2 ? n : linear_ticks(axis, false, ret_ticks, &step);
}

static size_t decade_ticks(const struct tt_axis *axis, double ret_ticks[TT_AXIS_TICKS])
{
    int first = (int)ceil(log10(axis->from) - 1e-9);
    int last = (int)floor(log10(axis->to) + 1e-9);
    int every = 1 + (last - first) / 6;
    size_t n = 0;

    if (last <= first) { /* of one decade or none there would be one label, or none */
        return steps_in_a_decade(axis, ret_ticks);
    }
    for (int i = first; i <= last && n < TT_AXIS_TICKS; i += every) {
        ret_ticks[n++] = pow(10, i);
    }
    return n;
}

const char *tt_axis_time(double ns, char ret_text[TT_AXIS_TEXT])
{
    const struct unit *unit = unit_of(ns);

    snprintf(ret_text, TT_AXIS_TEXT, "%.6g %s", ns / unit->ns, unit->name);
    return ret_text;
}

/* Decimals, so that neighbours differ. */
static int decimals_of(double step)
{
    double digits = -floor(log10(step) + 1e-9);

    return digits > 0 ? (int)fmin(digits, 9) : 0;
}

static void label(char text[TT_AXIS_TEXT], enum tt_axis_kind kind, bool logarithmic, double value,
                  double step, const struct unit *unit)
{
    if (kind == TT_AXIS_SHARE) {
        snprintf(text, TT_AXIS_TEXT, value < 0.001 ? "%.0e" : "%g", value);
    } else if (kind == TT_AXIS_COUNT && value >= 1e6) { /* digits beyond the edge are not seen */
        snprintf(text, TT_AXIS_TEXT, "%.6gM", value / 1e6);
    } else if (kind == TT_AXIS_COUNT) {
        snprintf(text, TT_AXIS_TEXT, "%.15g", value);
    } else if (logarithmic) {
        tt_axis_time(value, text);
    } else {
        snprintf(text, TT_AXIS_TEXT, "%.*f", decimals_of(step / unit->ns), value / unit->ns);
    }
}

static void draw_tick(FILE *out, const struct tt_axis *axis, bool vertical, double value,
                      const char *text)
{
    double at = tt_axis_place(axis, value);

    if (vertical) {
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"end\" x=\"%d\" "
                "y=\"%.1f\">",
                TT_CHART_LEFT, at, TT_CHART_RIGHT, TT_CHART_LEFT - 6, at + 4);
    } else {
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"middle\" x=\"%.1f\" "
                "y=\"%d\">",
                at, TT_CHART_TOP, TT_CHART_BOTTOM, at, TT_CHART_BOTTOM + 17);
    }
    tt_html_text(out, text);
    fputs("</text>\n", out);
}

void tt_axis_draw(struct tt_html *page, const struct tt_axis *axis, enum tt_axis_kind kind,
                  bool vertical, const char *name)
{
    const struct unit *unit = unit_of(fmax(fabs(axis->from), fabs(axis->to)));
    FILE *out = page->file.out;
    double ticks[TT_AXIS_TICKS];
    char text[TT_AXIS_TEXT];
    double step = 0;
    size_t n = axis->logarithmic ? decade_ticks(axis, ticks)
                                 : linear_ticks(axis, kind != TT_AXIS_SHARE, ticks, &step);

    for (size_t i = 0; i < n; i++) {
        label(text, kind, axis->logarithmic, ticks[i], step, unit);
        draw_tick(out, axis, vertical, ticks[i], text);
    }
    if (vertical) {
        fprintf(out, "<path class=\"axis\" d=\"M%d %dV%d\"/><text x=\"2\" y=\"15\">", TT_CHART_LEFT,
                TT_CHART_TOP, TT_CHART_BOTTOM);
    } else {
        fprintf(out, "<path class=\"axis\" d=\"M%d %dH%d\"/><text class=\"end\" x=\"%d\" y=\"%d\">",
                TT_CHART_LEFT, TT_CHART_BOTTOM, TT_CHART_RIGHT, TT_CHART_RIGHT,
                TT_CHART_BOTTOM + 35);
    }
    tt_html_text(out, name);
    if (kind == TT_AXIS_TIME && !axis->logarithmic) {
        fprintf(out, ", %s", unit->name);
    }
    fputs("</text>\n", out);
}
