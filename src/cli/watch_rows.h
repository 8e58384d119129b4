/*
 * The streams of an observer as the rows of a picture, in an order that somebody chose.
 */
#ifndef TT_CLI_WATCH_ROWS_H
#define TT_CLI_WATCH_ROWS_H

#include "audio/observer.h"

#define TT_WATCH_ROWS_MAX 512

enum tt_watch_order {
    TT_WATCH_BY_NUMBER,
    TT_WATCH_BY_LOST,
    TT_WATCH_BY_LATENESS,
    TT_WATCH_BY_PDUS,
    TT_WATCH_ORDERS
};

/* A stream, and what it is sorted by. */
struct tt_watch_row {
    const struct tt_observed *stream;
    size_t number;
    int64_t late_ns; /* p99 of the lateness; INT64_MIN: not known */
};

const char *tt_watch_order_name(enum tt_watch_order order);
/* Returns how many rows there are. */
size_t tt_watch_rows(const struct tt_observer *observer, enum tt_watch_order order,
                     struct tt_watch_row ret_rows[TT_WATCH_ROWS_MAX]);

#endif
