/*
 * Frames as they came from the wire, into a file: WAV or FLAC (by libsndfile), or bare samples.
 *
 * Invariants: a file that exists stays as it is until there are frames to write. With `live` it is
 * a whole file after every write, whatever happens to the process then (a FLAC up to its last
 * whole block, its length unknown).
 */
#ifndef TT_CLI_AUDIO_FILE_H
#define TT_CLI_AUDIO_FILE_H

#include <sndfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/pcm.h"

struct tt_audio_file_setup {
    const char *path;
    enum tt_pcm_format format; /* of the samples in the file */
    bool raw;
    bool flac; /* of S16_LE or S24_3LE */
    bool live;
    bool large; /* may outgrow the 4 GiB of plain WAV: RF64 where it does */
    uint32_t rate_hz;
    unsigned channels;
};

struct tt_audio_file {
    struct tt_audio_file_setup setup; /* its path stays the caller's */
    SNDFILE *sound;                   /* either this … */
    FILE *raw;                        /* … or that; neither until frames are written */
    uint8_t *samples;                 /* a block, converted */
};

/* The samples of a WAV file that carry this wire format bit for bit. */
enum tt_pcm_format tt_audio_file_wav_format(enum tt_aaf_format format);

/* Touches no file. 0 or -ENOMEM. */
int tt_audio_file_init(const struct tt_audio_file_setup *setup, struct tt_audio_file *ret_file);
/* The first frames make the file, or cut an existing one to nothing. wire: frames x channels, of
 * the wire format that tt_pcm_wire_format(format) is. 0 or -errno. */
int tt_audio_file_write(struct tt_audio_file *file, const uint8_t *wire, size_t frames);
/* 0 or -errno; NULL fields are fine. */
int tt_audio_file_close(struct tt_audio_file *file);

#endif
