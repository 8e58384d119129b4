/*
 * See captures.h.
 */
#include "cli/captures.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/plural.h"

static bool is_open(const struct tt_captures_file *file)
{
    return file->capture.pcap != NULL;
}

/* To its next packet, or to its end. */
static void advance(struct tt_captures_file *file)
{
    int status = tt_capture_next(&file->capture, &file->head);

    if (status != 1) {
        file->error = status < 0 ? strdup(tt_capture_error(&file->capture)) : NULL;
        tt_capture_close(&file->capture);
    }
}

/* What is looked into first, and read when its time has come, has to be there twice. */
static enum tt_exit check_regular(const char *command, const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        tt_cli_say(command, "%s is no regular file: it can only be read alone", path);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

static enum tt_exit add(struct tt_captures *captures, const char *path, bool alone)
{
    struct tt_captures_file file = {.path = path};
    enum tt_exit code = alone ? TT_EXIT_GOOD : check_regular(captures->command, path);

    if (code == TT_EXIT_GOOD) {
        code = tt_capture_open_file(captures->command, path, &file.capture);
        file.capture.untimed_too = true;
    }
    if (code != TT_EXIT_GOOD) {
        captures->refused = true;
        return code;
    }
    advance(&file);
    if (is_open(&file)) {
        file.first_utc_ns = file.head.arrival_utc_ns;
    }
    if (is_open(&file) && !alone) {
        tt_capture_close(&file.capture);
        file.waiting = true;
    }
    captures->files[captures->count++] = file;
    return TT_EXIT_GOOD;
}

static int by_time(const void *a, const void *b)
{
    const struct tt_captures_file *left = a;
    const struct tt_captures_file *right = b;

    return (left->first_utc_ns > right->first_utc_ns) - (left->first_utc_ns < right->first_utc_ns);
}

enum tt_exit tt_captures_open(const char *command, const char *const *paths, size_t count,
                              struct tt_captures *ret_captures)
{
    struct tt_captures captures = {.command = command};
    enum tt_exit code = TT_EXIT_GOOD;

    captures.files = calloc(count, sizeof(*captures.files));
    if (!captures.files) {
        tt_cli_say(command, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    for (size_t i = 0; i < count; i++) {
        enum tt_exit one = add(&captures, paths[i], count == 1);

        code = one != TT_EXIT_GOOD ? one : code;
    }
    if (captures.count == 0) {
        tt_captures_close(&captures);
        return code;
    }
    qsort(captures.files, captures.count, sizeof(*captures.files), by_time);
    *ret_captures = captures;
    return TT_EXIT_GOOD;
}

void tt_captures_close(struct tt_captures *captures)
{
    for (size_t i = 0; i < captures->count; i++) {
        tt_capture_close(&captures->files[i].capture);
        free(captures->files[i].error);
    }
    free(captures->files);
    *captures = (struct tt_captures){0};
}

static void start(const struct tt_captures *captures, struct tt_captures_file *file)
{
    file->waiting = false;
    if (tt_capture_open_file(captures->command, file->path, &file->capture) != TT_EXIT_GOOD) {
        file->error = strdup("it cannot be read any more");
        return;
    }
    file->capture.untimed_too = true;
    advance(file);
}

int tt_captures_next(struct tt_captures *captures, struct tt_packet *ret_packet)
{
    struct tt_captures_file *earliest = NULL;

    if (captures->current && is_open(captures->current)) {
        advance(captures->current);
    }
    for (size_t i = captures->done; i < captures->count; i++) {
        struct tt_captures_file *file = &captures->files[i];

        if (file->waiting && earliest && file->first_utc_ns > earliest->head.arrival_utc_ns) {
            break;
        }
        if (file->waiting) {
            start(captures, file);
        }
        if (!is_open(file)) {
            captures->done += i == captures->done;
        } else if (!earliest || file->head.arrival_utc_ns < earliest->head.arrival_utc_ns) {
            earliest = file;
        }
    }
    captures->current = earliest;
    if (!earliest) {
        return 0;
    }
    earliest->packets += !earliest->head.untimed;
    *ret_packet = earliest->head;
    return 1;
}

const struct tt_captures_file *tt_captures_broken(const struct tt_captures *captures)
{
    for (size_t i = 0; i < captures->count; i++) {
        if (captures->files[i].error) {
            return &captures->files[i];
        }
    }
    return NULL;
}

void tt_captures_say_broken(const struct tt_captures *captures)
{
    for (size_t i = 0; i < captures->count; i++) {
        const struct tt_captures_file *file = &captures->files[i];

        if (file->error) {
            tt_cli_say(captures->command,
                       "%s cannot be read whole: %s; the figures are of %llu %s that could",
                       file->path, file->error, (unsigned long long)file->packets,
                       tt_plural(file->packets, "packet", "packets"));
        }
    }
}
