/*
 * See launch.h.
 */
#include "run/launch.h"

#include "base/min_max.h"
#include "base/ns.h"
#include "os/link.h"

#define BATCH_BY_TIMER 4
/* The thread's way into the qdisc with a batch. */
#define HAND_OVER_NS (100 * TT_NS_PER_US)
/* Behind the release of a packet: it is out by then. */
#define BEHIND_NS (10 * TT_NS_PER_US)

void tt_launch_plan_init(struct tt_launch_plan *plan, int64_t lead_ns, int64_t release_ns,
                         int64_t interval_ns, bool offload)
{
    int64_t half_a_lead = 1 + lead_ns / 2 / interval_ns;
    int64_t most = offload ? TT_LINK_BATCH : BATCH_BY_TIMER;

    *plan = (struct tt_launch_plan){
        .lead_ns = lead_ns,
        .release_ns = release_ns,
        .interval_ns = interval_ns,
        .batch = (int)(half_a_lead < most ? half_a_lead : most),
    };
    plan->lead_ns = tt_max64(lead_ns, tt_launch_margin(plan) + plan->batch * interval_ns);
}

int64_t tt_launch_margin(const struct tt_launch_plan *plan)
{
    return plan->release_ns + HAND_OVER_NS;
}

int64_t tt_launch_next_step(const struct tt_launch_plan *plan, int64_t next_launch_ns,
                            int64_t now_ns, bool starved)
{
    int64_t behind_ns = next_launch_ns - plan->release_ns + BEHIND_NS;
    int64_t last_ns = next_launch_ns - tt_launch_margin(plan);
    int64_t due_ns = next_launch_ns - plan->lead_ns + (plan->batch - 1) * plan->interval_ns;

    if (starved) {
        int64_t later_ns = now_ns + plan->batch * plan->interval_ns;

        return now_ns < last_ns && last_ns < later_ns ? last_ns : later_ns;
    }
    if (due_ns <= now_ns) {
        due_ns = now_ns + 1; /* catching up: a batch behind each release */
    }
    return behind_ns - tt_floor_div(behind_ns - due_ns, plan->interval_ns) * plan->interval_ns;
}

void tt_launch_trial_start(struct tt_launch_trial *trial, int64_t from_ns)
{
    *trial = (struct tt_launch_trial){.from_ns = from_ns};
}

bool tt_launch_trial_add(struct tt_launch_trial *trial, unsigned handed, unsigned refused,
                         int64_t launch_ns)
{
    bool over;

    trial->handed += handed;
    trial->refused += launch_ns >= trial->from_ns ? refused : 0;
    over = trial->handed >= TT_LAUNCH_TRIAL;
    if (over && 2 * trial->refused < trial->handed) {
        tt_launch_trial_start(trial, trial->from_ns);
        return false;
    }
    return over;
}
