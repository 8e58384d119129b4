/*
 * A report as one page: a file that needs no network, no script and no other file, light or dark as
 * the reader's system is, readable on a phone. Tables are those of the terminal (report/table), so
 * the figures are the same.
 *
 * Everything that is given as text is escaped here. A fault in writing is kept and told at the end.
 */
#ifndef TT_REPORT_HTML_H
#define TT_REPORT_HTML_H

#include <stdarg.h>
#include <stdio.h>

#include "base/attr.h"
#include "report/table.h"
#include "report/whole_file.h"

struct tt_html {
    struct tt_whole_file file;
    unsigned figures; /* so far: each has its own id */
};

/* A line of a card: what, and what it is. */
struct tt_html_fact {
    const char *name;
    const char *value;
};

/* `path` stays the caller's until the end. 0 or -errno. */
int tt_html_open(struct tt_html *page, const char *path, const char *title);
/* Ends the page and puts it in place. 0, or -errno: `path` is as it was. */
int tt_html_close(struct tt_html *page);

void tt_html_heading(struct tt_html *page, const char *text);
void tt_html_paragraph(struct tt_html *page, const char *format, ...) TT_PRINTF(2, 3);
void tt_html_vparagraph(struct tt_html *page, const char *format, va_list args) TT_PRINTF(2, 0);
/* `caption` names it, also for who cannot see it. A left-aligned last column may wrap. */
void tt_html_table(struct tt_html *page, const char *caption, const struct tt_table *table);
void tt_html_card(struct tt_html *page, const char *caption, const struct tt_html_fact *facts,
                  size_t n);

/* Figures stand side by side where there is room. */
void tt_html_row_begin(struct tt_html *page);
void tt_html_row_end(struct tt_html *page);
/* Between the two an SVG is drawn, `width` × `height`, in the classes of the page's style:
 * "axis" and "grid" for lines, "a" and "b" for strokes of a series, "band" for the area of one,
 * "bar" for bars, "mark" for a line that stands for something outside; text as it is, "end" and
 * "middle" for how it is aligned. `caption` stands above, `description` is read aloud. */
void tt_html_svg_begin(struct tt_html *page, int width, int height, const char *caption,
                       const char *description);
void tt_html_svg_end(struct tt_html *page);
/* Text, escaped. */
void tt_html_text(FILE *out, const char *text);

#endif
