/*
 * See source.h: bare samples on standard input. What a pipe holds is taken, and no more is waited
 * for.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/source.h"

#define BUFFER_BYTES (64 << 10)

struct stdin_source {
    struct tt_source source;
    enum tt_pcm_format format;
    size_t frame_bytes;
    size_t held; /* bytes of a frame whose rest has not come */
    uint8_t bytes[BUFFER_BYTES];
};

/* Bytes, 0: none now, TT_SOURCE_END, or -errno. */
static ssize_t take(struct stdin_source *in, size_t most)
{
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t n;

    if (poll(&wait, 1, 0) <= 0) {
        return 0;
    }
    n = read(STDIN_FILENO, in->bytes + in->held, most - in->held);
    if (n < 0) {
        return errno == EINTR || errno == EAGAIN ? 0 : -errno;
    }
    return n == 0 ? TT_SOURCE_END : n;
}

static int64_t stdin_read(struct tt_source *source, uint32_t *ret_patterns, int64_t frames)
{
    struct stdin_source *in = (struct stdin_source *)source;
    size_t most = BUFFER_BYTES / in->frame_bytes * in->frame_bytes;
    ssize_t n;
    size_t whole;

    if ((size_t)frames < most / in->frame_bytes) {
        most = (size_t)frames * in->frame_bytes;
    }
    n = take(in, most);
    if (n <= 0) {
        return n;
    }
    in->held += (size_t)n;
    whole = in->held / in->frame_bytes;
    tt_pattern_read(in->format, in->bytes, whole * source->channels, ret_patterns);
    in->held -= whole * in->frame_bytes;
    memmove(in->bytes, in->bytes + whole * in->frame_bytes, in->held);
    return (int64_t)whole;
}

static void stdin_close(struct tt_source *source)
{
    free(source);
}

static const struct tt_source_ops stdin_ops = {.read = stdin_read, .close = stdin_close};

int tt_source_stdin_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                         struct tt_message *ret_message)
{
    const struct tt_sound_raw *raw = setup->raw;
    struct stdin_source *in;

    if (!raw || raw->channels == 0 || raw->rate_hz == 0) {
        return tt_say(-EINVAL, ret_message,
                      "- is standard input, and what comes in there has no header; say what it is, "
                      "like --raw S16_LE,2,48000");
    }
    in = calloc(1, sizeof(*in));
    if (!in) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    in->source = (struct tt_source){
        .ops = &stdin_ops,
        .pattern = tt_pattern_of(tt_pcm_wire_format(raw->format)),
        .rate_hz = raw->rate_hz,
        .channels = raw->channels,
        .frames = -1,
    };
    in->format = raw->format;
    in->frame_bytes = (size_t)tt_pcm_sample_bytes(raw->format) * raw->channels;
    *ret_source = &in->source;
    return 0;
}
