/*
 * See source.h: bare samples from what is no regular file: standard input, a FIFO, a device. What
 * it holds is taken, and no more is waited for; the end of a pipe is when its last writer has left.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/source.h"

#define BUFFER_BYTES (64 << 10)

struct pipe_source {
    struct tt_source source;
    const char *name;
    int fd;
    enum tt_pcm_format format;
    size_t frame_bytes;
    size_t held; /* bytes of a frame whose rest has not come */
    uint8_t bytes[BUFFER_BYTES];
};

/* Bytes, 0: none now, TT_SOURCE_END, or -errno. */
static ssize_t take(struct pipe_source *in, size_t most)
{
    struct pollfd wait = {.fd = in->fd, .events = POLLIN};
    ssize_t n;

    if (poll(&wait, 1, 0) <= 0) {
        return 0;
    }
    n = read(in->fd, in->bytes + in->held, most - in->held);
    if (n < 0) {
        return errno == EINTR || errno == EAGAIN ? 0 : -errno;
    }
    return n == 0 ? TT_SOURCE_END : n;
}

static int64_t pipe_read(struct tt_source *source, uint32_t *ret_patterns, int64_t frames)
{
    struct pipe_source *in = (struct pipe_source *)source;
    size_t most = BUFFER_BYTES / in->frame_bytes * in->frame_bytes;
    ssize_t n;
    size_t whole;

    if ((size_t)frames < most / in->frame_bytes) {
        most = (size_t)frames * in->frame_bytes;
    }
    n = take(in, most);
    if (n <= 0) {
        if (n == TT_SOURCE_END && in->held > 0) {
            tt_source_remark_ragged(source, in->name, in->held);
        }
        return n;
    }
    in->held += (size_t)n;
    whole = in->held / in->frame_bytes;
    tt_pattern_read(in->format, in->bytes, whole * source->channels, ret_patterns);
    in->held -= whole * in->frame_bytes;
    memmove(in->bytes, in->bytes + whole * in->frame_bytes, in->held);
    return (int64_t)whole;
}

static void pipe_close(struct tt_source *source)
{
    int fd = ((struct pipe_source *)source)->fd;

    if (fd != STDIN_FILENO) {
        close(fd);
    }
    free(source);
}

static const struct tt_source_ops pipe_ops = {.read = pipe_read, .close = pipe_close};

/* A FIFO is open at once, whether anybody writes to it yet or not. -errno, or the descriptor. */
static int open_fd(const char *name)
{
    int fd = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

int tt_source_pipe_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message)
{
    const struct tt_sound_raw *raw = setup->raw;
    struct pipe_source *in;
    int fd;

    if (!raw || raw->channels == 0 || raw->rate_hz == 0) {
        return tt_say(-EINVAL, ret_message,
                      "%s is %s, and what comes in there has no header; say what it is, like --raw "
                      "S16_LE,2,48000",
                      setup->name,
                      strcmp(setup->name, "-") == 0 ? "standard input" : "a pipe or a device");
    }
    fd = open_fd(setup->name);
    if (fd < 0) {
        return tt_say(fd, ret_message, "%s cannot be opened: %s", setup->name, strerror(-fd));
    }
    in = calloc(1, sizeof(*in));
    if (!in) {
        if (fd != STDIN_FILENO) {
            close(fd);
        }
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    in->source = (struct tt_source){
        .ops = &pipe_ops,
        .is_pipe = true,
        .pattern = tt_pattern_of(tt_pcm_wire_format(raw->format)),
        .rate_hz = raw->rate_hz,
        .channels = raw->channels,
        .frames = -1,
    };
    in->name = setup->name;
    in->fd = fd;
    in->format = raw->format;
    in->frame_bytes = (size_t)tt_pcm_sample_bytes(raw->format) * raw->channels;
    *ret_source = &in->source;
    return 0;
}
