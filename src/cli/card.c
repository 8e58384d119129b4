/*
 * See card.h.
 */
#include "cli/card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "cli/say.h"

#define BLOCK_FRAMES 1024

/* First what carries the wire's bit for bit, then the widest. */
static size_t order_formats(enum tt_aaf_format wire, enum tt_pcm_format *ret_formats)
{
    static const enum tt_pcm_format widest[] = {
        TT_PCM_S32_LE, TT_PCM_S24_LE, TT_PCM_S24_3LE, TT_PCM_FLOAT_LE, TT_PCM_S16_LE,
        TT_PCM_S32_BE, TT_PCM_S24_BE, TT_PCM_S24_3BE, TT_PCM_FLOAT_BE, TT_PCM_S16_BE};
    size_t n = 0;

    for (int same = 1; same >= 0; same--) {
        for (size_t i = 0; i < TT_COUNT_OF(widest); i++) {
            if ((tt_pcm_wire_format(widest[i]) == wire) == (same == 1)) {
                ret_formats[n++] = widest[i];
            }
        }
    }
    return n;
}

static int explain(const struct tt_cli_card_setup *setup, enum tt_card_step step, int error,
                   struct tt_message *message)
{
    const char *device = setup->name + 5;

    switch (step) {
    case TT_CARD_STEP_OPEN:
        return tt_say(error, message,
                      "%s cannot be opened: %s; `%s -L` lists the devices there are", setup->name,
                      strerror(-error), setup->playback ? "aplay" : "arecord");
    case TT_CARD_STEP_RATE:
        return tt_say(error, message,
                      "%s does not have %u Hz; alsa:plughw or alsa:plug:%s converts", setup->name,
                      (unsigned)setup->rate_hz, device);
    case TT_CARD_STEP_CHANNELS:
        return tt_say(error, message, "%s does not have %u channels; alsa:plug:%s converts",
                      setup->name, setup->channels, device);
    case TT_CARD_STEP_FORMAT:
        return tt_say(error, message, "%s has none of the sample formats that are known here",
                      setup->name);
    default:
        return tt_say(error, message, "%s cannot be set up: %s", setup->name, strerror(-error));
    }
}

int tt_cli_card_open(const struct tt_cli_card_setup *setup, struct tt_cli_card *ret_card,
                     struct tt_message *ret_message)
{
    enum tt_pcm_format formats[TT_PCM_FORMATS];
    const char *names[TT_PCM_FORMATS];
    struct tt_card_setup os_setup = {
        .device = setup->name + 5,
        .playback = setup->playback,
        .rate_hz = setup->rate_hz,
        .channels = setup->channels,
        .formats = names,
        .format_count = order_formats(setup->format, formats),
        .buffer_ns = setup->buffer_ns,
    };
    struct tt_cli_card card = {.block_frames = BLOCK_FRAMES};
    struct tt_card_found found;
    int error;

    for (size_t i = 0; i < os_setup.format_count; i++) {
        names[i] = tt_pcm_format_name(formats[i]);
    }
    error = tt_card_open(&os_setup, &card.card, &found);
    if (error < 0) {
        return explain(setup, found.step, error, ret_message);
    }
    card.format = formats[found.format];
    card.frame_bytes = found.frame_bytes;
    card.samples = calloc(BLOCK_FRAMES, found.frame_bytes);
    if (!card.samples) {
        tt_cli_card_close(&card);
        return tt_say(-ENOMEM, ret_message, "out of memory");
    }
    *ret_card = card;
    return 0;
}

void tt_cli_card_close(struct tt_cli_card *card)
{
    tt_card_close(card->card);
    free(card->samples);
}
