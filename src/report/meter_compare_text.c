/*
 * See meter_compare_text.h.
 */
#include "report/meter_compare_text.h"

#include <math.h>
#include <stdio.h>

const char *tt_meter_compare_text(const char *what, const struct tt_compare_result *result,
                                  enum tt_meter_compare_unit unit, char ret_text[TT_METER_TEXT])
{
    double scale = unit == TT_METER_COMPARE_TIME ? 1e-3 : 1;
    const char *mark = unit == TT_METER_COMPARE_TIME ? " us" : " a window";

    if (result->answer == TT_COMPARE_TOO_FEW) {
        snprintf(ret_text, TT_METER_TEXT, "%s: not enough data: %zu windows of each, %d are needed",
                 what, result->windows, TT_COMPARE_WINDOWS_MIN);
        return ret_text;
    }
    snprintf(ret_text, TT_METER_TEXT,
             "%s: A %.2f%s, B %.2f%s: B is %s, difference %+.2f (A/A floor %.2f, p = %.3f, %zu "
             "windows of each)",
             what, result->a * scale, mark, result->b * scale, mark,
             tt_compare_answer_text(result->answer), result->difference * scale,
             result->floor * scale, result->p, result->windows);
    return ret_text;
}

json_t *tt_meter_compare_json(const struct tt_compare_result *result)
{
    const char *answer = tt_compare_answer_text(result->answer);

    if (result->answer == TT_COMPARE_TOO_FEW) {
        return json_pack("{s:s, s:i, s:n, s:n, s:n, s:n, s:n}", "answer", answer, "windows",
                         (int)result->windows, "a", "b", "difference", "aa_floor", "p");
    }
    return json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f}", "answer", answer, "windows",
                     (int)result->windows, "a", result->a, "b", result->b, "difference",
                     result->difference, "aa_floor", result->floor, "p", result->p);
}
