/*
 * See source.h: a sound card, copied in its own clock.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/card.h"
#include "cli/say.h"
#include "cli/source.h"

struct card_source {
    struct tt_source source;
    struct tt_cli_card card;
};

static int64_t card_read(struct tt_source *source, uint32_t *ret_patterns, int64_t frames)
{
    struct tt_cli_card *card = &((struct card_source *)source)->card;
    int64_t n = tt_cli_card_read(card, frames < card->block_frames ? frames : card->block_frames);

    if (n > 0) {
        tt_pattern_read(card->format, card->samples, (size_t)n * source->channels, ret_patterns);
    }
    return n;
}

static uint64_t card_xruns(const struct tt_source *source)
{
    return ((const struct card_source *)source)->card.xruns;
}

static void card_close(struct tt_source *source)
{
    tt_cli_card_close(&((struct card_source *)source)->card);
    free(source);
}

static const struct tt_source_ops card_ops = {.read = card_read, .close = card_close};

int tt_source_card_open(const struct tt_source_setup *setup, struct tt_source **ret_source,
                        struct tt_message *ret_message)
{
    const struct tt_stream_config *config = setup->config;
    struct tt_cli_card_setup card_setup = {
        .name = setup->name,
        .format = config->format ? config->format : TT_AAF_INT32,
        .rate_hz = config->rate_hz ? config->rate_hz : 48000,
        .channels = config->channels ? config->channels : 2,
        .buffer_ns = setup->buffer_ns,
    };
    struct card_source *in = calloc(1, sizeof(*in));
    int error;

    if (!in) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    error = tt_cli_card_open(&card_setup, &in->card, ret_message);
    if (error < 0) {
        free(in);
        return error;
    }
    in->source = (struct tt_source){
        .ops = &card_ops,
        .pattern = tt_pattern_of(tt_pcm_wire_format(in->card.format)),
        .rate_hz = card_setup.rate_hz,
        .channels = card_setup.channels,
        .is_live = true,
        .frames = -1,
        .xruns = card_xruns,
    };
    *ret_source = &in->source;
    return 0;
}
