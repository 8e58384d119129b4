/*
 * Text tables for a terminal or a log: aligned columns, figures in ns with digits in groups of
 * three, "-" where something is not known.
 */
#ifndef TT_REPORT_TABLE_H
#define TT_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/hist.h"

#define TT_TABLE_COLUMNS_MAX 32
#define TT_NUMBER_TEXT       40

enum tt_align { TT_ALIGN_LEFT, TT_ALIGN_RIGHT };

struct tt_column {
    const char *heading;
    enum tt_align align;
};

/* Owns the text of its cells; `columns` stay the caller's. */
struct tt_table {
    const struct tt_column *columns;
    size_t column_count;
    char **cells; /* row by row */
    size_t cell_count;
    size_t cell_capacity;
};

void tt_table_init(struct tt_table *table, const struct tt_column *columns, size_t column_count);
void tt_table_done(struct tt_table *table);

/* "-1,229,893". Returns ret_text. */
const char *tt_number_format(int64_t value, char ret_text[TT_NUMBER_TEXT]);

/* The next cell of the row; rows follow each other by themselves. */
void tt_table_cell(struct tt_table *table, const char *format, ...) TT_PRINTF(2, 3);
/* A count or a time, digits grouped: 1,229,893. */
void tt_table_cell_number(struct tt_table *table, int64_t value);
/* As tt_table_cell_number, and "-" where the value is below `least`, the smallest that can be
 * known. */
void tt_table_cell_known(struct tt_table *table, int64_t value, int64_t least);

/* The columns that tt_table_cells_summary fills: mean and stdev with 0.1 ns. */
#define TT_TABLE_SUMMARY_COLUMNS                                                                   \
    {"mean", TT_ALIGN_RIGHT}, {"stdev", TT_ALIGN_RIGHT}, {"min", TT_ALIGN_RIGHT},                  \
        {"p50", TT_ALIGN_RIGHT}, {"p99", TT_ALIGN_RIGHT}, {"p99.9", TT_ALIGN_RIGHT},               \
        {"max", TT_ALIGN_RIGHT}, {"range", TT_ALIGN_RIGHT},                                        \
    {                                                                                              \
        "n", TT_ALIGN_RIGHT                                                                        \
    }
void tt_table_cells_summary(struct tt_table *table, const struct tt_hist *hist);

/* A cell's text, row by row. */
const char *tt_table_text(const struct tt_table *table, size_t cell);
void tt_table_print(const struct tt_table *table, FILE *out);

#endif
