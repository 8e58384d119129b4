/*
 * What an extraction recovered and what is missing in it, printed as text or JSON.
 */
#ifndef TT_CLI_EXTRACT_SHOW_H
#define TT_CLI_EXTRACT_SHOW_H

#include <stdint.h>
#include <stdio.h>

#include "cli/extract.h"

struct tt_extract_view {
    const char *source; /* paths */
    const char *output;
    const struct tt_aaf *shape;
    const char *error; /* why the capture cannot be read whole; NULL: it can */
    const struct tt_extract *extract;
};

/* Of the output. */
int64_t tt_extract_missing_frames(const struct tt_extract *extract);

void tt_extract_print(const struct tt_extract_view *view, FILE *out);
/* 0, or a negative errno. */
int tt_extract_print_json(const struct tt_extract_view *view, FILE *out);

#endif
