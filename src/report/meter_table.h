/*
 * The meter's tables, for a terminal and for a page alike.
 */
#ifndef TT_REPORT_METER_TABLE_H
#define TT_REPORT_METER_TABLE_H

#include <stddef.h>

#include "report/meter_text.h"
#include "report/table.h"

#define TT_METER_LOADS_MAX 16

/* Columns are made as the rows' loads are; they stay in here. */
struct tt_meter_table {
    struct tt_column columns[TT_METER_LOADS_MAX + 1];
    struct tt_table table;
};

/* The table of 1999: worst latency in ms and, in brackets, how many times the device ran empty. A
 * latency is the time that the device had to live on what it had: a dropout where it is longer than
 * the buffer. */
void tt_meter_table_worst(struct tt_meter_table *made, const struct tt_meter_row *rows, size_t n);
/* A row for each load of one buffer: each period accounted for, the share that was computed. */
void tt_meter_table_periods(struct tt_table *table, const struct tt_meter_row *row);
/* All losses of one buffer by cause, the dearest first. Returns how many causes there are. */
size_t tt_meter_table_causes(struct tt_table *table, const struct tt_meter_row *row);

#endif
