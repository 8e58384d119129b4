/*
 * See resampler.h.
 */
#include "run/resampler.h"

#include <assert.h>
#include <errno.h>
#include <samplerate.h>
#include <stdlib.h>

struct tt_resampler {
    SRC_STATE *state;
};

static const struct {
    int converter;
    size_t half_filter; /* source frames, where the ratio is 1 or more */
} qualities[] = {
    [TT_QUALITY_BEST] = {SRC_SINC_BEST_QUALITY, 144},
    [TT_QUALITY_MEDIUM] = {SRC_SINC_MEDIUM_QUALITY, 47},
};

int tt_resampler_new(enum tt_quality quality, unsigned channels,
                     struct tt_resampler **ret_resampler)
{
    struct tt_resampler *resampler = calloc(1, sizeof *resampler);
    int error;

    if (!resampler) {
        return -ENOMEM;
    }
    resampler->state = src_new(qualities[quality].converter, (int)channels, &error);
    if (!resampler->state) {
        free(resampler);
        return -ENOMEM;
    }
    *ret_resampler = resampler;
    return 0;
}

void tt_resampler_free(struct tt_resampler *resampler)
{
    if (resampler) {
        src_delete(resampler->state);
        free(resampler);
    }
}

void tt_resampler_reset(struct tt_resampler *resampler)
{
    int error = src_reset(resampler->state);

    assert(error == 0);
    (void)error;
}

size_t tt_resampler_latency(enum tt_quality quality, double ratio)
{
    double half = (double)qualities[quality].half_filter;

    return (size_t)(ratio < 1 ? half / ratio : half) + 2;
}

void tt_resampler_run(struct tt_resampler *resampler, double ratio,
                      struct tt_resampler_block *block)
{
    SRC_DATA data = {
        .data_in = block->source,
        .input_frames = (long)block->source_frames,
        .data_out = block->sink,
        .output_frames = (long)block->sink_frames,
        .src_ratio = ratio,
    };
    int error;

    /* Otherwise it would slide from the last ratio to this one, over frames that nobody knows. */
    error = src_set_ratio(resampler->state, ratio);
    assert(error == 0);
    error = src_process(resampler->state, &data);
    assert(error == 0);
    (void)error;
    block->used = (size_t)data.input_frames_used;
    block->made = (size_t)data.output_frames_gen;
}
