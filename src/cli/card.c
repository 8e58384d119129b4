/*
 * See card.h.
 */
#include "cli/card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/ns.h"
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

static int explain(const struct tt_cli_card_setup *setup, int error, struct tt_message *message)
{
    if (error == -EINVAL) {
        return tt_say(error, message,
                      "%s does not have %u Hz with %u channels; alsa:plug:%s converts", setup->name,
                      (unsigned)setup->rate_hz, setup->channels, setup->name + 5);
    }
    return tt_say(error, message, "%s cannot be opened: %s; `%s -L` lists the devices there are",
                  setup->name, strerror(-error), setup->playback ? "aplay" : "arecord");
}

/* A capture starts at once, a playback when its buffer is half full. */
static int begin(struct tt_cli_card *card)
{
    int error = card->card->ops->prepare(card->card);

    card->waiting_frames = card->card->buffer_frames / 2;
    return error < 0 || !card->card->capture ? error : card->card->ops->start(card->card);
}

int tt_cli_card_open(const struct tt_cli_card_setup *setup, struct tt_cli_card *ret_card,
                     struct tt_message *ret_message)
{
    enum tt_pcm_format formats[TT_PCM_FORMATS];
    const char *names[TT_PCM_FORMATS];
    int64_t buffer_frames = tt_ns_to_frames(setup->buffer_ns, setup->rate_hz);
    struct tt_card_request request = {
        .device = setup->name + 5,
        .capture = !setup->playback,
        .rate_hz = setup->rate_hz,
        .channels = setup->channels,
        .formats = names,
        .format_count = order_formats(setup->format, formats),
        .period_frames = buffer_frames / 4,
        .buffer_frames = buffer_frames,
    };
    struct tt_cli_card card = {.block_frames = BLOCK_FRAMES};
    size_t format;
    int error;

    for (size_t i = 0; i < request.format_count; i++) {
        names[i] = tt_pcm_format_name(formats[i]);
    }
    error = tt_card_alsa_open(&request, &format, &card.card);
    if (error < 0) {
        return explain(setup, error, ret_message);
    }
    card.format = formats[format];
    card.frame_bytes = card.card->frame_bytes;
    card.samples = calloc(BLOCK_FRAMES, card.frame_bytes);
    error = !card.samples ? -ENOMEM : begin(&card);
    if (error < 0) {
        tt_cli_card_close(&card);
        return tt_say(error, ret_message, "%s cannot be started: %s", setup->name,
                      strerror(-error));
    }
    *ret_card = card;
    return 0;
}

/* 0: there is nothing now, and it goes on; -errno otherwise. */
static int64_t recover(struct tt_cli_card *card, int error)
{
    if (error != -EPIPE) {
        return error;
    }
    card->xruns++;
    return begin(card);
}

int64_t tt_cli_card_read(struct tt_cli_card *card, int64_t frames)
{
    int n = card->card->ops->read(card->card, card->samples, (int)frames);

    return n < 0 ? recover(card, n) : n;
}

int64_t tt_cli_card_write(struct tt_cli_card *card, int64_t frames)
{
    int n = card->card->ops->write(card->card, card->samples, (int)frames);

    if (n < 0) {
        return recover(card, n);
    }
    card->waiting_frames -= n;
    if (card->waiting_frames <= 0 && card->waiting_frames + n > 0) {
        int error = card->card->ops->start(card->card);

        return error < 0 ? recover(card, error) : n;
    }
    return n;
}

void tt_cli_card_close(struct tt_cli_card *card)
{
    tt_card_close(card->card);
    free(card->samples);
}
