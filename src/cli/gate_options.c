/*
 * See gate_options.h.
 */
#include "cli/gate_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "audio/config_value.h"
#include "audio/stream_config.h"
#include "cli/gate_value.h"

enum {
    OPTION_JSON = 256,
    OPTION_SPEED,
    OPTION_KERNEL,
    OPTION_DRIVER,
    OPTION_QUEUES,
    OPTION_PICTURE,
    OPTION_HTML
};

error_t tt_gate_parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    struct tt_gate_options *options = state->input;

    if (key == OPTION_JSON) {
        options->json = true;
        return 0;
    }
    return options->takes_source
               ? tt_cli_arguments(key, argument, state,
                                  (const char **const[]){&options->path, &options->source}, 2,
                                  "a schedule, and a capture file or an interface")
               : tt_cli_arguments(key, argument, state, (const char **const[]){&options->path}, 1,
                                  "one plan, what `tc -j qdisc show dev IF` printed, or an "
                                  "interface");
}

static error_t parse_page(int key, char *argument, struct argp_state *state)
{
    struct tt_gate_options *options = state->input;

    switch (key) {
    case OPTION_PICTURE:
        options->picture = tt_cli_file_option("picture", argument, state);
        return 0;
    case OPTION_HTML:
        options->html = tt_cli_page_option(argument, state);
        return 0;
    default:
        return tt_gate_parse(key, argument, state);
    }
}

static error_t parse_tc(int key, char *argument, struct argp_state *state)
{
    struct tt_gate_options *options = state->input;
    const char *fault = NULL;
    int64_t queues = 0;

    switch (key) {
    case OPTION_SPEED:
        fault = tt_gate_speed_parse(argument, &options->file.rate_bps);
        break;
    case OPTION_KERNEL:
        fault = tt_gate_kernel_parse(argument, &options->file.kernel);
        break;
    case OPTION_DRIVER:
        tt_gate_driver_set(&options->file.driver, options->file.driver_unknown, argument);
        break;
    case OPTION_QUEUES:
        fault = tt_value_number(argument, &queues);
        options->file.tx_queues = (unsigned)queues;
        break;
    default:
        return tt_gate_parse(key, argument, state);
    }
    if (fault) {
        argp_error(state, "'%s' %s", argument, fault);
    }
    return 0;
}

static const struct argp_option common_options[] = {
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of text", 0},
    {0},
};
static const struct argp_option tc_options[] = {
    {NULL, 0, NULL, 0, "Of the interface, where FILE is what tc printed:", 1},
    {"speed", OPTION_SPEED, "SPEED", 0, "Its speed: 100M, 1G, ...", 1},
    {"kernel", OPTION_KERNEL, "VERSION", 0, "The kernel there: 5.10, 6.12, ...", 1},
    {"driver", OPTION_DRIVER, "NAME", 0, "Its driver, as `ethtool -i` has it: igc, stmmac, ...", 1},
    {"queues", OPTION_QUEUES, "N", 0, "How many transmit queues it has", 1},
    {0},
};

static const struct argp_option page_options[] = {
    {"picture", OPTION_PICTURE, "FILE", 0, "Draw gates and frames, as SVG", 0},
    {"html", OPTION_HTML, "FILE", 0, "Also write a page: tables and the drawing", 0},
    {0},
};
/* Each is the child of the next. */
static const struct argp common_argp = {.options = common_options, .parser = parse_common};
const struct argp_child tt_gate_plain_children[] = {{&common_argp, 0, NULL, 0}, {0}};
static const struct argp tc_argp = {
    .options = tc_options, .parser = parse_tc, .children = tt_gate_plain_children};
const struct argp_child tt_gate_children[] = {{&tc_argp, 0, NULL, 0}, {0}};
static const struct argp page_argp = {
    .options = page_options, .parser = parse_page, .children = tt_gate_children};
const struct argp_child tt_gate_page_children[] = {{&page_argp, 0, NULL, 0}, {0}};

static bool given(const struct tt_gate_file_options *options)
{
    return options->rate_bps || options->kernel || options->tx_queues || options->driver ||
           options->driver_unknown[0];
}

enum tt_exit tt_gate_open(const char *command, const struct tt_gate_options *options,
                          struct tt_gate_file *ret_file)
{
    struct tt_message message;
    char ifname[TT_IFNAME_BYTES];
    int error;

    if (!options->path[0]) {
        tt_cli_say(command, "the name of the file is empty");
        return TT_EXIT_USAGE;
    }
    if (tt_cli_check_apart(command, "--picture", options->picture, "--html", options->html) !=
            TT_EXIT_GOOD ||
        tt_cli_check_apart(command, "--picture", options->picture, "what is read", options->path) !=
            TT_EXIT_GOOD) {
        return TT_EXIT_USAGE;
    }
    if (access(options->path, F_OK) != 0 && !tt_value_ifname(options->path, ifname) &&
        options->path[0] != '-') {
        return tt_gate_open_live(command, ifname, &options->file, ret_file);
    }
    error = tt_gate_file_read(options->path, &options->file, ret_file, &message);
    if (error != 0) {
        tt_cli_say(command, "cannot read %s: %s", options->path, message.text);
    } else if (json_is_object(ret_file->root) && !options->sets_up && given(&options->file)) {
        tt_cli_say(command,
                   "%s is a plan, which has speeds, drivers, kernels and queues itself: --speed, "
                   "--driver, --kernel and --queues are for what tc printed",
                   options->path);
        tt_gate_file_done(ret_file);
        return TT_EXIT_USAGE;
    }
    return error == 0 ? TT_EXIT_GOOD : error == -EINVAL ? TT_EXIT_USAGE : TT_EXIT_ENVIRONMENT;
}

enum tt_exit tt_gate_written(const char *command, const char *path, int error)
{
    if (error != 0) {
        tt_cli_say(command, "cannot write %s: %s", path, strerror(-error));
    }
    return error ? TT_EXIT_ENVIRONMENT : TT_EXIT_GOOD;
}
