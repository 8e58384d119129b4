/*
 * What a comparison found, in a line and as JSON.
 */
#ifndef TT_REPORT_METER_COMPARE_TEXT_H
#define TT_REPORT_METER_COMPARE_TEXT_H

#include <jansson.h>

#include "base/compare.h"
#include "report/meter_text.h"

enum tt_meter_compare_unit { TT_METER_COMPARE_TIME, TT_METER_COMPARE_COUNT };

/* "Lateness: A 12.30 us, B 14.10 us: B is worse, difference +1.80 (A/A floor 0.40, p = 0.002, 40
 * windows of each)". Returns ret_text. */
const char *tt_meter_compare_text(const char *what, const struct tt_compare_result *result,
                                  enum tt_meter_compare_unit unit, char ret_text[TT_METER_TEXT]);
/* {"answer", "windows", "a_windows_with_any", "b_windows_with_any", "a", "b", "difference",
 * "aa_floor", "p"}: figures are null with too few
 * windows. A new reference, or NULL when memory is out. */
json_t *tt_meter_compare_json(const struct tt_compare_result *result);

#endif
