/*
 * The log of departures of `tactus gate shape`, as tests/sim/departures.py reads it. It is whole
 * lines, and up to the first that could not be written all that left.
 */
#ifndef TT_CLI_GATE_SHAPE_LOG_H
#define TT_CLI_GATE_SHAPE_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "run/shape.h"

struct tt_gate_shape_log {
    const char *path; /* NULL: none is wanted */
    FILE *out;        /* NULL: it is not written, or not any more */
    off_t whole_bytes;
    uint64_t lost; /* departures that are not in it */
};

/* What is in the file stays until the log begins. false: it cannot be written, which has been said.
 */
bool tt_gate_shape_log_open(struct tt_gate_shape_log *log, const char *path);
void tt_gate_shape_log_begin(struct tt_gate_shape_log *log, int64_t rate_bps);
void tt_gate_shape_log_list(struct tt_gate_shape_log *log, const struct tt_gate_list *list,
                            int64_t start_tai_ns);
void tt_gate_shape_log_departures(struct tt_gate_shape_log *log,
                                  const struct tt_shape_departure *departures, size_t n);
/* false: it is not whole, which has been said. */
bool tt_gate_shape_log_close(struct tt_gate_shape_log *log);

#endif
