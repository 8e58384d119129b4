/*
 * Kernel pacing as pure rules: when which PDUs are handed over, and when it is given up.
 *
 * An etf that releases packets by a timer of the kernel is held up while packets are handed over:
 * each keeps the processor for some 10 us. So a batch starts just behind the moment at which a
 * packet is released, and is through before the next one. Shown by tests/kernel/test_launch.sh:
 * class A, delta 5 us, in a guest: batches of 4 lose nothing and cost 0.1 us of deviation; of 8 and
 * more, packets miss their launch. Where the hardware releases them, long batches cost nothing.
 */
#ifndef TT_RUN_LAUNCH_H
#define TT_RUN_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

struct tt_launch_plan {
    int64_t lead_ns; /* handed over at most so long before launch; raised to what the qdisc needs */
    int64_t release_ns;  /* the qdisc lets go of a packet so long before its launch (etf's delta) */
    int64_t interval_ns; /* of PDUs */
    int batch;           /* PDUs handed over at a time */
};

void tt_launch_plan_init(struct tt_launch_plan *plan, int64_t lead_ns, int64_t release_ns,
                         int64_t interval_ns, bool offload);

/* The least time from handing over to launch that is safe. */
int64_t tt_launch_margin(const struct tt_launch_plan *plan);

/* When to hand over next, `next_launch_ns` being the first that was not yet. `starved`: the program
 * has not written it. All times on one clock. */
int64_t tt_launch_next_step(const struct tt_launch_plan *plan, int64_t next_launch_ns,
                            int64_t now_ns, bool starved);

/* Whether the kernel does what it was asked to: of TT_LAUNCH_TRIAL PDUs in a row it must let go of
 * more than half. */
#define TT_LAUNCH_TRIAL 64

struct tt_launch_trial {
    unsigned handed;
    unsigned refused;
    int64_t from_ns; /* refusals of earlier launches are a clock's step, and do not count */
};

void tt_launch_trial_start(struct tt_launch_trial *trial, int64_t from_ns);
/* Adds what was handed over and what is known to have been refused, the last for launch_ns. True:
 * give it up. */
bool tt_launch_trial_add(struct tt_launch_trial *trial, unsigned handed, unsigned refused,
                         int64_t launch_ns);

#endif
