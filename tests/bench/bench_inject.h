/*
 * What is really done to the meter's loop, and the cause that it finds.
 */
#ifndef TT_TESTS_BENCH_INJECT_H
#define TT_TESTS_BENCH_INJECT_H

#include <stdbool.h>

/* Each disturbance alone, so many times, or the one of that name only (""); prints the confusion
 * matrix. False: of one of them less than 95 % were found, there is none of that name, or the loop
 * gets no real-time priority here. */
bool bench_inject(unsigned times, const char *only);

#endif
