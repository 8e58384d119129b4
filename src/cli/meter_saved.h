/*
 * Two saved results of `tactus meter --json`, compared.
 */
#ifndef TT_CLI_METER_SAVED_H
#define TT_CLI_METER_SAVED_H

#include <stdbool.h>

#include "cli/cmd.h"

enum tt_exit tt_meter_compare_saved(const char *const paths[2], bool json);

#endif
