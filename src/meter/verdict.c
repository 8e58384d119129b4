/*
 * See verdict.h.
 */
#include "meter/verdict.h"

#include "base/min_max.h"

/* -ln(0.05) * 1000: so many are expected at the rate of which a clean run has a chance of 5 %. */
#define CLEAN_EXPECTED_MILLI 2996

/* Of so long a time without any. */
static int64_t clean_one_in_ns(int64_t measured_ns)
{
    return measured_ns / CLEAN_EXPECTED_MILLI * 1000;
}

static int64_t one_in_ns(uint64_t dropouts, int64_t measured_ns)
{
    return dropouts > 0 ? measured_ns / (int64_t)dropouts : clean_one_in_ns(measured_ns);
}

/* What others did can be the reason: they had the CPU, or took what the loop needed. */
static bool noisy(const struct tt_verdict_input *input)
{
    return input->foreign_per_mille != TT_CAUSE_UNKNOWN &&
           input->foreign_per_mille >= TT_VERDICT_FOREIGN_PER_MILLE &&
           input->cause != TT_CAUSE_HYPERVISOR && input->cause != TT_CAUSE_STOPPED;
}

static enum tt_verdict_kind kind_of(const struct tt_verdict_input *input)
{
    if (input->dropouts > 0) {
        return noisy(input) ? TT_VERDICT_TOO_NOISY : TT_VERDICT_NOT_SAFE;
    }
    return !input->load_failed && clean_one_in_ns(input->measured_ns) >= TT_VERDICT_SAFE_ONE_IN_NS
               ? TT_VERDICT_SAFE
               : TT_VERDICT_NOT_ENOUGH;
}

static bool worse(const struct tt_verdict_input *a, const struct tt_verdict_input *b)
{
    return kind_of(a) != kind_of(b)
               ? kind_of(a) > kind_of(b)
               : one_in_ns(a->dropouts, a->measured_ns) < one_in_ns(b->dropouts, b->measured_ns);
}

void tt_verdict_find(const struct tt_verdict_input *inputs, size_t count,
                     struct tt_verdict *ret_verdict)
{
    struct tt_verdict verdict = {.shortest_ns = inputs[0].measured_ns};
    const struct tt_verdict_input *worst;

    for (size_t i = 0; i < count; i++) {
        const struct tt_verdict_input *input = &inputs[i];

        verdict.loads[kind_of(input)]++;
        verdict.dropouts += input->dropouts;
        verdict.bursts += input->bursts;
        verdict.measured_ns += input->measured_ns;
        verdict.shortest_ns = tt_min64(verdict.shortest_ns, input->measured_ns);
        verdict.worst = worse(input, &inputs[verdict.worst]) ? i : verdict.worst;
        if (input->load_failed && verdict.failed++ == 0) {
            verdict.first_failed = i;
        }
        verdict.slowest =
            input->share_per_mille > inputs[verdict.slowest].share_per_mille ? i : verdict.slowest;
    }
    worst = &inputs[verdict.worst];
    verdict.kind = kind_of(worst);
    verdict.one_in_ns = one_in_ns(verdict.dropouts, verdict.measured_ns);
    verdict.worst_one_in_ns = one_in_ns(worst->dropouts, worst->measured_ns);
    verdict.cause = worst->cause;
    verdict.cause_per_mille = worst->cause_per_mille;
    verdict.foreign_per_mille = worst->foreign_per_mille;
    verdict.share_per_mille = inputs[verdict.slowest].share_per_mille;
    *ret_verdict = verdict;
}

bool tt_verdict_shows_held(const struct tt_verdict *verdict, int64_t buffer_ns)
{
    return verdict->dropouts == 0 && verdict->failed == 0 &&
           verdict->one_in_ns >= TT_VERDICT_HELD_ONE_IN_NS &&
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
