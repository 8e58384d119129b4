/*
 * See source.h: which kind a name means, and files.
 */
#include "cli/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audio/aaf.h"
#include "base/attr.h"
#include "cli/say.h"
#include "cli/sound_file.h"
#include "cli/wav_header.h"
#include "report/plural.h"

struct file_source {
    struct tt_source source;
    struct tt_sound_file file;
    bool loop;
    int64_t position; /* since the file's start */
};

/* What is no regular file is a stream of bytes: it has no length, and cannot be read twice. */
static bool is_pipe(const char *name)
{
    struct stat status;

    return strcmp(name, "-") == 0 || (stat(name, &status) == 0 && !S_ISREG(status.st_mode));
}

/* What libsndfile would say in other words, or not at all. */
static int check_file(const char *name, struct tt_message *ret_message)
{
    struct stat status;

    if (stat(name, &status) != 0) {
        return 0; /* whoever opens it says why */
    }
    if (S_ISDIR(status.st_mode)) {
        return tt_say(-EINVAL, ret_message, "%s is a directory; give a sound file", name);
    }
    if (S_ISREG(status.st_mode) && status.st_size == 0) {
        return tt_say(-EINVAL, ret_message, "%s is empty (0 bytes)", name);
    }
    return 0;
}

int tt_source_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                   struct tt_message *ret_message)
{
    int error;

    if (strncmp(setup->name, "tone:", 5) == 0) {
        return tt_source_tone_open(setup, ret_source, ret_message);
    }
    if (strcmp(setup->name, "-") == 0) {
        return tt_source_pipe_open(setup, ret_source, ret_message);
    }
    error = check_file(setup->name, ret_message);
    if (error < 0) {
        return error;
    }
    return (is_pipe(setup->name) ? tt_source_pipe_open : tt_source_file_open)(setup, ret_source,
                                                                              ret_message);
}

void tt_source_close(struct tt_source *source)
{
    if (source) {
        source->ops->close(source);
    }
}

/* A file that ends before its header says so is no good end. */
static int64_t at_end(struct file_source *file)
{
    if (file->source.frames >= 0 && file->position < file->source.frames) {
        return -EIO;
    }
    if (!file->loop || file->position == 0) {
        return TT_SOURCE_END;
    }
    file->position = 0;
    return tt_sound_file_rewind(&file->file);
}

static int64_t file_read(struct tt_source *source, uint32_t *ret_patterns, int64_t frames)
{
    struct file_source *file = (struct file_source *)source;
    int64_t n = tt_sound_file_read(&file->file, ret_patterns, frames);

    if (n <= 0) {
        int64_t error = at_end(file);

        if (error < 0) {
            return error;
        }
        n = tt_sound_file_read(&file->file, ret_patterns, frames);
    }
    file->position += n > 0 ? n : 0;
    return n > 0 ? n : -EIO;
}

static void file_close(struct tt_source *source)
{
    tt_sound_file_close(&((struct file_source *)source)->file);
    free(source);
}

static const struct tt_source_ops file_ops = {.read = file_read, .close = file_close};

static void describe(struct file_source *file)
{
    struct tt_source *source = &file->source;
    bool integer = file->file.kind == TT_SOUND_INTEGER;
    sf_count_t frames = file->file.info.frames;

    source->pattern =
        (struct tt_pattern){.is_float = !integer, .bits = integer ? file->file.bits : 32};
    source->rate_hz = (uint32_t)file->file.info.samplerate;
    source->channels = (unsigned)file->file.info.channels;
    source->frames = frames;
    /* A decoder's count of what it decodes is a guess. */
    if (file->file.kind == TT_SOUND_LOSSY) {
        source->frames = -1;
    }
}

/* Of a file that says itself what it is, how; or NULL. */
static const char *header_of(const char *path)
{
    static const char *const marks[][2] = {
        {"RIFF", "WAV"}, {"RIFX", "WAV"},  {"RF64", "RF64"}, {"fLaC", "FLAC"},
        {"OggS", "Ogg"}, {"FORM", "AIFF"}, {".snd", "AU"},   {"caff", "CAF"},
    };
    char begin[4] = "";
    FILE *in = fopen(path, "rbe");
    size_t n = in ? fread(begin, 1, sizeof(begin), in) : 0;

    if (in) {
        fclose(in);
    }
    for (size_t i = 0; i < TT_COUNT_OF(marks) && n == sizeof(begin); i++) {
        if (memcmp(begin, marks[i][0], sizeof(begin)) == 0) {
            return marks[i][1];
        }
    }
    return NULL;
}

static int check_raw(const struct tt_source_setup *setup, struct tt_message *ret_message)
{
    const char *header = header_of(setup->name);

    if (setup->raw->channels == 0 || setup->raw->rate_hz == 0) {
        return tt_say(-EINVAL, ret_message,
                      "raw samples need all of format, channels and rate, like S16_LE,2,48000");
    }
    if (header) {
        return tt_say(-EINVAL, ret_message,
                      "%s has a header (%s) that says what it is; leave raw out, or send its bytes "
                      "as they are by a pipe (-)",
                      setup->name, header);
    }
    return 0;
}

void tt_source_remark_ragged(struct tt_source *source, const char *name, uint64_t bytes)
{
    tt_say(0, &source->remark, "%s ends within a frame: its last %" PRIu64 " %s left out", name,
           bytes, tt_plural(bytes, "byte is", "bytes are"));
}

/* A file that is shorter than it should be is played as far as it goes. */
static void remark(const struct tt_source_setup *setup, struct file_source *file)
{
    struct tt_message *message = &file->source.remark;
    FILE *in = fopen(setup->name, "rbe");
    uint64_t bytes = 0;

    if (!in) {
        return;
    }
    if (setup->raw) {
        size_t frame_bytes = (size_t)tt_pcm_sample_bytes(setup->raw->format) * setup->raw->channels;

        bytes = fseeko(in, 0, SEEK_END) == 0 ? (uint64_t)ftello(in) % frame_bytes : 0;
        if (bytes > 0) {
            tt_source_remark_ragged(&file->source, setup->name, bytes);
        }
    } else if (tt_wav_header_read(in).is_wav && (bytes = tt_wav_bytes_missing(in)) > 0) {
        tt_say(0, message,
               "%s is cut: its header claims %" PRIu64 " %s more than there are; it is played as "
               "far as it goes",
               setup->name, bytes, tt_plural(bytes, "byte", "bytes"));
    }
    fclose(in);
}

int tt_source_file_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message)
{
    struct file_source *file = calloc(1, sizeof(*file));
    char why[TT_SOUND_WHY];
    int error;

    if (!file) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    error = setup->raw ? check_raw(setup, ret_message) : 0;
    if (error < 0) {
        free(file);
        return error;
    }
    error = tt_sound_file_open(setup->name, setup->raw, &file->file, why);
    if (error < 0) {
        free(file);
        return tt_say(error == -ENOENT ? -EINVAL : error, ret_message, "%s cannot be played: %s",
                      setup->name, why);
    }
    file->source.ops = &file_ops;
    file->loop = setup->loop;
    describe(file);
    if (file->source.frames == 0) {
        tt_source_close(&file->source);
        return tt_say(-EINVAL, ret_message, "%s holds no frames", setup->name);
    }
    remark(setup, file);
    *ret_source = &file->source;
    return 0;
}
