/*
 * The machine's card on a report's page, the same for every command, and as JSON.
 */
#ifndef TT_CLI_MACHINE_CARD_H
#define TT_CLI_MACHINE_CARD_H

#include <jansson.h>

#include "report/html.h"

/* `ifname`: an interface that matters; NULL: none. */
void tt_machine_card(struct tt_html *page, const char *ifname);
/* The same facts by name, all of them text. A new reference, or NULL when memory is out. */
json_t *tt_machine_json(const char *ifname);

#endif
