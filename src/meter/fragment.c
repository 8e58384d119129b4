/*
 * See fragment.h.
 */
#include "meter/fragment.h"

#include <assert.h>

#include "base/min_max.h"
#include "base/ns.h"

int64_t tt_fragment_shape_period_ns(const struct tt_fragment_shape *shape)
{
    return tt_frames_to_ns(shape->frames, shape->rate_hz);
}

int64_t tt_fragments_due_ns(const struct tt_fragments *fragments, int64_t period)
{
    return fragments->start_ns +
           tt_frames_to_ns(period * fragments->shape.frames, fragments->shape.rate_hz);
}

/* The last period that is due by then. */
static int64_t period_at(const struct tt_fragments *fragments, int64_t now_ns)
{
    int64_t frame = tt_ns_to_frames(now_ns - fragments->start_ns, fragments->shape.rate_hz);

    return tt_floor_div(frame, fragments->shape.frames);
}

void tt_fragments_init(struct tt_fragments *fragments, const struct tt_fragment_shape *shape,
                       int64_t start_ns, int64_t plan_ns)
{
    assert(shape->count != 1 && shape->count <= TT_FRAGMENT_COUNT_MAX);
    *fragments = (struct tt_fragments){.shape = *shape, .start_ns = start_ns, .next = 1};
    fragments->last = tt_max64(1, period_at(fragments, start_ns + plan_ns));
    fragments->counters.expected = (uint64_t)fragments->last;
}

bool tt_fragments_over(const struct tt_fragments *fragments)
{
    return fragments->next > fragments->last;
}

/* The first one behind `period` whose place in time has not begun. */
static int64_t next_of_use(const struct tt_fragments *fragments, int64_t period, int64_t now_ns)
{
    int64_t behind = fragments->shape.count == 0 ? 0 : (int64_t)fragments->shape.count - 1;

    return tt_max64(period + 1, period_at(fragments, now_ns) + 1 - behind);
}

void tt_fragments_hand_over(struct tt_fragments *fragments, int64_t now_ns,
                            struct tt_fragment_fate *ret_fate)
{
    struct tt_fragment_counters *counters = &fragments->counters;
    int64_t period = fragments->next;
    int64_t next = next_of_use(fragments, period, now_ns);
    struct tt_fragment_fate fate = {.due_ns = tt_fragments_due_ns(fragments, period)};

    fate.late_ns = now_ns - fate.due_ns;
    fate.late = now_ns > tt_fragments_due_ns(fragments, period + 1);
    if (fragments->shape.count > 0) {
        int64_t last_ns = tt_fragments_due_ns(fragments, period + fragments->shape.count - 1);

        fate.empty = now_ns > last_ns;
        counters->empty += fate.empty;
        counters->empty_ns += fate.empty ? now_ns - last_ns : 0;
    }
    next = tt_max64(period + 1, tt_min64(next, fragments->last + 1));
    fate.skipped = (uint32_t)tt_min64(next - period - 1, UINT32_MAX);
    counters->late += fate.late;
    counters->on_time += !fate.late;
    counters->skipped += (uint64_t)(next - period - 1);
    fragments->next = next;
    *ret_fate = fate;
}

uint32_t tt_fragments_restart(struct tt_fragments *fragments, int64_t now_ns)
{
    int64_t next =
        tt_min64(tt_max64(fragments->next, period_at(fragments, now_ns) + 1), fragments->last + 1);
    int64_t skipped = next - fragments->next;

    fragments->counters.skipped += (uint64_t)skipped;
    fragments->next = next;
    fragments->start_ns =
        now_ns - tt_frames_to_ns((next - 1) * fragments->shape.frames, fragments->shape.rate_hz);
    return (uint32_t)tt_min64(skipped, UINT32_MAX);
}

void tt_fragments_cut(struct tt_fragments *fragments, int64_t now_ns)
{
    int64_t due = tt_max64(0, period_at(fragments, now_ns));

    fragments->last = tt_max64(fragments->next - 1, tt_min64(fragments->last, due));
    fragments->counters.expected = (uint64_t)fragments->last;
}
