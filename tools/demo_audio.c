/*
 * Sound files for the demonstration.
 *
 * make OUT.wav: six seconds of plucked chords in stereo, 48 kHz S16: the same bits at every run,
 * sound in the first and in the last frame. prepare IN OUT.wav: whether aplay can play IN as it is
 * in a format that AAF carries; otherwise writes OUT.wav, exactly where that is possible. Prints
 * key=value lines: file, format, rate, channels, frames, frames_per_pdu, and words for a person.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/aaf.h"
#include "audio/stream_config.h"
#include "cli/cmd.h"
#include "cli/sound_file.h"

#define RATE_HZ      48000
#define FRAMES       (6 * RATE_HZ)
#define STRING_MAX   1024
#define CHANNELS_MAX 256
#define MTU_BYTES    1500
#define CLASS_A_HZ   8000
#define BLOCK_FRAMES 4096

/* One plucked string after Karplus and Strong: a burst of noise runs round a delay line that damps
 * it. */
static void pluck(float *left, float *right, int begin, double hz, double pan)
{
    static uint32_t noise = 1;
    float line[STRING_MAX];
    int length = (int)(RATE_HZ / hz);

    for (int i = 0; i < length; i++) {
        noise = noise * 1664525 + 1013904223;
        line[i] = (float)((int32_t)noise / 2147483648.0);
    }
    for (int i = begin; i < FRAMES; i++) {
        int at = (i - begin) % length;
        float value = line[at];

        line[at] = 0.4985f * (value + line[(at + 1) % length]);
        left[i] += value * (float)(1 - pan);
        right[i] += value * (float)pan;
    }
}

/* A minor, F, C, G: each chord rolled upwards, every string at its own place between left and
 * right. */
static void play(float *left, float *right)
{
    static const double chords[4][5] = {
        {110.0, 164.81, 220.0, 261.63, 329.63},
        {87.31, 174.61, 220.0, 261.63, 349.23},
        {130.81, 196.0, 261.63, 329.63, 392.0},
        {98.0, 146.83, 196.0, 246.94, 392.0},
    };

    for (int chord = 0; chord < 4; chord++) {
        for (int string = 0; string < 5; string++) {
            int begin = chord * FRAMES / 4 + string * RATE_HZ / 14;

            pluck(left, right, begin, chords[chord][string], 0.2 + 0.15 * string);
        }
    }
}

static int16_t sample(float value)
{
    double scaled = value * 9000.0;

    return (int16_t)(scaled > 32767 ? 32767 : scaled < -32767 ? -32767 : lrint(scaled));
}

static int make(const char *path)
{
    static float left[FRAMES];
    static float right[FRAMES];
    static int16_t frames[FRAMES * 2];
    SF_INFO info = {
        .samplerate = RATE_HZ, .channels = 2, .format = SF_FORMAT_WAV | SF_FORMAT_PCM_16};
    SNDFILE *file = sf_open(path, SFM_WRITE, &info);

    if (!file) {
        fprintf(stderr, "demo: cannot write %s: %s\n", path, sf_strerror(NULL));
        return TT_EXIT_ENVIRONMENT;
    }
    play(left, right);
    for (int i = 0; i < FRAMES; i++) {
        frames[2 * i] = sample(left[i]);
        frames[2 * i + 1] = sample(right[i]);
    }
    frames[0] |= 1;
    frames[2 * FRAMES - 1] |= 1;
    if (sf_writef_short(file, frames, FRAMES) != FRAMES || sf_close(file) != 0) {
        fprintf(stderr, "demo: cannot write %s: is the disk full?\n", path);
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int wav_subtype(enum tt_pcm_format format)
{
    switch (format) {
    case TT_PCM_S16_LE:
        return SF_FORMAT_PCM_16;
    case TT_PCM_S24_3LE:
        return SF_FORMAT_PCM_24;
    case TT_PCM_S32_LE:
        return SF_FORMAT_PCM_32;
    default:
        return SF_FORMAT_FLOAT;
    }
}

static bool copy_frames(struct tt_sound_file *in, SNDFILE *out)
{
    uint32_t *block = malloc(sizeof(*block) * BLOCK_FRAMES * (size_t)in->info.channels);
    int64_t n = block ? BLOCK_FRAMES : 0;
    bool good = block != NULL;

    while (good && n == BLOCK_FRAMES) {
        n = tt_sound_file_read(in, block, BLOCK_FRAMES);
        good = n == (in->kind == TT_SOUND_INTEGER
                         ? sf_writef_int(out, (const int *)(const void *)block, n)
                         : sf_writef_float(out, (const float *)(const void *)block, n));
    }
    free(block);
    return good;
}

static int convert(struct tt_sound_file *in, const char *path)
{
    SF_INFO info = {.samplerate = in->info.samplerate,
                    .channels = in->info.channels,
                    .format = SF_FORMAT_WAV | wav_subtype(in->format)};
    SNDFILE *out = sf_open(path, SFM_WRITE, &info);
    bool good;

    if (!out) {
        fprintf(stderr, "demo: cannot write %s: %s\n", path, sf_strerror(NULL));
        return TT_EXIT_ENVIRONMENT;
    }
    good = copy_frames(in, out);
    if (sf_close(out) != 0 || !good) {
        fprintf(stderr, "demo: cannot convert into %s: is the disk full?\n", path);
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

static int check(const struct tt_sound_file *in, const char *path)
{
    if (tt_aaf_nsr((uint32_t)in->info.samplerate) == 0) {
        fprintf(stderr,
                "demo: %s is at %d Hz, a rate that AAF does not carry; it carries 8, 16, 24, 32, "
                "44.1, 48, 88.2, 96, 176.4 and 192 kHz\n",
                path, in->info.samplerate);
        return TT_EXIT_USAGE;
    }
    if (in->info.channels > CHANNELS_MAX) {
        fprintf(stderr, "demo: %s has %d channels; give a file of 1 to %d\n", path,
                in->info.channels, CHANNELS_MAX);
        return TT_EXIT_USAGE;
    }
    if (in->info.frames == 0) {
        fprintf(stderr, "demo: %s holds no sound\n", path);
        return TT_EXIT_USAGE;
    }
    return TT_EXIT_GOOD;
}

/* What an ordinary MTU holds. */
static unsigned frames_per_pdu_max(const struct tt_sound_file *in)
{
    return tt_frames_per_pdu_max(tt_pcm_wire_format(in->format), (unsigned)in->info.channels,
                                 MTU_BYTES);
}

/* A class A interval's worth, where that fits. */
static unsigned frames_per_pdu(const struct tt_sound_file *in)
{
    unsigned interval = ((unsigned)in->info.samplerate + CLASS_A_HZ - 1) / CLASS_A_HZ;
    unsigned most = frames_per_pdu_max(in);

    return interval < most ? interval : most;
}

static void print_words(const struct tt_sound_file *in)
{
    printf("words=");
    if (in->playable) {
        printf("played as it is\n");
    } else if (in->kind == TT_SOUND_DOUBLE) {
        printf("aplay cannot play 64-bit floats: rounded to 32-bit floats first, and that file "
               "is compared\n");
    } else if (in->kind == TT_SOUND_LOSSY) {
        printf("aplay cannot play this: decoded to a WAV of 32-bit floats first, and that file is "
               "compared\n");
    } else {
        printf("aplay cannot play this (%s samples) as AAF carries it: converted exactly to a WAV "
               "of %s first\n",
               tt_sound_file_text(in), tt_pcm_format_name(in->format));
    }
}

static int prepare(const char *in_path, const char *out_path)
{
    struct tt_sound_file in;
    char why[TT_SOUND_WHY];
    int code;

    if (tt_sound_file_open(in_path, NULL, &in, why) != 0) {
        fprintf(stderr, "demo: cannot read %s: %s; give a WAV (or another file of sound)\n",
                in_path, why);
        return TT_EXIT_USAGE;
    }
    code = check(&in, in_path);
    if (code == TT_EXIT_GOOD && !in.playable) {
        code = convert(&in, out_path);
    }
    if (code == TT_EXIT_GOOD) {
        printf("file=%s\nformat=%s\nrate=%d\nchannels=%d\nframes=%lld\n",
               in.playable ? in_path : out_path, tt_pcm_format_name(in.format), in.info.samplerate,
               in.info.channels, (long long)in.info.frames);
        printf("frames_per_pdu=%u\nframes_per_pdu_max=%u\n", frames_per_pdu(&in),
               frames_per_pdu_max(&in));
        print_words(&in);
    }
    tt_sound_file_close(&in);
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        return make(argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "prepare") == 0) {
        return prepare(argv[2], argv[3]);
    }
    fputs("usage: demo_audio make OUT.wav | demo_audio prepare IN OUT.wav\n", stderr);
    return TT_EXIT_USAGE;
}
