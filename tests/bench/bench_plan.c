/*
 * The planner and the simulation: frames a minute and seconds for a plan, on one processor; the
 * reference is what is asked of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
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

int main(void)
{
    static const struct tt_plan_options options = TT_PLAN_OPTIONS_DEFAULT;
    struct bench_row plan = {"plan: 100 links, 2000 streams", "s", "asked", 1, 0};
    struct bench_row frames = {"simulate", "million frames a minute", "asked", 0, 1};
    struct bench_pair plans[ROUNDS];
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
        runs[i] = (struct bench_pair){simulate(made, 50000000), MILLIONS_A_MINUTE};
    good = bench_print(&plan, plans, ROUNDS);
    good = bench_print(&frames, runs, ROUNDS) && good && late == 0;
    made_network_free(made);
    return good ? 0 : 1;
}
