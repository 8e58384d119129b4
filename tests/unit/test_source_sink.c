/*
 * cli/source and cli/sink: what goes into a file comes out of it, once or again and again, and a
 * tone is the same after any number of periods.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sink.h"
#include "cli/source.h"
#include "test.h"

#define FRAMES   5000 /* no multiple of any block */
#define CHANNELS 3

static char folder[] = "/tmp/tactus-test-XXXXXX";
static struct tt_message message;

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static struct tt_stream_config shape(enum tt_aaf_format format, uint32_t rate_hz, unsigned channels)
{
    struct tt_stream_config config;

    tt_stream_config_init(&config);
    config.format = format;
    config.rate_hz = rate_hz;
    config.channels = channels;
    return config;
}

/* Patterns of which no two frames are the same. */
static void make(struct tt_pattern pattern, uint32_t *patterns, size_t count)
{
    uint64_t seed = pattern.bits;

    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)random_next(&seed);
        float value = (float)(int32_t)bits / 4294967296.0f;

        if (pattern.is_float) {
            memcpy(&patterns[i], &value, sizeof(value));
        } else {
            patterns[i] = bits & (UINT32_MAX << (32 - pattern.bits));
        }
    }
}

static void write_all(const char *name, const struct tt_sound_raw *raw,
                      const struct tt_stream_config *config, const uint32_t *patterns)
{
    struct tt_sink_setup setup = {.name = path_of(name), .raw = raw, .config = config};
    uint32_t block[1000 * CHANNELS];
    struct tt_sink *sink;

    assert_int_equal(tt_sink_check(setup.name, raw != NULL, false, &message), 0);
    assert_int_equal(tt_sink_open(&setup, &sink, &message), 0);
    assert_int_not_equal(access(setup.name, F_OK), 0); /* not before there are frames */
    for (int64_t at = 0; at < FRAMES; at += 1000) {
        int64_t begin = 0;

        memcpy(block, patterns + at * CHANNELS, sizeof(block));
        while (begin < 1000) {
            begin += sink->ops->write(sink, block + begin * CHANNELS, 1000 - begin);
        }
    }
    assert_int_equal(tt_sink_close(sink), 0);
}

/* Reads `frames` frames in odd pieces; the source's end comes behind them, or does not. */
static void read_all(struct tt_source *source, uint32_t *ret_patterns, int64_t frames, bool ends)
{
    int64_t at = 0;

    while (at < frames) {
        int64_t n = frames - at < 777 ? frames - at : 777;

        n = source->ops->read(source, ret_patterns + at * source->channels, n);
        assert_true(n > 0);
        at += n;
    }
    if (ends) {
        uint32_t more[CHANNELS];

        assert_int_equal(source->ops->read(source, more, 1), TT_SOURCE_END);
    }
}

static void come_back(const char *name, enum tt_aaf_format format, const struct tt_sound_raw *raw)
{
    struct tt_stream_config config = shape(format, 48000, CHANNELS);
    struct tt_stream_config open = shape(0, 0, 0);
    struct tt_source_setup setup = {.name = path_of(name), .raw = raw, .config = &open};
    uint32_t *wrote = calloc(FRAMES * CHANNELS, sizeof(*wrote));
    uint32_t *got = calloc(2 * FRAMES * CHANNELS, sizeof(*got));
    struct tt_source *source;

    make(tt_pattern_of(format), wrote, FRAMES * CHANNELS);
    write_all(name, raw, &config, wrote);
    for (int loop = 0; loop <= 1; loop++) {
        setup.loop = loop;
        assert_int_equal(tt_source_open(&setup, &source, &message), 0);
        assert_int_equal(source->rate_hz, 48000);
        assert_int_equal(source->channels, CHANNELS);
        assert_int_equal(tt_pattern_wire_format(source->pattern), format);
        read_all(source, got, FRAMES * (1 + loop), !loop);
        assert_memory_equal(got, wrote, FRAMES * CHANNELS * sizeof(*got));
        assert_memory_equal(got + loop * FRAMES * CHANNELS, wrote,
                            FRAMES * CHANNELS * sizeof(*got));
        tt_source_close(source);
    }
    unlink(path_of(name));
    free(wrote);
    free(got);
}

static void test_files(void **state)
{
    static const struct tt_sound_raw raws[] = {{TT_PCM_S16_BE, CHANNELS, 48000},
                                               {TT_PCM_S24_LE, CHANNELS, 48000},
                                               {TT_PCM_S24_3LE, CHANNELS, 48000},
                                               {TT_PCM_S32_BE, CHANNELS, 48000},
                                               {TT_PCM_FLOAT_LE, CHANNELS, 48000}};

    (void)state;
    for (int format = TT_AAF_FLOAT32; format <= TT_AAF_INT16; format++) {
        come_back("a.wav", (enum tt_aaf_format)format, NULL);
        come_back("a.RF64", (enum tt_aaf_format)format, NULL);
    }
    come_back("a.flac", TT_AAF_INT16, NULL);
    come_back("a.flac", TT_AAF_INT24, NULL);
    for (size_t i = 0; i < TT_COUNT_OF(raws); i++) {
        come_back("a.raw", tt_pcm_wire_format(raws[i].format), &raws[i]);
    }
}

static void test_sinks_say_what_they_take(void **state)
{
    struct tt_stream_config config = shape(TT_AAF_INT32, 48000, 9);
    struct tt_sink_setup setup = {.name = "x.flac", .config = &config};
    struct tt_sink *sink;

    (void)state;
    assert_int_equal(tt_sink_open(&setup, &sink, &message), -EINVAL);
    assert_non_null(strstr(message.text, "at most 8 channels"));
    config.channels = 8;
    assert_int_equal(tt_sink_open(&setup, &sink, &message), 0);
    assert_int_equal(sink->pattern.bits, 24);
    tt_sink_close(sink);
    assert_int_equal(tt_sink_check("x.ogg", false, false, &message), -EINVAL);
    assert_int_equal(tt_sink_check("x.ogg", true, false, &message), 0);
    assert_int_equal(tt_sink_check("/nonexistent/x.wav", false, false, &message), -ENOENT);
    assert_int_equal(tt_sink_check("/proc/version", true, false, &message),
                     geteuid() == 0 ? 0 : -EACCES);
}

/* 440 Hz at 48 kHz is the same every 1200 frames, for ever and exactly. */
static void test_a_tone_does_not_drift(void **state)
{
    struct tt_stream_config config = shape(TT_AAF_INT32, 48000, 1);
    struct tt_source_setup setup = {.name = "tone:440", .config = &config};
    struct tt_source *source;
    uint32_t first[1200];
    uint32_t later[1200];

    (void)state;
    assert_int_equal(tt_source_open(&setup, &source, &message), 0);
    read_all(source, first, 1200, false);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(source->ops->read(source, later, 1200), 1200);
        assert_memory_equal(first, later, sizeof(first));
    }
    tt_source_close(source);
}

static void test_a_tone_is_what_was_asked_for(void **state)
{
    static const char *const wrong[] = {"tone:",      "tone:x",    "tone:440x",
                                        "tone:440,1", "tone:440,", "tone:0",
                                        "tone:24000", "tone:nan",  "tone:440,-201"};
    struct tt_stream_config config = shape(TT_AAF_FLOAT32, 44100, 2);
    struct tt_source_setup setup = {.name = "tone:999.5,-3", .config = &config};
    struct tt_source *source;
    uint32_t patterns[2 * 4410];
    float value;

    (void)state;
    assert_int_equal(tt_source_open(&setup, &source, &message), 0);
    assert_true(source->pattern.is_float);
    assert_int_equal(source->rate_hz, 44100);
    read_all(source, patterns, 4410, false);
    for (int i = 0; i < 4410; i++) {
        double want = pow(10, -3 / 20.0) * sin(2 * M_PI * 999.5 * i / 44100);

        assert_int_equal(patterns[2 * i], patterns[2 * i + 1]);
        memcpy(&value, &patterns[2 * i], sizeof(value));
        assert_true(fabs((double)value - want) < 1e-7);
    }
    tt_source_close(source);
    config.rate_hz = 48000;
    for (size_t i = 0; i < TT_COUNT_OF(wrong); i++) {
        setup.name = wrong[i];
        assert_int_equal(tt_source_open(&setup, &source, &message), -EINVAL);
    }
}

/* Frames come out of a pipe in whole ones, whatever pieces they go in by. */
static void test_standard_input(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint32_t want[] = {0x02010000, 0x04030000, 0x06050000, 0x08070000};
    struct tt_stream_config config = shape(0, 0, 0);
    struct tt_sound_raw raw = {TT_PCM_S16_LE, 2, 48000};
    struct tt_source_setup setup = {.name = "-", .raw = &raw, .config = &config};
    int kept = dup(STDIN_FILENO);
    struct tt_source *source;
    uint32_t got[8];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(tt_source_open(&setup, &source, &message), 0);
    assert_int_equal(source->ops->read(source, got, 4), 0);
    assert_int_equal(write(ends[1], bytes, 3), 3);
    assert_int_equal(source->ops->read(source, got, 4), 0);
    assert_int_equal(write(ends[1], bytes + 3, 6), 6);
    assert_int_equal(source->ops->read(source, got, 1), 1);
    assert_int_equal(source->ops->read(source, got + 2, 4), 1);
    assert_memory_equal(got, want, sizeof(want));
    close(ends[1]);
    assert_int_equal(source->ops->read(source, got, 4), TT_SOURCE_END);
    tt_source_close(source);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

/* What a source says that cannot be one, or is odd. */
static void source_says(const char *name, const struct tt_sound_raw *raw, const void *bytes,
                        size_t count, const char *says)
{
    struct tt_stream_config config = shape(0, 0, 0);
    char path[64];
    struct tt_source_setup setup = {.name = path, .raw = raw, .config = &config};
    struct tt_source *source = NULL;
    FILE *out;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    fclose(out);
    if (tt_source_open(&setup, &source, &message) == 0) {
        message = source->remark;
        tt_source_close(source);
    }
    if (!strstr(message.text, says)) {
        fail_msg("%s: %s", name, message.text);
    }
    unlink(path);
}

static void test_sources_say_what_is_odd(void **state)
{
    static const char wav[48] =
        "RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x80\xBB\0\0\0\xEE\2\0\4\0\x10\0"
        "data\4\0\0\0abcd";
    struct tt_sound_raw raw = {TT_PCM_S16_LE, 2, 48000};
    char cut[48];
    char live[48];

    (void)state;
    memcpy(cut, wav, sizeof(cut));
    cut[40] = 12;
    memcpy(live, wav, sizeof(live));
    memset(live + 40, 0xFF, 4);
    source_says("a.wav", NULL, wav, sizeof(wav), "");
    source_says("a.wav", NULL, "", 0, "is empty (0 bytes)");
    source_says("a.wav", NULL, cut, sizeof(cut), "is cut: its header claims 8 bytes more");
    message.text[0] = 0;
    source_says("a.wav", &raw, wav, sizeof(wav), "has a header (WAV)");
    source_says("a.raw", &raw, "abcdefghi", 9, "its last 1 byte is left out");
    source_says("a.raw", &raw, "abc", 3, "holds no frames");
    cut[40] = 0;
    source_says("a.wav", NULL, cut, 44, "holds no frames");
    {
        struct tt_stream_config config = shape(0, 0, 0);
        struct tt_source_setup setup = {.name = folder, .raw = &raw, .config = &config};
        struct tt_source *source;

        assert_int_equal(tt_source_open(&setup, &source, &message), -EINVAL);
        assert_non_null(strstr(message.text, "is a directory"));
    }
    source_says("a.wav", NULL, live, sizeof(live), "");
    assert_string_equal(message.text, ""); /* nobody knew how long it would be */
}

/* A FIFO: nothing is waited for at either end, and the end of it is the end. */
static void test_fifo(void **state)
{
    static uint32_t patterns[4] = {0x02010000, 0x04030000, 0x06050000, 0x08070000};
    struct tt_stream_config config = shape(TT_AAF_INT16, 48000, 2);
    struct tt_sound_raw raw = {TT_PCM_S16_LE, 2, 48000};
    char path[64];
    struct tt_source_setup from = {.name = path, .raw = &raw, .config = &config};
    struct tt_sink_setup to = {.name = path, .raw = &raw, .config = &config};
    struct tt_source *source;
    struct tt_sink *sink;
    uint32_t got[8];

    (void)state;
    snprintf(path, sizeof(path), "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tt_sink_check(path, false, false, &message), -EINVAL);
    assert_non_null(strstr(message.text, "is a pipe or a device"));
    assert_int_equal(tt_sink_open(&to, &sink, &message), 0);
    assert_true(sink->unread);
    assert_int_equal(sink->ops->write(sink, patterns, 2), 0);
    assert_int_equal(tt_source_open(&from, &source, &message), 0);
    assert_int_equal(source->ops->read(source, got, 4), 0); /* no end: nobody has written yet */
    assert_int_equal(sink->ops->write(sink, patterns, 2), 2);
    assert_false(sink->unread);
    assert_int_equal(tt_sink_close(sink), 0);
    assert_int_equal(source->ops->read(source, got, 4), 2);
    assert_memory_equal(got, patterns, sizeof(patterns));
    assert_int_equal(source->ops->read(source, got, 4), TT_SOURCE_END);
    tt_source_close(source);
    unlink(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_sinks_say_what_they_take),
        cmocka_unit_test(test_a_tone_does_not_drift),
        cmocka_unit_test(test_a_tone_is_what_was_asked_for),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_sources_say_what_is_odd),
        cmocka_unit_test(test_fifo),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
