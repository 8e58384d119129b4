/*
 * The planner, the worst cases that `tactus gate check` says, and the simulation: seconds and
 * frames a minute on one processor; the reference is what is asked of them. Nothing is asked of the
 * worst cases: they have to be there while one waits for a plan.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "gate/bound.h"
#include "made_network.h"

enum { ROUNDS = 5 };

#define SECONDS_OF_A_PLAN 10.0
#define MILLIONS_A_MINUTE 10.0
#define NS_PER_S          1e9

static double simulate(struct made_network *made, int64_t duration_ns)
{
    struct tt_sim_options options = {.duration_ns = duration_ns};
    struct tt_sim_result result = {.flows = made->flow_results, .ports = made->port_results};
    int64_t start_ns = bench_cpu_ns();
    double seconds;

    if (tt_simulate(&made->network, &options, &result) != 0)
        exit(1);
    seconds = (double)(bench_cpu_ns() - start_ns) / NS_PER_S;
    return (double)result.frames / seconds * 60 / 1e6;
}

static double bound(struct made_network *made)
{
    struct tt_gate_bounds bounds = {
        .flows_ns = calloc(made->network.flow_count, sizeof(*bounds.flows_ns)),
        .ports_ns = calloc(made->network.port_count * TT_GATE_CLASSES, sizeof(*bounds.ports_ns)),
    };
    int64_t start_ns = bench_cpu_ns();

    if (!bounds.flows_ns || !bounds.ports_ns || tt_gate_bound(&made->network, &bounds) != 0)
        exit(1);
    free(bounds.flows_ns);
    free(bounds.ports_ns);
    return (double)(bench_cpu_ns() - start_ns) / NS_PER_S;
}

int main(void)
{
    static const struct tt_plan_options options = TT_PLAN_OPTIONS_DEFAULT;
    struct bench_row plan = {"plan: 100 links, 2000 streams", "s", "asked", 1, 0};
    struct bench_row frames = {"simulate", "million frames a minute", "asked", 0, 1};
    struct bench_row worst = {"worst cases of those", "s", "asked of a plan", 1, 0};
    struct bench_pair plans[ROUNDS];
    struct bench_pair bounds[ROUNDS];
    struct bench_pair runs[ROUNDS];
    struct made_network *made = made_line_of_100();
    uint64_t late;
    bool good;

    bench_pin(0);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t start_ns = bench_cpu_ns();

        if (tt_plan(&made->network, &options, &made->plan) != TT_PLAN_OK)
            return 1;
        plans[i].ours = (double)(bench_cpu_ns() - start_ns) / NS_PER_S;
        plans[i].reference = SECONDS_OF_A_PLAN;
    }
    late = made_network_run(made, 20000000);
    printf("late, lost or outside a window in what was planned: %llu frames\n",
           (unsigned long long)late);
    for (int i = 0; i < ROUNDS; i++)
        bounds[i] = (struct bench_pair){bound(made), SECONDS_OF_A_PLAN};
    for (int i = 0; i < ROUNDS; i++)
        runs[i] = (struct bench_pair){simulate(made, 50000000), MILLIONS_A_MINUTE};
    good = bench_print(&plan, plans, ROUNDS);
    good = bench_print(&worst, bounds, ROUNDS) && good;
    good = bench_print(&frames, runs, ROUNDS) && good && late == 0;
    made_network_free(made);
    return good ? 0 : 1;
}
