/*
 * Where a value lies in a drawing, and the marks along an axis: round steps or decades, with the
 * unit that suits the range.
 */
#ifndef TT_REPORT_CHART_AXIS_H
#define TT_REPORT_CHART_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/html.h"

#define TT_AXIS_TEXT  48
#define TT_AXIS_TICKS 24

/* The drawing: this many units, the plot inside these margins. */
#define TT_CHART_WIDTH  480
#define TT_CHART_HEIGHT 258
#define TT_CHART_LEFT   64
#define TT_CHART_RIGHT  454
#define TT_CHART_TOP    28
#define TT_CHART_BOTTOM 214

struct tt_axis {
    double from; /* from < to; above 0 where logarithmic */
    double to;
    double from_at; /* places in the drawing */
    double to_at;
    bool logarithmic;
};

/* The place of a value; what lies outside is put at the end. */
double tt_axis_place(const struct tt_axis *axis, double value);

enum tt_axis_kind { TT_AXIS_TIME, TT_AXIS_COUNT, TT_AXIS_SHARE };

/* The frame, the marks with their labels, and what the axes are called. */
void tt_axis_draw(struct tt_html *page, const struct tt_axis *axis, enum tt_axis_kind kind,
                  bool vertical, const char *name);

/* "125.004 us", with the unit that leaves one to three digits before the point. Returns ret_text.
 */
const char *tt_axis_time(double ns, char ret_text[TT_AXIS_TEXT]);

#endif
