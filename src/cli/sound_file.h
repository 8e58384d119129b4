/*
 * Sound files, read exactly: every sample as a 32-bit pattern that says the same whatever the
 * container.
 *
 * Integers of any width stand left-justified in 32 bits, 32-bit floats as they are. What has no
 * exact pattern (lossy codecs, 64-bit floats) is told apart. `arecord -f S24_LE` writes 24 valid
 * bits in the low part of four bytes; libsndfile guesses at such a WAV by its content, so it is
 * read here.
 */
#ifndef TT_CLI_SOUND_FILE_H
#define TT_CLI_SOUND_FILE_H

#include <sndfile.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/pcm.h"
#include "cli/raw.h"

enum tt_sound_kind {
    TT_SOUND_INTEGER,
    TT_SOUND_FLOAT,  /* 32 bits */
    TT_SOUND_DOUBLE, /* 64-bit floats: exact only by chance */
    TT_SOUND_LOSSY,  /* decoded by arithmetic that is not the same everywhere */
};

struct tt_sound_file {
    SNDFILE *file;
    FILE *low_24_wav; /* instead of `file` */
    SF_INFO info;     /* samplerate 0: raw, the rate is unknown */
    enum tt_sound_kind kind;
    unsigned bits;             /* valid bits of a sample */
    bool low_24;               /* 24 valid bits in the low part of four bytes */
    bool playable;             /* aplay plays the file as it is, in a format that AAF carries … */
    enum tt_pcm_format format; /* … this one; otherwise the one that holds its samples */
};

#define TT_SOUND_WHY 128

/* Opens for reading. `raw` (may be NULL; its channels are known) is how a file that does not begin
 * as a WAV is read. 0, or
 * a negative errno with why. */
int tt_sound_file_open(const char *path, const struct tt_sound_raw *raw,
                       struct tt_sound_file *ret_file, char ret_why[TT_SOUND_WHY]);
void tt_sound_file_close(struct tt_sound_file *file);

/* Up to `frames` frames x info.channels patterns, interleaved. Returns the frames read. */
int64_t tt_sound_file_read(struct tt_sound_file *file, uint32_t *ret_patterns, int64_t frames);

/* Back to the first frame. 0 or -EIO. */
int tt_sound_file_rewind(struct tt_sound_file *file);

/* "16-bit integer", "32-bit float", … */
const char *tt_sound_file_text(const struct tt_sound_file *file);

#endif
