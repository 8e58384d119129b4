/*
 * See sink.h: which kind a name means, and files.
 */
#include "cli/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/audio_file.h"
#include "cli/say.h"

struct file_sink {
    struct tt_sink sink;
    struct tt_audio_file file;
    enum tt_pcm_format wire; /* big-endian: what audio_file takes */
    unsigned channels;
    size_t frame_bytes;
    uint8_t *bytes; /* BLOCK_FRAMES of them */
};

#define BLOCK_FRAMES 4096

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name);
    size_t m = strlen(ending);

    return n > m && strcasecmp(name + n - m, ending) == 0;
}

static int check_folder(const char *name, struct tt_message *message)
{
    const char *slash = strrchr(name, '/');
    char *folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
    int error = !folder ? -ENOMEM : access(folder, W_OK | X_OK) != 0 ? -errno : 0;

    free(folder);
    return error == 0 ? 0
                      : tt_say(error, message, "%s cannot be written: %s", name, strerror(-error));
}

static bool is_pipe(const char *name)
{
    struct stat status;

    return strcmp(name, "-") == 0 || (stat(name, &status) == 0 && !S_ISREG(status.st_mode));
}

int tt_sink_check_file(const char *path, struct tt_message *ret_message)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return check_folder(path, ret_message);
    }
    if (S_ISDIR(status.st_mode)) {
        return tt_say(-EINVAL, ret_message, "%s is a directory; give a file to write", path);
    }
    return access(path, W_OK) == 0
               ? 0
               : tt_say(-errno, ret_message, "%s cannot be written: %s", path, strerror(errno));
}

int tt_sink_check(const char *name, bool is_raw, bool overwrite, struct tt_message *ret_message)
{
    struct stat status;
    int error;

    if (strcmp(name, "-") == 0) {
        return 0;
    }
    error = tt_sink_check_file(name, ret_message);
    if (error == -EINVAL) {
        return error;
    }
    if (!is_raw && is_pipe(name)) {
        return tt_say(-EINVAL, ret_message,
                      "%s is a pipe or a device, and a sound file cannot be written there; say raw "
                      "and a format for bare samples",
                      name);
    }
    if (!is_raw && !ends_in(name, ".wav") && !ends_in(name, ".flac") && !ends_in(name, ".rf64")) {
        return tt_say(
            -EINVAL, ret_message,
            "what kind of file is %s? Give a name in .wav, .rf64 or .flac, or say raw and "
            "a format",
            name);
    }
    if (error == 0 && !overwrite && stat(name, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0) {
        return tt_say(
            -EINVAL, ret_message,
            "%s is there already and holds %lld bytes; give another name, or say overwrite", name,
            (long long)status.st_size);
    }
    return error;
}

int tt_sink_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                 struct tt_message *ret_message)
{
    return (is_pipe(setup->name) ? tt_sink_pipe_open : tt_sink_file_open)(setup, ret_sink,
                                                                          ret_message);
}

int tt_sink_close(struct tt_sink *sink)
{
    return sink ? sink->ops->close(sink) : 0;
}

static int64_t file_write(struct tt_sink *sink, uint32_t *patterns, int64_t frames)
{
    struct file_sink *file = (struct file_sink *)sink;
    size_t n = frames < BLOCK_FRAMES ? (size_t)frames : BLOCK_FRAMES;
    int error;

    tt_pattern_write(file->wire, patterns, n * file->channels, file->bytes);
    error = tt_audio_file_write(&file->file, file->bytes, n);
    return error < 0 ? error : (int64_t)n;
}

static int file_close(struct tt_sink *sink)
{
    struct file_sink *file = (struct file_sink *)sink;
    int error = tt_audio_file_close(&file->file);

    free(file->bytes);
    free(file);
    return error;
}

static const struct tt_sink_ops file_ops = {.write = file_write, .close = file_close};

static enum tt_pcm_format file_format(const struct tt_sink_setup *setup, bool flac)
{
    if (setup->raw) {
        return setup->raw->format;
    }
    if (flac) {
        return setup->config->format == TT_AAF_INT16 ? TT_PCM_S16_LE : TT_PCM_S24_3LE;
    }
    return tt_audio_file_wav_format(setup->config->format);
}

static enum tt_pcm_format wire_format(enum tt_pcm_format format)
{
    switch (tt_pcm_wire_format(format)) {
    case TT_AAF_INT16:
        return TT_PCM_S16_BE;
    case TT_AAF_INT24:
        return TT_PCM_S24_3BE;
    case TT_AAF_FLOAT32:
        return TT_PCM_FLOAT_BE;
    default:
        return TT_PCM_S32_BE;
    }
}

int tt_sink_file_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                      struct tt_message *ret_message)
{
    bool flac = !setup->raw && ends_in(setup->name, ".flac");
    struct file_sink *file = calloc(1, sizeof(*file));
    struct tt_audio_file_setup file_setup = {
        .path = setup->name,
        .format = file_format(setup, flac),
        .raw = setup->raw != NULL,
        .flac = flac,
        .live = true,
        .large = true,
        .rate_hz = setup->config->rate_hz,
        .channels = setup->config->channels,
    };

    if (flac && setup->config->channels > 8) {
        free(file);
        return tt_say(-EINVAL, ret_message, "%s: FLAC has at most 8 channels, the stream has %u",
                      setup->name, setup->config->channels);
    }
    if (file) {
        file->wire = wire_format(file_setup.format);
        file->channels = file_setup.channels;
        file->frame_bytes = (size_t)tt_pcm_sample_bytes(file->wire) * file->channels;
        file->bytes = calloc(BLOCK_FRAMES, file->frame_bytes);
    }
    if (!file || !file->bytes || tt_audio_file_init(&file_setup, &file->file) < 0) {
        free(file ? file->bytes : NULL);
        free(file);
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    file->sink = (struct tt_sink){
        .ops = &file_ops,
        .pattern = tt_pattern_of(tt_pcm_wire_format(file_setup.format)),
    };
    *ret_sink = &file->sink;
    return 0;
}
