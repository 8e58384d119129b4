/*
 * The loop of an audio program against a sound device in exact time: when each fragment is due, and
 * what became of every one of them.
 *
 * The device plays one fragment a period, from its start on, and never stops: its buffer holds
 * `count` fragments and is full at the start. Period k (1, 2, 3 …) begins when fragment k - 1 has
 * been played and there is room for one more, which the loop has computed ahead and hands over:
 * that is when it is due. It is
 * - on time where it is handed over before the next one is due;
 * - late where it is later: it lives on the buffer;
 * - skipped where its place in time began before the loop came to it: the loop goes on with the
 * first one that is still of use, and this one is never made. Besides, the device runs empty where
 * a fragment comes after the device has played all that it had: count - 1 periods after it was due.
 * With two fragments that is the same as late.
 *
 * Invariant: expected = on time + late + skipped, where expected is a matter of time alone.
 * Without a device (count 0) the same schedule is that of a timer: what is late skips the periods
 * that it slept through. Times are those of one clock that never steps.
 */
#ifndef TT_METER_FRAGMENT_H
#define TT_METER_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_FRAGMENT_COUNT_MAX 16

struct tt_fragment_shape {
    uint32_t rate_hz;
    int64_t frames; /* a fragment's */
    unsigned count; /* 2 … TT_FRAGMENT_COUNT_MAX, or 0: no device */
};

struct tt_fragment_counters {
    uint64_t expected; /* periods that were due by the end of the plan */
    uint64_t on_time;
    uint64_t late;
    uint64_t skipped;
    uint64_t empty; /* times that the device ran empty */
    int64_t empty_ns;
};

struct tt_fragments {
    struct tt_fragment_shape shape;
    int64_t start_ns; /* when the device starts */
    int64_t next;     /* period of the fragment to be handed over next */
    int64_t last;     /* of the plan */
    struct tt_fragment_counters counters;
};

/* What became of one fragment. */
struct tt_fragment_fate {
    int64_t due_ns;
    int64_t late_ns; /* handed over - due; below 0 is early */
    bool late;
    bool empty;       /* the device had run empty */
    uint32_t skipped; /* behind it */
};

/* `plan_ns`: how long it goes, a period at least; INT64_MAX / 2 at most. */
void tt_fragments_init(struct tt_fragments *fragments, const struct tt_fragment_shape *shape,
                       int64_t start_ns, int64_t plan_ns);
/* Of a period: fragments times frames never round. */
TT_RT int64_t tt_fragments_due_ns(const struct tt_fragments *fragments, int64_t period);
/* All of the plan has been accounted for. */
TT_RT bool tt_fragments_over(const struct tt_fragments *fragments);
/* The next fragment is handed over; now at or after it is due. */
TT_RT void tt_fragments_hand_over(struct tt_fragments *fragments, int64_t now_ns,
                                  struct tt_fragment_fate *ret_fate);
/* A device that stood still is full again and starts anew now: periods that are due by now are
 * skipped, and the next is due a period from now. How many were skipped. */
TT_RT uint32_t tt_fragments_restart(struct tt_fragments *fragments, int64_t now_ns);
/* The plan ends now, with the periods that are due by now. */
void tt_fragments_cut(struct tt_fragments *fragments, int64_t now_ns);

/* A fragment's time, rounded. */
int64_t tt_fragment_shape_period_ns(const struct tt_fragment_shape *shape);

#endif
