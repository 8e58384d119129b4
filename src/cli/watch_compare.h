/*
 * Two captures of a stream, before and after: both tables, and whether what differs is more than
 * chance.
 *
 * Each capture is read twice: for its length, then in windows of equal length, which are what is
 * compared (base/compare). The windows of the two do not belong together in pairs.
 */
#ifndef TT_CLI_WATCH_COMPARE_H
#define TT_CLI_WATCH_COMPARE_H

#include <stdbool.h>

#include "audio/observer.h"
#include "cli/cmd.h"

struct tt_watch_compare {
    const char *command;
    const char *paths[2]; /* before, after */
    struct tt_observer_filter filter;
    bool json;
    const char *html_path; /* NULL: no page */
};

/* The command's exit code: 1 where something is worse, 4 where there is not enough data. */
int tt_watch_compare(const struct tt_watch_compare *options);

#endif
