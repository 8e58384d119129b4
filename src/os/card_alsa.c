/*
 * See card.h: a PCM of libasound, without its own resampling, whose pointer is stamped by the
 * driver on CLOCK_MONOTONIC.
 */
#include <alsa/asoundlib.h>
#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "os/card.h"

struct alsa_card {
    struct tt_card card;
    snd_pcm_t *pcm;
    snd_pcm_status_t *status;
    int64_t moved; /* written, or read, since it was prepared */
};

static struct alsa_card *alsa_of(struct tt_card *card)
{
    return (struct alsa_card *)card; /* its first member */
}

/* An xrun in whichever way it shows; a suspended card is one too. */
static int plain(int error)
{
    return error == -ESTRPIPE || error == -EBADFD ? -EPIPE : error == -EAGAIN ? 0 : error;
}

static int alsa_see(struct tt_card *card, struct tt_card_sight *ret_sight)
{
    struct alsa_card *alsa = alsa_of(card);
    int error = snd_pcm_status(alsa->pcm, alsa->status);
    snd_htimestamp_t stamp;
    int64_t avail;

    if (error < 0) {
        return plain(error);
    }
    switch (snd_pcm_status_get_state(alsa->status)) {
    case SND_PCM_STATE_RUNNING:
        break;
    case SND_PCM_STATE_DISCONNECTED:
        return -ENODEV;
    default:
        return -EPIPE;
    }
    snd_pcm_status_get_htstamp(alsa->status, &stamp);
    avail = (int64_t)snd_pcm_status_get_avail(alsa->status);
    ret_sight->frame =
        card->capture ? alsa->moved + avail : alsa->moved - card->buffer_frames + avail;
    ret_sight->mono_ns = stamp.tv_sec * TT_NS_PER_S + stamp.tv_nsec;
    ret_sight->ready = avail;
    return 0;
}

static int alsa_write(struct tt_card *card, const uint8_t *frames, int count)
{
    struct alsa_card *alsa = alsa_of(card);
    int n = (int)snd_pcm_writei(alsa->pcm, frames, (snd_pcm_uframes_t)count);

    alsa->moved += n > 0 ? n : 0;
    return n < 0 ? plain(n) : n;
}

static int alsa_read(struct tt_card *card, uint8_t *ret_frames, int count)
{
    struct alsa_card *alsa = alsa_of(card);
    int n = (int)snd_pcm_readi(alsa->pcm, ret_frames, (snd_pcm_uframes_t)count);

    alsa->moved += n > 0 ? n : 0;
    return n < 0 ? plain(n) : n;
}

static int alsa_prepare(struct tt_card *card)
{
    struct alsa_card *alsa = alsa_of(card);

    snd_pcm_drop(alsa->pcm);
    alsa->moved = 0;
    return snd_pcm_prepare(alsa->pcm);
}

static int alsa_start(struct tt_card *card)
{
    return snd_pcm_start(alsa_of(card)->pcm);
}

static void alsa_close(struct tt_card *card)
{
    struct alsa_card *alsa = alsa_of(card);

    if (alsa->pcm) {
        snd_pcm_close(alsa->pcm);
    }
    if (alsa->status) {
        snd_pcm_status_free(alsa->status);
    }
    free(alsa);
}

static const struct tt_card_ops alsa_ops = {
    .see = alsa_see,
    .write = alsa_write,
    .read = alsa_read,
    .prepare = alsa_prepare,
    .start = alsa_start,
    .close = alsa_close,
};

/* The first of the formats that the card does. */
static int choose_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *params,
                         const struct tt_card_request *request, struct tt_card_found *found)
{
    found->step = TT_CARD_STEP_FORMAT;
    for (size_t i = 0; i < request->format_count; i++) {
        snd_pcm_format_t format = snd_pcm_format_value(request->formats[i]);

        if (format != SND_PCM_FORMAT_UNKNOWN &&
            snd_pcm_hw_params_set_format(pcm, params, format) == 0) {
            found->format = i;
            return 0;
        }
    }
    return -EINVAL;
}

static int set_channels(snd_pcm_t *pcm, snd_pcm_hw_params_t *params, unsigned channels,
                        struct tt_card_found *found)
{
    found->step = TT_CARD_STEP_CHANNELS;
    snd_pcm_hw_params_get_channels_min(params, &found->least);
    snd_pcm_hw_params_get_channels_max(params, &found->most);
    return snd_pcm_hw_params_set_channels(pcm, params, channels);
}

static int set_rate(snd_pcm_t *pcm, snd_pcm_hw_params_t *params, uint32_t rate_hz,
                    struct tt_card_found *found)
{
    int below = 0; /* the most is just below what is said */

    found->step = TT_CARD_STEP_RATE;
    snd_pcm_hw_params_get_rate_min(params, &found->least, NULL);
    snd_pcm_hw_params_get_rate_max(params, &found->most, &below);
    found->most -= below < 0;
    return snd_pcm_hw_params_set_rate(pcm, params, rate_hz, 0);
}

static int set_sizes(struct alsa_card *alsa, const struct tt_card_request *request,
                     snd_pcm_hw_params_t *params)
{
    snd_pcm_uframes_t period = (snd_pcm_uframes_t)request->period_frames;
    snd_pcm_uframes_t buffer = (snd_pcm_uframes_t)request->buffer_frames;
    snd_pcm_t *pcm = alsa->pcm;
    int error = snd_pcm_hw_params_set_period_size_near(pcm, params, &period, NULL);

    error = error < 0 ? error : snd_pcm_hw_params_set_buffer_size_near(pcm, params, &buffer);
    error = error < 0 ? error : snd_pcm_hw_params(pcm, params);
    alsa->card.period_frames = (int64_t)period;
    alsa->card.buffer_frames = (int64_t)buffer;
    return error;
}

static int set_hardware(struct alsa_card *alsa, const struct tt_card_request *request,
                        snd_pcm_hw_params_t *params, struct tt_card_found *found)
{
    snd_pcm_t *pcm = alsa->pcm;
    int error = snd_pcm_hw_params_any(pcm, params);

    error = error < 0 ? error : snd_pcm_hw_params_set_rate_resample(pcm, params, 0);
    error = error < 0 ? error
                      : snd_pcm_hw_params_set_access(pcm, params, SND_PCM_ACCESS_RW_INTERLEAVED);
    error = error < 0 ? error : choose_format(pcm, params, request, found);
    error = error < 0 ? error : set_channels(pcm, params, request->channels, found);
    error = error < 0 ? error : set_rate(pcm, params, request->rate_hz, found);
    if (error == 0) {
        found->step = TT_CARD_STEP_SETUP;
        error = set_sizes(alsa, request, params);
    }
    return error;
}

/* It starts when it is told to, and stops when it has nothing left. */
static int set_software(struct alsa_card *alsa, snd_pcm_sw_params_t *params)
{
    snd_pcm_uframes_t never = (snd_pcm_uframes_t)alsa->card.buffer_frames * 2;
    snd_pcm_t *pcm = alsa->pcm;
    int error = snd_pcm_sw_params_current(pcm, params);

    error = error < 0 ? error : snd_pcm_sw_params_set_start_threshold(pcm, params, never);
    error =
        error < 0 ? error : snd_pcm_sw_params_set_tstamp_mode(pcm, params, SND_PCM_TSTAMP_ENABLE);
    error = error < 0
                ? error
                : snd_pcm_sw_params_set_tstamp_type(pcm, params, SND_PCM_TSTAMP_TYPE_MONOTONIC);
    return error < 0 ? error : snd_pcm_sw_params(pcm, params);
}

static int set_up(struct alsa_card *alsa, const struct tt_card_request *request,
                  struct tt_card_found *found)
{
    snd_pcm_hw_params_t *hardware = NULL;
    snd_pcm_sw_params_t *software = NULL;
    int error = snd_pcm_hw_params_malloc(&hardware);

    found->step = TT_CARD_STEP_SETUP;
    error = error < 0 ? error : snd_pcm_sw_params_malloc(&software);
    error = error < 0 ? error : snd_pcm_status_malloc(&alsa->status);
    error = error < 0 ? error : set_hardware(alsa, request, hardware, found);
    error = error < 0 ? error : set_software(alsa, software);
    if (hardware) {
        snd_pcm_hw_params_free(hardware);
    }
    if (software) {
        snd_pcm_sw_params_free(software);
    }
    return error;
}

int tt_card_alsa_open(const struct tt_card_request *request, struct tt_card_found *ret_found,
                      struct tt_card **ret_card)
{
    snd_pcm_stream_t stream = request->capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK;
    struct alsa_card *alsa = calloc(1, sizeof *alsa);
    int error;

    ret_found->step = TT_CARD_STEP_OPEN;
    if (!alsa) {
        return -ENOMEM;
    }
    alsa->card = (struct tt_card){
        .ops = &alsa_ops,
        .capture = request->capture,
        .rate_hz = request->rate_hz,
        .channels = request->channels,
    };
    error = snd_pcm_open(&alsa->pcm, request->device, stream, SND_PCM_NONBLOCK);
    error = error < 0 ? error : set_up(alsa, request, ret_found);
    if (error < 0) {
        alsa_close(&alsa->card);
        return error;
    }
    alsa->card.frame_bytes = (size_t)snd_pcm_frames_to_bytes(alsa->pcm, 1);
    *ret_card = &alsa->card;
    return 0;
}
