/*
 * See watch_options.h.
 */
#include "cli/watch_options.h"

#include <argp.h>
#include <string.h>

#include "cli/cmd.h"

enum {
    OPTION_JSON = 256,
    OPTION_HTML,
    OPTION_COMPARE,
    OPTION_METRICS,
    OPTION_WRITE,
    OPTION_DURATION,
    OPTION_NO_PROMISCUOUS,
    OPTION_STREAM_ID,
    OPTION_ADDRESS,
    OPTION_VLAN,
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0,
     "JSON instead of tables: one object for a file, a line a second live", 0},
    {"html", OPTION_HTML, "FILE", 0, "At the end also write a page: tables, drawings, the machine",
     0},
    {"compare", OPTION_COMPARE, NULL, 0,
     "Two captures of a stream, before and after: what differs by more than chance", 0},
    {"stream-id", OPTION_STREAM_ID, "ID", 0, "Only the stream of this ID (02:00:00:00:00:01:0001)",
     0},
    {"address", OPTION_ADDRESS, "MAC", 0, "Only streams from or to this address", 0},
    {"vlan", OPTION_VLAN, "ID", 0, "Only streams of this VLAN (0 to 4094, or none)", 0},
    {"write", OPTION_WRITE, "FILE", 0, "Live: also write what is seen to FILE (pcapng, ns)", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "Live: end after TIME, such as 500ms, 10s or 2min", 0},
    {"metrics", OPTION_METRICS, "[ADDR:]PORT", 0, "Live: serve figures for Prometheus there", 0},
    {"no-promiscuous", OPTION_NO_PROMISCUOUS, NULL, 0,
     "Live: see only what the interface takes in anyway", 0},
    {0},
};

static void parse_vlan(const char *argument, struct argp_state *state,
                       struct tt_observer_filter *filter)
{
    filter->by_vlan = true;
    filter->vlan_id = strcmp(argument, "none") == 0
                          ? -1
                          : (int)tt_cli_number_option("vlan", argument, state, 0, 4094);
}

static void parse_filter(int key, const char *argument, struct argp_state *state,
                         struct tt_observer_filter *filter)
{
    if (key == OPTION_VLAN) {
        parse_vlan(argument, state, filter);
    } else if (key == OPTION_STREAM_ID) {
        filter->by_stream_id = true;
        if (tt_stream_id_parse(argument, &filter->stream_id) != 0) {
            argp_error(state, "--stream-id %s: give it as 02:00:00:00:00:01:0001", argument);
        }
    } else {
        filter->by_address = true;
        if (tt_mac_parse(argument, filter->address) != 0) {
            argp_error(state, "--address %s: give it as 91:E0:F0:00:FE:01", argument);
        }
    }
}

static void check_arguments(const struct tt_watch_options *watch, struct argp_state *state)
{
    if (watch->source_count == 0) {
        argp_error(state, "what shall be watched? Give capture files or an interface");
    }
    if (watch->compare && watch->source_count != 2) {
        argp_error(state, "--compare takes two captures: before and after");
    }
    if (watch->compare && (watch->write_path || watch->duration_ns > 0 || watch->metrics)) {
        argp_error(state, "--write, --duration and --metrics are for an interface, not for "
                          "--compare");
    }
    if (watch->write_path && watch->html_path &&
        tt_cli_same_file(watch->write_path, watch->html_path)) {
        argp_error(state, "--write and --html name the same file");
    }
}

/* What is left behind the options. "-" is standard input, as everywhere. */
static void take_sources(struct tt_watch_options *watch, struct argp_state *state)
{
    static char standard_input[] = "/dev/stdin";

    for (int i = state->next; i < state->argc; i++) {
        if (strcmp(state->argv[i], "-") == 0) {
            state->argv[i] = standard_input;
        }
    }
    watch->sources = (const char *const *)state->argv + state->next;
    watch->source_count = (size_t)(state->argc - state->next);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct tt_watch_options *watch = state->input;

    switch (key) {
    case OPTION_JSON:
        watch->json = true;
        return 0;
    case OPTION_HTML:
        watch->html_path = tt_cli_page_option(argument, state);
        return 0;
    case OPTION_METRICS:
        watch->metrics = argument;
        return 0;
    case OPTION_COMPARE:
        watch->compare = true;
        return 0;
    case OPTION_STREAM_ID:
    case OPTION_ADDRESS:
    case OPTION_VLAN:
        parse_filter(key, argument, state, &watch->filter);
        return 0;
    case OPTION_WRITE:
        watch->write_path = tt_cli_file_option("write", argument, state);
        return 0;
    case OPTION_DURATION:
        watch->duration_ns = tt_cli_duration_option(argument, state);
        return 0;
    case OPTION_NO_PROMISCUOUS:
        watch->no_promiscuous = true;
        return 0;
    case ARGP_KEY_ARGS:
        take_sources(watch, state);
        return 0;
    case ARGP_KEY_END:
        check_arguments(watch, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "FILE...\nINTERFACE\n--compare BEFORE AFTER",
    .doc =
        "Show every AVTP stream in captures (pcap, pcapng) or on an interface: who sends what to "
        "whom, what is lost, the intervals between arrivals, and what is wrong, in words."
        "\v"
        "An existing path is a file; anything else is an interface. Several files are one capture, "
        "in order of time.\n\n"
        "Examples:\n"
        "  tactus watch recording.pcapng\n"
        "  tactus watch ring_*.pcapng\n"
        "  tactus watch eth0 --duration 10s --write eth0.pcapng --html eth0.html\n"
        "  tactus watch --compare before.pcapng after.pcapng\n\n"
        "Exit: 0 streams were seen, 1 none (or the later capture is worse), 2 wrong usage or no "
        "capture, 3 no permission or "
        "interface, 4 a capture cannot be read whole."};

int tt_watch_options_parse(int argc, char **argv, struct tt_watch_options *ret_options)
{
    *ret_options = (struct tt_watch_options){0};
    return argp_parse(&parser, argc, argv, 0, NULL, ret_options);
}
