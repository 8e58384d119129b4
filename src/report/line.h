/*
 * A line of text for people. It may hold what others named, a file or a stream: a terminal shows
 * that, and does not obey it.
 */
#ifndef TT_REPORT_LINE_H
#define TT_REPORT_LINE_H

#include <stdarg.h>
#include <stdio.h>

#include "base/attr.h"

/* The text as tt_word_printable has it, and a newline; in the text there can be none. */
void tt_line_print(FILE *out, const char *format, ...) TT_PRINTF(2, 3);
void tt_line_vprint(FILE *out, const char *format, va_list args) TT_PRINTF(2, 0);

#endif
