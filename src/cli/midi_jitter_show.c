/*
 * See midi_jitter_show.h.
 */
#include "cli/midi_jitter_show.h"

#include <jansson.h>
#include <stdio.h>

#include "report/json.h"
#include "report/table.h"

typedef void fill_row(struct tt_table *table, const struct tt_jitter *pass,
                      const struct tt_jitter_method *method);

/* Method by method, so that idle and loaded stand below each other. */
static void print_rows(const struct tt_jitter *passes, unsigned count,
                       const struct tt_column *columns, size_t column_count, fill_row *fill)
{
    struct tt_table table;

    tt_table_init(&table, columns, column_count);
    for (unsigned m = 0; m < passes[0].method_count; m++) {
        for (unsigned p = 0; p < count; p++) {
            const struct tt_jitter_method *method = &passes[p].methods[m];

            tt_table_cell(&table, "%s", method->name);
            tt_table_cell(&table, "%s", tt_jitter_load_name(passes[p].load));
            fill(&table, &passes[p], method);
        }
    }
    tt_table_print(&table, stdout);
    tt_table_done(&table);
}

static void fill_counts(struct tt_table *table, const struct tt_jitter *pass,
                        const struct tt_jitter_method *method)
{
    const struct tt_probe_result *result = &method->result;

    tt_table_cell_number(table, (int64_t)pass->sent);
    tt_table_cell_number(table, (int64_t)result->lost);
    tt_table_cell_number(table, (int64_t)result->clocks_lost);
    tt_table_cell_number(table, (int64_t)method->duplicated);
    tt_table_cell_number(table, (int64_t)method->reordered);
    tt_table_cell_number(table, (int64_t)result->inside);
    tt_table_cell_known(table, result->worst_interval_ns, INT64_MIN + 1);
    tt_table_cell_known(table, method->errors.n > 0 ? result->offset_ns : INT64_MIN, INT64_MIN + 1);
    if (method->errors.n > 0) {
        tt_table_cell(table, "%.1f", result->drift_ppm);
    } else {
        tt_table_cell(table, "-");
    }
}

static void fill_errors(struct tt_table *table, const struct tt_jitter *pass,
                        const struct tt_jitter_method *method)
{
    static const unsigned per_mille[] = {1, 10, 500, 990, 999};
    bool any = method->errors.n > 0;

    (void)pass;
    tt_table_cell_known(table, any ? method->errors.min : INT64_MIN, INT64_MIN + 1);
    for (unsigned i = 0; i < TT_COUNT_OF(per_mille); i++) {
        tt_table_cell_known(table,
                            any ? tt_hist_percentile(&method->errors, per_mille[i]) : INT64_MIN,
                            INT64_MIN + 1);
    }
    tt_table_cell_known(table, any ? method->errors.max : INT64_MIN, INT64_MIN + 1);
    tt_table_cell_number(table, (int64_t)method->errors.n);
}

void tt_jitter_show(const struct tt_jitter *passes, unsigned count)
{
    static const struct tt_column counts[] = {
        {"method", TT_ALIGN_LEFT},          {"load", TT_ALIGN_LEFT},
        {"sent", TT_ALIGN_RIGHT},           {"lost", TT_ALIGN_RIGHT},
        {"F8 lost", TT_ALIGN_RIGHT},        {"twice", TT_ALIGN_RIGHT},
        {"out of order", TT_ALIGN_RIGHT},   {"inside", TT_ALIGN_RIGHT},
        {"worst interval", TT_ALIGN_RIGHT}, {"offset", TT_ALIGN_RIGHT},
        {"drift ppm", TT_ALIGN_RIGHT},
    };
    static const struct tt_column errors[] = {
        {"method", TT_ALIGN_LEFT}, {"load", TT_ALIGN_LEFT},   {"min", TT_ALIGN_RIGHT},
        {"p0.1", TT_ALIGN_RIGHT},  {"p1", TT_ALIGN_RIGHT},    {"p50", TT_ALIGN_RIGHT},
        {"p99", TT_ALIGN_RIGHT},   {"p99.9", TT_ALIGN_RIGHT}, {"max", TT_ALIGN_RIGHT},
        {"n", TT_ALIGN_RIGHT},
    };

    puts("What came; times in ns. Worst interval: beyond that between the sendings.");
    print_rows(passes, count, counts, TT_COUNT_OF(counts), fill_counts);
    puts("\nErrors in ns: recorded - sent - the line that fits best.");
    print_rows(passes, count, errors, TT_COUNT_OF(errors), fill_errors);
}

/* With the low side too. */
static json_t *json_errors(const struct tt_hist *errors)
{
    json_t *json = tt_json_summary(errors);
    bool any = errors->n > 0;

    json_object_set_new(json, "p0_1_ns",
                        any ? json_integer(tt_hist_percentile(errors, 1)) : json_null());
    json_object_set_new(json, "p1_ns",
                        any ? json_integer(tt_hist_percentile(errors, 10)) : json_null());
    return json;
}

static json_t *json_of(const struct tt_jitter *pass, const struct tt_jitter_method *method)
{
    const struct tt_probe_result *result = &method->result;
    bool any = method->errors.n > 0;

    return json_pack(
        "{s:o, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "method",
        tt_json_name(method->name), "load", tt_jitter_load_name(pass->load), "load_realtime",
        pass->load_realtime, "sent", (json_int_t)pass->sent, "lost", (json_int_t)result->lost,
        "clocks_lost", (json_int_t)result->clocks_lost, "duplicated",
        (json_int_t)method->duplicated, "reordered", (json_int_t)method->reordered, "foreign",
        (json_int_t)method->foreign, "inside", (json_int_t)result->inside, "worst_interval_ns",
        tt_json_known(result->worst_interval_ns, INT64_MIN + 1), "offset_ns",
        any ? json_integer(result->offset_ns) : json_null(), "drift_ppm",
        any ? json_real(result->drift_ppm) : json_null(), "error", json_errors(&method->errors));
}

void tt_jitter_show_json(const struct tt_jitter *passes, unsigned count)
{
    json_t *rows = json_array();
    json_t *json;

    for (unsigned p = 0; p < count; p++) {
        for (unsigned m = 0; m < passes[p].method_count; m++) {
            json_array_append_new(rows, json_of(&passes[p], &passes[p].methods[m]));
        }
    }
    json = json_pack("{s:o}", "methods", rows);
    tt_json_print_line(stdout, json);
    json_decref(json);
}
