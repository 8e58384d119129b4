/*
 * Handing a batch to a link: a packet that is refused does not take those behind it with it.
 */
#ifndef TT_RUN_SEND_H
#define TT_RUN_SEND_H

#include <stdbool.h>

#include "base/attr.h"
#include "os/link.h"

/* Sends n <= TT_LINK_BATCH packets and marks those that were refused. 0, or -errno where the link
 * takes none any more. */
TT_RT int tt_send_batch(struct tt_link *link, const struct tt_link_packet *packets, int n,
                        bool *ret_refused);

#endif
