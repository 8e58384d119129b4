/*
 * See audio_file.h. Samples are handed to libsndfile as bytes, so that not even a float's payload
 * bits change.
 */
#include "cli/audio_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int wav_subtype(enum tt_pcm_format format)
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

static int open_wav(struct tt_audio_file *file)
{
    const struct tt_audio_file_setup *setup = &file->setup;
    SF_INFO info = {.samplerate = (int)setup->rate_hz,
                    .channels = (int)setup->channels,
                    .format = (setup->large ? SF_FORMAT_RF64 : SF_FORMAT_WAV) |
                              wav_subtype(setup->format)};

    errno = 0;
    file->wav = sf_open(setup->path, SFM_WRITE, &info);
    if (!file->wav) {
        return errno ? -errno : -EIO;
    }
    sf_command(file->wav, SFC_RF64_AUTO_DOWNGRADE, NULL, SF_TRUE);
    /* The peaks would have to be those of bytes that libsndfile never looks at. */
    sf_command(file->wav, SFC_SET_ADD_PEAK_CHUNK, NULL, SF_FALSE);
    return 0;
}

static int open_raw(struct tt_audio_file *file)
{
    file->raw = fopen(file->setup.path, "we");
    return file->raw ? 0 : -errno;
}

int tt_audio_file_init(const struct tt_audio_file_setup *setup, struct tt_audio_file *ret_file)
{
    struct tt_audio_file file = {.setup = *setup};

    file.samples = calloc(BLOCK_FRAMES, tt_pcm_sample_bytes(setup->format) * setup->channels);
    if (!file.samples) {
        return -ENOMEM;
    }
    *ret_file = file;
    return 0;
}

static int write_block(struct tt_audio_file *file, const uint8_t *wire, size_t frames)
{
    size_t sample_bytes = tt_pcm_sample_bytes(file->setup.format);
    size_t bytes = frames * sample_bytes * file->setup.channels;
    struct tt_pcm_area areas[TT_AAF_CHANNELS_MAX];

    for (unsigned c = 0; c < file->setup.channels; c++) {
        areas[c] = (struct tt_pcm_area){.first = file->samples + c * sample_bytes,
                                        .step_bytes = sample_bytes * file->setup.channels};
    }
    tt_pcm_from_wire(file->setup.format, wire, file->setup.channels, frames, areas);
    if (file->raw) {
        return fwrite(file->samples, 1, bytes, file->raw) == bytes ? 0 : -errno;
    }
    return sf_write_raw(file->wav, file->samples, (sf_count_t)bytes) == (sf_count_t)bytes ? 0
                                                                                          : -EIO;
}

int tt_audio_file_write(struct tt_audio_file *file, const uint8_t *wire, size_t frames)
{
    size_t wire_bytes =
        (size_t)tt_aaf_sample_bytes(tt_pcm_wire_format(file->setup.format)) * file->setup.channels;
    int error = 0;

    if (!file->wav && !file->raw) {
        error = file->setup.raw ? open_raw(file) : open_wav(file);
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

    if (file->wav && sf_close(file->wav) != 0) {
        error = -EIO;
    }
    if (file->raw && fclose(file->raw) != 0) {
        error = -errno;
    }
    free(file->samples);
    *file = (struct tt_audio_file){0};
    return error;
}
