/*
 * Figures as ratios: ours and a reference measured in turn in one run, the rounds interleaved, so
 * that a machine whose speed drifts changes both.
 */
#ifndef TT_TESTS_BENCH_H
#define TT_TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ROUNDS_MAX 15

/* What one round measured; the unit is the row's. */
struct bench_pair {
    double ours;
    double reference;
};

struct bench_row {
    const char *name;
    const char *unit;
    const char *reference; /* what it is */
    double at_most;        /* what the ratio should be: at most this, … */
    double at_least;       /* … or at least this; 0: no such bound */
};

/* Prints ours, the reference and their ratio: the median of the rounds, smallest and largest beside
 * it. false where the median ratio is out of bounds. */
bool bench_print(const struct bench_row *row, const struct bench_pair *rounds, size_t n);

/* One JSON object for each row printed from now on, instead of text. */
void bench_use_json(void);

/* The calling thread's CPU time, and the monotonic clock. */
int64_t bench_cpu_ns(void);
int64_t bench_mono_ns(void);

/* The calling thread stays on one processor from now on; false where there is none of that number.
 */
bool bench_pin(int cpu);

#endif
