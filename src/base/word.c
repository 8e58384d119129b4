/*
 * See word.h.
 */
#include "base/word.h"

#include <string.h>

#define CHARS_MAX 31

static char fold(char c)
{
    if (c == '-') {
        return '_';
    }
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool tt_word_same(const char *a, const char *b)
{
    while (*a != 0 && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return fold(*a) == fold(*b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t tt_word_distance(const char *a, const char *b)
{
    size_t row[CHARS_MAX + 1];
    size_t columns = strlen(b);

    if (columns > CHARS_MAX || strnlen(a, CHARS_MAX + 1) > CHARS_MAX) {
        return columns;
    }
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 1; a[i - 1] != 0; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t change = diagonal + (fold(a[i - 1]) != fold(b[j - 1]));

            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

struct tt_word_quoted tt_word_quote(const char *given)
{
    struct tt_word_quoted quoted = {.text = ""};
    size_t n = strnlen(given, TT_WORD_QUOTE_CHARS + 1);

    for (size_t i = 0; i < n && i < TT_WORD_QUOTE_CHARS; i++) {
        quoted.text[i] = given[i] >= ' ' && given[i] <= '~' ? given[i] : '?';
    }
    if (n > TT_WORD_QUOTE_CHARS) {
        memcpy(quoted.text + TT_WORD_QUOTE_CHARS, "...", 4);
    }
    return quoted;
}
