/*
 * See whole_file.h.
 */
#include "report/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int tt_whole_file_open(struct tt_whole_file *file, const char *path)
{
    char *temporary;
    FILE *out;
    int error;

    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        return -ENOMEM;
    }
    out = fopen(temporary, "we");
    if (!out) {
        error = -errno;
        free(temporary);
        return error;
    }
    *file = (struct tt_whole_file){.out = out, .temporary = temporary, .path = path};
    return 0;
}

int tt_whole_file_close(struct tt_whole_file *file)
{
    int error = ferror(file->out) ? -EIO : 0;

    if (fclose(file->out) != 0 && !error) {
        error = -errno;
    }
    if (!error && rename(file->temporary, file->path) != 0) {
        error = -errno;
    }
    if (error) {
        unlink(file->temporary);
    }
    free(file->temporary);
    *file = (struct tt_whole_file){0};
    return error;
}

void tt_whole_file_drop(struct tt_whole_file *file)
{
    if (file->out) {
        fclose(file->out);
        unlink(file->temporary);
        free(file->temporary);
        *file = (struct tt_whole_file){0};
    }
}
