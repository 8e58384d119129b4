/*
 * See watch_rows.h.
 */
#include "cli/watch_rows.h"

#include <stdlib.h>

const char *tt_watch_order_name(enum tt_watch_order order)
{
    static const char *const names[TT_WATCH_ORDERS] = {"number", "lost", "lateness", "PDUs"};

    return names[order];
}

static int by_number(const void *a, const void *b)
{
    const struct tt_watch_row *x = a;
    const struct tt_watch_row *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static int by_lost(const void *a, const void *b)
{
    const struct tt_watch_row *x = a;
    const struct tt_watch_row *y = b;
    int order = (x->stream->lost < y->stream->lost) - (x->stream->lost > y->stream->lost);

    return order != 0 ? order : by_number(a, b);
}

static int by_lateness(const void *a, const void *b)
{
    const struct tt_watch_row *x = a;
    const struct tt_watch_row *y = b;
    int order = (x->late_ns < y->late_ns) - (x->late_ns > y->late_ns);

    return order != 0 ? order : by_number(a, b);
}

static int by_pdus(const void *a, const void *b)
{
    const struct tt_watch_row *x = a;
    const struct tt_watch_row *y = b;
    int order = (x->stream->pdus < y->stream->pdus) - (x->stream->pdus > y->stream->pdus);

    return order != 0 ? order : by_number(a, b);
}

size_t tt_watch_rows(const struct tt_observer *observer, enum tt_watch_order order,
                     struct tt_watch_row ret_rows[TT_WATCH_ROWS_MAX])
{
    static int (*const orders[TT_WATCH_ORDERS])(const void *, const void *) = {
        by_number, by_lost, by_lateness, by_pdus};
    size_t n = observer->count < TT_WATCH_ROWS_MAX ? observer->count : TT_WATCH_ROWS_MAX;

    for (size_t i = 0; i < n; i++) {
        const struct tt_observed *o = observer->streams[i];

        ret_rows[i] = (struct tt_watch_row){
            .stream = o,
            .number = i + 1,
            .late_ns = o->lateness.n > 0 ? tt_hist_percentile(&o->lateness, 990) : INT64_MIN};
    }
    qsort(ret_rows, n, sizeof(ret_rows[0]), orders[order]);
    return n;
}
