/*
 * Frames as they came from the wire, into a file: WAV (by libsndfile), or bare samples.
 */
#ifndef TT_CLI_AUDIO_FILE_H
#define TT_CLI_AUDIO_FILE_H

#include <sndfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/pcm.h"

struct tt_audio_file {
    SNDFILE *wav; /* either this … */
    FILE *raw;    /* … or that */
    enum tt_pcm_format format;
    unsigned channels;
    uint8_t *samples; /* a block, converted */
};

struct tt_audio_file_setup {
    const char *path;
    enum tt_pcm_format format; /* of the samples in the file */
    bool raw;
    bool large; /* may outgrow the 4 GiB of plain WAV: RF64 where it does */
    uint32_t rate_hz;
    unsigned channels;
};

/* The samples of a WAV file that carry this wire format bit for bit. */
enum tt_pcm_format tt_audio_file_wav_format(enum tt_aaf_format format);

/* 0, or -1 with *ret_error a text that stays valid. */
int tt_audio_file_open(const struct tt_audio_file_setup *setup, struct tt_audio_file *ret_file,
                       const char **ret_error);
/* wire: frames x channels, of the wire format that tt_pcm_wire_format(format) is. 0 or -errno. */
int tt_audio_file_write(struct tt_audio_file *file, const uint8_t *wire, size_t frames);
/* 0 or -errno; NULL fields are fine. */
int tt_audio_file_close(struct tt_audio_file *file);

#endif
