/*
 * The page of `tactus meter --html`.
 */
#ifndef TT_CLI_METER_PAGE_H
#define TT_CLI_METER_PAGE_H

#include "cli/meter_job.h"

/* TT_EXIT_GOOD, or an exit code after saying why. n >= 1. */
enum tt_exit tt_meter_page_write(const struct tt_meter_job *job, const struct tt_meter_row *rows,
                                 size_t n, const char *path);

#endif
