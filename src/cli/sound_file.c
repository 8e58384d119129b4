/*
 * See sound_file.h.
 */
#include "cli/sound_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/wav_header.h"

#define COUNT_SAMPLES 16384 /* more than libsndfile's channels */

/* As aplay takes a WAV; U8 is left out because AAF has no 8-bit format. */
static void find_playable(struct tt_sound_file *file, const struct tt_wav_header *wav)
{
    unsigned sample_bytes = wav->channels > 0 ? wav->frame_bytes / wav->channels : 0;
    bool pcm = wav->tag == TT_WAV_PCM;

    file->playable = true;
    if (pcm && wav->bits == 16 && sample_bytes == 2) {
        file->format = TT_PCM_S16_LE;
    } else if (pcm && wav->bits == 24 && sample_bytes == 3) {
        file->format = TT_PCM_S24_3LE;
    } else if (pcm && wav->bits == 32 && sample_bytes == 4) {
        file->format = TT_PCM_S32_LE;
    } else if (wav->tag == TT_WAV_FLOAT && wav->bits == 32 && sample_bytes == 4) {
        file->format = TT_PCM_FLOAT_LE;
    } else {
        file->playable = false;
    }
}

static void describe(struct tt_sound_file *file, enum tt_sound_kind kind, unsigned bits,
                     enum tt_pcm_format format)
{
    file->kind = kind;
    file->bits = bits;
    file->format = format;
}

static void find_kind(struct tt_sound_file *file)
{
    switch (file->info.format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_DPCM_8:
        describe(file, TT_SOUND_INTEGER, 8, TT_PCM_S16_LE);
        break;
    case SF_FORMAT_PCM_16:
    case SF_FORMAT_ALAC_16:
    case SF_FORMAT_DPCM_16:
    case SF_FORMAT_ULAW:
    case SF_FORMAT_ALAW:
        describe(file, TT_SOUND_INTEGER, 16, TT_PCM_S16_LE);
        break;
    case SF_FORMAT_ALAC_20:
    case SF_FORMAT_ALAC_24:
    case SF_FORMAT_PCM_24:
        describe(file, TT_SOUND_INTEGER, 24, TT_PCM_S24_3LE);
        break;
    case SF_FORMAT_ALAC_32:
    case SF_FORMAT_PCM_32:
        describe(file, TT_SOUND_INTEGER, 32, TT_PCM_S32_LE);
        break;
    case SF_FORMAT_FLOAT:
        describe(file, TT_SOUND_FLOAT, 32, TT_PCM_FLOAT_LE);
        break;
    case SF_FORMAT_DOUBLE:
        describe(file, TT_SOUND_DOUBLE, 64, TT_PCM_FLOAT_LE);
        break;
    default:
        describe(file, TT_SOUND_LOSSY, 0, TT_PCM_FLOAT_LE);
        break;
    }
}

static int raw_format(const struct tt_sound_raw *raw)
{
    switch (raw->format) {
    case TT_PCM_S16_LE:
        return SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE;
    case TT_PCM_S16_BE:
        return SF_FORMAT_PCM_16 | SF_ENDIAN_BIG;
    case TT_PCM_S24_3LE:
        return SF_FORMAT_PCM_24 | SF_ENDIAN_LITTLE;
    case TT_PCM_S24_3BE:
        return SF_FORMAT_PCM_24 | SF_ENDIAN_BIG;
    case TT_PCM_FLOAT_LE:
        return SF_FORMAT_FLOAT | SF_ENDIAN_LITTLE;
    case TT_PCM_FLOAT_BE:
        return SF_FORMAT_FLOAT | SF_ENDIAN_BIG;
    case TT_PCM_S24_BE:
    case TT_PCM_S32_BE:
        return SF_FORMAT_PCM_32 | SF_ENDIAN_BIG;
    default:
        return SF_FORMAT_PCM_32 | SF_ENDIAN_LITTLE;
    }
}

static void describe_raw(struct tt_sound_file *file, const struct tt_sound_raw *raw)
{
    find_kind(file);
    file->format = raw->format;
    file->info.samplerate = (int)raw->rate_hz;
    if (raw->format == TT_PCM_S24_LE || raw->format == TT_PCM_S24_BE) {
        file->low_24 = true;
        file->bits = 24;
    }
}

static bool is_low_24(const struct tt_wav_header *wav)
{
    return wav->tag == TT_WAV_PCM && wav->bits == 24 && wav->channels > 0 &&
           wav->frame_bytes == 4 * wav->channels;
}

/* Takes `in` over. */
static int open_low_24(FILE *in, const struct tt_wav_header *wav, struct tt_sound_file *ret_file,
                       char ret_why[TT_SOUND_WHY])
{
    uint64_t bytes;

    if (!tt_wav_chunk_find(in, "data", &bytes)) {
        snprintf(ret_why, TT_SOUND_WHY, "it has no data chunk");
        fclose(in);
        return -EINVAL;
    }
    *ret_file = (struct tt_sound_file){
        .low_24_wav = in,
        .info = {.samplerate = (int)wav->rate_hz,
                 .channels = (int)wav->channels,
                 .frames = (sf_count_t)(bytes / wav->frame_bytes)},
        .kind = TT_SOUND_INTEGER,
        .bits = 24,
        .playable = true,
        .format = TT_PCM_S24_LE,
    };
    return 0;
}

/* Without the full stop that libsndfile puts: the text stands within a sentence. */
static void say_why(const char *text, char ret_why[TT_SOUND_WHY])
{
    size_t n = strlen(text);

    snprintf(ret_why, TT_SOUND_WHY, "%.*s", (int)(n > 0 && text[n - 1] == '.' ? n - 1 : n), text);
}

/* Of a FLAC whose writer was killed nobody knows how long it is: counts, and begins anew. */
static int count_frames(const char *path, struct tt_sound_file *file)
{
    int block[COUNT_SAMPLES];
    sf_count_t frames = COUNT_SAMPLES / file->info.channels;
    sf_count_t all = 0;
    sf_count_t n;

    while ((n = sf_readf_int(file->file, block, frames)) > 0) {
        all += n;
    }
    sf_close(file->file);
    file->file = sf_open(path, SFM_READ, &file->info);
    file->info.frames = all;
    return file->file ? 0 : -EINVAL;
}

static int open_sndfile(const char *path, const struct tt_sound_raw *raw,
                        const struct tt_wav_header *wav, struct tt_sound_file *ret_file,
                        char ret_why[TT_SOUND_WHY])
{
    struct tt_sound_file file = {0};
    bool is_raw = raw && !wav->is_wav;

    if (is_raw) {
        file.info = (SF_INFO){.samplerate = 48000,
                              .channels = (int)raw->channels,
                              .format = SF_FORMAT_RAW | raw_format(raw)};
    }
    file.file = sf_open(path, SFM_READ, &file.info);
    if (!file.file || (file.info.frames == SF_COUNT_MAX && count_frames(path, &file) < 0)) {
        say_why(wav->is_wav && wav->rate_hz == 0 ? "its header gives 0 Hz" : sf_strerror(NULL),
                ret_why);
        return -EINVAL;
    }
    if (is_raw) {
        describe_raw(&file, raw);
    } else {
        find_kind(&file);
        find_playable(&file, wav);
    }
    *ret_file = file;
    return 0;
}

int tt_sound_file_open(const char *path, const struct tt_sound_raw *raw,
                       struct tt_sound_file *ret_file, char ret_why[TT_SOUND_WHY])
{
    FILE *in = fopen(path, "rb");
    struct tt_wav_header wav;

    if (!in) {
        int error = -errno;

        say_why(strerror(-error), ret_why);
        return error;
    }
    wav = tt_wav_header_read(in);
    if (is_low_24(&wav)) {
        return open_low_24(in, &wav, ret_file, ret_why);
    }
    fclose(in);
    return open_sndfile(path, raw, &wav, ret_file, ret_why);
}

void tt_sound_file_close(struct tt_sound_file *file)
{
    if (file->file) {
        sf_close(file->file);
        file->file = NULL;
    }
    if (file->low_24_wav) {
        fclose(file->low_24_wav);
        file->low_24_wav = NULL;
    }
}

static int64_t read_low_24(struct tt_sound_file *file, uint32_t *ret_patterns, int64_t frames)
{
    size_t channels = (size_t)file->info.channels;
    size_t n = fread(ret_patterns, 4 * channels, (size_t)frames, file->low_24_wav);

    for (size_t i = 0; i < n * channels; i++) {
        ret_patterns[i] = tt_get_le32((const uint8_t *)&ret_patterns[i]) << 8;
    }
    return (int64_t)n;
}

int64_t tt_sound_file_read(struct tt_sound_file *file, uint32_t *ret_patterns, int64_t frames)
{
    int64_t n;

    if (file->low_24_wav) {
        return read_low_24(file, ret_patterns, frames);
    }
    if (file->kind != TT_SOUND_INTEGER) {
        return sf_readf_float(file->file, (float *)(void *)ret_patterns, frames);
    }
    n = sf_readf_int(file->file, (int *)(void *)ret_patterns, frames);
    for (int64_t i = 0; file->low_24 && i < n * file->info.channels; i++) {
        ret_patterns[i] <<= 8;
    }
    return n;
}

int tt_sound_file_rewind(struct tt_sound_file *file)
{
    uint64_t bytes;

    if (file->low_24_wav) {
        return tt_wav_chunk_find(file->low_24_wav, "data", &bytes) ? 0 : -EIO;
    }
    return sf_seek(file->file, 0, SEEK_SET) == 0 ? 0 : -EIO;
}

const char *tt_sound_file_text(const struct tt_sound_file *file)
{
    switch (file->kind) {
    case TT_SOUND_INTEGER:
        return file->bits == 8    ? "8-bit integer"
               : file->bits == 16 ? "16-bit integer"
               : file->bits == 24 ? "24-bit integer"
                                  : "32-bit integer";
    case TT_SOUND_FLOAT:
        return "32-bit float";
    case TT_SOUND_DOUBLE:
        return "64-bit float";
    default:
        return "lossy";
    }
}
