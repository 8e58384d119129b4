/*
 * What is shown of a sound card and its stream: how the two clocks meet.
 */
#ifndef TT_CLI_CARD_SHOW_H
#define TT_CLI_CARD_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "cli/streams_show.h"

/* The rest of a stream's line. */
void tt_card_print_line(const struct tt_bridge_counters *counters, FILE *out);
/* Of all streams that have a card; nothing where none has. */
void tt_card_print_table(const struct tt_streams_view *view, FILE *out);
/* A new reference, or NULL when memory is out. What is not known yet is null. */
json_t *tt_card_json(const struct tt_bridge_counters *counters);

#endif
