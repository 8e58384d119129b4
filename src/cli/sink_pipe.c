/*
 * See sink.h: bare samples into what is no regular file: standard output, a FIFO, a device. A pipe
 * takes what it has room for, and is not waited for; nor is a FIFO's reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/audio_file.h"
#include "cli/say.h"
#include "cli/sink.h"

struct pipe_sink {
    struct tt_sink sink;
    const char *name; /* the caller's */
    int fd;           /* -1: a FIFO that nobody has opened for reading yet */
    enum tt_pcm_format format;
    unsigned channels;
    size_t frame_bytes;
    size_t begin; /* of what is written of `bytes` … */
    size_t end;   /* … and has to be */
    uint8_t bytes[];
};

/* 0: open, or not yet; -errno. */
static int try_open(struct pipe_sink *out)
{
    int error;

    if (out->fd >= 0) {
        return 0;
    }
    out->fd = strcmp(out->name, "-") == 0 ? STDOUT_FILENO
                                          : open(out->name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    error = out->fd < 0 ? -errno : 0;
    out->sink.unread = error == -ENXIO;
    return out->sink.unread ? 0 : error;
}

/* 1: all is out; 0: not now; -errno. A pipe with any room takes PIPE_BUF without blocking. */
static int push(struct pipe_sink *out)
{
    int error = try_open(out);

    if (error < 0 || out->fd < 0) {
        return error;
    }
    while (out->begin < out->end) {
        struct pollfd wait = {.fd = out->fd, .events = POLLOUT};
        size_t left = out->end - out->begin;
        ssize_t n;

        if (poll(&wait, 1, 0) <= 0) {
            return 0;
        }
        n = write(out->fd, out->bytes + out->begin, left < PIPE_BUF ? left : PIPE_BUF);
        if (n < 0) {
            return errno == EINTR || errno == EAGAIN ? 0 : -errno;
        }
        out->begin += (size_t)n;
    }
    return 1;
}

static size_t block_frames(size_t frame_bytes)
{
    return frame_bytes < PIPE_BUF ? PIPE_BUF / frame_bytes : 1;
}

/* Frames are taken a block at a time: what is taken will be out before more is. */
static int64_t pipe_write(struct tt_sink *sink, uint32_t *patterns, int64_t frames)
{
    struct pipe_sink *out = (struct pipe_sink *)sink;
    int64_t most = (int64_t)block_frames(out->frame_bytes);
    int64_t taken = 0;
    int state = push(out);

    while (state == 1 && taken < frames) {
        int64_t n = frames - taken < most ? frames - taken : most;

        tt_pattern_write(out->format, patterns + taken * out->channels, (size_t)n * out->channels,
                         out->bytes);
        out->begin = 0;
        out->end = (size_t)n * out->frame_bytes;
        taken += n;
        state = push(out);
    }
    return state < 0 ? state : taken;
}

static int pipe_close(struct tt_sink *sink)
{
    struct pipe_sink *out = (struct pipe_sink *)sink;
    int error = push(out);

    error = error < 0 ? error : 0;
    if (out->fd >= 0 && out->fd != STDOUT_FILENO && close(out->fd) != 0 && error == 0) {
        error = -errno;
    }
    free(out);
    return error;
}

static const struct tt_sink_ops pipe_ops = {.write = pipe_write, .close = pipe_close};

int tt_sink_pipe_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                      struct tt_message *ret_message)
{
    enum tt_pcm_format format =
        setup->raw ? setup->raw->format : tt_audio_file_wav_format(setup->config->format);
    size_t frame_bytes = (size_t)tt_pcm_sample_bytes(format) * setup->config->channels;
    struct pipe_sink *out = calloc(1, sizeof(*out) + block_frames(frame_bytes) * frame_bytes);
    int error;

    if (!out) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    out->sink = (struct tt_sink){
        .ops = &pipe_ops,
        .pattern = tt_pattern_of(tt_pcm_wire_format(format)),
        .is_live = true,
    };
    out->name = setup->name;
    out->fd = -1;
    out->format = format;
    out->channels = setup->config->channels;
    out->frame_bytes = frame_bytes;
    error = try_open(out);
    if (error < 0) {
        free(out);
        return tt_say(error, ret_message, "%s cannot be opened: %s", setup->name, strerror(-error));
    }
    *ret_sink = &out->sink;
    return 0;
}
