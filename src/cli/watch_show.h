/*
 * What an observer saw and what is wrong with it, as text tables or as JSON.
 */
#ifndef TT_CLI_WATCH_SHOW_H
#define TT_CLI_WATCH_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/observer.h"

struct tt_watch_view {
    const char *source; /* path or interface */
    bool live;
    bool final;
    int64_t elapsed_ns; /* live: since the start */
    int64_t drops;      /* live: lost before we saw them, by the kernel's count; -1: unknown */
    const char *error;  /* why the capture ended early; NULL */
    const struct tt_observer *observer;
};

void tt_watch_print(const struct tt_watch_view *view, FILE *out);
/* A new reference. */
json_t *tt_watch_json(const struct tt_watch_view *view);

#endif
