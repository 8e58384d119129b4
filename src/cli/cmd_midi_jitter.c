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
#include "cli/midi_jitter_show.h"
#include "cli/midi_ports.h"
#include "cli/relay.h"

#define COMMAND  "tactus midi jitter"
#define SEED     1
#define CLOCK_NS (10 * TT_NS_PER_S)

enum {
    OPTION_OUT = 256,
    OPTION_IN,
    OPTION_COUNT,
    OPTION_GAP,
    OPTION_EVEN,
    OPTION_WIRE,
    OPTION_LOAD,
    OPTION_JSON,
    OPTION_CLOCK,
    OPTION_DURATION,
};

struct job {
    struct tt_jitter_setup setup;
    unsigned loads; /* enum tt_jitter_load, as bits; 0: all */
    bool json;
    const char *clock_port;    /* NULL: the experiment */
    int64_t duration_ns;       /* of --clock; 0: not given */
    const char *of_experiment; /* an option that was given and that --clock does not heed; NULL */
    struct tt_jitter passes[TT_JITTER_LOADS];
    unsigned pass_count;
};

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "PORT", 0, "Where the messages are sent; without it a pty, heard at once",
     0},
    {"in", OPTION_IN, "PORT", 0,
     "Where they are recorded; several are several methods at once. read:PORT is raw MIDI without "
     "the kernel's stamps, ticks:PORT the sequencer's ticks. seq:tactus-out:0 is the port of --out "
     "seq:...",
     0},
    {"count", OPTION_COUNT, "N", 0, "Messages, 300 without it", 0},
    {"gap", OPTION_GAP, "TIME", 0, "Mean time between them, 10ms without it", 0},
    {"even", OPTION_EVEN, NULL, 0,
     "Notes only, all gaps alike: instead of random gaps, chords, bursts and system exclusive", 0},
    {"wire", OPTION_WIRE, "BAUD", 0,
     "Speed of the wire behind --out, so that nothing has to wait for it; none. Without it 31250 "
     "(DIN) for raw MIDI and serial ports",
     0},
    {"load", OPTION_LOAD, "LOAD", 0,
     "idle, loaded, or stopped (the reader stands still for a second); several, or all without it",
     0},
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of a table", 0},
    {"clock", OPTION_CLOCK, "PORT", 0,
     "Instead: the jitter of the MIDI clock (F8) that comes in there, and its tempo", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "Of --clock: 10s without it", 0},
    {0},
};

static void parse_load(struct job *job, const char *argument, struct argp_state *state)
{
    for (unsigned i = 0; i < TT_JITTER_LOADS; i++) {
        if (strcmp(argument, tt_jitter_load_name((enum tt_jitter_load)i)) == 0) {
            job->loads |= 1U << i;
            return;
        }
    }
    argp_error(state, "--load %s: give idle, loaded or stopped", argument);
}

static void check_options(const struct job *job, struct argp_state *state)
{
    if (job->clock_port && job->of_experiment) {
        argp_error(state, "--clock only listens: not together with --%s", job->of_experiment);
    }
    if (job->duration_ns && !job->clock_port) {
        argp_error(state, "--duration is of --clock; without it --count messages are the end");
    }
    if ((job->setup.output != NULL) != (job->setup.input_count > 0)) {
        argp_error(state, "%s",
                   job->setup.output ? "--out needs an --in that hears it"
                                     : "--in needs an --out that it hears");
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    for (const struct argp_option *option = options; option->name; option++) {
        if (option->key == key && key != OPTION_JSON && key != OPTION_CLOCK &&
            key != OPTION_DURATION) {
            job->of_experiment = option->name;
        }
    }
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
        job->setup.plan.count =
            (size_t)tt_cli_number_option("count", argument, state, 2, TT_PROBE_NUMBERS);
        return 0;
    case OPTION_GAP:
        job->setup.plan.gap_ns = tt_cli_time_option("gap", argument, state);
        return 0;
    case OPTION_EVEN:
        job->setup.plan.even = true;
        return 0;
    case OPTION_WIRE:
        job->setup.wire = tt_midi_ports_wire_option(argument, state);
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
        job->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "what is %s? Ports are given by --out and --in", argument);
        return 0;
    case ARGP_KEY_END:
        check_options(job, state);
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
    enum tt_exit code = TT_EXIT_GOOD;

    for (unsigned i = 0; i < TT_JITTER_LOADS && code == TT_EXIT_GOOD && !tt_cli_interrupted();
         i++) {
        struct tt_jitter *pass = &job->passes[job->pass_count];

        if (job->loads != 0 && (job->loads & 1U << i) == 0) {
            continue;
        }
        code = tt_jitter_run(&job->setup, (enum tt_jitter_load)i, pass);
        job->pass_count += code == TT_EXIT_GOOD;
        if (code == TT_EXIT_GOOD && i == TT_JITTER_LOADED) {
            say_of_load(job, pass);
        }
    }
    return code;
}

static enum tt_exit verdict(const struct job *job)
{
    if (tt_cli_interrupted()) {
        return TT_EXIT_INCONCLUSIVE;
    }
    for (unsigned p = 0; p < job->pass_count; p++) {
        for (unsigned m = 0; m < job->passes[p].method_count; m++) {
            const struct tt_probe_result *result = &job->passes[p].methods[m].result;

            if (result->lost > 0 || result->clocks_lost > 0) {
                return TT_EXIT_NEGATIVE;
            }
        }
    }
    return TT_EXIT_GOOD;
}

int tt_cmd_midi_jitter(int argc, char **argv)
{
    struct job job = {
        .setup = {.command = COMMAND,
                  .wire = -1,
                  .plan = {.count = 300, .gap_ns = 10 * TT_NS_PER_MS, .seed = SEED}},
    };
    enum tt_exit code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    tt_relay_start();
    tt_cli_catch_interrupt();
    if (job.clock_port) {
        return tt_midi_clock_measure(COMMAND, job.clock_port,
                                     job.duration_ns ? job.duration_ns : CLOCK_NS, job.json);
    }
    code = run_passes(&job);
    if (code == TT_EXIT_GOOD && job.pass_count > 0) {
        if (job.json) {
            tt_jitter_show_json(job.passes, job.pass_count);
        } else {
            tt_jitter_show(job.passes, job.pass_count);
        }
    }
    if (code == TT_EXIT_GOOD) {
        code = verdict(&job);
    }
    for (unsigned i = 0; i < job.pass_count; i++) {
        tt_jitter_done(&job.passes[i]);
    }
    return code;
}
