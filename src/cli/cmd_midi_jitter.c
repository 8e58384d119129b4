/*
 * `tactus midi jitter`: how far recorded times are from the true ones, by method and load.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/cmd_midi.h"
#include "cli/midi_clock.h"
#include "cli/midi_jitter.h"
#include "report/json.h"
#include "report/table.h"

#define COMMAND "tactus midi jitter"

enum {
    OPTION_OUT = 256,
    OPTION_IN,
    OPTION_COUNT,
    OPTION_GAP,
    OPTION_EVEN,
    OPTION_LOAD,
    OPTION_JSON,
    OPTION_CLOCK,
    OPTION_DURATION,
};

enum load { LOAD_IDLE = 1, LOAD_LOADED = 2, LOAD_BOTH = 3 };

struct job {
    struct tt_jitter_setup setup;
    unsigned load; /* enum load, as bits */
    bool json;
    const char *clock_port; /* NULL: the experiment */
    int64_t duration_ns;
    struct tt_jitter passes[2];
    unsigned pass_count;
    const char *pass_names[2];
};

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "PORT", 0, "Where the messages are sent; without it a pty, heard at once",
     0},
    {"in", OPTION_IN, "PORT", 0,
     "Where they are recorded; several are several methods at once. read:PORT is raw MIDI without "
     "the kernel's stamps. seq:tactus-out:0 is the sequencer port of --out seq:...",
     0},
    {"count", OPTION_COUNT, "N", 0, "Messages, 300 without it", 0},
    {"gap", OPTION_GAP, "TIME", 0, "Mean time between them, 10ms without it", 0},
    {"even", OPTION_EVEN, NULL, 0, "All gaps alike, instead of random ones with chords and bursts",
     0},
    {"load", OPTION_LOAD, "LOAD", 0, "idle, loaded, or both, as without it", 0},
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of a table", 0},
    {"clock", OPTION_CLOCK, "PORT", 0,
     "Instead: the jitter of the MIDI clock (F8) that comes in there, and its tempo", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "Of --clock: 10s without it", 0},
    {0},
};

static void parse_time(const char *name, char *argument, struct argp_state *state, int64_t *ret_ns)
{
    if (tt_cli_duration_parse(argument, ret_ns) != 0 || *ret_ns == 0) {
        argp_error(state, "--%s %s: give a number with a unit, such as 500us, 10ms, 2s", name,
                   argument);
    }
}

static void parse_count(struct job *job, const char *argument, struct argp_state *state)
{
    char *end;
    long value = strtol(argument, &end, 10);

    if (*end || end == argument || value < 2 || value > TT_PROBE_NUMBERS) {
        argp_error(state, "--count %s: give a number from 2 to %d", argument, TT_PROBE_NUMBERS);
    }
    job->setup.count = (size_t)value;
}

static void parse_load(struct job *job, const char *argument, struct argp_state *state)
{
    static const char *const names[] = {"idle", "loaded", "both"};

    job->load = 0;
    for (unsigned i = 0; i < TT_COUNT_OF(names); i++) {
        if (strcmp(argument, names[i]) == 0) {
            job->load = i + 1;
        }
    }
    if (job->load == 0) {
        argp_error(state, "--load %s: give idle, loaded or both", argument);
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_OUT:
        job->setup.output = argument;
        return 0;
    case OPTION_IN:
        if (job->setup.input_count == TT_JITTER_METHODS) {
            argp_error(state, "%d methods at most", TT_JITTER_METHODS);
        }
        job->setup.inputs[job->setup.input_count++] = argument;
        return 0;
    case OPTION_COUNT:
        parse_count(job, argument, state);
        return 0;
    case OPTION_GAP:
        parse_time("gap", argument, state, &job->setup.gap_ns);
        return 0;
    case OPTION_EVEN:
        job->setup.even = true;
        return 0;
    case OPTION_LOAD:
        parse_load(job, argument, state);
        return 0;
    case OPTION_JSON:
        job->json = true;
        return 0;
    case OPTION_CLOCK:
        job->clock_port = argument;
        return 0;
    case OPTION_DURATION:
        parse_time("duration", argument, state, &job->duration_ns);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "what is %s? Ports are given by --out and --in", argument);
        return 0;
    case ARGP_KEY_END:
        if (job->setup.output && job->setup.input_count == 0 && !job->clock_port) {
            argp_error(state, "--out needs an --in that hears it");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .doc =
        "Send numbered messages at known times through a path, record them by each method at "
        "once, idle and under load (processes that exchange messages as hackbench does, with "
        "real-time priority 10 where that is granted), and show how far the recorded times are "
        "off. Without options the path is a pty, on any machine."
        "\v"
        "worst interval: the longest time between two recorded events beyond that between their "
        "sendings. Errors: recorded - sent - the line that fits best. inside: stamped between the "
        "times before and after sending.\n\n"
        "Examples:\n"
        "  tactus midi jitter\n"
        "  tactus midi jitter --out hw:1,0 --in hw:2,0 --count 1000 --gap 100ms --even\n"
        "  tactus midi jitter --clock hw:1,0\n\n"
        "Exit: 0 all arrived, 1 some were lost, 2 wrong usage, 3 a port or right is missing, 4 "
        "interrupted."};

static void print_table(const struct job *job)
{
    static const struct tt_column columns[] = {
        {"method", TT_ALIGN_LEFT},
        {"load", TT_ALIGN_LEFT},
        {"n", TT_ALIGN_RIGHT},
        {"lost", TT_ALIGN_RIGHT},
        {"twice", TT_ALIGN_RIGHT},
        {"inside", TT_ALIGN_RIGHT},
        {"worst interval", TT_ALIGN_RIGHT},
        {"min", TT_ALIGN_RIGHT},
        {"p0.1", TT_ALIGN_RIGHT},
        {"p1", TT_ALIGN_RIGHT},
        {"p50", TT_ALIGN_RIGHT},
        {"p99", TT_ALIGN_RIGHT},
        {"p99.9", TT_ALIGN_RIGHT},
        {"max", TT_ALIGN_RIGHT},
    };
    static const unsigned per_mille[] = {1, 10, 500, 990, 999};
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned m = 0; m < job->passes[0].method_count; m++) {
        for (unsigned p = 0; p < job->pass_count; p++) {
            const struct tt_jitter_method *method = &job->passes[p].methods[m];
            bool any = method->errors.n > 0;

            tt_table_cell(&table, "%s", method->name);
            tt_table_cell(&table, "%s", job->pass_names[p]);
            tt_table_cell_number(&table, (int64_t)method->errors.n);
            tt_table_cell_number(&table, (int64_t)method->result.lost);
            tt_table_cell_number(&table, (int64_t)method->duplicated);
            tt_table_cell_number(&table, (int64_t)method->result.inside);
            tt_table_cell_known(&table, method->result.worst_interval_ns, INT64_MIN + 1);
            tt_table_cell_known(&table, any ? method->errors.min : INT64_MIN, INT64_MIN + 1);
            for (unsigned i = 0; i < TT_COUNT_OF(per_mille); i++) {
                tt_table_cell_known(
                    &table, any ? tt_hist_percentile(&method->errors, per_mille[i]) : INT64_MIN,
                    INT64_MIN + 1);
            }
            tt_table_cell_known(&table, any ? method->errors.max : INT64_MIN, INT64_MIN + 1);
        }
    }
    printf("Errors in ns: recorded - sent - the line that fits best.\n");
    tt_table_print(&table, stdout);
    tt_table_done(&table);
}

static void print_json(const struct job *job)
{
    json_t *rows = json_array();
    json_t *json;

    for (unsigned p = 0; p < job->pass_count; p++) {
        for (unsigned m = 0; m < job->passes[p].method_count; m++) {
            const struct tt_jitter_method *method = &job->passes[p].methods[m];
            const struct tt_probe_result *result = &method->result;

            json_array_append_new(
                rows, json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:f, s:o}",
                                "method", method->name, "load", job->pass_names[p], "load_realtime",
                                job->passes[p].load_realtime, "sent",
                                (json_int_t)job->passes[p].sent, "lost", (json_int_t)result->lost,
                                "duplicated", (json_int_t)method->duplicated, "reordered",
                                (json_int_t)method->reordered, "inside", (json_int_t)result->inside,
                                "worst_interval_ns",
                                tt_json_known(result->worst_interval_ns, INT64_MIN + 1),
                                "offset_ns", (json_int_t)result->offset_ns, "drift_ppm",
                                result->drift_ppm, "error", tt_json_summary(&method->errors)));
        }
    }
    json = json_pack("{s:o}", "methods", rows);
    tt_json_print_line(stdout, json);
    json_decref(json);
}

static void say_of_load(const struct job *job, const struct tt_jitter *pass)
{
    if (!pass->load_realtime) {
        tt_cli_say(COMMAND, "the load ran without real-time priority, which is refused here");
    } else if (!job->setup.output) {
        tt_cli_say(COMMAND,
                   "a worker of the kernel, of normal priority, takes bytes through a pty: "
                   "the real-time load keeps it waiting");
    }
}

static enum tt_exit run_passes(struct job *job)
{
    static const char *const names[] = {"idle", "loaded"};
    enum tt_exit code = TT_EXIT_GOOD;

    for (unsigned i = 0; i < 2 && code == TT_EXIT_GOOD && !tt_cli_interrupted(); i++) {
        if ((job->load & 1U << i) == 0) {
            continue;
        }
        code = tt_jitter_run(&job->setup, i == 1, &job->passes[job->pass_count]);
        job->pass_names[job->pass_count] = names[i];
        job->pass_count += code == TT_EXIT_GOOD;
        if (code == TT_EXIT_GOOD && i == 1) {
            say_of_load(job, &job->passes[job->pass_count - 1]);
        }
    }
    return code;
}

static enum tt_exit verdict(const struct job *job)
{
    for (unsigned p = 0; p < job->pass_count; p++) {
        for (unsigned m = 0; m < job->passes[p].method_count; m++) {
            if (job->passes[p].methods[m].result.lost > 0) {
                return TT_EXIT_NEGATIVE;
            }
        }
    }
    return tt_cli_interrupted() ? TT_EXIT_INCONCLUSIVE : TT_EXIT_GOOD;
}

int tt_cmd_midi_jitter(int argc, char **argv)
{
    struct job job = {
        .setup = {.command = COMMAND, .count = 300, .gap_ns = 10 * TT_NS_PER_MS},
        .load = LOAD_BOTH,
        .duration_ns = 10 * TT_NS_PER_S,
    };
    enum tt_exit code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    tt_cli_catch_interrupt();
    if (job.clock_port) {
        return tt_midi_clock_measure(COMMAND, job.clock_port, job.duration_ns, job.json);
    }
    code = run_passes(&job);
    if (code == TT_EXIT_GOOD && job.pass_count > 0) {
        if (job.json) {
            print_json(&job);
        } else {
            print_table(&job);
        }
        code = verdict(&job);
    }
    for (unsigned i = 0; i < job.pass_count; i++) {
        tt_jitter_done(&job.passes[i]);
    }
    return code;
}
