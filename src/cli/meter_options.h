/*
 * The options of `tactus meter`, shared with `tactus meter compare`.
 */
#ifndef TT_CLI_METER_OPTIONS_H
#define TT_CLI_METER_OPTIONS_H

#include <argp.h>

#include "cli/meter_job.h"

/* A child parser whose input is a struct tt_meter_job. */
extern const struct argp tt_meter_options;

/* The shapes of --buffer, or 64x3: TT_EXIT_GOOD, or TT_EXIT_USAGE after saying why. */
enum tt_exit tt_meter_options_shapes(struct tt_meter_job *job, const char *command);
/* One more, such as "128x2@96000" or "timer". */
enum tt_exit tt_meter_options_shape(struct tt_meter_job *job, const char *command,
                                    const char *text);

#endif
