/*
 * See sink.h: a sound card, copied in its own clock.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/card.h"
#include "cli/say.h"
#include "cli/sink.h"

struct card_sink {
    struct tt_sink sink;
    struct tt_cli_card card;
    unsigned channels;
};

static int64_t card_write(struct tt_sink *sink, uint32_t *patterns, int64_t frames)
{
    struct card_sink *out = (struct card_sink *)sink;
    struct tt_cli_card *card = &out->card;
    int64_t n = frames < card->block_frames ? frames : card->block_frames;

    tt_pattern_write(card->format, patterns, (size_t)n * out->channels, card->samples);
    return tt_cli_card_write(card, n);
}

static uint64_t card_xruns(const struct tt_sink *sink)
{
    return ((const struct card_sink *)sink)->card.xruns;
}

static int card_close(struct tt_sink *sink)
{
    tt_cli_card_close(&((struct card_sink *)sink)->card);
    free(sink);
    return 0;
}

static const struct tt_sink_ops card_ops = {.write = card_write, .close = card_close};

int tt_sink_card_open(const struct tt_sink_setup *setup, struct tt_sink **ret_sink,
                      struct tt_message *ret_message)
{
    struct tt_cli_card_setup card_setup = {
        .name = setup->name,
        .playback = true,
        .format = setup->config->format,
        .rate_hz = setup->config->rate_hz,
        .channels = setup->config->channels,
        .buffer_ns = setup->buffer_ns,
    };
    struct card_sink *out = calloc(1, sizeof(*out));
    int error;

    if (!out) {
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    error = tt_cli_card_open(&card_setup, &out->card, ret_message);
    if (error < 0) {
        free(out);
        return error;
    }
    out->sink = (struct tt_sink){
        .ops = &card_ops,
        .pattern = tt_pattern_of(tt_pcm_wire_format(out->card.format)),
        .is_live = true,
        .xruns = card_xruns,
    };
    out->channels = setup->config->channels;
    *ret_sink = &out->sink;
    return 0;
}
