/*
 * See policy.h. sched_setattr has no wrapper in the C library.
 */
#include "os/policy.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLICY_DEADLINE 6

struct deadline_attr {
    uint32_t size;
    uint32_t sched_policy;
    uint64_t sched_flags;
    int32_t sched_nice;
    uint32_t sched_priority;
    uint64_t sched_runtime;
    uint64_t sched_deadline;
    uint64_t sched_period;
};

static const char *const names[TT_POLICIES] = {
    [TT_POLICY_FIFO] = "fifo",
    [TT_POLICY_RR] = "rr",
    [TT_POLICY_DEADLINE] = "deadline",
    [TT_POLICY_OTHER] = "other",
};

static int apply_cpu(int cpu)
{
    cpu_set_t set;

    if (cpu >= CPU_SETSIZE) {
        return -EINVAL;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : -errno;
}

static int apply_deadline(const struct tt_policy *policy)
{
    struct deadline_attr attr = {
        .size = sizeof(attr),
        .sched_policy = POLICY_DEADLINE,
        .sched_runtime = (uint64_t)policy->runtime_ns,
        .sched_deadline = (uint64_t)policy->period_ns,
        .sched_period = (uint64_t)policy->period_ns,
    };

    return syscall(SYS_sched_setattr, 0, &attr, 0) == 0 ? 0 : -errno;
}

int tt_policy_apply(const struct tt_policy *policy)
{
    int priority = policy->priority > 0 ? policy->priority : TT_POLICY_PRIORITY;
    struct sched_param param = {.sched_priority = priority};
    int error = policy->cpu >= 0 ? apply_cpu(policy->cpu) : 0;

    if (error) {
        return error;
    }
    switch (policy->kind) {
    case TT_POLICY_DEADLINE:
        return apply_deadline(policy);
    case TT_POLICY_FIFO:
        return sched_setscheduler(0, SCHED_FIFO, &param) == 0 ? 0 : -errno;
    case TT_POLICY_RR:
        return sched_setscheduler(0, SCHED_RR, &param) == 0 ? 0 : -errno;
    case TT_POLICY_OTHER:
    case TT_POLICIES:
        break;
    }
    return sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0}) == 0 ? 0 : -errno;
}

bool tt_policy_has_priority(enum tt_policy_kind kind)
{
    return kind == TT_POLICY_FIFO || kind == TT_POLICY_RR;
}

const char *tt_policy_name(enum tt_policy_kind kind)
{
    return names[kind];
}

bool tt_policy_find(const char *name, enum tt_policy_kind *ret_kind)
{
    for (int kind = 0; kind < TT_POLICIES; kind++) {
        if (strcmp(name, names[kind]) == 0) {
            *ret_kind = (enum tt_policy_kind)kind;
            return true;
        }
    }
    return false;
}
