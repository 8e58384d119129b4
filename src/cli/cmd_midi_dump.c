/*
 * `tactus midi dump`: every event of a file, and what is wrong with it.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/cmd_midi.h"
#include "cli/midi_dump.h"
#include "report/plural.h"

#define COMMAND "tactus midi dump"

enum { OPTION_JSON = 256 };

struct job {
    const char *path;
    bool json;
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of text", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct job *job = state->input;

    switch (key) {
    case OPTION_JSON:
        job->json = true;
        return 0;
    default:
        return tt_cli_arguments(key, argument, state, (const char **const[]){&job->path}, 1,
                                "a Standard MIDI File or a raw log");
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "FILE",
    .doc =
        "Show every event of a Standard MIDI File or a raw log, with its time, and a warning with "
        "the byte's offset for whatever is wrong in the file. What is good is kept."
        "\v"
        "Examples:\n"
        "  tactus midi dump song.mid\n"
        "  tactus midi dump --json take.mid.raw\n\n"
        "Exit: 0 all was read, 1 something is lost, 2 wrong usage or neither kind of file, 3 the "
        "file cannot be read."};

static enum tt_exit conclude(const struct job *job, const struct tt_midi_dump *dump, int error)
{
    if (error) {
        tt_cli_say(COMMAND, "cannot show %s: %s", job->path, strerror(-error));
        return TT_EXIT_ENVIRONMENT;
    }
    if (dump->warning_count > 0) {
        tt_cli_say(COMMAND, "%s: %" PRIu64 " %s", job->path, dump->warning_count,
                   tt_plural(dump->warning_count, "warning", "warnings"));
    }
    if (dump->lost) {
        tt_cli_say(COMMAND, "%s: something is lost", job->path);
    }
    return dump->lost ? TT_EXIT_NEGATIVE : TT_EXIT_GOOD;
}

int tt_cmd_midi_dump(int argc, char **argv)
{
    struct job job = {0};
    struct tt_midi_dump dump = {.out = stdout};
    struct tt_midi_file file;
    enum tt_exit code;
    int error;

    if (argp_parse(&parser, argc, argv, 0, NULL, &job) != 0) {
        return TT_EXIT_USAGE;
    }
    code = tt_midi_file_open(COMMAND, job.path, &file);
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    dump.source = job.path;
    dump.json = job.json;
    dump.warnings = json_array();
    error = file.is_log ? tt_midi_dump_log(&dump, &file.log) : tt_midi_dump_smf(&dump, &file.smf);
    code = conclude(&job, &dump, error);
    json_decref(dump.warnings);
    tt_midi_file_close(&file);
    return code;
}
