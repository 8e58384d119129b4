/*
 * See say.h.
 */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

int tt_say(int error, struct tt_message *message, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(message->text, sizeof(message->text), format, args);
    va_end(args);
    return error;
}
