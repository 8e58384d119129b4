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

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The bytes of the character that `text` begins with; 0 where it is none that is shown. RFC 3629,
 * 4. */
static size_t shown_bytes(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    unsigned char second = first >= 0x80 ? (unsigned char)text[1] : 0;

    if (first < 0x80) {
        return first >= ' ' && first != 0x7F;
    }
    if (!continues(text[1]) || (first == 0xC2 && second < 0xA0)) {
        return 0;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return 2;
    }
    if (!continues(text[2]) || (first == 0xE0 && second < 0xA0) ||
        (first == 0xED && second > 0x9F)) {
        return 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        return 3;
    }
    if (!continues(text[3]) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F)) {
        return 0;
    }
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

char *tt_word_printable(char *text)
{
    for (char *at = text; *at != 0;) {
        size_t bytes = shown_bytes(at);

        if (bytes == 0) {
            *at = '?';
            bytes = 1;
        }
        at += bytes;
    }
    return text;
}
