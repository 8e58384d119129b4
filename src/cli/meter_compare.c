/*
 * See meter_compare.h. Two settings are measured window by window, in the order A B B A, so that a
 * machine that drifts changes both; the windows are what is compared.
 */
#include "cli/meter_compare.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/meter_options.h"
#include "cli/meter_saved.h"
#include "cli/meter_setting.h"
#include "cli/meter_show.h"
#include "report/json.h"
#include "report/meter_compare_text.h"

#define COMMAND   "tactus meter compare"
#define WINDOW_NS TT_NS_PER_S

enum {
    OPTION_PAIRS = 256,
};

struct command {
    struct tt_meter_job job;
    const char *texts[2];
    size_t pairs;
    struct tt_meter_setting settings[2];
    int64_t medians[2][TT_COMPARE_WINDOWS_MAX];
    int64_t misses[2][TT_COMPARE_WINDOWS_MAX];
    size_t done; /* pairs */
    size_t windows;
    int policy_error; /* of the first window: all have to be as that */
};

static const struct argp_option options[] = {
    {"pairs", OPTION_PAIRS, "N", 0, "Windows of each, 40 without it", 0},
    {0},
};

static const struct argp_child children[] = {{&tt_meter_options, 0, "The measurement:", 1}, {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct command *command = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &command->job;
        return 0;
    case OPTION_PAIRS:
        command->pairs = (size_t)tt_cli_number_option(
            "pairs", argument, state, TT_COMPARE_WINDOWS_MIN, TT_COMPARE_WINDOWS_MAX);
        return 0;
    default:
        return tt_cli_arguments(key, argument, state,
                                (const char **const[]){&command->texts[0], &command->texts[1]}, 2,
                                "two settings, or two files that `tactus meter --json` made");
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = children,
    .args_doc = "A B",
    .doc =
        "Is B better than A? Two settings are measured in turn, window by window (A B B A ...), "
        "and compared by windows: their median lateness, and the periods that were missed. Or "
        "two saved results, which hold what the machine did between them as well. The answer is "
        "better, worse or not distinguishable, with the difference that A makes against itself "
        "(the A/A floor) beside it."
        "\v"
        "A setting: policy=fifo|rr|deadline|other, priority=N, cpu=N, governor=NAME, tuned, "
        "run=COMMAND (before each window; the last one), with commas between; `default` is none "
        "of them. --time is that of a window, 1s without it; with several loads in --load the "
        "pairs go through them in turn, two with each.\n\n"
        "Examples:\n"
        "  tactus meter compare policy=fifo policy=deadline --load scheduler\n"
        "  tactus meter compare default tuned --pairs 100\n"
        "  tactus meter compare before.json after.json\n\n"
        "Exit: 0 B is better, or not distinguishable; 1 B is worse; 2 wrong usage; 3 the "
        "environment lacks something, such as a policy that is refused to one of them; 4 too few "
        "windows, or saved results of which one lacked its policy."};

/* Refused to both alike, it is the same for both. */
static bool ask_alike(const struct tt_policy *a, const struct tt_policy *b)
{
    return a->kind == b->kind && a->priority == b->priority;
}

/* What was refused in one window and not in another is no comparison of what was asked for. */
static enum tt_exit check_policy(struct command *command, size_t which, int error)
{
    bool alike = ask_alike(&command->settings[0].policy, &command->settings[1].policy);
    enum tt_policy_kind kind = command->settings[which].policy.kind;

    if (command->windows++ == 0) {
        command->policy_error = error;
    }
    if ((error == 0) == (command->policy_error == 0) && (error == 0 || alike)) {
        return TT_EXIT_GOOD;
    }
    error = error ? error : command->policy_error;
    tt_cli_say(
        COMMAND,
        "policy %s was refused to %s: %s. What would be compared is not what was asked for.%s",
        tt_policy_name(kind),
        alike   ? "some windows and not to others"
        : which ? "B"
                : "A",
        strerror(-error), tt_meter_show_policy_advice(kind, error));
    return TT_EXIT_ENVIRONMENT;
}

static enum tt_exit run_window(struct command *command, size_t which, size_t pair)
{
    struct tt_meter_job *job = &command->job;
    /* Two pairs in a row have the same: what a setting makes against itself is found in them. */
    enum tt_load_kind load = job->loads[pair / 2 % job->load_count];
    struct tt_meter_result result;
    enum tt_exit code = tt_meter_setting_apply(&command->settings[which], job);

    if (code == TT_EXIT_GOOD) {
        code = tt_meter_job_run(job, &job->shapes[0], load, &result);
    }
    tt_meter_setting_undo(&command->settings[which], job);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    command->medians[which][pair] =
        result.cell->late.n > 0 ? tt_hist_percentile(&result.cell->late, 500) : 0;
    command->misses[which][pair] = (int64_t)(result.counters.late + result.counters.skipped);
    code = result.interrupted ? TT_EXIT_GOOD : check_policy(command, which, result.policy_error);
    tt_meter_job_free(&result);
    return code;
}

static enum tt_exit run_pairs(struct command *command)
{
    enum tt_exit code = TT_EXIT_GOOD;

    for (size_t pair = 0; pair < command->pairs && code == TT_EXIT_GOOD; pair++) {
        for (size_t half = 0; half < 2 && code == TT_EXIT_GOOD; half++) {
            code = run_window(command, (pair & 1) ^ half, pair);
        }
        if (tt_cli_interrupted()) {
            break;
        }
        command->done += code == TT_EXIT_GOOD;
        if (!command->job.json && isatty(STDERR_FILENO)) {
            fprintf(stderr, "\r\033[K%zu of %zu pairs", command->done, command->pairs);
        }
    }
    if (!command->job.json && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K");
    }
    return code;
}

static void compare_values(const struct command *command,
                           const int64_t values[2][TT_COMPARE_WINDOWS_MAX], bool counts,
                           struct tt_compare_work *work, struct tt_compare_result *ret_result)
{
    struct tt_compare_input input = {
        .a = values[0],
        .b = values[1],
        .a_count = command->done,
        .b_count = command->done,
        .interleaved = true,
        .counts = counts,
        .asked = 2, /* lateness and misses */
    };

    tt_compare(&input, work, ret_result);
}

static enum tt_exit judge(const struct tt_compare_result results[2])
{
    if (results[0].answer == TT_COMPARE_TOO_FEW) {
        return TT_EXIT_INCONCLUSIVE;
    }
    return results[0].answer == TT_COMPARE_WORSE || results[1].answer == TT_COMPARE_WORSE
               ? TT_EXIT_NEGATIVE
               : TT_EXIT_GOOD;
}

/* What has to be known before all else; NULL: nothing. */
static const char *warning_text(const struct command *command, char text[TT_METER_TEXT])
{
    enum tt_policy_kind kind = command->settings[0].policy.kind;
    int error = command->policy_error;
    int length = 0;

    if (error) {
        length = snprintf(text, TT_METER_TEXT,
                          "Policy %s was refused (%s): A and B are compared without it, both "
                          "alike.%s ",
                          tt_policy_name(kind), strerror(-error),
                          tt_meter_show_policy_advice(kind, error));
    }
    if (command->job.awake_refused) {
        length += snprintf(text + length, TT_METER_TEXT - (size_t)length,
                           "`tuned` is without processors that are kept out of idle states, which "
                           "was refused. ");
    }
    if (length == 0) {
        return NULL;
    }
    text[length - 1] = 0;
    return text;
}

static void show_text(const struct command *command, const struct tt_compare_result results[2])
{
    char text[TT_METER_TEXT];
    const char *warning = warning_text(command, text);

    if (warning) {
        printf("%s\n", warning);
    }
    for (int which = 0; which < 2; which++) {
        printf("%c  %s\n", 'A' + which, command->settings[which].text);
    }
    printf("%s.\n", tt_meter_compare_text("Lateness", &results[0], TT_METER_COMPARE_TIME, text));
    printf("%s.\n",
           tt_meter_compare_text("Missed periods", &results[1], TT_METER_COMPARE_COUNT, text));
}

static void show_json(const struct command *command, const struct tt_compare_result results[2])
{
    char text[TT_METER_TEXT];
    bool granted = command->policy_error == 0;
    json_t *json = json_pack(
        "{s:s?, s:s, s:s, s:b, s:b, s:i, s:o, s:o}", "warning", warning_text(command, text), "a",
        command->settings[0].text, "b", command->settings[1].text, "policy_a_granted", granted,
        "policy_b_granted", granted, "pairs", (int)command->done, "median_late_ns",
        tt_meter_compare_json(&results[0]), "misses", tt_meter_compare_json(&results[1]));

    tt_json_print_line(stdout, json);
    json_decref(json);
}

static enum tt_exit conclude(struct command *command)
{
    struct tt_compare_work *work = malloc(sizeof(*work));
    struct tt_compare_result results[2];

    if (!work) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    compare_values(command, command->medians, false, work, &results[0]);
    compare_values(command, command->misses, true, work, &results[1]);
    free(work);
    (command->job.json ? show_json : show_text)(command, results);
    return judge(results);
}

static enum tt_exit compare_settings(struct command *command)
{
    struct tt_meter_job *job = &command->job;
    enum tt_exit code;

    if (tt_meter_options_shapes(job, COMMAND) != TT_EXIT_GOOD) {
        return TT_EXIT_USAGE;
    }
    if (job->shape_count > 1) {
        tt_cli_say(COMMAND, "--buffer: give one buffer; %zu cannot be compared at once",
                   job->shape_count);
        return TT_EXIT_USAGE;
    }
    if (tt_meter_job_check_time(job, COMMAND, "--time", job->cell_ns) != TT_EXIT_GOOD) {
        return TT_EXIT_USAGE;
    }
    for (int i = 0; i < 2; i++) {
        if (tt_meter_setting_parse(command->texts[i], job, &command->settings[i]) != 0) {
            return TT_EXIT_USAGE;
        }
    }
    if (job->policy.priority > 0 && !tt_policy_has_priority(command->settings[0].policy.kind) &&
        !tt_policy_has_priority(command->settings[1].policy.kind)) {
        tt_cli_say(COMMAND, "--priority belongs to the policies fifo and rr, and neither has it");
        return TT_EXIT_USAGE;
    }
    if (job->load_count == 0) {
        job->loads[job->load_count++] = TT_LOAD_IDLE;
    }
    job->quiet = true;
    tt_cli_catch_interrupt();
    code = tt_meter_job_open(job);
    code = code == TT_EXIT_GOOD ? run_pairs(command) : code;
    tt_meter_job_close(job);
    return code == TT_EXIT_GOOD || tt_cli_interrupted() ? conclude(command) : code;
}

static struct command *new_command(void)
{
    struct command *command = calloc(1, sizeof(*command));

    if (!command) {
        tt_cli_say(COMMAND, "out of memory");
        return NULL;
    }
    tt_meter_job_init(&command->job);
    command->job.cell_ns = WINDOW_NS;
    command->job.trace = false;
    command->pairs = TT_COMPARE_WINDOWS_USUAL;
    return command;
}

int tt_meter_compare(int argc, char **argv)
{
    char name[] = COMMAND;
    struct command *command = new_command();
    enum tt_exit code = TT_EXIT_USAGE;

    if (!command) {
        return TT_EXIT_ENVIRONMENT;
    }
    argv[0] = name;
    if (argp_parse(&parser, argc, argv, 0, NULL, command) == 0) {
        bool files[2] = {access(command->texts[0], F_OK) == 0,
                         access(command->texts[1], F_OK) == 0};

        if (!files[0] && !files[1]) {
            code = compare_settings(command);
        } else if (!files[0] || !files[1]) {
            tt_cli_say(COMMAND,
                       "%s is a file, and there is no file %s: give two saved results, or two "
                       "settings",
                       command->texts[!files[0]], command->texts[files[0]]);
        } else if (argc > 3 + command->job.json) {
            tt_cli_say(COMMAND, "saved results are measured already: no option but --json");
        } else {
            code = tt_meter_compare_saved(command->texts, command->job.json);
        }
    }
    free(command);
    return code;
}
