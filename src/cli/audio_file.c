/*
 * See audio_file.h. Samples are handed to libsndfile as bytes, so that not even a float's payload
 * bits change.
 */
#include "cli/audio_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audio/pattern.h"

#define BLOCK_FRAMES 4096

enum tt_pcm_format tt_audio_file_wav_format(enum tt_aaf_format format)
{
    switch (format) {
    case TT_AAF_INT24:
        return TT_PCM_S24_3LE;
    case TT_AAF_INT32:
        return TT_PCM_S32_LE;
    case TT_AAF_FLOAT32:
        return TT_PCM_FLOAT_LE;
    default:
        return TT_PCM_S16_LE;
    }
}

static int sound_subtype(enum tt_pcm_format format)
{
    switch (format) {
    case TT_PCM_S24_3LE:
        return SF_FORMAT_PCM_24;
    case TT_PCM_S32_LE:
        return SF_FORMAT_PCM_32;
    case TT_PCM_FLOAT_LE:
        return SF_FORMAT_FLOAT;
    default:
        return SF_FORMAT_PCM_16;
    }
}

static int open_sound(struct tt_audio_file *file)
{
    const struct tt_audio_file_setup *setup = &file->setup;
    int container = setup->flac ? SF_FORMAT_FLAC : setup->large ? SF_FORMAT_RF64 : SF_FORMAT_WAV;
    SF_INFO info = {.samplerate = (int)setup->rate_hz,
                    .channels = (int)setup->channels,
                    .format = container | sound_subtype(setup->format)};

    errno = 0;
    file->sound = sf_open(setup->path, SFM_WRITE, &info);
    if (!file->sound) {
        return errno ? -errno : -EIO;
    }
    sf_command(file->sound, SFC_RF64_AUTO_DOWNGRADE, NULL, SF_TRUE);
    /* The peaks would have to be those of bytes that libsndfile never looks at. */
    sf_command(file->sound, SFC_SET_ADD_PEAK_CHUNK, NULL, SF_FALSE);
    sf_command(file->sound, SFC_SET_UPDATE_HEADER_AUTO, NULL, setup->live && !setup->flac);
    return 0;
}

static int open_raw(struct tt_audio_file *file)
{
    file->raw = fopen(file->setup.path, "we");
    if (file->raw && file->setup.live) {
        setvbuf(file->raw, NULL, _IONBF, 0);
    }
    return file->raw ? 0 : -errno;
}

int tt_audio_file_init(const struct tt_audio_file_setup *setup, struct tt_audio_file *ret_file)
{
    struct tt_audio_file file = {.setup = *setup};

    file.samples = calloc(BLOCK_FRAMES, sizeof(uint32_t) * setup->channels);
    if (!file.samples) {
        return -ENOMEM;
    }
    *ret_file = file;
    return 0;
}

/* FLAC takes samples, and not bytes. */
static int write_flac(struct tt_audio_file *file, const uint8_t *wire, size_t frames)
{
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];
    uint32_t *patterns = (void *)file->samples;
    enum tt_pcm_format format = tt_pattern_areas(tt_pcm_wire_format(file->setup.format), patterns,
                                                 file->setup.channels, areas);

    memset(patterns, 0, frames * file->setup.channels * sizeof(*patterns));
    tt_pcm_from_wire(format, wire, file->setup.channels, frames, areas);
    return sf_writef_int(file->sound, (const int *)(const void *)patterns, (sf_count_t)frames) ==
                   (sf_count_t)frames
               ? 0
               : -EIO;
}

static int write_block(struct tt_audio_file *file, const uint8_t *wire, size_t frames)
{
    size_t sample_bytes = tt_pcm_sample_bytes(file->setup.format);
    size_t bytes = frames * sample_bytes * file->setup.channels;
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];

    if (file->setup.flac) {
        return write_flac(file, wire, frames);
    }
    for (unsigned c = 0; c < file->setup.channels; c++) {
        areas[c] = (struct tt_pcm_area){.first = file->samples + c * sample_bytes,
                                        .step_bytes = sample_bytes * file->setup.channels};
    }
    tt_pcm_from_wire(file->setup.format, wire, file->setup.channels, frames, areas);
    if (file->raw) {
        return fwrite(file->samples, 1, bytes, file->raw) == bytes ? 0 : -errno;
    }
    errno = 0;
    if (sf_write_raw(file->sound, file->samples, (sf_count_t)bytes) != (sf_count_t)bytes) {
        return errno ? -errno : -EIO;
    }
    return 0;
}

int tt_audio_file_write(struct tt_audio_file *file, const uint8_t *wire, size_t frames)
{
    size_t wire_bytes =
        (size_t)tt_aaf_sample_bytes(tt_pcm_wire_format(file->setup.format)) * file->setup.channels;
    int error = 0;

    if (!file->sound && !file->raw) {
        error = file->setup.raw ? open_raw(file) : open_sound(file);
    }
    while (frames > 0 && !error) {
        size_t block = frames < BLOCK_FRAMES ? frames : BLOCK_FRAMES;

        error = write_block(file, wire, block);
        wire += block * wire_bytes;
        frames -= block;
    }
    return error;
}

int tt_audio_file_close(struct tt_audio_file *file)
{
    int error = 0;

    if (file->sound && sf_close(file->sound) != 0) {
        error = -EIO;
    }
    if (file->raw && fclose(file->raw) != 0) {
        error = -errno;
    }
    free(file->samples);
    *file = (struct tt_audio_file){0};
    return error;
}
