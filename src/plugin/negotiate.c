/*
 * See negotiate.h.
 *
 * ioplug knows sizes in bytes only and has no rule that ties them to rate, channels and format. So:
 * - the least buffer is two PDUs of the largest shape that the configuration leaves open, as far as
 * an ordinary MTU holds it (what needs more is refused when the shape is known);
 * - the largest is one second where the configuration fixes the shape, and a compromise where it
 * does not: programs that take all they can get (speaker-test) must not take a minute's worth, and
 * many channels must still get enough to sleep on. Any period will do: PDUs are cut from the buffer
 * independently of it.
 */
#include "plugin/negotiate.h"

#include <errno.h>

#include "audio/aaf.h"
#include "base/attr.h"

/* Where the configuration leaves them open, a buffer is measured for these: a second of 48 kHz
 * stereo in 32 bits, four of mono in 16. */
#define USUAL_RATE_HZ    48000
#define USUAL_CHANNELS   2
#define SAMPLE_BYTES_MAX 4
#define BUFFER_BYTES_MAX (64u << 20)
#define PERIODS_MAX      1024
/* A PDU that fills an MTU of 1500, its INT24 samples in four bytes each. */
#define USUAL_PDU_BYTES_MAX ((1500 - TT_AAF_HEADER_BYTES) / 3 * SAMPLE_BYTES_MAX)

static const struct {
    snd_pcm_format_t alsa;
    enum tt_pcm_format pcm;
} formats[] = {
    {SND_PCM_FORMAT_S16_LE, TT_PCM_S16_LE},     {SND_PCM_FORMAT_S16_BE, TT_PCM_S16_BE},
    {SND_PCM_FORMAT_S24_3LE, TT_PCM_S24_3LE},   {SND_PCM_FORMAT_S24_3BE, TT_PCM_S24_3BE},
    {SND_PCM_FORMAT_S24_LE, TT_PCM_S24_LE},     {SND_PCM_FORMAT_S24_BE, TT_PCM_S24_BE},
    {SND_PCM_FORMAT_S32_LE, TT_PCM_S32_LE},     {SND_PCM_FORMAT_S32_BE, TT_PCM_S32_BE},
    {SND_PCM_FORMAT_FLOAT_LE, TT_PCM_FLOAT_LE}, {SND_PCM_FORMAT_FLOAT_BE, TT_PCM_FLOAT_BE},
};

int tt_plugin_pcm_format(snd_pcm_format_t format, enum tt_pcm_format *ret_format)
{
    for (size_t i = 0; i < TT_COUNT_OF(formats); i++) {
        if (formats[i].alsa == format) {
            *ret_format = formats[i].pcm;
            return 0;
        }
    }
    return -EINVAL;
}

static int offer_accesses(snd_pcm_ioplug_t *io)
{
    static const unsigned accesses[] = {
        SND_PCM_ACCESS_RW_INTERLEAVED,
        SND_PCM_ACCESS_RW_NONINTERLEAVED,
        SND_PCM_ACCESS_MMAP_INTERLEAVED,
        SND_PCM_ACCESS_MMAP_NONINTERLEAVED,
    };

    return snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, TT_COUNT_OF(accesses),
                                         accesses);
}

static int offer_formats(snd_pcm_ioplug_t *io, enum tt_aaf_format fixed)
{
    unsigned list[TT_COUNT_OF(formats)];
    unsigned n = 0;

    for (size_t i = 0; i < TT_COUNT_OF(formats); i++) {
        if (fixed == 0 || tt_pcm_wire_format(formats[i].pcm) == fixed) {
            list[n++] = (unsigned)formats[i].alsa;
        }
    }
    return snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, n, list);
}

static int offer_rates(snd_pcm_ioplug_t *io, uint32_t fixed_hz)
{
    unsigned list[TT_AAF_RATES];

    for (size_t i = 0; i < TT_AAF_RATES; i++) {
        list[i] = tt_aaf_rates[i];
    }
    if (fixed_hz != 0) {
        return snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, fixed_hz, fixed_hz);
    }
    return snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, TT_AAF_RATES, list);
}

/* In the program's memory a sample of INT24 may take four bytes. */
static unsigned sample_bytes_max(enum tt_aaf_format fixed)
{
    return fixed == TT_AAF_INT16 ? 2 : SAMPLE_BYTES_MAX;
}

static int offer_sizes(snd_pcm_ioplug_t *io, const struct tt_stream_config *config,
                       unsigned channels_max)
{
    uint64_t sample = sample_bytes_max(config->format);
    uint64_t rate = config->rate_hz ? config->rate_hz : USUAL_RATE_HZ;
    uint64_t channels = config->channels ? config->channels : USUAL_CHANNELS;
    uint64_t frame = channels_max * sample;
    uint64_t pdu = config->frames_per_pdu * frame;
    uint64_t most = rate * channels * sample;
    int error;

    if (pdu > USUAL_PDU_BYTES_MAX) {
        pdu = USUAL_PDU_BYTES_MAX;
    }
    if (most < 4 * pdu) {
        most = 4 * pdu;
    }
    if (most > BUFFER_BYTES_MAX) {
        most = BUFFER_BYTES_MAX;
    }
    error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, (unsigned)frame,
                                            (unsigned)(most / 2));
    if (error == 0) {
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES,
                                                (unsigned)(2 * pdu), (unsigned)most);
    }
    if (error == 0) {
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, PERIODS_MAX);
    }
    return error;
}

int tt_plugin_offer(snd_pcm_ioplug_t *io, const struct tt_stream_config *config, unsigned mtu_bytes,
                    struct tt_message *ret_message)
{
    enum tt_aaf_format smallest = config->format ? config->format : TT_AAF_INT16;
    unsigned channels_min = config->channels ? config->channels : 1;
    unsigned channels_max = config->channels;
    int error = tt_stream_config_fits(config, smallest, channels_min, mtu_bytes, ret_message);

    if (error < 0) {
        return error;
    }
    if (channels_max == 0) {
        channels_max = tt_frames_per_pdu_max(smallest, config->frames_per_pdu, mtu_bytes);
        if (channels_max > TT_AAF_CHANNELS_MAX) {
            channels_max = TT_AAF_CHANNELS_MAX;
        }
    }
    snprintf(ret_message->text, sizeof(ret_message->text), "ALSA took none of what is offered");
    error = offer_accesses(io);
    if (error == 0) {
        error = offer_formats(io, config->format);
    }
    if (error == 0) {
        error = offer_rates(io, config->rate_hz);
    }
    if (error == 0) {
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, channels_min,
                                                channels_max);
    }
    return error < 0 ? error : offer_sizes(io, config, channels_max);
}

int tt_plugin_fits(const char *name, const struct tt_stream_config *config,
                   snd_pcm_uframes_t buffer_frames, unsigned mtu_bytes)
{
    struct tt_message message;
    int error =
        tt_stream_config_fits(config, config->format, config->channels, mtu_bytes, &message);

    if (error < 0) {
        SNDERR("%s: %s", name, message.text);
        return error;
    }
    if (buffer_frames < 2 * (snd_pcm_uframes_t)config->frames_per_pdu) {
        SNDERR("%s: frames_per_pdu %u: a buffer of %lu frames holds less than two packets; take a "
               "larger buffer, or give frames_per_pdu %lu",
               name, config->frames_per_pdu, buffer_frames, buffer_frames / 2);
        return -EINVAL;
    }
    return 0;
}
