/*
 * The machine's card: each setting that makes wake-ups late, what it is here, and what to do where
 * it is not as it should be. Only what was looked at is said.
 */
#ifndef TT_REPORT_METER_ADVICE_H
#define TT_REPORT_METER_ADVICE_H

#include <jansson.h>
#include <stddef.h>

#include "run/meter.h"

#define TT_ADVICE_TEXT  240
#define TT_ADVICE_LINES 20

struct tt_advice {
    const char *name;
    char value[TT_ADVICE_TEXT];
    char advice[TT_ADVICE_TEXT]; /* "": it is well */
};

/* `throttled`: real-time throttling has taken time from a loop. Returns how many. */
size_t tt_meter_advice(const struct tt_machine_facts *facts, bool throttled,
                       struct tt_advice ret_lines[TT_ADVICE_LINES]);
/* [{"name", "value", "advice"}]: a new reference, or NULL when memory is out. */
json_t *tt_meter_advice_json(const struct tt_advice *lines, size_t n);

#endif
