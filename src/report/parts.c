/*
 * See parts.h.
 */
#include "report/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tt_parts_add(char *text, size_t bytes, const char *format, ...)
{
    size_t at = strlen(text);
    va_list arguments;

    if (at > 0 && at + 3 < bytes) {
        memcpy(text + at, "; ", 3);
        at += 2;
    }
    va_start(arguments, format);
    vsnprintf(text + at, bytes - at, format, arguments);
    va_end(arguments);
}
