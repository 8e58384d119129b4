/*
 * Capture files that are read by a thread of its own, a few batches ahead of who looks at it: on
 * two processors reading costs no time.
 *
 * Constant memory: BATCHES batches, whose packets are cut to the bytes that are looked at.
 */
#ifndef TT_CLI_READ_AHEAD_H
#define TT_CLI_READ_AHEAD_H

#include "cli/captures.h"

struct tt_read_ahead;

/* Takes what comes next from `captures`, which are left alone until it is freed; packets keep
 * snap_bytes at most. 0 or -errno. */
int tt_read_ahead_new(struct tt_captures *captures, size_t snap_bytes,
                      struct tt_read_ahead **ret_ahead);
/* As tt_captures_next. */
int tt_read_ahead_next(struct tt_read_ahead *ahead, struct tt_packet *ret_packet);
/* NULL will do. */
void tt_read_ahead_free(struct tt_read_ahead *ahead);

#endif
