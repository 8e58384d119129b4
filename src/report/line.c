/*
 * See line.h.
 */
#include "report/line.h"

#include <stdlib.h>

#include "base/word.h"

void tt_line_vprint(FILE *out, const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
    }
    fprintf(out, "%s\n", text ? tt_word_printable(text) : "?");
    free(text);
}

void tt_line_print(FILE *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tt_line_vprint(out, format, args);
    va_end(args);
}
