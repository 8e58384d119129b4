/*
 * See sink.h: bare samples on standard output. A pipe takes what it has room for, and is not waited
 * for.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/audio_file.h"
#include "cli/say.h"
#include "cli/sink.h"

struct stdout_sink {
    struct tt_sink sink;
    enum tt_pcm_format format;
    unsigned channels;
    size_t frame_bytes;
    size_t begin; /* of what is written of `bytes` … */
    size_t end;   /* … and has to be */
    uint8_t bytes[];
};

/* 1: all is out; 0: not now; -errno. A pipe with any room takes PIPE_BUF without blocking. */
static int push(struct stdout_sink *out)
{
    while (out->begin < out->end) {
        struct pollfd wait = {.fd = STDOUT_FILENO, .events = POLLOUT};
        size_t left = out->end - out->begin;
        ssize_t n;

        if (poll(&wait, 1, 0) <= 0) {
            return 0;
        }
        n = write(STDOUT_FILENO, out->bytes + out->begin, left < PIPE_BUF ? left : PIPE_BUF);
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
static int64_t stdout_write(struct tt_sink *sink, uint32_t *patterns, int64_t frames)
{
    struct stdout_sink *out = (struct stdout_sink *)sink;
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

static int stdout_close(struct tt_sink *sink)
{
    struct stdout_sink *out = (struct stdout_sink *)sink;
    int state = push(out);

    free(out);
    return state < 0 ? state : 0;
}

static const struct tt_sink_ops stdout_ops = {.write = stdout_write, .close = stdout_close};

int tt_sink_stdout_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                        struct tt_message *ret_message)
{
    enum tt_pcm_format format =
        setup->raw ? setup->raw->format : tt_audio_file_wav_format(setup->config->format);
    size_t frame_bytes = (size_t)tt_pcm_sample_bytes(format) * setup->config->channels;
    struct stdout_sink *out = calloc(1, sizeof(*out) + block_frames(frame_bytes) * frame_bytes);

    if (!out) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    out->sink = (struct tt_sink){
        .ops = &stdout_ops,
        .pattern = tt_pattern_of(tt_pcm_wire_format(format)),
        .is_live = true,
    };
    out->format = format;
    out->channels = setup->config->channels;
    out->frame_bytes = frame_bytes;
    *ret_sink = &out->sink;
    return 0;
}
