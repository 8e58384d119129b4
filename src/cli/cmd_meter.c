/*
 * `tactus meter`: will this machine hold 64 frames? The latency benchmark of 1999.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "cli/cmd.h"
#include "cli/meter_compare.h"
#include "cli/meter_job.h"
#include "cli/meter_options.h"
#include "cli/meter_page.h"
#include "cli/meter_row.h"
#include "cli/meter_show.h"
#include "cli/meter_soak.h"
#include "report/json.h"

#define CELL_NS (6 * TT_NS_PER_S)

enum {
    OPTION_FULL = 256,
    OPTION_DEVICE,
    OPTION_ROUND_TRIP,
    OPTION_MIDI,
    OPTION_FOR,
    OPTION_LOG,
    OPTION_TUNED,
    OPTION_REQUIRE,
    OPTION_HTML,
};

struct command {
    struct tt_meter_job job;
    bool full;
    bool tuned;
    const char *require; /* or NULL */
    int64_t soak_ns;     /* 0: no soak */
    const char *log;
    const char *html;
    bool lacking; /* a load that belongs to all of them */
};

static const struct argp_option options[] = {
    {"full", OPTION_FULL, NULL, 0, "The whole table: 2x64 to 4x1024, and the timer", 0},
    {"device", OPTION_DEVICE, "PCM", 0,
     "A sound card that plays, as ALSA names it, instead of a device in exact time", 0},
    {"round-trip", OPTION_ROUND_TRIP, "PCM", 0,
     "With --device: a card that captures what it plays; a click is looked for", 0},
    {"midi", OPTION_MIDI, "PORT", 0,
     "Read this port in each cycle: adds the time from a byte's arrival to its sound", 0},
    {"for", OPTION_FOR, "TIME", 0,
     "A soak of that length, as 8h: dropouts with time and cause as they come, a line an hour; "
     "under the load of --load, or idle",
     0},
    {"log", OPTION_LOG, "FILE", 0, "Of --for: its lines go there too, as JSON, each on the disk",
     0},
    {"tuned", OPTION_TUNED, NULL, 0,
     "Measure as found and, in turn with it, with processors kept awake and the loop on one", 0},
    {"require", OPTION_REQUIRE, "BUFFER", 0,
     "Measure that buffer; exit code 0 says held, 1 not held, 4 not enough data", 0},
    {"html", OPTION_HTML, "FILE", 0, "A page with tables and drawings besides", 0},
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
    case OPTION_FULL:
        command->full = true;
        return 0;
    case OPTION_DEVICE:
        command->job.device = argument;
        return 0;
    case OPTION_ROUND_TRIP:
        command->job.round_trip = argument;
        return 0;
    case OPTION_MIDI:
        command->job.midi = argument;
        return 0;
    case OPTION_FOR:
        command->soak_ns = tt_cli_time_option("for", argument, state);
        return 0;
    case OPTION_LOG:
        command->log = tt_cli_file_option("log", argument, state);
        return 0;
    case OPTION_TUNED:
        command->tuned = true;
        return 0;
    case OPTION_REQUIRE:
        command->require = argument;
        return 0;
    case OPTION_HTML:
        command->html = tt_cli_page_option(argument, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state,
                   "what is %s? A buffer is given by --buffer; `tactus meter compare` "
                   "compares",
                   argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .children = children,
    .doc = "Say whether this machine holds a buffer of so many frames under load. A loop with "
           "real-time priority, where that is granted, computes 80 % of each fragment's time and "
           "hands it to a device that never waits, while the machine reads /proc, writes, copies "
           "and reads files, switches between processes, and moves memory and packets. Without "
           "options: 64 frames x 3 at 48 kHz, a minute. The machine is measured as it is found."
           "\v"
           "A cell is the worst latency in ms (how often the device ran empty): a dropout is a "
           "latency longer than the buffer. Every period is accounted for: expected = on time + "
           "late + skipped.\n\n"
           "Examples:\n"
           "  tactus meter\n"
           "  tactus meter --full --html report.html\n"
           "  tactus meter --device hw:1 --buffer 128x2 --load idle,write\n"
           "  tactus meter --require 128x2@48000 && echo held\n"
           "  tactus meter --for 8h --log night.jsonl\n"
           "  tactus meter compare policy=fifo policy=deadline\n\n"
           "Exit: 0 no dropout, 1 not safe, 2 wrong usage, 3 the environment lacks something, 4 "
           "interrupted, the machine was too noisy to say, or the run was too short for "
           "--require."};

static enum tt_exit add_shapes(struct command *command)
{
    static const char *const full[] = {"2x64",  "3x64",   "2x128",  "3x128", "2x256",
                                       "2x512", "2x1024", "4x1024", "timer"};
    struct tt_meter_job *job = &command->job;
    enum tt_exit code = TT_EXIT_GOOD;

    if (command->require) {
        return tt_meter_options_shape(job, TT_METER_COMMAND, command->require);
    }
    if (job->buffers || !command->full) {
        return tt_meter_options_shapes(job, TT_METER_COMMAND);
    }
    for (size_t i = 0; i < TT_COUNT_OF(full) && code == TT_EXIT_GOOD; i++) {
        code = tt_meter_options_shape(job, TT_METER_COMMAND, full[i]);
    }
    return code;
}

/* What contradicts another, or would be left out without a word. NULL: nothing. */
static const char *contradiction(const struct command *command)
{
    const struct tt_meter_job *job = &command->job;
    bool soak = command->soak_ns > 0;

    if (job->round_trip && !job->device) {
        return "--round-trip needs --device: the card that plays";
    }
    if (command->log && !soak) {
        return "--log belongs to --for";
    }
    if (command->full + (job->buffers != NULL) + (command->require != NULL) > 1) {
        return "--full, --buffer and --require each say what is measured: give one of them";
    }
    if (soak && (command->full || command->tuned || job->cell_ns > 0)) {
        return "--for measures one buffer as found, for its own time: leave out --full, --tuned "
               "and "
               "--time";
    }
    if (job->policy.priority > 0 && !tt_policy_has_priority(job->policy.kind)) {
        return "--priority belongs to the policies fifo and rr";
    }
    if (soak && job->load_count > 1) {
        return "--for measures under one load: give one by --load";
    }
    return NULL;
}

static void set_defaults(struct command *command)
{
    struct tt_meter_job *job = &command->job;

    if (job->load_count == 0 && command->soak_ns > 0) {
        job->loads[job->load_count++] = TT_LOAD_IDLE;
    } else if (job->load_count == 0) {
        command->lacking = !tt_meter_job_all_loads(job);
    }
    if (job->cell_ns == 0) {
        job->cell_ns = CELL_NS;
    }
    job->quiet = job->json;
    job->required = command->require != NULL;
}

static enum tt_exit check(struct command *command)
{
    const char *const written[] = {command->log, command->html};
    const char *wrong = contradiction(command);
    enum tt_exit code;

    if (wrong) {
        tt_cli_say(TT_METER_COMMAND, "%s", wrong);
        return TT_EXIT_USAGE;
    }
    for (size_t i = 0; i < TT_COUNT_OF(written); i++) {
        if (written[i] && tt_cli_check_not_stdout(TT_METER_COMMAND, written[i]) != TT_EXIT_GOOD) {
            return TT_EXIT_USAGE;
        }
    }
    if (tt_cli_check_apart(TT_METER_COMMAND, "--log", command->log, "--html", command->html) !=
        TT_EXIT_GOOD) {
        return TT_EXIT_USAGE;
    }
    set_defaults(command);
    code = add_shapes(command);
    if (code == TT_EXIT_GOOD && command->soak_ns > 0 && command->job.shape_count > 1) {
        tt_cli_say(TT_METER_COMMAND, "--for measures one buffer, and --buffer gives %zu",
                   command->job.shape_count);
        code = TT_EXIT_USAGE;
    }
    if (code == TT_EXIT_GOOD) {
        bool soak = command->soak_ns > 0;

        code = tt_meter_job_check_time(&command->job, TT_METER_COMMAND, soak ? "--for" : "--time",
                                       soak ? command->soak_ns : command->job.cell_ns);
    }
    /* A folder that was asked for is meant; the one that we happen to be in is not. */
    return code == TT_EXIT_GOOD && command->lacking && command->job.folder ? TT_EXIT_ENVIRONMENT
                                                                           : code;
}

/* `*n` rows are kept. */
static void keep_row(struct tt_meter_row *rows, struct tt_meter_row *row, size_t *n)
{
    if (*n == 0 || !tt_meter_row_came_to_nothing(row)) {
        rows[(*n)++] = *row;
    } else {
        tt_meter_row_free(row);
    }
}

static enum tt_exit run_rows(struct command *command, struct tt_meter_row *rows, size_t *ret_n)
{
    struct tt_meter_job *job = &command->job;
    enum tt_exit code = TT_EXIT_GOOD;

    *ret_n = 0;
    for (size_t i = 0;
         i < job->shape_count && code == TT_EXIT_GOOD && (i == 0 || !tt_cli_interrupted()); i++) {
        struct tt_meter_row row = {0};
        struct tt_meter_row tuned = {0};

        code = tt_meter_row_run(job, &job->shapes[i], &row, command->tuned ? &tuned : NULL);
        if (code == TT_EXIT_GOOD) {
            keep_row(rows, &row, ret_n);
            keep_row(rows, &tuned, ret_n);
        } else {
            tt_meter_row_free(&row);
            tt_meter_row_free(&tuned);
        }
    }
    return code;
}

/* The worst of all rows. */
static enum tt_exit judge(const struct tt_meter_job *job, const struct tt_meter_row *rows, size_t n)
{
    enum tt_exit code = n == 0 || tt_cli_interrupted() ? TT_EXIT_INCONCLUSIVE : TT_EXIT_GOOD;

    for (size_t r = 0; r < n; r++) {
        enum tt_exit found = tt_meter_row_judge(job, &rows[r]);

        if (found == TT_EXIT_NEGATIVE) {
            return found;
        }
        code = found == TT_EXIT_GOOD ? code : found;
    }
    return code;
}

static enum tt_exit show(const struct command *command, const struct tt_meter_row *rows, size_t n)
{
    enum tt_exit code = TT_EXIT_GOOD;

    if (n == 0) {
        return code;
    }
    if (command->job.json) {
        json_t *json = tt_meter_show_json(&command->job, rows, n);

        tt_json_print_line(stdout, json);
        json_decref(json);
    } else {
        tt_meter_show_text(&command->job, rows, n);
    }
    if (command->html) {
        code = tt_meter_page_write(&command->job, rows, n, command->html);
        if (code == TT_EXIT_GOOD && !command->job.json) {
            printf("The page is %s\n", command->html);
        }
    }
    return code;
}

static enum tt_exit measure(struct command *command)
{
    struct tt_meter_row rows[2 * TT_METER_ROWS_MAX] = {0};
    enum tt_exit code;
    enum tt_exit shown;
    size_t n;

    if (!command->job.json) {
        tt_meter_show_setup(&command->job);
    }
    code = run_rows(command, rows, &n);
    shown = show(command, rows, n);
    code = code != TT_EXIT_GOOD    ? code
           : shown != TT_EXIT_GOOD ? shown
                                   : judge(&command->job, rows, n);
    code = code == TT_EXIT_GOOD && command->lacking ? TT_EXIT_ENVIRONMENT : code;
    for (size_t r = 0; r < n; r++) {
        tt_meter_row_free(&rows[r]);
    }
    return code;
}

int tt_cmd_meter(int argc, char **argv)
{
    struct command command = {0};
    enum tt_exit code;

    if (argc > 1 && strcmp(argv[1], "compare") == 0) {
        return tt_meter_compare(argc - 1, argv + 1);
    }
    tt_meter_job_init(&command.job);
    if (argp_parse(&parser, argc, argv, 0, NULL, &command) != 0) {
        return TT_EXIT_USAGE;
    }
    code = check(&command);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    tt_cli_catch_interrupt();
    code = tt_meter_job_open(&command.job);
    if (code == TT_EXIT_GOOD) {
        code = command.soak_ns > 0
                   ? tt_meter_soak(&command.job, command.soak_ns, command.log, command.html)
                   : measure(&command);
    }
    tt_meter_job_close(&command.job);
    return code;
}
