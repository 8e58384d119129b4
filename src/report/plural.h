/*
 * The noun, or the whole phrase, that a number takes.
 */
#ifndef TT_REPORT_PLURAL_H
#define TT_REPORT_PLURAL_H

#include <stdint.h>

/* `one` for 1 of anything, `many` for any other number. */
static inline const char *tt_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

#endif
