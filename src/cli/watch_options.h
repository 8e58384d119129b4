/*
 * What `tactus watch` is told to do.
 */
#ifndef TT_CLI_WATCH_OPTIONS_H
#define TT_CLI_WATCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/observer.h"

struct tt_watch_options {
    const char *const *sources; /* one interface, or files; with `compare` two, before and after */
    size_t source_count;
    bool compare;
    const char *write_path;
    const char *html_path;
    struct tt_observer_filter filter;
    int64_t duration_ns; /* 0: until interrupted */
    const char *metrics; /* where figures are served; NULL: nowhere */
    bool json;
    bool no_promiscuous;
};

/* 0; otherwise the usage is wrong, and that was said. */
int tt_watch_options_parse(int argc, char **argv, struct tt_watch_options *ret_options);

#endif
