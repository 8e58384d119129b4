/*
 * The stream file: several streams as JSON, by jansson.
 *
 * {"interface": "eth0", "class": "A",
 *  "streams": [{"stream_id": "…", "dest": "…", "source": "music.wav", "mtt": "2ms"}, …]}
 *
 * The keys are those of the ALSA configuration and of the options; what stands beside "streams"
 * holds for every stream that does not say otherwise. Values are strings, numbers, true and false.
 * Invariant: any bytes at all give streams that passed their check, or one message with its place.
 */
#ifndef TT_CLI_STREAM_FILE_H
#define TT_CLI_STREAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/json_place.h"
#include "cli/stream_job.h"

#define TT_STREAM_FILE_BYTES_MAX (4 << 20)
#define TT_STREAMS_MAX           1024

struct tt_stream_file {
    struct tt_stream_job *jobs;
    size_t count;
    char *text; /* as it was read, for _place; NULL: it was not */
    size_t bytes;
};

struct tt_stream_file_fault {
    int line; /* from 1; 0: of no place in the file */
    int column;
    struct tt_message message;
};

/* `base` (may be NULL) holds for every stream that the file says nothing else of. 0 (free with
 * tt_stream_file_done), -EINVAL or -ENOMEM, with *ret_fault. */
int tt_stream_file_parse(const char *text, size_t bytes, enum tt_role role,
                         const struct tt_stream_job *base, struct tt_stream_file *ret_file,
                         struct tt_stream_file_fault *ret_fault);
/* As that, of a file, beside which relative paths in it are looked for; -errno where it cannot be
 * read. */
int tt_stream_file_read(const char *path, enum tt_role role, const struct tt_stream_job *base,
                        struct tt_stream_file *ret_file, struct tt_stream_file_fault *ret_fault);
/* Of a file that was read: where that part of a stream stands: its value; where the stream does not
 * have it the one beside "streams", or else the stream. */
struct tt_json_place tt_stream_file_place(const struct tt_stream_file *file, size_t index,
                                          enum tt_stream_part part);
/* Of a file that was read: whether it has that key for every stream, so that nothing else counts.
 */
bool tt_stream_file_says(const struct tt_stream_file *file, const char *key);
void tt_stream_file_done(struct tt_stream_file *file);

#endif
