/*
 * The finding of `tactus equal`: decided from match and reports, printed as text or JSON.
 */
#ifndef TT_CLI_EQUAL_SHOW_H
#define TT_CLI_EQUAL_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "audio/match.h"
#include "cli/explain.h"

struct tt_equal_view {
    const char *source; /* paths */
    const char *recording;
    const struct tt_match_pair *pair;
    const struct tt_match *match;
    const struct tt_reports *reports; /* files 0: none were given */
};

/* Prints and returns the exit code (enum tt_exit). */
int tt_equal_show(const struct tt_equal_view *view, bool json, FILE *out);

#endif
