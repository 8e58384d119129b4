/*
 * The machine's card on every report's page: each setting that makes wake-ups late, with what to do
 * where it is not as it should be, the time scale, and an interface.
 */
#ifndef TT_CLI_MACHINE_CARD_H
#define TT_CLI_MACHINE_CARD_H

#include "report/html.h"

/* `cpu`: the processor that matters; below 0: any. `ifname`: likewise an interface; NULL: none. */
void tt_machine_card(struct tt_html *page, int cpu, const char *ifname);

#endif
