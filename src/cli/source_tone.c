/*
 * See source.h: tone:HZ[,DBFS], a sine in every channel.
 *
 * The phase is a fraction of integers (mHz x frames over mHz of the rate), so the frequency and the
 * sine are as good after days as in the first second. Samples are rounded once, to the width of the
 * wire.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/source.h"

#define LEVEL_DBFS  (-20.0) /* where nobody says another */
#define LEVEL_LEAST (-200.0)
#define MHZ_PER_HZ  1000 /* millihertz */

struct tone_source {
    struct tt_source source;
    uint64_t step_mhz;
    uint64_t phase_mhz; /* 0 … rate in mHz - 1 */
    double amplitude;
};

static uint32_t tone_pattern(const struct tone_source *tone)
{
    double turn = (double)tone->phase_mhz / ((double)tone->source.rate_hz * MHZ_PER_HZ);
    double value = tone->amplitude * sin(2 * M_PI * turn);
    unsigned bits = tone->source.pattern.bits;
    int64_t most = (INT64_C(1) << (bits - 1)) - 1;
    int64_t rounded;
    uint32_t pattern;

    if (tone->source.pattern.is_float) {
        float single = (float)value;

        memcpy(&pattern, &single, sizeof(pattern));
        return pattern;
    }
    rounded = llrint(value * (double)(most + 1));
    rounded = rounded > most ? most : rounded;
    return (uint32_t)(rounded * (INT64_C(1) << (32 - bits)));
}

static int64_t tone_read(struct tt_source *source, uint32_t *ret_patterns, int64_t frames)
{
    struct tone_source *tone = (struct tone_source *)source;

    for (int64_t i = 0; i < frames; i++) {
        uint32_t pattern = tone_pattern(tone);

        for (unsigned c = 0; c < source->channels; c++) {
            *ret_patterns++ = pattern;
        }
        tone->phase_mhz =
            (tone->phase_mhz + tone->step_mhz) % ((uint64_t)source->rate_hz * MHZ_PER_HZ);
    }
    return frames;
}

static void tone_close(struct tt_source *source)
{
    free(source);
}

static const struct tt_source_ops tone_ops = {.read = tone_read, .close = tone_close};

/* 0 or -EINVAL. */
static int parse(const char *text, double *ret_hz, double *ret_dbfs)
{
    char *end;

    *ret_hz = strtod(text, &end);
    if (end == text || !isfinite(*ret_hz)) {
        return -EINVAL;
    }
    *ret_dbfs = LEVEL_DBFS;
    if (*end == ',') {
        const char *level = end + 1;

        *ret_dbfs = strtod(level, &end);
        if (end == level || !(*ret_dbfs <= 0 && *ret_dbfs >= LEVEL_LEAST)) {
            return -EINVAL;
        }
    }
    return *end == 0 ? 0 : -EINVAL;
}

int tt_source_tone_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message)
{
    const struct tt_stream_config *config = setup->config;
    struct tone_source *tone;
    uint32_t rate_hz = config->rate_hz ? config->rate_hz : 48000;
    double hz;
    double dbfs;

    if (parse(setup->name + 5, &hz, &dbfs) < 0) {
        return tt_say(-EINVAL, ret_message,
                      "%s is no tone; give Hz, and dBFS (%g if not said, at most 0), like tone:440 "
                      "or tone:997,-3",
                      setup->name, LEVEL_DBFS);
    }
    if (hz * MHZ_PER_HZ < 1 || hz * 2 >= rate_hz) {
        return tt_say(-EINVAL, ret_message,
                      "%s cannot be had at %u Hz; a tone has 0.001 Hz to less than half the rate",
                      setup->name, (unsigned)rate_hz);
    }
    tone = calloc(1, sizeof(*tone));
    if (!tone) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    tone->source = (struct tt_source){
        .ops = &tone_ops,
        .pattern = tt_pattern_of(config->format ? config->format : TT_AAF_INT32),
        .rate_hz = rate_hz,
        .channels = config->channels ? config->channels : 2,
        .frames = -1,
    };
    tone->step_mhz = (uint64_t)llrint(hz * MHZ_PER_HZ);
    tone->amplitude = pow(10, dbfs / 20);
    *ret_source = &tone->source;
    return 0;
}
