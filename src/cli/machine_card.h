/*
 * The machine's card on a report's page, of the commands that watch.
 */
#ifndef TT_CLI_MACHINE_CARD_H
#define TT_CLI_MACHINE_CARD_H

#include "report/html.h"

/* `ifname`: an interface that matters; NULL: none. */
void tt_machine_card(struct tt_html *page, const char *ifname);

#endif
