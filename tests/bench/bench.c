/*
 * See bench.h.
 */
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool json;

void bench_use_json(void)
{
    json = true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Smallest, median, largest. */
static void spread(double *values, size_t n, double ret_spread[3])
{
    qsort(values, n, sizeof(*values), compare);
    ret_spread[0] = values[0];
    ret_spread[1] = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    ret_spread[2] = values[n - 1];
}

static void print_json(const struct bench_row *row, const double ours[3], const double reference[3],
                       const double ratio[3], size_t n, bool held)
{
    printf("{\"name\": \"%s\", \"unit\": \"%s\", \"reference\": \"%s\", \"rounds\": %zu, "
           "\"ours\": [%.4g, %.4g, %.4g], \"reference_figure\": [%.4g, %.4g, %.4g], "
           "\"ratio\": [%.4g, %.4g, %.4g], ",
           row->name, row->unit, row->reference, n, ours[0], ours[1], ours[2], reference[0],
           reference[1], reference[2], ratio[0], ratio[1], ratio[2]);
    if (row->at_most > 0) {
        printf("\"at_most\": %.4g, ", row->at_most);
    }
    if (row->at_least > 0) {
        printf("\"at_least\": %.4g, ", row->at_least);
    }
    printf("\"held\": %s}\n", held ? "true" : "false");
}

static void print_text(const struct bench_row *row, const double ours[3], const double reference[3],
                       const double ratio[3], size_t n, bool held)
{
    printf("%s, median of %zu (smallest … largest)\n", row->name, n);
    printf("  %-40s %10.4g (%.4g … %.4g) %s\n", "tactus", ours[1], ours[0], ours[2], row->unit);
    printf("  %-40s %10.4g (%.4g … %.4g) %s\n", row->reference, reference[1], reference[0],
           reference[2], row->unit);
    printf("  %-40s %10.4g (%.4g … %.4g)", "ratio", ratio[1], ratio[0], ratio[2]);
    if (row->at_most > 0) {
        printf(", wanted at most %.4g: %s", row->at_most, held ? "held" : "NOT HELD");
    }
    if (row->at_least > 0) {
        printf(", wanted at least %.4g: %s", row->at_least, held ? "held" : "NOT HELD");
    }
    printf("\n");
}

bool bench_print(const struct bench_row *row, const struct bench_pair *rounds, size_t n)
{
    double values[3][BENCH_ROUNDS_MAX];
    double spreads[3][3];
    double ratio;
    bool held;

    for (size_t i = 0; i < n; i++) {
        values[0][i] = rounds[i].ours;
        values[1][i] = rounds[i].reference;
        values[2][i] = rounds[i].ours / rounds[i].reference;
    }
    for (int i = 0; i < 3; i++) {
        spread(values[i], n, spreads[i]);
    }
    ratio = spreads[2][1];
    held = (row->at_most <= 0 || ratio <= row->at_most) &&
           (row->at_least <= 0 || ratio >= row->at_least);
    (json ? print_json : print_text)(row, spreads[0], spreads[1], spreads[2], n, held);
    fflush(stdout);
    return held;
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t bench_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t bench_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

bool bench_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}
