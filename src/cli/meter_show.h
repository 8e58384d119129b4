/*
 * What `tactus meter` prints.
 */
#ifndef TT_CLI_METER_SHOW_H
#define TT_CLI_METER_SHOW_H

#include <jansson.h>

#include "cli/meter_job.h"

#define TT_METER_POLICY_TEXT 64
/* "fifo 70, processor 1". */
const char *tt_meter_show_policy(const struct tt_meter_job *job, char text[TT_METER_POLICY_TEXT]);

/* Who has it: " Root has it, …", or "". */
const char *tt_meter_show_policy_advice(enum tt_policy_kind kind, int error);

/* What is measured, and how: before it starts. */
void tt_meter_show_setup(const struct tt_meter_job *job);
/* Tables, causes, machine, and at the end a verdict for each row. */
void tt_meter_show_text(const struct tt_meter_job *job, const struct tt_meter_row *rows, size_t n);
/* A new reference. */
json_t *tt_meter_show_json(const struct tt_meter_job *job, const struct tt_meter_row *rows,
                           size_t n);

#endif
