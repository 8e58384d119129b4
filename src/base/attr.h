/*
 * Marks and small macros that every room may use.
 */
#ifndef TT_BASE_ATTR_H
#define TT_BASE_ATTR_H

/* Real-time code: bounded, takes no lock, allocates nothing, logs nothing. Put at the declaration.
 * The test build wraps malloc and aborts when one of these allocates. */
#define TT_RT

/* The compiler checks the arguments against the format string at position `f`. */
#define TT_PRINTF(f, a) __attribute__((format(printf, f, a)))

#define TT_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
