/*
 * See out.h.
 */
#include "report/out.h"

#include <stdarg.h>

#include "report/line.h"

void tt_out_line(const struct tt_out *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (out->page) {
        tt_html_vparagraph(out->page, format, args);
    } else {
        tt_line_vprint(out->text, format, args);
    }
    va_end(args);
}

void tt_out_table(const struct tt_out *out, const char *caption, struct tt_table *table)
{
    if (out->page) {
        tt_html_table(out->page, caption, table);
    } else {
        fprintf(out->text, "\n%s\n", caption);
        tt_table_print(table, out->text);
    }
    tt_table_done(table);
}
