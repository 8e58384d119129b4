/*
 * What is really done to the meter's loop, and the cause that it finds.
 */
#ifndef TT_TESTS_BENCH_INJECT_H
#define TT_TESTS_BENCH_INJECT_H

#include <stdbool.h>

/* Each disturbance alone, so many times; prints the confusion matrix. False: of one of them less
 * than 95 % were found, or the loop gets no real-time priority here. */
bool bench_inject(unsigned times);

#endif
