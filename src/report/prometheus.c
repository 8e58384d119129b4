/*
 * See prometheus.h.
 */
#include "report/prometheus.h"

#include <inttypes.h>
#include <math.h>

#include "base/attr.h"

#define LABELS_MAX 8

const int64_t tt_prom_signed_ns[] = {
    -1000000000, -100000000, -10000000, -1000000, -100000,  -10000,    -1000,     0,
    1000,        2000,       5000,      10000,    20000,    50000,     100000,    200000,
    500000,      1000000,    2000000,   5000000,  10000000, 100000000, 1000000000};
const size_t tt_prom_signed_count = TT_COUNT_OF(tt_prom_signed_ns);

const int64_t tt_prom_positive_ns[] = {
    10000,  20000,   50000,   100000,  125000,   150000,   200000,   250000,    300000,
    500000, 1000000, 2000000, 5000000, 10000000, 20000000, 50000000, 100000000, 1000000000};
const size_t tt_prom_positive_count = TT_COUNT_OF(tt_prom_positive_ns);

void tt_prom_family(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_value(FILE *out, const char *value)
{
    for (; *value != 0; value++) {
        if (*value == '\\' || *value == '"') {
            fputc('\\', out);
        }
        fputc((unsigned char)*value < ' ' ? ' ' : *value, out);
    }
}

static void write_labels(FILE *out, const struct tt_prom_label *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%s=\"", i > 0 ? "," : "{", labels[i].name);
        write_value(out, labels[i].value);
        fputc('"', out);
    }
    fputs(n > 0 ? "} " : " ", out);
}

void tt_prom_count(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                   uint64_t value)
{
    fputs(name, out);
    write_labels(out, labels, n);
    fprintf(out, "%" PRIu64 "\n", value);
}

void tt_prom_value(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                   double value)
{
    fputs(name, out);
    write_labels(out, labels, n);
    fprintf(out, "%.12g\n", value);
}

static void write_bucket(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                         const char *bound, uint64_t below)
{
    struct tt_prom_label all[LABELS_MAX + 1];
    char bucket[128];

    for (size_t i = 0; i < n; i++) {
        all[i] = labels[i];
    }
    all[n] = (struct tt_prom_label){"le", bound};
    snprintf(bucket, sizeof(bucket), "%s_bucket", name);
    tt_prom_count(out, bucket, all, n + 1, below);
}

void tt_prom_histogram(FILE *out, const char *name, const struct tt_prom_label *labels, size_t n,
                       const struct tt_prom_bounds *bounds, const struct tt_hist *hist)
{
    char text[128];
    uint64_t below = 0;
    double sum = 0;
    size_t bound = 0;
    size_t at = 0;
    int64_t value;
    uint64_t count;

    while (tt_hist_next(hist, &at, &value, &count)) {
        for (; bound < bounds->count && value > bounds->ns[bound]; bound++) {
            snprintf(text, sizeof(text), "%.12g", (double)bounds->ns[bound] / 1e9);
            write_bucket(out, name, labels, n, text, below);
        }
        below += count;
        sum += (double)value * (double)count / 1e9;
    }
    for (; bound < bounds->count; bound++) {
        snprintf(text, sizeof(text), "%.12g", (double)bounds->ns[bound] / 1e9);
        write_bucket(out, name, labels, n, text, below);
    }
    write_bucket(out, name, labels, n, "+Inf", below);
    snprintf(text, sizeof(text), "%s_sum", name);
    tt_prom_value(out, text, labels, n, sum);
    snprintf(text, sizeof(text), "%s_count", name);
    tt_prom_count(out, text, labels, n, below);
}
