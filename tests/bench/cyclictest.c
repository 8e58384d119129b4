/*
 * See cyclictest.h. It reports cycles by whole us; within one they are taken as evenly spread.
 */
#include "cyclictest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define BUCKETS 20000

/* "000012 000345": how many took 12 us. */
static double find_median(const int64_t *counts, int64_t cycles)
{
    int64_t below = 0;

    for (int i = 0; i < BUCKETS; i++) {
        if (2 * (below + counts[i]) >= cycles && counts[i] > 0)
            return i + ((double)cycles / 2 - (double)below) / (double)counts[i];
        below += counts[i];
    }
    return BUCKETS;
}

static void take_line(const char *line, int64_t *counts, struct cyclictest *result)
{
    long bucket;
    long long count;
    long long overflows;
    double max;

    if (sscanf(line, "%ld %lld", &bucket, &count) == 2 && bucket >= 0 && bucket < BUCKETS) {
        counts[bucket] += count;
        result->cycles += count;
    } else if (sscanf(line, "# Histogram Overflows: %lld", &overflows) == 1) {
        result->cycles += overflows;
    } else if (sscanf(line, "# Max Latencies: %lf", &max) == 1) {
        result->max_us = max;
    }
}

int cyclictest_run(int64_t interval_us, int seconds, struct cyclictest *ret_result)
{
    int64_t *counts = calloc(BUCKETS, sizeof(*counts));
    struct cyclictest result = {0};
    char command[200];
    char line[512];
    FILE *pipe;
    int status;

    if (!counts)
        return -ENOMEM;
    snprintf(command, sizeof(command),
             "cyclictest -q -m -t1 --policy=fifo -p70 -i%lld -D%d -h%d 2>/dev/null",
             (long long)interval_us, seconds, BUCKETS);
    pipe = popen(command, "re");
    while (pipe && fgets(line, sizeof(line), pipe))
        take_line(line, counts, &result);
    status = pipe ? pclose(pipe) : -1;
    if (status == 0 && result.cycles > 0) {
        result.p50_us = find_median(counts, result.cycles);
        result.expected = seconds * INT64_C(1000000) / interval_us;
        *ret_result = result;
    }
    free(counts);
    return status == 0 && result.cycles > 0 ? 0 : -ENOENT;
}
