/*
 * The meter's results as JSON, with all that a comparison needs later: windows, not samples. And
 * reading such a file again.
 */
#ifndef TT_REPORT_METER_JSON_H
#define TT_REPORT_METER_JSON_H

#include <jansson.h>

#include "report/meter_text.h"

/* All of these return a new reference, or NULL when memory is out. */

/* {"buffer", "frames", "count", "rate_hz", "period_ns", "loads": […], "verdict": {…}} */
json_t *tt_meter_row_json(const struct tt_meter_row *row);
/* {"start_mono_ns", "late_ns", "empty", "late", "skipped", "cause", "lost_ns", "causes_ns": {…},
 * "evidence": {…}} */
json_t *tt_meter_incident_json(const struct tt_incident *incident);

/* A saved row under one load, as windows. */
struct tt_meter_saved {
    const char *damage; /* what is wrong with it; NULL: nothing */
    const char *buffer; /* the JSON's own, as the next; NULL: unknown */
    const char *load;
    int64_t rate_hz;
    bool tuned;
    int64_t window_ns;
    size_t count;
    int64_t median_late_ns[TT_COMPARE_WINDOWS_MAX];
    int64_t misses[TT_COMPARE_WINDOWS_MAX];
};

/* The `index`-th of all of a file. False: there are no more. */
bool tt_meter_saved_get(const json_t *file, size_t index, struct tt_meter_saved *ret_saved);

#endif
