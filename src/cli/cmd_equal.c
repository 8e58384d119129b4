/*
 * `tactus equal`: whether every frame of a source is in a recording, bit for bit, and where not,
 * whether the reports of the two devices say why.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/equal_show.h"
#include "cli/explain.h"
#include "cli/sound_file.h"
#include "report/plural.h"

#define COMMAND "tactus equal"

enum { OPTION_JSON = 256, OPTION_RAW, OPTION_REPORT };

struct equal {
    const char *paths[2]; /* the source, the recording */
    struct tt_sound_raw raw;
    bool is_raw;
    bool json;
    const char *report_paths[8];
    unsigned report_count;

    struct tt_sound_file files[2];
    uint32_t *patterns[2];
    int64_t frames[2];
    struct tt_match match;
    struct tt_reports reports;
};

static const struct argp_option options[] = {
    {"report", OPTION_REPORT, "FILE", 0,
     "What a Tactus device reported about the stream (key report of the ALSA configuration); may "
     "be "
     "given again",
     0},
    {"raw", OPTION_RAW, "FORMAT,CHANNELS", 0,
     "How files without a WAV header are read, such as S24_LE,8", 0},
    {"json", OPTION_JSON, NULL, 0, "One JSON object instead of text", 0},
    {0},
};

static void parse_raw(struct equal *equal, const char *text, struct argp_state *state)
{
    char formats[TT_RAW_FORMATS_TEXT];
    const char *why = tt_raw_parse(text, &equal->raw);

    if (why || equal->raw.channels == 0) {
        argp_error(state,
                   "--raw %s %s; give a format and 1 to %d channels, such as S24_LE,8; the formats "
                   "are:%s",
                   text, why ? why : "says no channels", TT_RAW_CHANNELS_MAX,
                   tt_raw_formats(formats));
    }
    equal->is_raw = true;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct equal *equal = state->input;

    switch (key) {
    case OPTION_JSON:
        equal->json = true;
        return 0;
    case OPTION_RAW:
        parse_raw(equal, argument, state);
        return 0;
    case OPTION_REPORT:
        if (equal->report_count == TT_COUNT_OF(equal->report_paths)) {
            argp_error(state, "more than %u reports", equal->report_count);
        }
        equal->report_paths[equal->report_count++] = argument;
        return 0;
    default:
        return tt_cli_arguments(key, argument, state,
                                (const char **const[]){&equal->paths[0], &equal->paths[1]}, 2,
                                "a source and a recording");
    }
}

static const struct argp parser = {
    options,
    parse_option,
    "SOURCE RECORDING",
    "Say whether every frame of SOURCE is in RECORDING, bit for bit. The alignment is found from "
    "the content; silence before and after does not matter."
    "\v"
    "Example:\n"
    "  tactus equal played.wav recorded.wav --report talker.json --report listener.json\n\n"
    "Exit: 0 every frame is there, at one alignment; 1 not so; 4 not so, but every frame that "
    "differs lies where the reports say late, lost, dropped, refused or xrun, or is shifted by the "
    "silence that a talker sent meanwhile (also 4: the source is silent, which can be found "
    "anywhere); 2 wrong usage or files; 3 out of memory.",
    NULL,
    NULL,
    NULL};

static int open_one(struct equal *equal, int i)
{
    char why[TT_SOUND_WHY];
    int error = tt_sound_file_open(equal->paths[i], equal->is_raw ? &equal->raw : NULL,
                                   &equal->files[i], why);

    if (error) {
        tt_cli_say(COMMAND, "cannot read %s: %s%s", equal->paths[i], why,
                   error == -EINVAL && !equal->is_raw
                       ? "; a file without a header needs --raw FORMAT,CHANNELS"
                       : "");
        return TT_EXIT_USAGE;
    }
    if (equal->files[i].kind != TT_SOUND_INTEGER && equal->files[i].kind != TT_SOUND_FLOAT) {
        tt_cli_say(COMMAND,
                   "%s holds %s samples, which AAF does not carry: compare files of 16, 24 or "
                   "32-bit integers or 32-bit floats",
                   equal->paths[i], tt_sound_file_text(&equal->files[i]));
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static int check_comparable(const struct equal *equal)
{
    const struct tt_sound_file *a = &equal->files[0];
    const struct tt_sound_file *b = &equal->files[1];

    if (a->info.channels != b->info.channels) {
        tt_cli_say(COMMAND, "%s has %d %s and %s has %d: they cannot be compared", equal->paths[0],
                   a->info.channels, tt_plural((uint64_t)a->info.channels, "channel", "channels"),
                   equal->paths[1], b->info.channels);
        return TT_EXIT_USAGE;
    }
    if (a->info.samplerate > 0 && b->info.samplerate > 0 &&
        a->info.samplerate != b->info.samplerate) {
        tt_cli_say(COMMAND, "%s is at %d Hz and %s at %d Hz: they cannot be compared",
                   equal->paths[0], a->info.samplerate, equal->paths[1], b->info.samplerate);
        return TT_EXIT_USAGE;
    }
    if (a->kind != b->kind) {
        tt_cli_say(COMMAND, "%s holds %s samples and %s %s: they have no bits in common",
                   equal->paths[0], tt_sound_file_text(a), equal->paths[1], tt_sound_file_text(b));
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static int read_one(struct equal *equal, int i)
{
    struct tt_sound_file *file = &equal->files[i];
    uint64_t bytes = (uint64_t)file->info.frames * (uint64_t)file->info.channels * 4;

    if (bytes <= SIZE_MAX) {
        equal->patterns[i] = malloc((size_t)bytes + 4);
    }
    if (!equal->patterns[i]) {
        tt_cli_say(COMMAND, "%s needs %" PRIu64 " MB of memory, which are not there",
                   equal->paths[i], bytes >> 20);
        return TT_EXIT_ENVIRONMENT;
    }
    equal->frames[i] = tt_sound_file_read(file, equal->patterns[i], file->info.frames);
    if (equal->frames[i] < file->info.frames) {
        tt_cli_say(COMMAND, "%s breaks off after %" PRId64 " of %" PRId64 " %s", equal->paths[i],
                   equal->frames[i], (int64_t)file->info.frames,
                   tt_plural((uint64_t)file->info.frames, "frame", "frames"));
        return TT_EXIT_USAGE;
    }
    if (i == 0 && equal->frames[i] == 0) {
        tt_cli_say(COMMAND, "%s holds no frames", equal->paths[i]);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static int read_reports(struct equal *equal)
{
    for (unsigned i = 0; i < equal->report_count; i++) {
        char text[256];
        const char *why = NULL;
        int error =
            tt_reports_add(&equal->reports, equal->report_paths[i], text, sizeof(text), &why);

        if (error == -ENOMEM) {
            tt_cli_say(COMMAND, "out of memory");
            return TT_EXIT_ENVIRONMENT;
        }
        if (error) {
            tt_cli_say(COMMAND, "cannot use the report %s: %s", equal->report_paths[i], why);
            return TT_EXIT_USAGE;
        }
    }
    return TT_EXIT_GOOD;
}

static int read_all(struct equal *equal)
{
    int code = TT_EXIT_GOOD;

    for (int i = 0; i < 2 && code == TT_EXIT_GOOD; i++) {
        code = open_one(equal, i);
    }
    if (code == TT_EXIT_GOOD) {
        code = check_comparable(equal);
    }
    for (int i = 0; i < 2 && code == TT_EXIT_GOOD; i++) {
        code = read_one(equal, i);
    }
    if (code == TT_EXIT_GOOD) {
        code = read_reports(equal);
    }
    return code;
}

static int compare(struct equal *equal)
{
    struct tt_match_pair pair = {
        .source = (const uint8_t *)equal->patterns[0],
        .source_frames = equal->frames[0],
        .recording = (const uint8_t *)equal->patterns[1],
        .recording_frames = equal->frames[1],
        .frame_bytes = (size_t)equal->files[0].info.channels * 4,
    };
    struct tt_equal_view view = {
        .source = equal->paths[0],
        .recording = equal->paths[1],
        .pair = &pair,
        .match = &equal->match,
        .reports = &equal->reports,
    };

    tt_match_find(&pair, &equal->match);
    return tt_equal_show(&view, equal->json, stdout);
}

int tt_cmd_equal(int argc, char **argv)
{
    struct equal *equal = calloc(1, sizeof(*equal));
    int code = TT_EXIT_USAGE;

    if (!equal) {
        tt_cli_say(COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    if (argp_parse(&parser, argc, argv, 0, NULL, equal) == 0) {
        code = read_all(equal);
        if (code == TT_EXIT_GOOD) {
            code = compare(equal);
        }
    }
    for (int i = 0; i < 2; i++) {
        tt_sound_file_close(&equal->files[i]);
        free(equal->patterns[i]);
    }
    tt_reports_done(&equal->reports);
    free(equal);
    return code;
}
