/*
 * What an observer saw and what is wrong with it: as text, as a page, as JSON. Text and page show
 * the same tables, so their figures are the same.
 */
#ifndef TT_CLI_WATCH_SHOW_H
#define TT_CLI_WATCH_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/observer.h"
#include "cli/watch_drops.h"
#include "report/out.h"

struct tt_watch_view {
    const char *source; /* path or interface; of several files "FIRST and N more" */
    const char *const *sources;
    size_t source_count;
    bool live;
    bool final;
    int64_t elapsed_ns;          /* live: since the start */
    struct tt_watch_drops drops; /* live */
    const char *error;           /* why the capture ended early; NULL */
    const char *stamps;          /* who took the arrival times */
    const struct tt_observer *observer;
};

void tt_watch_print(const struct tt_watch_view *view, FILE *out);
/* Writes the page whole or not at all. 0 or -errno. */
int tt_watch_page(const struct tt_watch_view *view, const char *path);
/* A new reference. */
json_t *tt_watch_json(const struct tt_watch_view *view);

void tt_watch_tables(const struct tt_watch_view *view, const struct tt_out *out);
/* The lines above the tables. */
void tt_watch_lines(const struct tt_watch_view *view, const struct tt_out *out);

/* "AAF", "reserved 0x33". Returns ret_text. */
#define TT_SUBTYPE_TEXT 40
const char *tt_watch_subtype(uint8_t subtype, char ret_text[TT_SUBTYPE_TEXT]);
/* "A", "B" by the PDU interval (125 us, 250 us), NULL where it is neither or not known. */
const char *tt_watch_class(const struct tt_observed *o);
/* PDUs a second; 0: not known. */
double tt_watch_nominal_rate(const struct tt_observed *o);
double tt_watch_measured_rate(const struct tt_observed *o);
const char *tt_watch_scale(const struct tt_observed *o);

#endif
