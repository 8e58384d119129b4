/*
 * See cmd.h: --html, of all commands that have it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "report/whole_file.h"

/* Whether the file there is a page, or nothing yet, or no file at all but a device or a pipe. */
static bool page_may_be(const char *path)
{
    static const char doctype[] = "<!DOCTYPE html>";
    char begins[sizeof(doctype) - 1];
    struct stat status;
    FILE *file;
    size_t n;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        return true;
    }
    file = fopen(path, "re");
    if (!file) {
        return true; /* writing it says why */
    }
    n = fread(begins, 1, sizeof(begins), file);
    fclose(file);
    return n == sizeof(begins) && strncasecmp(begins, doctype, sizeof(begins)) == 0;
}

/* 0 or -errno; nothing is changed there. */
static int try_page(const char *path)
{
    struct tt_whole_file file;
    struct stat status;
    int error;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return access(path, W_OK) == 0 ? 0 : -errno; /* opening a pipe waits for its reader */
    }
    error = tt_whole_file_open(&file, path);
    if (!error) {
        tt_whole_file_drop(&file);
    }
    return error;
}

const char *tt_cli_page_option(const char *argument, struct argp_state *state)
{
    int error;

    tt_cli_file_option("html", argument, state);
    if (!page_may_be(argument)) {
        argp_error(state,
                   "--html %s: that file is there and is no page, and the page would take its "
                   "place; give another name",
                   argument);
    }
    error = try_page(argument);
    if (error) {
        argp_failure(state, TT_EXIT_ENVIRONMENT, -error, "cannot write %s", argument);
    }
    return argument;
}
