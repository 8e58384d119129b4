/*
 * A file that is written whole or not at all: beside its path, then renamed. Who reads `path` never
 * sees half of it. A device or a pipe, which a renamed file would take the place of, is written as
 * it goes.
 */
#ifndef TT_REPORT_WHOLE_FILE_H
#define TT_REPORT_WHOLE_FILE_H

#include <stdio.h>

struct tt_whole_file {
    FILE *out;       /* write here */
    char *temporary; /* NULL: it is written as it goes */
    char *path;
};

/* 0 or -errno. */
int tt_whole_file_open(struct tt_whole_file *file, const char *path);
/* Renames; after a failure, of this or of a write before it, `path` is as it was. 0 or -errno. */
int tt_whole_file_close(struct tt_whole_file *file);
/* `path` stays as it was. Nothing where it is not open. */
void tt_whole_file_drop(struct tt_whole_file *file);

#endif
