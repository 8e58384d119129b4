/*
 * See gaps.h.
 */
#include "meter/gaps.h"

#include "base/min_max.h"

/* Of the last chunk, with what its neighbours took, of which one may be missing. */
static void judge_last(struct tt_gaps *gaps, int64_t behind_ns)
{
    int64_t usual_ns = gaps->before_ns < 0 ? behind_ns
                       : behind_ns < 0     ? gaps->before_ns
                                           : tt_min64(gaps->before_ns, behind_ns);

    if (usual_ns >= 0 && gaps->last_ns > 2 * usual_ns &&
        gaps->last_ns - usual_ns > TT_GAPS_LEAST_NS) {
        gaps->sum_ns += gaps->last_ns - usual_ns;
    }
}

void tt_gaps_add(struct tt_gaps *gaps, int64_t chunk_ns)
{
    if (gaps->last_ns >= 0) {
        judge_last(gaps, chunk_ns);
    }
    gaps->before_ns = gaps->last_ns;
    gaps->last_ns = chunk_ns;
}

int64_t tt_gaps_end(struct tt_gaps *gaps)
{
    if (gaps->last_ns >= 0) {
        judge_last(gaps, -1);
    }
    return gaps->sum_ns;
}
