/*
 * See codel.h.
 */
#include "gate/codel.h"

/* interval / sqrt(count), in integers. */
static int64_t step_ns(const struct tt_codel *codel)
{
    uint64_t square = (uint64_t)codel->count << 20;
    uint64_t root = 0;

    for (uint64_t bit = UINT64_C(1) << 26; bit > 0; bit >>= 1) {
        if ((root | bit) * (root | bit) <= square) {
            root |= bit;
        }
    }
    return codel->interval_ns * 1024 / (int64_t)root;
}

/* Whether the wait has been above the target for an interval. */
static bool is_above(struct tt_codel *codel, int64_t now_ns, int64_t wait_ns, bool last)
{
    if (wait_ns < codel->target_ns || last) {
        codel->above_until_ns = 0;
        return false;
    }
    if (codel->above_until_ns == 0) {
        codel->above_until_ns = now_ns + codel->interval_ns;
        return false;
    }
    return now_ns >= codel->above_until_ns;
}

static bool begin(struct tt_codel *codel, int64_t now_ns)
{
    uint32_t since_before = codel->count - codel->count_before;
    bool lately = now_ns - codel->next_ns < 16 * codel->interval_ns;

    codel->dropping = true;
    codel->count = lately && since_before > 1 ? since_before : 1;
    codel->count_before = codel->count;
    codel->next_ns = now_ns + step_ns(codel);
    return true;
}

bool tt_codel_leave(struct tt_codel *codel, int64_t now_ns, int64_t wait_ns, bool last)
{
    if (!is_above(codel, now_ns, wait_ns, last)) {
        codel->dropping = false;
        return false;
    }
    if (!codel->dropping) {
        return begin(codel, now_ns);
    }
    if (now_ns < codel->next_ns) {
        return false;
    }
    codel->count++;
    codel->next_ns += step_ns(codel);
    return true;
}
