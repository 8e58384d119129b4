/*
 * What the meter found, in words: buffers, causes, verdicts.
 */
#ifndef TT_REPORT_METER_TEXT_H
#define TT_REPORT_METER_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "meter/verdict.h"
#include "run/meter.h"

#define TT_METER_TEXT    600
#define TT_DURATION_TEXT 32

/* A buffer under all loads. */
struct tt_meter_row {
    struct tt_fragment_shape shape;
    struct tt_meter_result *results; /* `count`, one for each load; all loads of all rows alike */
    size_t count;
    bool tuned; /* with all that helps, and not as found */
};

/* "40 s", "13 min", "2.5 h", "1.2 ms": three figures that matter. Returns ret_text. */
const char *tt_duration_text(int64_t ns, char ret_text[TT_DURATION_TEXT]);
/* "3x64", "timer". Returns ret_text. */
const char *tt_meter_shape_text(const struct tt_fragment_shape *shape,
                                char ret_text[TT_DURATION_TEXT]);
/* So long the buffer lasts; a timer's: what a missed period is of. */
int64_t tt_meter_buffer_ns(const struct tt_fragment_shape *shape);
/* "disk write" for "write": as a column is headed. */
const char *tt_meter_load_text(const char *name);
/* "time taken by the hypervisor, …" */
const char *tt_meter_cause_text(enum tt_cause cause);
/* What dropouts are to a row: the device ran empty; a timer's skipped and late periods. */
uint64_t tt_meter_dropouts(const struct tt_fragment_shape *shape,
                           const struct tt_fragment_counters *counters);
void tt_meter_verdict_find(const struct tt_meter_row *row, struct tt_verdict *ret_verdict);
/* Of one load alone. */
void tt_meter_verdict_of_load(const struct tt_meter_row *row, size_t load,
                              struct tt_verdict *ret_verdict);
/* A computation takes longer than a fragment under one of the loads. */
bool tt_meter_no_buffer_helps(const struct tt_meter_row *row, const struct tt_verdict *verdict);
/* "64 x 3 at 48 kHz: not safe: 11 dropouts in 40 s under 2 of 8 loads, 9 of them under disk write
 * in 5 s; there mostly …". Returns ret_text. */
const char *tt_meter_verdict_text(const struct tt_meter_row *row, const struct tt_verdict *verdict,
                                  char ret_text[TT_METER_TEXT]);
/* "not safe", or, of a clean run that is too short for "safe", "< 1 in 16 s" (95 %). */
const char *tt_meter_verdict_short(const struct tt_verdict *verdict,
                                   char ret_text[TT_DURATION_TEXT]);
/* One line of a soak: when, how many, how late, why, with what evidence. Returns ret_text. */
const char *tt_meter_incident_text(const struct tt_incident *incident,
                                   char ret_text[TT_METER_TEXT]);

#endif
