/*
 * Which gates are open when, from a list that has always run, or through the change from one list
 * to the next; and so when a frame may go out.
 *
 * The old list runs until the new one starts. Where the old one's next cycle would be cut short by
 * that, and what is left over is at most its cycle time extension, its last entry lasts until then
 * instead. Before a first list all gates are open.
 * Source: IEEE 802.1Q-2018, 8.6.9.1.1 (SetCycleStartTime) and 8.6.9.3.1 (SetConfigChangeTime; the
 * kernel starts one cycle later where that very moment is a cycle's start).
 */
#ifndef TT_GATE_TIMELINE_H
#define TT_GATE_TIMELINE_H

#include "gate/list.h"
#include "gate/wire_time.h"

/* The lists are the caller's. */
struct tt_gate_timeline {
    const struct tt_gate_list *list;
    const struct tt_gate_list *old; /* until start_ns; NULL: all gates are open */
    int64_t start_ns;               /* INT64_MIN: `list` has always run */
};

/* When a list that is handed over now starts: its base time, or its next cycle. */
int64_t tt_gate_start_ns(const struct tt_gate_list *list, int64_t now_tai_ns);

/* Where the old list's cycles end: at the change, or where its last entry is extended until then.
 */
TT_RT int64_t tt_gate_old_end_ns(const struct tt_gate_timeline *timeline);
TT_RT uint32_t tt_gate_mask(const struct tt_gate_timeline *timeline, int64_t tai_ns);
/* The first time at which the gate is open that ends after tai_ns. It goes through a change of
 * lists where both leave the gate open. It may begin before tai_ns. false: none, ever. */
TT_RT bool tt_gate_window(const struct tt_gate_timeline *timeline, unsigned class, int64_t tai_ns,
                          struct tt_gate_window *ret_window);
/* The first time at or after tai_ns from which the gate stays open for need_ns (at least 1). 0, or
 * -ENOENT: never. */
TT_RT int tt_gate_next(const struct tt_gate_timeline *timeline, unsigned class, int64_t tai_ns,
                       int64_t need_ns, int64_t *ret_tai_ns);
/* The same for a frame on a wire, which may be busy: it goes out whole before its gate closes. */
TT_RT int tt_gate_launch(const struct tt_gate_timeline *timeline, unsigned class,
                         const struct tt_wire *wire, int64_t tai_ns, int64_t wire_bytes,
                         int64_t *ret_tai_ns);

#endif
