/*
 * cyclictest (package rt-tests) as a reference.
 */
#ifndef TT_TESTS_BENCH_CYCLICTEST_H
#define TT_TESTS_BENCH_CYCLICTEST_H

#include <stdint.h>

struct cyclictest {
    double p50_us;
    double max_us;
    int64_t cycles;   /* that it measured */
    int64_t expected; /* that were due in the time */
};

/* One thread, SCHED_FIFO 70, for whole seconds. 0; -errno: -ENOENT it is not there. */
int cyclictest_run(int64_t interval_us, int seconds, struct cyclictest *ret_result);

#endif
