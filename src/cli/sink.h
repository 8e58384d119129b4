/*
 * Where a listener's audio goes: a sound file, bare samples into a pipe or device. (A sound card
 * has a clock of its own: cli/card.)
 *
 * A sink takes patterns (audio/pattern) of its own kind and is written by one thread that is not
 * real-time. Only a file may block.
 */
#ifndef TT_CLI_SINK_H
#define TT_CLI_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/pattern.h"
#include "audio/stream_config.h"
#include "cli/raw.h"

struct tt_sink_setup {
    const char *name;                      /* a path, "-" (standard output) */
    const struct tt_sound_raw *raw;        /* bare samples of this format; NULL: not asked for */
    const struct tt_stream_config *config; /* complete */
};

struct tt_sink;

struct tt_sink_ops {
    /* Returns how many frames it took, 0: none now, or -errno. May change the patterns. */
    int64_t (*write)(struct tt_sink *sink, uint32_t *patterns, int64_t frames);
    /* 0 or -errno: what was written may not all be there. */
    int (*close)(struct tt_sink *sink);
};

struct tt_sink {
    const struct tt_sink_ops *ops;
    struct tt_pattern pattern; /* what it takes */
    bool is_live;              /* runs by a clock of its own: what comes too late is no use to it */
    bool unread;               /* a FIFO that nobody has opened for reading yet */
};

/* Whether that can be a sink, before a stream is there; a file that holds something, only where it
 * may be overwritten. 0; -EINVAL; -errno. With *ret_message. */
int tt_sink_check(const char *name, bool is_raw, bool overwrite, struct tt_message *ret_message);
/* Whether a file can be written there, or replaced. As tt_sink_check. */
int tt_sink_check_file(const char *path, struct tt_message *ret_message);
/* As tt_sink_check. Close with tt_sink_close. */
int tt_sink_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                 struct tt_message *ret_message);
/* NULL is fine. */
int tt_sink_close(struct tt_sink *sink);

/* The kinds, each in its file; as tt_sink_open. */
int tt_sink_file_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                      struct tt_message *ret_message);
int tt_sink_pipe_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                      struct tt_message *ret_message);

#endif
