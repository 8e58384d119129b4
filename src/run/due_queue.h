/*
 * The talkers of an engine in the order in which they are due: the first is taken, and put back at
 * its next time. Where all have one interval that is the end of the queue, so a step costs what is
 * due in it, and nothing for those that are not.
 *
 * Invariant: equals keep the order in which they were put. All but _reserve and _done is on the
 * engine's thread.
 */
#ifndef TT_RUN_DUE_QUEUE_H
#define TT_RUN_DUE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct tt_talk;

struct tt_due {
    int64_t tai_ns;
    struct tt_talk *talk;
};

/* Zeroed is empty, without room. */
struct tt_due_queue {
    struct tt_due *places; /* a ring */
    size_t capacity;       /* a power of two */
    size_t first;
    size_t count;
};

/* Room for so many; what was in it is dropped. 0 or -ENOMEM. */
int tt_due_queue_reserve(struct tt_due_queue *queue, size_t count);
void tt_due_queue_done(struct tt_due_queue *queue);

TT_RT void tt_due_queue_clear(struct tt_due_queue *queue);
/* There is room. */
TT_RT void tt_due_queue_put(struct tt_due_queue *queue, struct tt_talk *talk, int64_t tai_ns);
/* The one at `place`, 0 the first; NULL: there are not so many. */
TT_RT const struct tt_due *tt_due_queue_at(const struct tt_due_queue *queue, size_t place);
/* Takes the first, if that is due by then; NULL: none. */
TT_RT struct tt_talk *tt_due_queue_take(struct tt_due_queue *queue, int64_t until_tai_ns);

#endif
