/*
 * JSON as every part of Tactus writes it: integers of ns, null for what is unknown, one object per
 * line or per file.
 */
#ifndef TT_REPORT_JSON_H
#define TT_REPORT_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/aaf.h"
#include "audio/listener.h"
#include "base/attr.h"
#include "base/hist.h"

/* Mean and stdev carry 0.001 ns; 15 digits print that without noise. */
#define TT_JSON_LINE (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define TT_JSON_FILE (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

/* All of these return a new reference, or NULL when memory is out. */

/* {"n", "mean_ns", "stdev_ns", "min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns", "range_ns"}; all
 * but n are null when nothing was recorded or `hist` is NULL. */
json_t *tt_json_summary(const struct tt_hist *hist);
json_t *tt_json_u64(uint64_t value);
/* Null where the value is below `least`, the smallest that can be known. */
json_t *tt_json_known(int64_t value, int64_t least);
/* A name that others gave, of a file, a port, an interface: what is no UTF-8 stands as \xNN, so
 * that nothing is left out. Null of NULL. */
json_t *tt_json_name(const char *name);
json_t *tt_json_stream_id(uint64_t stream_id);
/* {"short": n, "subtype": n, …}: every reason for refusing an AAF PDU. */
json_t *tt_json_refused(const uint64_t refused[TT_AAF_REASONS]);

/* A field of type uint64_t in a struct of counters, by its name. */
struct tt_json_field {
    const char *name;
    size_t offset;
};
#define TT_JSON_FIELD(type, field)                                                                 \
    {                                                                                              \
#field, offsetof(struct type, field)                                                       \
    }
json_t *tt_json_fields(const void *counters, const struct tt_json_field *fields, size_t n);
/* All of them by name; pdus_refused as tt_json_refused. */
json_t *tt_json_listener_counters(const struct tt_listener_counters *counters);

/* One compact line, flushed, so that a reader of a pipe has it at once. 0 or -errno. */
int tt_json_print_line(FILE *out, const json_t *value);
/* Writes beside `path` and renames; `path` is never half a file. 0 or -errno. */
int tt_json_write_file(const char *path, const json_t *value);

#endif
