/*
 * See sound_file.h.
 */
#include "cli/sound_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WAV_PCM        1
#define WAV_FLOAT      3
#define WAV_EXTENSIBLE 0xFFFE
#define RIFF_BYTES     12
#define FMT_BYTES      40

/* The part of a RIFF WAVE's fmt chunk that aplay goes by. */
struct wav_format {
    bool is_wav;
    unsigned tag; /* of the extension where there is one */
    unsigned channels;
    unsigned frame_bytes;
    unsigned bits;
    uint32_t rate_hz;
};

static unsigned le16(const uint8_t *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static uint32_t le32(const uint8_t *bytes)
{
    return le16(bytes) | (uint32_t)le16(bytes + 2) << 16;
}

static void fmt_parse(const uint8_t *fmt, struct wav_format *format)
{
    format->tag = le16(fmt) == WAV_EXTENSIBLE ? le16(fmt + 24) : le16(fmt);
    format->channels = le16(fmt + 2);
    format->rate_hz = le32(fmt + 4);
    format->frame_bytes = le16(fmt + 12);
    format->bits = le16(fmt + 14);
}

/* Goes to the start of a chunk's content; false where there is none of that name. */
static bool chunk_find(FILE *in, const char *name, uint32_t *ret_bytes)
{
    uint8_t head[8];

    if (fseek(in, RIFF_BYTES, SEEK_SET) != 0) {
        return false;
    }
    while (fread(head, 1, sizeof(head), in) == sizeof(head)) {
        uint32_t bytes = le32(head + 4);

        if (memcmp(head, name, 4) == 0) {
            *ret_bytes = bytes;
            return true;
        }
        if (fseek(in, (long)bytes + (bytes & 1), SEEK_CUR) != 0) {
            return false;
        }
    }
    return false;
}

static struct wav_format wav_format_read(FILE *in)
{
    struct wav_format format = {0};
    uint8_t riff[RIFF_BYTES];
    uint8_t fmt[FMT_BYTES] = {0};
    uint32_t bytes;

    if (fread(riff, 1, sizeof(riff), in) != sizeof(riff) || memcmp(riff, "RIFF", 4) != 0 ||
        memcmp(riff + 8, "WAVE", 4) != 0) {
        return format;
    }
    format.is_wav = true;
    if (chunk_find(in, "fmt ", &bytes)) {
        bytes = bytes < FMT_BYTES ? bytes : FMT_BYTES;
        if (fread(fmt, 1, bytes, in) == bytes) {
            fmt_parse(fmt, &format);
        }
    }
    return format;
}

/* As aplay takes a WAV; U8 is left out because AAF has no 8-bit format. */
static void find_playable(struct tt_sound_file *file, const struct wav_format *wav)
{
    unsigned sample_bytes = wav->channels > 0 ? wav->frame_bytes / wav->channels : 0;
    bool pcm = wav->tag == WAV_PCM;

    file->playable = true;
    if (pcm && wav->bits == 16 && sample_bytes == 2) {
        file->format = TT_PCM_S16_LE;
    } else if (pcm && wav->bits == 24 && sample_bytes == 3) {
        file->format = TT_PCM_S24_3LE;
    } else if (pcm && wav->bits == 32 && sample_bytes == 4) {
        file->format = TT_PCM_S32_LE;
    } else if (wav->tag == WAV_FLOAT && wav->bits == 32 && sample_bytes == 4) {
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
    file->info.samplerate = 0;
    if (raw->format == TT_PCM_S24_LE || raw->format == TT_PCM_S24_BE) {
        file->low_24 = true;
        file->bits = 24;
    }
}

static bool is_low_24(const struct wav_format *wav)
{
    return wav->tag == WAV_PCM && wav->bits == 24 && wav->channels > 0 &&
           wav->frame_bytes == 4 * wav->channels;
}

/* Takes `in` over. A size that its writer could not fill in reaches to the end of the file. */
static int open_low_24(FILE *in, const struct wav_format *wav, struct tt_sound_file *ret_file,
                       const char **ret_why)
{
    uint32_t bytes;
    long begin = chunk_find(in, "data", &bytes) ? ftell(in) : -1;
    long end = begin >= 0 && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;

    if (begin < 0 || end < begin || fseek(in, begin, SEEK_SET) != 0) {
        *ret_why = "it has no data chunk";
        fclose(in);
        return -EINVAL;
    }
    if (bytes > (unsigned long)(end - begin)) {
        bytes = (uint32_t)(end - begin);
    }
    *ret_file = (struct tt_sound_file){
        .low_24_wav = in,
        .info = {.samplerate = (int)wav->rate_hz,
                 .channels = (int)wav->channels,
                 .frames = bytes / wav->frame_bytes},
        .kind = TT_SOUND_INTEGER,
        .bits = 24,
        .playable = true,
        .format = TT_PCM_S24_LE,
    };
    return 0;
}

static int open_sndfile(const char *path, const struct tt_sound_raw *raw,
                        const struct wav_format *wav, struct tt_sound_file *ret_file,
                        const char **ret_why)
{
    struct tt_sound_file file = {0};
    bool is_raw = raw && !wav->is_wav;

    if (is_raw) {
        file.info = (SF_INFO){.samplerate = 48000,
                              .channels = (int)raw->channels,
                              .format = SF_FORMAT_RAW | raw_format(raw)};
    }
    file.file = sf_open(path, SFM_READ, &file.info);
    if (!file.file) {
        *ret_why = sf_strerror(NULL);
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
                       struct tt_sound_file *ret_file, const char **ret_why)
{
    FILE *in = fopen(path, "rb");
    struct wav_format wav;

    if (!in) {
        int error = -errno;

        *ret_why = strerror(-error);
        return error;
    }
    wav = wav_format_read(in);
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
        ret_patterns[i] = le32((const uint8_t *)&ret_patterns[i]) << 8;
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
