/*
 * See whole_file.h.
 */
#include "report/whole_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(struct tt_whole_file *file)
{
    free(file->temporary);
    free(file->path);
    *file = (struct tt_whole_file){0};
}

/* Where a symbolic link leads is replaced, and not the link; a device, a pipe, a folder is not. */
static int find_place(struct tt_whole_file *file, const char *path)
{
    struct stat status;
    bool there = stat(path, &status) == 0;

    if (there && !S_ISREG(status.st_mode)) {
        return 0;
    }
    file->path = there ? realpath(path, NULL) : strdup(path);
    if (!file->path) {
        return -errno;
    }
    if (asprintf(&file->temporary, "%s.%ld.tmp", file->path, (long)getpid()) < 0) {
        file->temporary = NULL;
        return -ENOMEM;
    }
    return 0;
}

int tt_whole_file_open(struct tt_whole_file *file, const char *path)
{
    struct tt_whole_file made = {0};
    int error = find_place(&made, path);

    if (!error) {
        made.out = fopen(made.temporary ? made.temporary : path, "we");
        error = made.out ? 0 : -errno;
    }
    if (error) {
        forget(&made);
        return error;
    }
    *file = made;
    return 0;
}

/* Why a write failed is forgotten by then: another one fails for the same. */
static int write_error(FILE *out)
{
    if (!ferror(out)) {
        return 0;
    }
    clearerr(out);
    return fputc('\n', out) == EOF || fflush(out) != 0 ? -errno : -EIO;
}

int tt_whole_file_close(struct tt_whole_file *file)
{
    int error = write_error(file->out);

    if (fclose(file->out) != 0 && !error) {
        error = -errno;
    }
    if (file->temporary && !error && rename(file->temporary, file->path) != 0) {
        error = -errno;
    }
    if (file->temporary && error) {
        unlink(file->temporary);
    }
    forget(file);
    return error;
}

void tt_whole_file_drop(struct tt_whole_file *file)
{
    if (file->out) {
        fclose(file->out);
        if (file->temporary) {
            unlink(file->temporary);
        }
        forget(file);
    }
}
