/*
 * The options of `tactus gate shape`.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/gate_shape.h"
#include "cli/gate_value.h"
#include "os/qdisc.h"

#define QUEUE_BYTES_MAX (64 << 20)

enum {
    OPTION_SCHEDULE = 256,
    OPTION_PORT,
    OPTION_RATE,
    OPTION_TO,
    OPTION_TAP,
    OPTION_MODE,
    OPTION_CLASS,
    OPTION_CUT,
    OPTION_MARGIN,
    OPTION_QUEUE,
    OPTION_PRIORITY,
    OPTION_WHOLE,
    OPTION_LOG,
    OPTION_DURATION,
    OPTION_EXPLAIN,
    OPTION_JSON,
    OPTION_METRICS,
};

static const struct argp_option options[] = {
    {"schedule", OPTION_SCHEDULE, "FILE", 0,
     "The gates: what `tc -j qdisc show dev IF` prints of a taprio, or a plan; read again, for a "
     "change at its base time, on SIGHUP",
     0},
    {"port", OPTION_PORT, "NAME", 0,
     "Which port of a plan (\"a -> b\"); needed where several have gates", 0},
    {"rate", OPTION_RATE, "SPEED", 0, "Of the wire, such as 100M or 1G; a plan has it itself", 0},
    {"to", OPTION_TO, "IF", 0, "The interface that frames leave by", 0},
    {"tap", OPTION_TAP, "NAME", 0, "The device that is made, gate0 without it", 0},
    {"mode", OPTION_MODE, "strict|computed", 0,
     "strict: every frame is on the wire inside its window. computed: a wire clock decides, as "
     "launch-time hardware would; that is what it does without --mode",
     0},
    {"class", OPTION_CLASS, "RULE=CLASS", 0,
     "Class of what fits a rule, before PCP and DSCP: port:N, ethertype:N, dscp:N, pcp:N; may be "
     "given again",
     0},
    {"cut", OPTION_CUT, "BYTES|off", 0,
     "TCP segments are cut to this payload and more to fit what is left of a window; 256 without "
     "it. off: only where they fit no window",
     0},
    {"margin", OPTION_MARGIN, "TIME", 0,
     "Strict: so long before a window's end nothing is sent; measured without it", 0},
    {"queue", OPTION_QUEUE, "BYTES", 0, "Of a class, at most; 262144 without it", 0},
    {"priority", OPTION_PRIORITY, "N", 0,
     "Of what is sent, where IF has an etf qdisc; 0 without it", 0},
    {"whole", OPTION_WHOLE, NULL, 0,
     "Send TCP packets in one go or never, as Linux did until 2021: shows the stall", 0},
    {"log", OPTION_LOG, "FILE", 0, "Every departure, as text", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "Ends after TIME, such as 10s", 0},
    {"explain", OPTION_EXPLAIN, NULL, 0,
     "The most goodput that there can be here, for each class and mode, instead", 0},
    {"json", OPTION_JSON, NULL, 0, "JSON instead of tables, a line a second", 0},
    {"metrics", OPTION_METRICS, "[ADDR:]PORT", 0, "Serve figures for Prometheus there", 0},
    {0},
};

static void parse_rule(struct tt_gate_shape *job, const char *argument, struct argp_state *state)
{
    struct tt_classifier *classifier = &job->setup.classifier;
    struct tt_rule rule;
    const char *fault = tt_rule_parse(argument, &rule);

    if (fault) {
        argp_error(state, "--class %s: it %s", argument, fault);
    } else if (classifier->rule_count == TT_CLASSIFY_RULES) {
        argp_error(state, "--class: %d rules at most", TT_CLASSIFY_RULES);
    } else {
        classifier->rules[classifier->rule_count++] = rule;
    }
}

static void parse_text(struct tt_gate_shape *job, int key, const char *argument,
                       struct argp_state *state)
{
    const char *fault;

    if (key == OPTION_RATE) {
        fault = tt_gate_speed_parse(argument, &job->file_options.rate_bps);
        if (fault) {
            argp_error(state, "--rate %s: it %s", argument, fault);
        }
    } else if (key == OPTION_MODE) {
        job->setup.shaper.strict = strcmp(argument, "strict") == 0;
        if (!job->setup.shaper.strict && strcmp(argument, "computed") != 0) {
            argp_error(state, "--mode %s: give strict or computed", argument);
        }
    } else if (tt_cli_duration_parse(argument, &job->setup.shaper.margin_ns) != 0) {
        argp_error(state, "--margin %s: give a number with a unit, such as 5us", argument);
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct tt_gate_shape *job = state->input;

    switch (key) {
    case OPTION_SCHEDULE:
        job->schedule_path = argument;
        return 0;
    case OPTION_PORT:
        job->port_name = argument;
        return 0;
    case OPTION_TO:
        job->ifname = argument;
        return 0;
    case OPTION_TAP:
        job->tap = argument;
        if (strchr(argument, '%')) { /* the kernel would put a number there */
            argp_error(state, "--tap %s: give the name itself, such as gate0, without a %%",
                       argument);
        }
        return 0;
    case OPTION_RATE:
    case OPTION_MODE:
    case OPTION_MARGIN:
        parse_text(job, key, argument, state);
        return 0;
    case OPTION_CLASS:
        parse_rule(job, argument, state);
        return 0;
    case OPTION_CUT:
        job->setup.shaper.cut_bytes = 0;
        if (strcmp(argument, "off") != 0) {
            job->setup.shaper.cut_bytes =
                (size_t)tt_cli_number_option("cut", argument, state, 1, TT_SEGMENT_PACKET_MAX);
        }
        return 0;
    case OPTION_QUEUE:
        job->setup.shaper.queue_bytes = (size_t)tt_cli_number_option(
            "queue", argument, state, TT_SEGMENT_PACKET_MAX, QUEUE_BYTES_MAX);
        return 0;
    case OPTION_PRIORITY:
        job->setup.priority =
            (int)tt_cli_number_option("priority", argument, state, 0, TT_QDISC_PRIORITIES - 1);
        return 0;
    case OPTION_WHOLE:
        job->setup.shaper.whole = true;
        return 0;
    case OPTION_LOG:
        job->log_path = tt_cli_file_option("log", argument, state);
        return 0;
    case OPTION_DURATION:
        job->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_EXPLAIN:
        job->explain = true;
        return 0;
    case OPTION_JSON:
        job->json = true;
        return 0;
    case OPTION_METRICS:
        job->metrics = argument;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "what is %s? The schedule is given by --schedule, the interface by --to",
                   argument);
        return 0;
    case ARGP_KEY_END:
        if (!job->schedule_path) {
            argp_error(state, "which gates? Give --schedule FILE");
        } else if (!job->ifname && !job->explain) {
            argp_error(state, "where to? Give --to IF");
        } else if (job->setup.shaper.margin_ns >= 0 && !job->setup.shaper.strict && !job->explain) {
            argp_error(state, "--margin is for --mode strict");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp tt_gate_shape_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "--schedule FILE --rate SPEED --to IF",
    .doc =
        "Gates for a host whose kernel or interface has none: makes a TAP device, takes what the "
        "machine sends through it, and lets it out by IF when its gate is open, cut to what fits."
        "\v"
        "The device is a station of its own, with its own address, as a virtual machine's would "
        "be: give it an IP address, and what uses that address is shaped. It is gone when the "
        "command ends, whichever way.\n\n"
        "Example:\n"
        "  tactus gate shape --schedule gates.json --rate 100M --to eth0 &\n"
        "  ip address add 192.168.1.20/24 dev gate0\n"
        "  tactus gate shape --schedule gates.json --rate 100M --explain\n\n"
        "Exit: 0 it ended, 1 there were packets that no window is long enough for, 2 wrong usage "
        "or schedule, 3 no permission, device or interface."};
