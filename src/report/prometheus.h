/*
 * Figures in the text format that Prometheus scrapes. Times are in seconds, as is the custom there.
 *
 * The samples of a family follow its head, all together.
 * Source: Prometheus' text-based format 0.0.4.
 */
#ifndef TT_REPORT_PROMETHEUS_H
#define TT_REPORT_PROMETHEUS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hist.h"

struct tt_prom_label {
    const char *name;
    const char *value;
};

/* type: "counter" (its name ends in _total), "gauge", "histogram". */
void tt_prom_family(FILE *out, const char *name, const char *type, const char *help);
void tt_prom_count(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                   uint64_t value);
void tt_prom_value(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                   double value);

/* From early to late, each side from 1 us to 1 s; for what is about 0. */
extern const int64_t tt_prom_signed_ns[];
extern const size_t tt_prom_signed_count;
/* From 10 us to 1 s in steps of 1, 2, 5; for what is above 0. */
extern const int64_t tt_prom_positive_ns[];
extern const size_t tt_prom_positive_count;

struct tt_prom_bounds {
    const int64_t *ns; /* ascending */
    size_t count;
};

/* `hist` is of ns. It may be written meanwhile: count and buckets are then of one reading, and
 * agree. */
void tt_prom_histogram(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                       const struct tt_prom_bounds *bounds, const struct tt_hist *hist);

#endif
