/*
 * See card.h.
 */
#include "os/card.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"

struct tt_card {
    snd_pcm_t *pcm;
    uint64_t xruns;
};

/* What the card offers of the formats; -EINVAL: none. */
static int choose_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *params,
                         const struct tt_card_setup *setup, snd_pcm_format_t *ret_format,
                         size_t *ret_which)
{
    for (size_t i = 0; i < setup->format_count; i++) {
        snd_pcm_format_t format = snd_pcm_format_value(setup->formats[i]);

        if (snd_pcm_hw_params_test_format(pcm, params, format) == 0) {
            *ret_format = format;
            *ret_which = i;
            return snd_pcm_hw_params_set_format(pcm, params, format);
        }
    }
    return -EINVAL;
}

static int set_hardware(snd_pcm_t *pcm, const struct tt_card_setup *setup,
                        struct tt_card_found *found)
{
    unsigned buffer_us = (unsigned)(setup->buffer_ns / TT_NS_PER_US);
    unsigned periods = 4;
    snd_pcm_format_t format = SND_PCM_FORMAT_UNKNOWN;
    snd_pcm_hw_params_t *params;
    snd_pcm_uframes_t buffer_frames;
    int error;

    snd_pcm_hw_params_alloca(&params);
    error = snd_pcm_hw_params_any(pcm, params);
    if (error >= 0) {
        found->step = TT_CARD_STEP_ACCESS;
        /* What is asked for, or nothing: a conversion by ALSA would be said to no one. */
        snd_pcm_hw_params_set_rate_resample(pcm, params, 0);
        error = snd_pcm_hw_params_set_access(pcm, params, SND_PCM_ACCESS_RW_INTERLEAVED);
    }
    if (error >= 0) {
        found->step = TT_CARD_STEP_FORMAT;
        error = choose_format(pcm, params, setup, &format, &found->format);
    }
    if (error >= 0) {
        found->step = TT_CARD_STEP_CHANNELS;
        error = snd_pcm_hw_params_set_channels(pcm, params, setup->channels);
    }
    if (error >= 0) {
        found->step = TT_CARD_STEP_RATE;
        error = snd_pcm_hw_params_set_rate(pcm, params, setup->rate_hz, 0);
    }
    if (error < 0) {
        return error;
    }
    found->step = TT_CARD_STEP_BUFFER;
    snd_pcm_hw_params_set_buffer_time_near(pcm, params, &buffer_us, NULL);
    snd_pcm_hw_params_set_periods_near(pcm, params, &periods, NULL);
    error = snd_pcm_hw_params(pcm, params);
    if (error < 0) {
        return error;
    }
    snd_pcm_hw_params_get_buffer_size(params, &buffer_frames);
    found->buffer_frames = (int64_t)buffer_frames;
    found->frame_bytes = (size_t)snd_pcm_format_physical_width(format) / 8 * setup->channels;
    return 0;
}

static int set_software(snd_pcm_t *pcm, const struct tt_card_setup *setup,
                        const struct tt_card_found *found)
{
    snd_pcm_sw_params_t *params;
    int error;

    snd_pcm_sw_params_alloca(&params);
    error = snd_pcm_sw_params_current(pcm, params);
    if (error >= 0 && setup->playback) {
        error = snd_pcm_sw_params_set_start_threshold(
            pcm, params, (snd_pcm_uframes_t)(found->buffer_frames / 2));
    }
    if (error >= 0) {
        error = snd_pcm_sw_params(pcm, params);
    }
    return error;
}

static int open_pcm(struct tt_card *card, const struct tt_card_setup *setup,
                    struct tt_card_found *found)
{
    int error;

    found->step = TT_CARD_STEP_OPEN;
    error = snd_pcm_open(&card->pcm, setup->device,
                         setup->playback ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE,
                         SND_PCM_NONBLOCK);
    if (error < 0) {
        return error;
    }
    error = set_hardware(card->pcm, setup, found);
    if (error >= 0) {
        found->step = TT_CARD_STEP_START;
        error = set_software(card->pcm, setup, found);
    }
    if (error >= 0 && !setup->playback) {
        error = snd_pcm_start(card->pcm);
    }
    return error < 0 ? error : 0;
}

int tt_card_open(const struct tt_card_setup *setup, struct tt_card **ret_card,
                 struct tt_card_found *ret_found)
{
    struct tt_card *card = calloc(1, sizeof(*card));
    int error;

    *ret_found = (struct tt_card_found){.step = TT_CARD_STEP_OPEN};
    if (!card) {
        return -ENOMEM;
    }
    error = open_pcm(card, setup, ret_found);
    if (error < 0) {
        tt_card_close(card);
        return error;
    }
    *ret_card = card;
    return 0;
}

void tt_card_close(struct tt_card *card)
{
    if (!card) {
        return;
    }
    if (card->pcm) {
        snd_pcm_drop(card->pcm);
        snd_pcm_close(card->pcm);
    }
    free(card);
}

/* 0: there is nothing now, and it goes on; -errno otherwise. */
static int64_t recover(struct tt_card *card, snd_pcm_sframes_t error, bool capture)
{
    if (error == -EAGAIN || error == -EINTR) {
        return 0;
    }
    if (error == -EPIPE || error == -ESTRPIPE) {
        card->xruns++;
        error = snd_pcm_prepare(card->pcm);
        if (error == 0 && capture) {
            error = snd_pcm_start(card->pcm);
        }
    }
    return error < 0 ? error : 0;
}

int64_t tt_card_read(struct tt_card *card, void *ret_samples, int64_t frames)
{
    snd_pcm_sframes_t n = snd_pcm_readi(card->pcm, ret_samples, (snd_pcm_uframes_t)frames);

    return n < 0 ? recover(card, n, true) : n;
}

int64_t tt_card_write(struct tt_card *card, const void *samples, int64_t frames)
{
    snd_pcm_sframes_t n = snd_pcm_writei(card->pcm, samples, (snd_pcm_uframes_t)frames);

    return n < 0 ? recover(card, n, false) : n;
}

uint64_t tt_card_xruns(const struct tt_card *card)
{
    return card->xruns;
}
