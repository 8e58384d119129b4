/*
 * What two saved results were not measured alike in: what was asked for, and the machine.
 */
#ifndef TT_CLI_METER_DIFFERENCES_H
#define TT_CLI_METER_DIFFERENCES_H

#include <jansson.h>
#include <stdio.h>

/* [{"name", "a", "b"}], a new reference; a and b are strings, null where the file does not say.
 * What neither says is no difference. */
json_t *tt_meter_differences(const json_t *a, const json_t *b);
/* A line each. */
void tt_meter_differences_print(const json_t *differences, FILE *out);

#endif
