/*
 * See meter_options.h.
 */
#include "cli/meter_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    OPTION_BUFFER,
    OPTION_JSON,
};

static const struct argp_option options[] = {
    {"buffer", OPTION_BUFFER, "LIST", 0,
     "Frames x fragments, as 64x3 (without it) or 64x3,128x2@96000; `1999` for the four of then, "
     "`timer` for a loop that sleeps 3 ms; `compare` takes one",
     1},
    {"json", OPTION_JSON, NULL, 0, "One JSON object; of a measurement it is what `compare` takes",
     1},
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

static void set_loads(struct tt_meter_job *job, char *list, struct argp_state *state)
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
    struct stat status;

    switch (key) {
    case OPTION_TIME:
        set_time(job, argument, state);
        return 0;
    case OPTION_LOAD:
        set_loads(job, argument, state);
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
        job->folder = tt_cli_file_option("folder", argument, state);
        if (stat(argument, &status) == 0 && !S_ISDIR(status.st_mode)) {
            argp_error(state, "--folder %s is a file and not a folder", argument);
        }
        return 0;
    case OPTION_NO_TRACE:
        job->trace = false;
        return 0;
    case OPTION_BUFFER:
        job->buffers = argument;
        return 0;
    case OPTION_JSON:
        job->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum tt_exit tt_meter_options_shape(struct tt_meter_job *job, const char *command, const char *text)
{
    if (job->shape_count == TT_METER_ROWS_MAX) {
        tt_cli_say(command, "%d buffers at most", TT_METER_ROWS_MAX);
        return TT_EXIT_USAGE;
    }
    if (tt_meter_shape_parse(text, job->rate_hz, &job->shapes[job->shape_count]) != 0) {
        tt_cli_say(
            command,
            "\"%s\" is no buffer: give frames x fragments, such as 64x3 or 128x2@48000: 16 to "
            "16384 frames, 2 to %d fragments",
            text, TT_FRAGMENT_COUNT_MAX);
        return TT_EXIT_USAGE;
    }
    job->shape_count++;
    return TT_EXIT_GOOD;
}

static enum tt_exit add_then(struct tt_meter_job *job, const char *command)
{
    /* Then sizes were bytes: 1024 and 2048 of them, in stereo of 16 bits. */
    static const char *const then[] = {"2x256@44100", "3x256@44100", "4x256@44100", "2x512@44100"};
    enum tt_exit code = TT_EXIT_GOOD;

    for (size_t i = 0; i < TT_COUNT_OF(then) && code == TT_EXIT_GOOD; i++) {
        code = tt_meter_options_shape(job, command, then[i]);
    }
    return code;
}

enum tt_exit tt_meter_options_shapes(struct tt_meter_job *job, const char *command)
{
    char *rest = job->buffers;
    enum tt_exit code = TT_EXIT_GOOD;
    char *text;

    if (!rest) {
        return tt_meter_options_shape(job, command, "64x3");
    }
    while (code == TT_EXIT_GOOD && (text = strsep(&rest, ","))) {
        code = strcmp(text, "1999") == 0 ? add_then(job, command)
                                         : tt_meter_options_shape(job, command, text);
    }
    return code;
}

const struct argp tt_meter_options = {.options = options, .parser = parse_option};
