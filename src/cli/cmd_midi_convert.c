/*
 * `tactus midi convert`: a Standard MIDI File of a raw log.
 */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/cmd_midi.h"
#include "cli/midi_convert.h"
#include "cli/midi_file.h"
#include "midi/survey.h"
#include "report/json.h"
#include "report/plural.h"

#define COMMAND "tactus midi convert"

enum { OPTION_SPLIT = 256, OPTION_JSON };

struct job {
    const char *log_path;
    const char *output_path;
    int64_t split_ns;
    bool json;
};

static const struct argp_option options[] = {
    {"split", OPTION_SPLIT, "TIME", 0,
     "A new file after so long a silence, such as 5s: OUT-01.mid, OUT-02.mid ...", 0},
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of text", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_SPLIT:
        job->split_ns = tt_cli_time_option("split", argument, state);
        return 0;
    case OPTION_JSON:
        job->json = true;
        return 0;
    default:
        return tt_cli_arguments(key, argument, state,
                                (const char **const[]){&job->log_path, &job->output_path}, 2,
                                "a raw log and the file to write");
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "LOG OUT.mid",
    .doc =
        "Make a Standard MIDI File of a raw log: a track for each port, each event at its stamp, "
        "rounded to 20 us."
        "\v"
        "Example:\n"
        "  tactus midi convert take.mid.raw take.mid\n\n"
        "Exit: 0 all of the log is in the file, 1 something was lost in recording or the log is "
        "damaged, 2 wrong usage, no raw log, or OUT.mid is there already, 3 the file cannot be "
        "written, 4 interrupted, with no half file left."};

static void say_damage(const struct job *job, const struct tt_midi_survey *survey)
{
    tt_cli_say(COMMAND,
               "%s is damaged: %" PRIu64 " %s cannot be read%s; `tactus midi dump` shows where",
               job->log_path, survey->frames_bad, tt_plural(survey->frames_bad, "frame", "frames"),
               survey->cut ? ", and the last one is not whole" : "");
    for (unsigned i = 0; i < TT_MIDI_FRAME_REASONS; i++) {
        if (survey->bad[i] > 0) {
            tt_cli_say(COMMAND, "%" PRIu64 " times: %s", survey->bad[i],
                       tt_midi_frame_reason_text((enum tt_midi_frame_reason)i));
        }
    }
}

/* What is wrong with the log, in words. */
static enum tt_exit judge(const struct job *job, const struct tt_midi_log *log,
                          const struct tt_midi_survey *survey)
{
    if (log->start_damaged) {
        tt_cli_say(COMMAND,
                   "the times in the header of %s are damaged: the start may be off, by the clock "
                   "and in the file; from event to event all is as it was",
                   job->log_path);
    }
    if (!survey->ended) {
        tt_cli_say(COMMAND, "%s was not ended by its recorder; all that it holds is converted",
                   job->log_path);
    }
    if (survey->frames_bad > 0 || survey->cut) {
        say_damage(job, survey);
    }
    if (survey->losses > 0) {
        tt_cli_say(COMMAND, "%" PRIu64 " %s in recording; markers in the tracks say where",
                   survey->losses, tt_plural(survey->losses, "loss", "losses"));
    }
    return log->start_damaged || survey->frames_bad > 0 || survey->cut || survey->losses > 0
               ? TT_EXIT_NEGATIVE
               : TT_EXIT_GOOD;
}

static void show_json(const struct job *job, const struct tt_midi_log *log,
                      const struct tt_midi_survey *survey,
                      const struct tt_midi_converted *converted)
{
    json_t *json = json_pack(
        "{s:o, s:o, s:I, s:o, s:I, s:b, s:o, s:o, s:b, s:b}", "log", tt_json_name(job->log_path),
        "output", tt_json_name(job->output_path), "files", (json_int_t)converted->files, "events",
        tt_json_u64(converted->events), "ports", (json_int_t)survey->port_count, "ended",
        survey->ended, "losses", tt_json_u64(survey->losses), "frames_bad",
        tt_json_u64(survey->frames_bad), "cut", survey->cut, "start_damaged", log->start_damaged);

    tt_json_print_line(stdout, json);
    json_decref(json);
}

static enum tt_exit convert(const struct job *job, struct tt_midi_file *file,
                            struct tt_midi_survey *survey)
{
    struct tt_midi_converted converted;
    struct tt_midi_convert setup = {
        .command = COMMAND,
        .log = &file->log,
        .survey = survey,
        .path = job->output_path,
        .stoppable = true,
        .split_ns = job->split_ns,
    };
    enum tt_exit code;

    tt_midi_survey_log(&file->log, survey);
    code = tt_midi_convert_run(&setup, &converted);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (job->json) {
        show_json(job, setup.log, survey, &converted);
    } else {
        printf("%" PRIu64 " %s of %u %s in %u %s\n", converted.events,
               tt_plural(converted.events, "event", "events"), survey->port_count,
               tt_plural(survey->port_count, "port", "ports"), converted.files,
               tt_plural(converted.files, "file", "files"));
    }
    return judge(job, &file->log, survey);
}

int tt_cmd_midi_convert(int argc, char **argv)
{
    struct job job = {0};
    struct tt_midi_survey *survey;
    struct tt_midi_file file;
    enum tt_exit code;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    tt_cli_catch_interrupt();
    code = tt_midi_file_check_output(COMMAND, job.output_path);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    if (tt_cli_same_file(job.log_path, job.output_path)) {
        tt_cli_say(COMMAND, "%s is the log itself; give another file to write", job.output_path);
        return TT_EXIT_USAGE;
    }
    code = tt_midi_file_open(COMMAND, job.log_path, &file);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    survey = malloc(sizeof(*survey));
    if (!survey) {
        tt_cli_say(COMMAND, "out of memory");
        code = TT_EXIT_ENVIRONMENT;
    } else if (!file.is_log) {
        tt_cli_say(COMMAND, "%s is a Standard MIDI File already", job.log_path);
        code = TT_EXIT_USAGE;
    } else {
        code = convert(&job, &file, survey);
    }
    free(survey);
    tt_midi_file_close(&file);
    return code;
}
