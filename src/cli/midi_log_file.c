/*
 * See midi_log_file.h.
 */
#include "cli/midi_log_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ns.h"
#include "midi/log.h"
#include "os/midi_port.h"

#define CONFIRM_NS TT_NS_PER_S
#define ANCHOR_NS  (10 * TT_NS_PER_S)

/* The narrowest of some brackets. */
static struct tt_midi_log_clock read_clock(int64_t *ret_mono_ns)
{
    struct tt_midi_log_clock clock = {.bracket_ns = INT64_MAX};

    for (int i = 0; i < 5; i++) {
        int64_t before_ns = tt_midi_port_now_ns();
        struct timespec utc;
        int64_t width_ns;

        clock_gettime(CLOCK_REALTIME, &utc);
        width_ns = tt_midi_port_now_ns() - before_ns;
        if (width_ns < clock.bracket_ns) {
            clock.bracket_ns = width_ns;
            clock.utc_ns = utc.tv_sec * TT_NS_PER_S + utc.tv_nsec;
            *ret_mono_ns = before_ns + width_ns / 2;
        }
    }
    return clock;
}

/* All of it, or the file is as before. */
static int write_whole(struct tt_midi_log_file *file, const uint8_t *data, size_t n)
{
    size_t at = 0;

    while (at < n) {
        ssize_t put = write(file->fd, data + at, n - at);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            int error = put < 0 ? -errno : -ENOSPC;
            /* What is whole stays; a part of a frame would hide those behind it. */
            uint64_t whole = (file->bytes + at) / TT_MIDI_FRAME_BYTES * TT_MIDI_FRAME_BYTES;

            if (ftruncate(file->fd, (off_t)whole) == 0) {
                file->bytes = whole;
            }
            return error;
        }
        at += (size_t)put;
    }
    file->bytes += n;
    return 0;
}

static int confirm(struct tt_midi_log_file *file)
{
    uint64_t bytes = file->bytes;

    if (bytes == file->confirmed_bytes) {
        return 0;
    }
    if (fdatasync(file->fd) != 0) {
        return -errno;
    }
    file->confirmed_bytes = bytes;
    return 0;
}

/* So that the name is there after a power cut too. */
static void confirm_name(const char *path)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    free(copy);
}

int tt_midi_log_file_open(struct tt_midi_log_file *file, const char *path)
{
    uint8_t bytes[TT_MIDI_LOG_HEADER_BYTES];
    struct tt_midi_log_header header;
    int error;

    *file = (struct tt_midi_log_file){0};
    file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        return -errno;
    }
    header.clock = read_clock(&header.mono_ns);
    tt_midi_log_header_write(&header, bytes);
    error = write_whole(file, bytes, sizeof(bytes));
    if (!error) {
        error = confirm(file);
    }
    if (error) {
        close(file->fd);
        unlink(path);
        return error;
    }
    confirm_name(path);
    file->confirm_mono_ns = header.mono_ns + CONFIRM_NS;
    file->anchor_mono_ns = header.mono_ns + ANCHOR_NS;
    return 0;
}

int tt_midi_log_file_append(struct tt_midi_log_file *file, const struct tt_midi_frame *frames,
                            size_t n)
{
    uint8_t bytes[TT_MIDI_LOG_BATCH * TT_MIDI_FRAME_BYTES];

    assert(n <= TT_MIDI_LOG_BATCH);
    for (size_t i = 0; i < n; i++) {
        tt_midi_frame_write(&frames[i], bytes + i * TT_MIDI_FRAME_BYTES);
    }
    return write_whole(file, bytes, n * TT_MIDI_FRAME_BYTES);
}

int tt_midi_log_file_tend(struct tt_midi_log_file *file, int64_t now_mono_ns)
{
    if (now_mono_ns >= file->anchor_mono_ns) {
        int64_t mono_ns = 0;
        struct tt_midi_log_clock clock = read_clock(&mono_ns);
        struct tt_midi_frame frame = tt_midi_log_clock_frame(mono_ns, clock);
        int error = tt_midi_log_file_append(file, &frame, 1);

        if (error) {
            return error;
        }
        file->anchor_mono_ns = now_mono_ns + ANCHOR_NS;
    }
    if (now_mono_ns < file->confirm_mono_ns) {
        return 0;
    }
    file->confirm_mono_ns = now_mono_ns + CONFIRM_NS;
    return confirm(file);
}

int tt_midi_log_file_close(struct tt_midi_log_file *file)
{
    struct tt_midi_frame end = {.type = TT_MIDI_LOG_END, .time_mono_ns = tt_midi_port_now_ns()};
    int error = tt_midi_log_file_append(file, &end, 1);
    int confirmed = confirm(file);

    close(file->fd);
    return error ? error : confirmed;
}
