/*
 * Load on the scheduler: processes that send each other small messages without a pause, as
 * hackbench does.
 */
#ifndef TT_OS_LOAD_H
#define TT_OS_LOAD_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#define TT_LOAD_PAIRS 20 /* two processes each */

struct tt_load {
    pid_t pids[2 * TT_LOAD_PAIRS];
    unsigned count;
    bool realtime; /* SCHED_RR was granted to all */
    int policy;    /* of the caller, to be put back */
    struct sched_param param;
};

/* `priority`: of SCHED_RR, 0 for none; where it is refused they run without. The calling thread is
 * put just above until it stops the load, or it might never come to that. The processes end with
 * it. 0, or -errno; then there is no load. */
int tt_load_start(struct tt_load *load, int priority);
void tt_load_stop(struct tt_load *load);

#endif
