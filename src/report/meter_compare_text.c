/*
 * See meter_compare_text.h.
 */
#include "report/meter_compare_text.h"

#include <stdio.h>

#include "report/json.h"
#include "report/plural.h"

#define SIDE_TEXT 80

static const char *side_text(double value, size_t any, enum tt_meter_compare_unit unit,
                             char ret_text[SIDE_TEXT])
{
    if (unit == TT_METER_COMPARE_TIME) {
        snprintf(ret_text, SIDE_TEXT, "%.2f us", value * 1e-3);
    } else {
        snprintf(ret_text, SIDE_TEXT, "%.2f a window (any in %zu)", value, any);
    }
    return ret_text;
}

static const char *answer_text(const struct tt_compare_result *result, char ret_text[SIDE_TEXT])
{
    if (result->answer == TT_COMPARE_RARE) {
        snprintf(ret_text, SIDE_TEXT, "%s (it takes %d windows that have any: measure more)",
                 tt_compare_answer_text(result->answer), TT_COMPARE_ANY_MIN);
    } else {
        snprintf(ret_text, SIDE_TEXT, "B is %s", tt_compare_answer_text(result->answer));
    }
    return ret_text;
}

const char *tt_meter_compare_text(const char *what, const struct tt_compare_result *result,
                                  enum tt_meter_compare_unit unit, char ret_text[TT_METER_TEXT])
{
    double scale = unit == TT_METER_COMPARE_TIME ? 1e-3 : 1;
    char a[SIDE_TEXT];
    char b[SIDE_TEXT];
    char answer[SIDE_TEXT];
    char p[16];

    if (result->answer == TT_COMPARE_TOO_FEW) {
        snprintf(ret_text, TT_METER_TEXT, "%s: not enough data: %zu %s of each, %d are needed",
                 what, result->windows, tt_plural(result->windows, "window", "windows"),
                 TT_COMPARE_WINDOWS_MIN);
        return ret_text;
    }
    snprintf(p, sizeof(p), result->p < 0.001 ? "< 0.001" : "= %.3f", result->p);
    snprintf(ret_text, TT_METER_TEXT,
             "%s: A %s, B %s: %s, difference %+.2f (A/A floor %.2f, p %s, %zu windows of each)",
             what, side_text(result->a, result->a_any, unit, a),
             side_text(result->b, result->b_any, unit, b), answer_text(result, answer),
             result->difference * scale, result->floor * scale, p, result->windows);
    return ret_text;
}

json_t *tt_meter_compare_json(const struct tt_compare_result *result)
{
    bool known = result->answer != TT_COMPARE_TOO_FEW;

    return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "answer",
                     tt_compare_answer_text(result->answer), "windows", (int)result->windows,
                     "a_windows_with_any", known ? tt_json_u64(result->a_any) : json_null(),
                     "b_windows_with_any", known ? tt_json_u64(result->b_any) : json_null(), "a",
                     known ? json_real(result->a) : json_null(), "b",
                     known ? json_real(result->b) : json_null(), "difference",
                     known ? json_real(result->difference) : json_null(), "aa_floor",
                     known ? json_real(result->floor) : json_null(), "p",
                     known ? json_real(result->p) : json_null());
}
