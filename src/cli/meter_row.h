/*
 * A buffer under all loads of a job, as found and tuned, and what it is judged.
 */
#ifndef TT_CLI_METER_ROW_H
#define TT_CLI_METER_ROW_H

#include "cli/meter_job.h"

/* A row under all loads; ends early at an interrupt, with the loads that it came to: with one at
 * least, if that came to nothing. `ret_tuned`: also as it is when all is done that helps, in turn
 * with as found (A B B A …); or NULL. */
enum tt_exit tt_meter_row_run(struct tt_meter_job *job, const struct tt_fragment_shape *shape,
                              struct tt_meter_row *ret_row, struct tt_meter_row *ret_tuned);
/* Interrupted before there was a period. */
bool tt_meter_row_came_to_nothing(const struct tt_meter_row *row);
void tt_meter_row_free(struct tt_meter_row *row);

/* The exit code that its figures are; says what a required buffer lacks. */
enum tt_exit tt_meter_row_judge(const struct tt_meter_job *job, const struct tt_meter_row *row);

#endif
