/*
 * A plan from a file or standard input; see gate_file.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gate_file.h"

#define FILE_BYTES_MAX (64 << 20)

static int read_all(FILE *in, char **ret_text, size_t *ret_bytes)
{
    size_t capacity = 1 << 16;
    size_t n = 0;
    char *text = malloc(capacity);

    errno = 0;
    while (text && !feof(in) && !ferror(in) && n < FILE_BYTES_MAX) {
        n += fread(text + n, 1, capacity - n, in);
        if (n == capacity) {
            char *larger = realloc(text, capacity *= 2);

            if (!larger) {
                free(text);
            }
            text = larger;
        }
    }
    if (!text || ferror(in) || n >= FILE_BYTES_MAX) {
        free(text);
        return !text ? -ENOMEM : n >= FILE_BYTES_MAX ? -EFBIG : errno == EISDIR ? -EISDIR : -EIO;
    }
    *ret_text = text;
    *ret_bytes = n;
    return 0;
}

int tt_gate_file_read(const char *path, const struct tt_gate_file_options *options,
                      struct tt_gate_file *ret_file, struct tt_message *ret_message)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "re");
    char *text;
    size_t bytes;
    int error;

    if (!in) {
        return tt_say(-errno, ret_message, "%s", strerror(errno));
    }
    error = read_all(in, &text, &bytes);
    if (!standard) {
        fclose(in);
    }
    if (error != 0) {
        return tt_say(error, ret_message, "%s", strerror(-error));
    }
    error = tt_gate_file_parse(text, bytes, options, ret_file, ret_message);
    free(text);
    return error;
}
