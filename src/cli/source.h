/*
 * Where a talker's audio comes from: a sound file, bare samples from a pipe or device, a tone. (A
 * sound card has a clock of its own: cli/card.)
 *
 * A source gives patterns (audio/pattern) and is read by one thread that is not real-time. Only a
 * file may block.
 */
#ifndef TT_CLI_SOURCE_H
#define TT_CLI_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/pattern.h"
#include "audio/stream_config.h"
#include "cli/raw.h"

#define TT_SOURCE_END (-ENODATA)

struct tt_source_setup {
    const char *name; /* a path, "-" (standard input), "tone:440"; outlives the source */
    bool loop;
    const struct tt_sound_raw *raw;        /* NULL: the file says what it is */
    const struct tt_stream_config *config; /* what is fixed of the stream's shape */
};

struct tt_source;

struct tt_source_ops {
    /* Up to `frames` frames; 0: none now; TT_SOURCE_END; -errno. */
    int64_t (*read)(struct tt_source *source, uint32_t *ret_patterns, int64_t frames);
    void (*close)(struct tt_source *source);
};

struct tt_source {
    const struct tt_source_ops *ops;
    struct tt_pattern pattern;
    uint32_t rate_hz;
    unsigned channels;
    int64_t frames; /* in all; -1: not known */
    bool is_pipe;
    struct tt_message remark; /* what is odd about it (of a pipe: known at its end), and no fault */
};

/* 0; -EINVAL: that cannot be a source; another -errno: the system refused. With *ret_message. Close
 * with tt_source_close. */
int tt_source_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                   struct tt_message *ret_message);
void tt_source_close(struct tt_source *source);
/* It ends with so many bytes of a frame. */
void tt_source_remark_ragged(struct tt_source *source, const char *name, uint64_t bytes);

/* The kinds, each in its file; as tt_source_open. */
int tt_source_file_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message);
int tt_source_pipe_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message);
int tt_source_tone_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message);

#endif
