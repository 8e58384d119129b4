/*
 * See history.h.
 */
#include "base/history.h"

#include <string.h>

static void cell_merge(struct tt_history_cell *into, const struct tt_history_cell *from)
{
    if (from->n == 0) {
        return;
    }
    if (into->n == 0) {
        *into = *from;
        return;
    }
    into->n += from->n;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

static void halve(struct tt_history *history)
{
    struct tt_history_cell *cells = history->cells;

    for (size_t i = 0; i < TT_HISTORY_CELLS / 2; i++) {
        struct tt_history_cell pair = cells[2 * i];

        cell_merge(&pair, &cells[2 * i + 1]);
        cells[i] = pair;
    }
    memset(cells + TT_HISTORY_CELLS / 2, 0, sizeof(*cells) * (TT_HISTORY_CELLS / 2));
    history->used = (history->used + 1) / 2;
    history->cell_ns *= 2;
}

/* The cell of a time; what is before the start is in the first. */
static void find_cell(struct tt_history *history, int64_t time_ns)
{
    uint64_t since_ns =
        time_ns < history->start_ns ? 0 : (uint64_t)time_ns - (uint64_t)history->start_ns;

    while (since_ns / (uint64_t)history->cell_ns >= TT_HISTORY_CELLS) {
        halve(history);
    }
    history->newest = (size_t)(since_ns / (uint64_t)history->cell_ns);
    history->newest_ns = time_ns < history->start_ns
                             ? history->start_ns
                             : time_ns - (int64_t)(since_ns % (uint64_t)history->cell_ns);
    if (history->newest >= history->used) {
        history->used = history->newest + 1;
    }
}

void tt_history_record(struct tt_history *history, int64_t time_ns, int64_t value)
{
    struct tt_history_cell *cell;

    if (history->cell_ns == 0) {
        history->start_ns = time_ns;
        history->cell_ns = TT_HISTORY_CELL_NS;
        history->used = 1;
        history->newest_ns = time_ns;
    }
    if ((uint64_t)time_ns - (uint64_t)history->newest_ns >= (uint64_t)history->cell_ns) {
        find_cell(history, time_ns);
    }
    cell = &history->cells[history->newest];
    cell->min = cell->n == 0 || value < cell->min ? value : cell->min;
    cell->max = cell->n == 0 || value > cell->max ? value : cell->max;
    cell->n++;
}
