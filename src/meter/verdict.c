/*
 * See verdict.h.
 */
#include "meter/verdict.h"

#include "base/min_max.h"

/* -ln(0.05) * 1000: so many are expected at the rate of which a clean run has a chance of 5 %. */
#define CLEAN_EXPECTED_MILLI 2996

/* More dropouts for its time. */
static bool worse(const struct tt_verdict_input *a, const struct tt_verdict_input *b)
{
    return (double)a->dropouts * (double)b->measured_ns >
           (double)b->dropouts * (double)a->measured_ns;
}

/* What others did can be the reason: they had the CPU, or took what the loop needed. */
static bool noisy(const struct tt_verdict_input *input)
{
    return input->foreign_per_mille != TT_CAUSE_UNKNOWN &&
           input->foreign_per_mille >= TT_VERDICT_FOREIGN_PER_MILLE &&
           input->cause != TT_CAUSE_HYPERVISOR && input->cause != TT_CAUSE_STOPPED;
}

void tt_verdict_find(const struct tt_verdict_input *inputs, size_t count,
                     struct tt_verdict *ret_verdict)
{
    struct tt_verdict verdict = {.shortest_ns = inputs[0].measured_ns};
    bool all_noisy = true;

    for (size_t i = 0; i < count; i++) {
        verdict.dropouts += inputs[i].dropouts;
        verdict.bursts += inputs[i].bursts;
        verdict.measured_ns += inputs[i].measured_ns;
        verdict.shortest_ns = tt_min64(verdict.shortest_ns, inputs[i].measured_ns);
        verdict.worst = worse(&inputs[i], &inputs[verdict.worst]) ? i : verdict.worst;
        all_noisy = all_noisy && (inputs[i].dropouts == 0 || noisy(&inputs[i]));
    }
    verdict.cause = inputs[verdict.worst].cause;
    verdict.cause_per_mille = inputs[verdict.worst].cause_per_mille;
    verdict.foreign_per_mille = inputs[verdict.worst].foreign_per_mille;
    if (verdict.dropouts > 0) {
        verdict.one_in_ns = verdict.measured_ns / (int64_t)verdict.dropouts;
        verdict.kind = all_noisy ? TT_VERDICT_TOO_NOISY : TT_VERDICT_NOT_SAFE;
    } else {
        verdict.one_in_ns = verdict.measured_ns / CLEAN_EXPECTED_MILLI * 1000;
        verdict.kind = verdict.one_in_ns >= TT_VERDICT_SAFE_ONE_IN_NS ? TT_VERDICT_SAFE
                                                                      : TT_VERDICT_NOT_ENOUGH;
    }
    *ret_verdict = verdict;
}

bool tt_verdict_shows_held(const struct tt_verdict *verdict, int64_t buffer_ns)
{
    return verdict->dropouts == 0 && verdict->one_in_ns >= TT_VERDICT_HELD_ONE_IN_NS &&
           verdict->shortest_ns >= TT_VERDICT_HELD_BUFFERS * buffer_ns;
}

const char *tt_verdict_name(enum tt_verdict_kind kind)
{
    static const char *const names[TT_VERDICTS] = {
        [TT_VERDICT_SAFE] = "safe",
        [TT_VERDICT_NOT_SAFE] = "not_safe",
        [TT_VERDICT_NOT_ENOUGH] = "not_enough_data",
        [TT_VERDICT_TOO_NOISY] = "too_noisy",
    };

    return names[kind];
}
