/*
 * Where a report goes: to people as text, or into a page. Both show the same lines and tables, so
 * their figures are the same.
 */
#ifndef TT_REPORT_OUT_H
#define TT_REPORT_OUT_H

#include <stdio.h>

#include "base/attr.h"
#include "report/html.h"
#include "report/table.h"

/* One of the two. */
struct tt_out {
    FILE *text;
    struct tt_html *page;
};

/* One line, or one paragraph. */
void tt_out_line(const struct tt_out *out, const char *format, ...) TT_PRINTF(2, 3);
/* Shows and ends the table. */
void tt_out_table(const struct tt_out *out, const char *caption, struct tt_table *table);

#endif
