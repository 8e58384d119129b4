/*
 * `tactus meter --for`: hours of one buffer under one load, with each loss as it comes.
 */
#ifndef TT_CLI_METER_SOAK_H
#define TT_CLI_METER_SOAK_H

#include "cli/meter_job.h"

/* `log`: a file to which JSON lines are added, each on the disk before the next; `html`: a page
 * that is written in the end; or NULL. */
enum tt_exit tt_meter_soak(struct tt_meter_job *job, int64_t for_ns, const char *log,
                           const char *html);

#endif
