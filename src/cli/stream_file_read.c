/*
 * See stream_file.h: the file itself, and what is asked of it once it was read.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stream_file.h"

/* A file that is named in the stream file is looked for beside it. */
static int place_beside(const char *path, char **name)
{
    const char *slash = strrchr(path, '/');
    char *beside;

    if (!slash || !*name || (*name)[0] == '/' || strcmp(*name, "-") == 0 ||
        strncmp(*name, "tone:", 5) == 0 || strncmp(*name, "alsa:", 5) == 0) {
        return 0;
    }
    if (asprintf(&beside, "%.*s%s", (int)(slash - path) + 1, path, *name) < 0) {
        return -ENOMEM;
    }
    free(*name);
    *name = beside;
    return 0;
}

static int place_all(const char *path, struct tt_stream_file *file)
{
    int error = 0;

    for (size_t i = 0; i < file->count && error == 0; i++) {
        error = place_beside(path, &file->jobs[i].end);
        if (error == 0) {
            error = place_beside(path, &file->jobs[i].report);
        }
    }
    if (error < 0) {
        tt_stream_file_done(file);
    }
    return error;
}

/* A mark of UTF-8 that some editors put first is no part of the text. */
static size_t mark_bytes(const char *text, size_t bytes)
{
    return bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* The whole file, ended by a 0. 0 or -errno. */
static int load(const char *path, char **ret_text, size_t *ret_bytes)
{
    FILE *in = fopen(path, "re");
    char *text = in ? malloc(TT_STREAM_FILE_BYTES_MAX + 1) : NULL;
    size_t bytes;
    size_t mark;
    int error = !in ? -errno : !text ? -ENOMEM : 0;

    if (error == 0) {
        errno = EIO;
        bytes = fread(text, 1, TT_STREAM_FILE_BYTES_MAX, in);
        error = ferror(in) ? -errno : bytes == TT_STREAM_FILE_BYTES_MAX ? -EFBIG : 0;
    }
    if (error == 0) {
        mark = mark_bytes(text, bytes);
        memmove(text, text + mark, bytes - mark);
        text[bytes - mark] = 0;
        *ret_text = text;
        *ret_bytes = bytes - mark;
    } else {
        free(text);
    }
    if (in) {
        fclose(in);
    }
    return error;
}

int tt_stream_file_read(const char *path, enum tt_role role, const struct tt_stream_job *base,
                        struct tt_stream_file *ret_file, struct tt_stream_file_fault *ret_fault)
{
    char *text = NULL;
    size_t bytes = 0;
    int error = load(path, &text, &bytes);

    ret_fault->line = 0;
    if (error < 0) {
        snprintf(ret_fault->message.text, sizeof(ret_fault->message.text), "%s", strerror(-error));
        return error;
    }
    error = tt_stream_file_parse(text, bytes, role, base, ret_file, ret_fault);
    if (error == 0) {
        error = place_all(path, ret_file);
    }
    if (error < 0) {
        free(text);
        return error;
    }
    ret_file->text = text;
    ret_file->bytes = bytes;
    return 0;
}

/* The first member of the object with that key, or -1. */
static int find_member(json_t *object, const char *key)
{
    int at = 0;
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        if (tt_stream_config_same_key(name, key)) {
            return at;
        }
        at++;
    }
    return -1;
}

static json_t *nth_member(json_t *object, int n)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (n-- == 0) {
            return value;
        }
    }
    return NULL;
}

static int find_part(json_t *object, enum tt_stream_part part)
{
    static const char *const names[][2] = {
        [TT_STREAM_PART_END] = {"source", "sink"},
        [TT_STREAM_PART_REPORT] = {"report", "report"},
        [TT_STREAM_PART_INTERFACE] = {"interface", "interface"},
        [TT_STREAM_PART_WHOLE] = {"", ""},
    };
    int at = find_member(object, names[part][0]);

    return at >= 0 ? at : find_member(object, names[part][1]);
}

struct tt_json_place tt_stream_file_place(const struct tt_stream_file *file, size_t index,
                                          enum tt_stream_part part)
{
    const struct tt_json_text json = {file->text, file->bytes};
    json_t *root = json_loadb(file->text, file->bytes, 0, NULL);
    int streams = find_member(root, "streams");
    int inner = find_part(json_array_get(nth_member(root, streams), index), part);
    int outer = find_part(root, part);
    size_t path[3] = {(size_t)streams, index, (size_t)inner};
    size_t depth = inner >= 0 ? 3 : 2;

    if (inner < 0 && outer >= 0) {
        path[0] = (size_t)outer;
        depth = 1;
    }
    json_decref(root);
    return tt_json_place_find(&json, path, depth, false);
}

bool tt_stream_file_says(const struct tt_stream_file *file, const char *key)
{
    json_t *root = json_loadb(file->text, file->bytes, 0, NULL);
    json_t *streams = nth_member(root, find_member(root, "streams"));
    bool says = find_member(root, key) >= 0;
    size_t with = 0;

    while (!says && with < file->count && find_member(json_array_get(streams, with), key) >= 0) {
        with++;
    }
    json_decref(root);
    return says || with == file->count;
}
