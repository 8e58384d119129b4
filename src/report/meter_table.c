/*
 * See meter_table.h.
 */
#include "report/meter_table.h"

#include <inttypes.h>

#include "base/ns.h"

#define BEYOND 10 /* no percentile without so many values beyond it */

static void cell_worst(struct tt_table *table, const struct tt_meter_row *row,
                       const struct tt_meter_result *result)
{
    double ms = (double)result->cell->late.max / 1e6;

    if (result->cell->late.n == 0) {
        tt_table_cell(table, "-");
        return;
    }
    if (row->shape.count > 0) {
        ms += (double)result->cell->period_ns / 1e6;
    }
    tt_table_cell(table, ms < 10 ? "%.2f (%" PRIu64 ")" : "%.1f (%" PRIu64 ")", ms,
                  tt_meter_dropouts(&row->shape, &result->counters));
}

void tt_meter_table_worst(struct tt_meter_table *made, const struct tt_meter_row *rows, size_t n)
{
    const struct tt_meter_row *longest = &rows[0]; /* the others were interrupted */
    size_t loads;

    for (size_t r = 1; r < n; r++) {
        longest = rows[r].count > longest->count ? &rows[r] : longest;
    }
    loads = longest->count < TT_METER_LOADS_MAX ? longest->count : TT_METER_LOADS_MAX;
    made->columns[0] = (struct tt_column){"buffer", TT_ALIGN_LEFT};
    for (size_t i = 0; i < loads; i++) {
        made->columns[i + 1] =
            (struct tt_column){tt_meter_load_text(longest->results[i].load_name), TT_ALIGN_RIGHT};
    }
    tt_table_init(&made->table, made->columns, loads + 1);
    for (size_t r = 0; r < n; r++) {
        char shape[TT_DURATION_TEXT];

        tt_table_cell(&made->table, "%s (%.3g ms)%s", tt_meter_shape_text(&rows[r].shape, shape),
                      (double)tt_meter_buffer_ns(&rows[r].shape) / 1e6,
                      rows[r].tuned ? " tuned" : "");
        for (size_t i = 0; i < loads; i++) {
            if (i < rows[r].count) {
                cell_worst(&made->table, &rows[r], &rows[r].results[i]);
            } else {
                tt_table_cell(&made->table, "-");
            }
        }
    }
}

/* In us; "-" without enough values beyond. */
static void cell_percentile(struct tt_table *table, const struct tt_hist *hist, unsigned per_mille)
{
    if (hist->n * (1000 - per_mille) < BEYOND * 1000) {
        tt_table_cell(table, "-");
    } else {
        tt_table_cell(table, "%.1f", (double)tt_hist_percentile(hist, per_mille) / 1e3);
    }
}

static void cell_share(struct tt_table *table, const struct tt_cell *cell, unsigned per_mille)
{
    if (cell->compute.n == 0) {
        tt_table_cell(table, "-");
    } else {
        tt_table_cell(table, "%.0f %%",
                      100.0 * (double)tt_hist_percentile(&cell->compute, per_mille) /
                          (double)cell->period_ns);
    }
}

static void cell_load(struct tt_table *table, const struct tt_load_done *load)
{
    double seconds = (double)load->elapsed_ns / 1e9;

    if (load->error) {
        tt_table_cell(table, "failed");
    } else if (seconds <= 0) {
        tt_table_cell(table, "-");
    } else if (load->bytes > 0) {
        tt_table_cell(table, "%.0f MB/s", (double)load->bytes / 1e6 / seconds);
    } else {
        tt_table_cell(table, "%.0f rounds/s", (double)load->rounds / seconds);
    }
}

void tt_meter_table_periods(struct tt_table *table, const struct tt_meter_row *row)
{
    static const struct tt_column columns[] = {
        {"load", TT_ALIGN_LEFT},          {"verdict", TT_ALIGN_LEFT},
        {"did", TT_ALIGN_RIGHT},          {"expected", TT_ALIGN_RIGHT},
        {"= on time", TT_ALIGN_RIGHT},    {"+ late", TT_ALIGN_RIGHT},
        {"+ skipped", TT_ALIGN_RIGHT},    {"empty", TT_ALIGN_RIGHT},
        {"late us: p50", TT_ALIGN_RIGHT}, {"p99", TT_ALIGN_RIGHT},
        {"p99.9", TT_ALIGN_RIGHT},        {"max", TT_ALIGN_RIGHT},
        {"share: p50", TT_ALIGN_RIGHT},   {"max", TT_ALIGN_RIGHT},
    };

    tt_table_init(table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < row->count; i++) {
        struct tt_verdict verdict;
        char text[TT_DURATION_TEXT];
        const struct tt_meter_result *result = &row->results[i];
        const struct tt_fragment_counters *counters = &result->counters;
        const struct tt_hist *late = &result->cell->late;

        tt_table_cell(table, "%s", tt_meter_load_text(result->load_name));
        tt_meter_verdict_of_load(row, i, &verdict);
        tt_table_cell(table, "%s", tt_meter_verdict_short(&verdict, text));
        cell_load(table, &result->load);
        tt_table_cell_number(table, (int64_t)counters->expected);
        tt_table_cell_number(table, (int64_t)counters->on_time);
        tt_table_cell_number(table, (int64_t)counters->late);
        tt_table_cell_number(table, (int64_t)counters->skipped);
        tt_table_cell_number(table, (int64_t)counters->empty);
        cell_percentile(table, late, 500);
        cell_percentile(table, late, 990);
        cell_percentile(table, late, 999);
        if (late->n > 0) {
            tt_table_cell(table, "%.1f", (double)late->max / 1e3);
        } else {
            tt_table_cell(table, "-");
        }
        cell_share(table, result->cell, 500);
        cell_share(table, result->cell, 1000);
    }
}

static void sum_causes(const struct tt_meter_row *row, struct tt_cause_total sums[TT_CAUSES])
{
    for (size_t i = 0; i < row->count; i++) {
        for (int cause = 0; cause < TT_CAUSES; cause++) {
            const struct tt_cause_total *total = &row->results[i].cell->causes[cause];

            sums[cause].incidents += total->incidents;
            sums[cause].empty += total->empty;
            sums[cause].lost_ns += total->lost_ns;
        }
    }
}

size_t tt_meter_table_causes(struct tt_table *table, const struct tt_meter_row *row)
{
    static const struct tt_column columns[] = {
        {"time lost", TT_ALIGN_RIGHT},
        {"losses", TT_ALIGN_RIGHT},
        {"empty", TT_ALIGN_RIGHT},
        {"by", TT_ALIGN_LEFT},
    };
    struct tt_cause_total sums[TT_CAUSES] = {0};
    size_t rows = 0;

    sum_causes(row, sums);
    tt_table_init(table, columns, TT_COUNT_OF(columns));
    for (;;) {
        int most = 0;
        char time[TT_DURATION_TEXT];

        for (int cause = 1; cause < TT_CAUSES; cause++) {
            most = sums[cause].lost_ns > sums[most].lost_ns ? cause : most;
        }
        if (sums[most].lost_ns <= 0) {
            return rows;
        }
        tt_table_cell(table, "%s", tt_duration_text(sums[most].lost_ns, time));
        tt_table_cell_number(table, (int64_t)sums[most].incidents);
        tt_table_cell_number(table, (int64_t)sums[most].empty);
        tt_table_cell(table, "%s", tt_meter_cause_text((enum tt_cause)most));
        sums[most].lost_ns = 0;
        rows++;
    }
}
