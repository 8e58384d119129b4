/*
 * See stream_set.h.
 */
#include "cli/stream_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/word.h"
#include "cli/card.h"
#include "cli/cmd.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "os/thread.h"

/* A file that a stream reads or writes. */
struct use {
    char *key; /* the same for the same file */
    size_t index;
    enum tt_stream_part part;
    bool writes;
};

static const char *end_of(const struct tt_stream_set *set, size_t index)
{
    return set->jobs[index].end;
}

static bool is_talker(const struct tt_stream_set *set)
{
    return set->options->role == TT_ROLE_TALKER;
}

static bool is_piped(const char *end)
{
    return strcmp(end, "-") == 0;
}

static bool is_tone(const char *end)
{
    return strncmp(end, "tone:", 5) == 0;
}

static bool is_file(const char *end)
{
    return !is_piped(end) && !is_tone(end) && !tt_cli_card_is(end);
}

void tt_stream_set_say(const struct tt_stream_set *set, size_t index, enum tt_stream_part part,
                       const char *text)
{
    if (set->file) {
        struct tt_json_place place = tt_stream_file_place(set->file, index, part);

        tt_cli_say(set->command, "%s:%d:%d: %s", set->options->streams_path, place.line,
                   place.column, text);
    } else {
        tt_cli_say(set->command, "%s", text);
    }
}

size_t tt_stream_set_pipes(const struct tt_stream_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->count; i++) {
        n += is_piped(end_of(set, i));
    }
    return n;
}

static int check_pipes(const struct tt_stream_set *set)
{
    size_t piped = tt_stream_set_pipes(set);

    if (piped > 1) {
        tt_cli_say(set->command, "%zu streams have -, and there is one standard %s", piped,
                   is_talker(set) ? "input" : "output");
        return TT_EXIT_USAGE;
    }
    if (piped > 0 && set->options->json && !is_talker(set)) {
        tt_cli_say(set->command, "standard output cannot have both the audio and --json; give a "
                                 "file for one of them");
        return TT_EXIT_USAGE;
    }
    for (size_t i = 0; i < set->count; i++) {
        if (!is_talker(set) && !is_piped(end_of(set, i)) &&
            tt_cli_check_not_stdout(set->command, end_of(set, i)) != TT_EXIT_GOOD) {
            return TT_EXIT_USAGE;
        }
    }
    return TT_EXIT_GOOD;
}

/* By what the file is, not by its name; of one that is not there yet by its folder. NULL: not
 * known, or a device, which several may use. */
static char *key_of(const char *path)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    char *folder;
    char *key = NULL;
    int known;

    if (stat(path, &status) == 0) {
        return !S_ISCHR(status.st_mode) && asprintf(&key, "%ju:%ju", (uintmax_t)status.st_dev,
                                                    (uintmax_t)status.st_ino) >= 0
                   ? key
                   : NULL;
    }
    folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    known = folder && stat(folder, &status) == 0;
    free(folder);
    return known && asprintf(&key, "%ju:%ju/%s", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino,
                             slash ? slash + 1 : path) >= 0
               ? key
               : NULL;
}

static void add_use(struct use *uses, size_t *n, const char *path, struct use use)
{
    use.key = key_of(path);
    if (use.key) {
        uses[(*n)++] = use;
    }
}

static size_t list_uses(const struct tt_stream_set *set, struct use *ret_uses)
{
    size_t n = 0;

    for (size_t i = 0; i < set->count; i++) {
        const char *end = end_of(set, i);

        if (is_file(end)) {
            add_use(
                ret_uses, &n, end,
                (struct use){.index = i, .part = TT_STREAM_PART_END, .writes = !is_talker(set)});
        }
        if (set->jobs[i].report) {
            add_use(ret_uses, &n, set->jobs[i].report,
                    (struct use){.index = i, .part = TT_STREAM_PART_REPORT, .writes = true});
        }
    }
    return n;
}

static const char *name_of(const struct tt_stream_set *set, const struct use *use)
{
    return use->part == TT_STREAM_PART_REPORT ? set->jobs[use->index].report
                                              : end_of(set, use->index);
}

static void refuse_shared(const struct tt_stream_set *set, const struct use *first,
                          const struct use *second)
{
    struct tt_message message;

    if (set->file) {
        tt_say(0, &message, "%s is the same file as that in line %d; give each its own",
               name_of(set, second),
               tt_stream_file_place(set->file, first->index, first->part).line);
    } else {
        tt_say(0, &message, "%s is the %s too; give another file for the report",
               name_of(set, second), is_talker(set) ? "source" : "sink");
    }
    tt_stream_set_say(set, second->index, second->part, message.text);
}

static int check_shared(const struct tt_stream_set *set)
{
    struct use *uses = calloc(2 * set->count, sizeof(*uses));
    size_t n = uses ? list_uses(set, uses) : 0;
    int code = TT_EXIT_GOOD;

    for (size_t i = 1; i < n && code == TT_EXIT_GOOD; i++) {
        for (size_t j = 0; j < i && code == TT_EXIT_GOOD; j++) {
            if ((uses[i].writes || uses[j].writes) && strcmp(uses[i].key, uses[j].key) == 0) {
                refuse_shared(set, &uses[j], &uses[i]);
                code = TT_EXIT_USAGE;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        free(uses[i].key);
    }
    free(uses);
    return code;
}

static int check_report(const char *path, struct tt_message *ret_message)
{
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return tt_say(-EINVAL, ret_message,
                      "%s is a pipe or a device; a report replaces a file: give one", path);
    }
    return tt_sink_check_file(path, ret_message);
}

static int check_reports(const struct tt_stream_set *set)
{
    struct tt_message message;

    for (size_t i = 0; i < set->count; i++) {
        const char *path = set->jobs[i].report;
        int error = path ? check_report(path, &message) : 0;

        if (error < 0) {
            tt_stream_set_say(set, i, TT_STREAM_PART_REPORT, message.text);
            return error == -EINVAL ? TT_EXIT_USAGE : TT_EXIT_ENVIRONMENT;
        }
    }
    return TT_EXIT_GOOD;
}

static int check_cpu(const struct tt_stream_set *set)
{
    char cpus[TT_CPUS_TEXT];

    if (set->options->cpu < 0 || tt_cpu_is_there(set->options->cpu)) {
        return TT_EXIT_GOOD;
    }
    tt_cli_say(set->command,
               "--cpu %d: there is no such processor, or it is not for us; there are %s",
               set->options->cpu, tt_cpu_list(cpus));
    return TT_EXIT_USAGE;
}

static bool has_bytes(const char *end)
{
    return is_piped(end) || is_file(end);
}

static bool is_any(const struct tt_stream_set *set, bool (*is)(const char *end))
{
    for (size_t i = 0; i < set->count; i++) {
        if (is(end_of(set, i))) {
            return true;
        }
    }
    return false;
}

/* What stands beside the streams in a file is for those that need it; an option that none needs was
 * a mistake. */
static void say_idle(const struct tt_stream_set *set)
{
    static const struct {
        const char *option;
        bool (*is_for)(const char *end);
        const char *what;
    } idle[] = {
        {"level", tt_cli_card_is, "sound card (alsa:DEVICE)"},
        {"quality", tt_cli_card_is, "sound card (alsa:DEVICE)"},
        {"loop", is_file, "file"},
        {"overwrite", is_file, "file"},
        {"raw", has_bytes, "file or pipe"},
    };

    for (size_t i = 0; i < TT_COUNT_OF(idle); i++) {
        if (!tt_stream_options_has(set->options, idle[i].option) || is_any(set, idle[i].is_for)) {
            continue;
        }
        tt_cli_say(set->command, "--%s has no effect: it is for a %s, and %s %s none",
                   idle[i].option, idle[i].what,
                   set->file ? set->options->streams_path : end_of(set, 0),
                   set->file ? "has" : "is");
    }
}

/* A stream file goes before options, which hold for what it does not say. */
static void say_overruled(const struct tt_stream_set *set)
{
    const struct tt_stream_options *options = set->options;

    for (size_t i = 0; set->file && i < options->given_count; i++) {
        const char *name = options->given[i];

        if (tt_stream_file_says(set->file, name)) {
            tt_cli_say(
                set->command, "%s%s has no effect: %s says it for every stream, and goes first",
                tt_word_same(name, "interface") ? "-i, --" : "--", name, options->streams_path);
        }
    }
}

int tt_stream_set_check(const struct tt_stream_set *set)
{
    static int (*const checks[])(const struct tt_stream_set *) = {check_cpu, check_pipes,
                                                                  check_shared, check_reports};
    int code = TT_EXIT_GOOD;

    for (size_t i = 0; i < TT_COUNT_OF(checks) && code == TT_EXIT_GOOD; i++) {
        code = checks[i](set);
    }
    if (code == TT_EXIT_GOOD) {
        say_idle(set);
        say_overruled(set);
    }
    return code;
}
