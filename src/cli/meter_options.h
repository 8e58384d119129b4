/*
 * The options of `tactus meter`, shared with `tactus meter compare`.
 */
#ifndef TT_CLI_METER_OPTIONS_H
#define TT_CLI_METER_OPTIONS_H

#include <argp.h>

#include "cli/meter_job.h"

/* A child parser whose input is a struct tt_meter_job. */
extern const struct argp tt_meter_options;

/* "write,read,idle"; "all". Ends the command by argp_error where it is neither. */
void tt_meter_options_loads(struct tt_meter_job *job, char *list, struct argp_state *state);

#endif
