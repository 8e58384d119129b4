/*
 * Names that people type: upper and lower case, dashes and underscores are the same. And how what
 * others named is shown.
 */
#ifndef TT_BASE_WORD_H
#define TT_BASE_WORD_H

#include <stdbool.h>
#include <stddef.h>

bool tt_word_same(const char *a, const char *b);

/* How many characters to insert, drop or change to make one of the other; the length of `b` where
 * either is longer than any name is (31). */
size_t tt_word_distance(const char *a, const char *b);

#define TT_WORD_QUOTE_CHARS 40

struct tt_word_quoted {
    char text[TT_WORD_QUOTE_CHARS + 4];
};

/* What was given, for a message: what cannot be printed as ?, the rest after 40 characters as
 * "...". */
struct tt_word_quoted tt_word_quote(const char *given);

/* Makes of a text what a terminal shows and does not obey: what is a control character, or is not
 * UTF-8, becomes ?, byte by byte. Returns `text`. */
char *tt_word_printable(char *text);

#endif
