/*
 * Messages of several parts, with "; " between them.
 */
#ifndef TT_REPORT_PARTS_H
#define TT_REPORT_PARTS_H

#include <stddef.h>

#include "base/attr.h"

/* Adds a part to `text`, which has room for `bytes`, its end included; what does not fit is cut. */
TT_PRINTF(3, 4) void tt_parts_add(char *text, size_t bytes, const char *format, ...);

#endif
