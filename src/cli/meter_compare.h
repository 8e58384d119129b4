/*
 * `tactus meter compare`: two settings in turn, or two saved results.
 */
#ifndef TT_CLI_METER_COMPARE_H
#define TT_CLI_METER_COMPARE_H

#include "cli/meter_job.h"

int tt_meter_compare(int argc, char **argv);

#endif
