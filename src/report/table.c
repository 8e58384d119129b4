/*
 * See table.h. A cell for which there is no memory is printed as "?".
 */
#include "report/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"

void tt_table_init(struct tt_table *table, const struct tt_column *columns, size_t column_count)
{
    assert(column_count <= TT_TABLE_COLUMNS_MAX);
    *table = (struct tt_table){.columns = columns, .column_count = column_count};
}

void tt_table_done(struct tt_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        free(table->cells[i]);
    }
    free(table->cells);
    *table = (struct tt_table){0};
}

void tt_table_cell(struct tt_table *table, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    if (table->cell_count == table->cell_capacity) {
        size_t capacity = table->cell_capacity ? 2 * table->cell_capacity : 64;
        char **cells = realloc(table->cells, capacity * sizeof(*cells));

        if (!cells) {
            return;
        }
        table->cells = cells;
        table->cell_capacity = capacity;
    }
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
    }
    va_end(args);
    table->cells[table->cell_count++] = text ? tt_word_printable(text) : NULL;
}

/* "-1229893" becomes "-1,229,893"; what follows the digits stays. */
static const char *group_digits(const char *plain, char ret_text[TT_NUMBER_TEXT])
{
    size_t sign = plain[0] == '-';
    size_t digits = strspn(plain + sign, "0123456789");
    size_t at = 0;

    for (size_t i = 0; plain[i] != 0 && at < TT_NUMBER_TEXT - 2; i++) {
        if (i > sign && i < sign + digits && (sign + digits - i) % 3 == 0) {
            ret_text[at++] = ',';
        }
        ret_text[at++] = plain[i];
    }
    ret_text[at] = 0;
    return ret_text;
}

const char *tt_number_format(int64_t value, char ret_text[TT_NUMBER_TEXT])
{
    char plain[TT_NUMBER_TEXT];

    snprintf(plain, sizeof(plain), "%" PRId64, value);
    return group_digits(plain, ret_text);
}

void tt_table_cell_number(struct tt_table *table, int64_t value)
{
    char text[TT_NUMBER_TEXT];

    tt_table_cell(table, "%s", tt_number_format(value, text));
}

void tt_table_cell_known(struct tt_table *table, int64_t value, int64_t least)
{
    if (value < least) {
        tt_table_cell(table, "-");
    } else {
        tt_table_cell_number(table, value);
    }
}

static void cell_tenths(struct tt_table *table, double value)
{
    char plain[TT_NUMBER_TEXT];
    char text[TT_NUMBER_TEXT];

    snprintf(plain, sizeof(plain), "%.1f", value);
    tt_table_cell(table, "%s", group_digits(plain, text));
}

void tt_table_cells_summary(struct tt_table *table, const struct tt_hist *hist)
{
    struct tt_summary s;

    if (hist->n == 0) {
        for (int i = 0; i < 8; i++) {
            tt_table_cell(table, "-");
        }
        tt_table_cell_number(table, 0);
        return;
    }
    tt_hist_summarize(hist, &s);
    cell_tenths(table, s.mean);
    cell_tenths(table, s.stdev);
    const int64_t rest[] = {s.min, s.p50, s.p99, s.p999, s.max, s.max - s.min, (int64_t)s.n};

    for (size_t i = 0; i < TT_COUNT_OF(rest); i++) {
        tt_table_cell_number(table, rest[i]);
    }
}

const char *tt_table_text(const struct tt_table *table, size_t cell)
{
    return table->cells[cell] ? table->cells[cell] : "?";
}

static int column_width(const struct tt_table *table, size_t column)
{
    size_t width = strlen(table->columns[column].heading);

    for (size_t i = column; i < table->cell_count; i += table->column_count) {
        size_t length = strlen(tt_table_text(table, i));

        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_cell(const struct tt_table *table, size_t column, int width, const char *text,
                       FILE *out)
{
    bool last = column + 1 == table->column_count;

    if (table->columns[column].align == TT_ALIGN_RIGHT) {
        fprintf(out, "%*s", width, text);
    } else if (last) {
        fputs(text, out);
    } else {
        fprintf(out, "%-*s", width, text);
    }
    fputs(last ? "\n" : "  ", out);
}

void tt_table_print(const struct tt_table *table, FILE *out)
{
    int widths[TT_TABLE_COLUMNS_MAX];

    for (size_t c = 0; c < table->column_count; c++) {
        widths[c] = column_width(table, c);
        print_cell(table, c, widths[c], table->columns[c].heading, out);
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t c = i % table->column_count;

        print_cell(table, c, widths[c], tt_table_text(table, i), out);
    }
}
