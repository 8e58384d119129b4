/*
 * How the calling thread is scheduled: policy, priority, processor.
 *
 * Source: sched(7), sched_setattr(2).
 */
#ifndef TT_OS_POLICY_H
#define TT_OS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "os/thread.h"

enum tt_policy_kind {
    TT_POLICY_FIFO,
    TT_POLICY_RR,
    TT_POLICY_DEADLINE,
    TT_POLICY_OTHER,
    TT_POLICIES,
};

#define TT_POLICY_PRIORITY TT_THREAD_PRIORITY

struct tt_policy {
    enum tt_policy_kind kind;
    int priority; /* of FIFO and RR; 0: TT_POLICY_PRIORITY */
    int cpu;      /* its only processor; below 0: any. The kernel admits no deadline with one */
    /* Of DEADLINE: so much CPU time in each period. */
    int64_t runtime_ns;
    int64_t period_ns;
};

/* For the calling thread. 0 or -errno: -EPERM the system does not grant it, -EBUSY the processors
 * are promised to others, -EINVAL there is no such processor. */
int tt_policy_apply(const struct tt_policy *policy);

/* FIFO and RR have. */
bool tt_policy_has_priority(enum tt_policy_kind kind);
/* "fifo", "rr", "deadline", "other". */
const char *tt_policy_name(enum tt_policy_kind kind);
/* False: no such name. */
bool tt_policy_find(const char *name, enum tt_policy_kind *ret_kind);

#endif
