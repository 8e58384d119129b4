/*
 * ./dev bench meter [wake [LOAD] | cost | inject [TIMES [CAUSE]]]: the meter beside cyclictest, its
 * own cost per cycle, and the causes that it finds of what is really done to it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "bench.h"
#include "bench_inject.h"
#include "cyclictest.h"
#include "os/load.h"
#include "os/memory.h"
#include "run/meter.h"

#define ROUNDS        7
#define ROUND_SECONDS 2
#define INTERVAL_US   1000
#define COST_MOST_NS  1000

static struct tt_meter_ring ring;
static struct tt_meter_machine machine;

/* A timer of 1 ms, as cyclictest. */
static const struct tt_fragment_shape timer = {.rate_hz = 1000000, .frames = INTERVAL_US};
static const struct tt_fragment_shape fastest = {.rate_hz = 192000, .frames = 16, .count = 2};

static int run_shape(const struct tt_fragment_shape *shape, enum tt_load_kind load,
                     struct tt_meter_result *result)
{
    struct tt_meter_setup setup = {
        .shape = *shape,
        .plan_ns = ROUND_SECONDS * TT_NS_PER_S,
        .policy = {.kind = TT_POLICY_FIFO, .cpu = -1},
        .load = {.kind = load, .file_bytes = INT64_C(64) << 20},
        .machine = &machine,
        .ring = &ring,
    };
    const char *what;
    int error;

    memset(result, 0, sizeof(*result));
    result->cell = calloc(1, sizeof(*result->cell));
    error = result->cell ? tt_meter_run(&setup, result, &what) : -ENOMEM;
    if (error)
        fprintf(stderr, "bench_meter: cannot %s: %s\n", what, strerror(-error));
    return error;
}

static int run_cyclictest(enum tt_load_kind kind, struct cyclictest *result)
{
    struct tt_load_setup setup = {
        .kind = kind, .file_bytes = INT64_C(64) << 20, .seconds = ROUND_SECONDS + 30};
    struct tt_load load;
    int error = tt_load_start(&load, &setup);

    error = error ? error : cyclictest_run(INTERVAL_US, ROUND_SECONDS, result);
    tt_load_stop(&load, NULL);
    if (error)
        fprintf(stderr, "bench_meter: cyclictest does not run (package rt-tests): %s\n",
                strerror(-error));
    return error;
}

struct wake {
    struct bench_pair p50[ROUNDS];
    int64_t ours_missing;
    int64_t ours_skipped;
    int64_t theirs_missing;
    int64_t expected;
};

static int run_round(enum tt_load_kind load, int round, struct wake *wake)
{
    struct tt_meter_result result = {0};
    struct cyclictest reference = {0};
    int error = 0;

    for (int half = 0; half < 2 && !error; half++)
        error = (round + half) % 2 ? run_cyclictest(load, &reference)
                                   : run_shape(&timer, load, &result);
    if (!error) {
        const struct tt_fragment_counters *c = &result.counters;

        wake->p50[round].ours = (double)tt_hist_percentile(&result.cell->late, 500) / 1e3;
        wake->p50[round].reference = reference.p50_us;
        wake->ours_missing += (int64_t)(c->expected - c->on_time - c->late - c->skipped);
        wake->ours_skipped += (int64_t)c->skipped;
        wake->theirs_missing += reference.expected - reference.cycles;
        wake->expected += (int64_t)c->expected;
    }
    free(result.cell);
    return error;
}

static bool bench_wake(enum tt_load_kind load)
{
    char name[64];
    struct bench_row row = {.name = name, .unit = "us", .reference = "cyclictest", .at_most = 1.2};
    struct wake wake = {0};

    snprintf(name, sizeof(name), "wake-up p50, %s", tt_load_name(load));
    for (int round = 0; round < ROUNDS; round++)
        if (run_round(load, round, &wake) != 0)
            return false;
    printf("periods, %s: %lld expected; tactus: %lld missing in the account, %lld named as "
           "skipped; cyclictest: %lld missing without a word\n",
           tt_load_name(load), (long long)wake.expected, (long long)wake.ours_missing,
           (long long)wake.ours_skipped, (long long)wake.theirs_missing);
    return bench_print(&row, wake.p50, ROUNDS) && wake.ours_missing == 0;
}

static bool bench_cost(const char *name, const struct tt_fragment_shape *shape)
{
    struct tt_meter_result result;
    bool held = run_shape(shape, TT_LOAD_IDLE, &result) == 0 && result.own_ns < COST_MOST_NS;

    printf("own cost, %s: %lld ns a cycle (clocks, account, record, its share of a reading), "
           "wanted under %d: %s\n",
           name, (long long)result.own_ns, COST_MOST_NS, held ? "held" : "NOT HELD");
    free(result.cell);
    return held;
}

static bool run_all(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool held = true;

    if (strcmp(what, "inject") == 0)
        return bench_inject(argc > 2 ? (unsigned)atoi(argv[2]) : 100, argc > 3 ? argv[3] : "");
    if (strcmp(what, "cost") != 0)
        for (int load = TT_LOAD_IDLE; load < TT_LOADS; load++) {
            const char *name = tt_load_name((enum tt_load_kind)load);

            if (argc > 2 ? strcmp(argv[2], name) == 0
                         : load == TT_LOAD_IDLE || load == TT_LOAD_SCHEDULER)
                held = bench_wake((enum tt_load_kind)load) && held;
        }
    if (strcmp(what, "wake") != 0) {
        held = bench_cost("a timer of 1 ms", &timer) && held;
        held = bench_cost("2x16 at 192 kHz", &fastest) && held;
    }
    return held;
}

int main(int argc, char **argv)
{
    struct tt_meter_entry *entries =
        (struct tt_meter_entry *)tt_memory_new(TT_METER_RING_ENTRIES, sizeof(*entries));
    bool held;

    if (!entries)
        return 3;
    setvbuf(stdout, NULL, _IOLBF, 0);
    tt_meter_ring_init(&ring, entries);
    tt_meter_machine_init(&machine);
    held = run_all(argc, argv);
    free(entries);
    return held ? 0 : 1;
}
