/*
 * See source.h: which kind a name means, and files.
 */
#include "cli/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/aaf.h"
#include "cli/say.h"
#include "cli/sound_file.h"

struct file_source {
    struct tt_source source;
    struct tt_sound_file file;
    bool loop;
    int64_t position; /* since the file's start */
};

int tt_source_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                   struct tt_message *ret_message)
{
    if (strncmp(setup->name, "tone:", 5) == 0) {
        return tt_source_tone_open(setup, ret_source, ret_message);
    }
    if (strcmp(setup->name, "-") == 0) {
        return tt_source_stdin_open(setup, ret_source, ret_message);
    }
    return tt_source_file_open(setup, ret_source, ret_message);
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
    source->frames = frames > 0 ? frames : -1;
    /* A decoder's count of what it decodes is a guess. */
    if (file->file.kind == TT_SOUND_LOSSY) {
        source->frames = -1;
    }
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
    if (setup->raw && (setup->raw->channels == 0 || setup->raw->rate_hz == 0)) {
        free(file);
        return tt_say(-EINVAL, ret_message,
                      "raw samples need all of format, channels and rate, like S16_LE,2,48000");
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
    *ret_source = &file->source;
    return 0;
}
