/*
 * See meter_options.h.
 */
#include "cli/meter_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"

#define RATE_MIN 8000
#define RATE_MAX 768000

enum {
    OPTION_TIME = 512,
    OPTION_LOAD,
    OPTION_COMPUTE,
    OPTION_RATE,
    OPTION_POLICY,
    OPTION_PRIORITY,
    OPTION_CPU,
    OPTION_FOLDER,
    OPTION_NO_TRACE,
};

static const struct argp_option options[] = {
    {"time", OPTION_TIME, "TIME", 0, "For each load of each buffer, 6s without it", 1},
    {"load", OPTION_LOAD, "LIST", 0,
     "Of idle,proc,write,copy,read,scheduler,memory,network; all without it", 1},
    {"compute", OPTION_COMPUTE, "PERCENT", 0, "Of a fragment's time, 80 without it", 1},
    {"rate", OPTION_RATE, "HZ", 0, "48000 without it", 1},
    {"policy", OPTION_POLICY, "POLICY", 0, "fifo (without it), rr, deadline or other", 1},
    {"priority", OPTION_PRIORITY, "N", 0, "Of fifo and rr, 70 without it", 1},
    {"cpu", OPTION_CPU, "N", 0, "Keep the loop on this processor", 1},
    {"folder", OPTION_FOLDER, "FOLDER", 0, "For the files of loads; this one without it", 1},
    {"no-trace", OPTION_NO_TRACE, NULL, 0,
     "Record no switches and interrupts, where tracefs would allow it", 1},
    {0},
};

static bool find_load(const char *name, enum tt_load_kind *ret_kind)
{
    for (int kind = 0; kind < TT_LOADS; kind++) {
        if (strcmp(name, tt_load_name((enum tt_load_kind)kind)) == 0) {
            *ret_kind = (enum tt_load_kind)kind;
            return true;
        }
    }
    return false;
}

static bool has_load(const struct tt_meter_job *job, enum tt_load_kind kind)
{
    for (size_t i = 0; i < job->load_count; i++) {
        if (job->loads[i] == kind) {
            return true;
        }
    }
    return false;
}

void tt_meter_options_loads(struct tt_meter_job *job, char *list, struct argp_state *state)
{
    char *rest = list;
    char *name;

    job->load_count = 0;
    while ((name = strsep(&rest, ","))) {
        enum tt_load_kind kind;

        if (!find_load(name, &kind)) {
            argp_error(state,
                       "--load %s: give some of idle, proc, write, copy, read, scheduler, memory, "
                       "network, with commas between them",
                       name);
            return;
        }
        if (!has_load(job, kind)) {
            job->loads[job->load_count++] = kind;
        }
    }
}

static void set_time(struct tt_meter_job *job, const char *argument, struct argp_state *state)
{
    if (tt_cli_duration_parse(argument, &job->cell_ns) != 0 || job->cell_ns < 100 * TT_NS_PER_MS ||
        job->cell_ns > 3600 * TT_NS_PER_S) {
        argp_error(state, "--time %s: give a number with a unit, from 100ms to 1h", argument);
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct tt_meter_job *job = state->input;

    switch (key) {
    case OPTION_TIME:
        set_time(job, argument, state);
        return 0;
    case OPTION_LOAD:
        tt_meter_options_loads(job, argument, state);
        return 0;
    case OPTION_COMPUTE:
        job->compute_percent = (unsigned)tt_cli_number_option("compute", argument, state, 0, 99);
        return 0;
    case OPTION_RATE:
        job->rate_hz = (uint32_t)tt_cli_number_option("rate", argument, state, RATE_MIN, RATE_MAX);
        return 0;
    case OPTION_POLICY:
        if (!tt_policy_find(argument, &job->policy.kind)) {
            argp_error(state, "--policy %s: give fifo, rr, deadline or other", argument);
        }
        return 0;
    case OPTION_PRIORITY:
        job->policy.priority = (int)tt_cli_number_option("priority", argument, state, 1, 99);
        return 0;
    case OPTION_CPU:
        job->policy.cpu =
            (int)tt_cli_number_option("cpu", argument, state, 0, (long)tt_machine_processors() - 1);
        return 0;
    case OPTION_FOLDER:
        job->folder = argument;
        return 0;
    case OPTION_NO_TRACE:
        job->trace = false;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp tt_meter_options = {.options = options, .parser = parse_option};
