/*
 * See card.h.
 */
#include "cli/card.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "cli/say.h"
#include "cli/stream.h"
#include "os/clock.h"

#define PERIOD_NS (5 * TT_NS_PER_MS)
#define BUFFER_NS (100 * TT_NS_PER_MS) /* room; what is in it is the level */

bool tt_cli_card_is(const char *name)
{
    return strncmp(name, "alsa:", 5) == 0;
}

static const char *device_of(const struct tt_stream *stream)
{
    return stream->job->end + 5;
}

/* First what is as wide as the wire's, then the widest. */
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

static int explain(const struct tt_stream *stream, const struct tt_card_request *request,
                   const struct tt_card_found *found, int error, struct tt_message *message)
{
    const char *name = stream->job->end;
    const char *device = device_of(stream);

    switch (found->step) {
    case TT_CARD_STEP_OPEN:
        return tt_say(error, message, "%s cannot be opened: %s; %s", name, strerror(-error),
                      error == -EBUSY    ? "another program has it: end that first"
                      : request->capture ? "`arecord -L` lists the devices there are"
                                         : "`aplay -L` lists the devices there are");
    case TT_CARD_STEP_RATE:
        return tt_say(
            error, message,
            "%s has neither %u Hz nor what is nearest to it (its rates are from %u to %u); "
            "give the stream one that it has",
            name, (unsigned)request->rate_hz, found->least, found->most);
    case TT_CARD_STEP_CHANNELS:
        return tt_say(error, message,
                      "%s does not have %u channels (it has %u to %u); give the stream so many, or "
                      "alsa:plug:%s, which leaves out and adds",
                      name, request->channels, found->least, found->most, device);
    case TT_CARD_STEP_FORMAT:
        return tt_say(error, message,
                      "%s has no sample format of 16, 24 or 32 bits; alsa:plug:%s converts", name,
                      device);
    default:
        return tt_say(error, message, "%s cannot be set up: %s", name, strerror(-error));
    }
}

static void set_rate(struct tt_card_request *request, uint32_t rate_hz, int64_t level_ns)
{
    request->rate_hz = rate_hz;
    request->period_frames = tt_ns_to_frames(PERIOD_NS, rate_hz);
    request->buffer_frames = tt_ns_to_frames(tt_max64(BUFFER_NS, 2 * level_ns), rate_hz);
}

/* At the stream's rate, or else at the nearest: it is resampled anyway. 0 or -errno. */
static int open_near(struct tt_card_request *request, int64_t level_ns,
                     struct tt_card_found *ret_found, struct tt_card **ret_card)
{
    uint32_t rate_hz = request->rate_hz;
    int error = tt_card_alsa_open(request, ret_found, ret_card);

    if (error < 0 && ret_found->step == TT_CARD_STEP_RATE) {
        set_rate(request, rate_hz < ret_found->least ? ret_found->least : ret_found->most,
                 level_ns);
        error = tt_card_alsa_open(request, ret_found, ret_card);
    }
    return error;
}

/* What the stream asks for; `formats` and `names` are its lists. */
static struct tt_card_request request_of(const struct tt_stream *stream,
                                         enum tt_pcm_format formats[TT_PCM_FORMATS],
                                         const char *names[TT_PCM_FORMATS])
{
    const struct tt_stream_config *config = &stream->config;
    struct tt_card_request request = {
        .device = device_of(stream),
        .capture = stream->role == TT_ROLE_TALKER,
        .channels = config->channels ? config->channels : 2,
        .formats = names,
        .format_count = order_formats(config->format ? config->format : TT_AAF_INT32, formats),
    };

    set_rate(&request, config->rate_hz ? config->rate_hz : 48000, stream->job->level_ns);
    for (size_t i = 0; i < request.format_count; i++) {
        names[i] = tt_pcm_format_name(formats[i]);
    }
    return request;
}

int tt_cli_card_open(struct tt_stream *stream, struct tt_message *ret_message)
{
    struct tt_stream_config *config = &stream->config;
    enum tt_pcm_format formats[TT_PCM_FORMATS];
    const char *names[TT_PCM_FORMATS];
    struct tt_card_request request = request_of(stream, formats, names);
    struct tt_card_found found;
    int error = open_near(&request, stream->job->level_ns, &found, &stream->card);

    if (error < 0) {
        return explain(stream, &request, &found, error, ret_message);
    }
    stream->card_format = formats[found.format];
    config->rate_hz = config->rate_hz ? config->rate_hz : request.rate_hz;
    config->channels = request.channels;
    config->format = config->format ? config->format : tt_pcm_wire_format(stream->card_format);
    return 0;
}

int tt_cli_card_check(const struct tt_stream *stream, struct tt_message *ret_message)
{
    enum tt_pcm_format formats[TT_PCM_FORMATS];
    const char *names[TT_PCM_FORMATS];
    struct tt_card_request request = request_of(stream, formats, names);
    struct tt_card_found found;
    struct tt_card *card;
    int error = tt_card_alsa_open(&request, &found, &card);

    if (error == 0) {
        tt_card_close(card);
    }
    /* The shape was a guess: that it does not have that one is no fault. */
    return error < 0 && found.step == TT_CARD_STEP_OPEN
               ? explain(stream, &request, &found, error, ret_message)
               : 0;
}

int tt_cli_card_join(struct tt_stream *stream, struct tt_message *ret_message)
{
    struct tt_bridge_setup setup = {
        .config = &stream->config,
        .card = stream->card,
        .card_format = stream->card_format,
        .listen = stream->engine.listen,
        .talk = stream->engine.talk,
        .stream_buffer_frames = stream->buffer_frames,
        .clock = tt_clock_system(),
        .quality = stream->job->quality,
        .level_ns = stream->job->level_ns,
    };
    bool captures = stream->role == TT_ROLE_TALKER;
    int64_t room_ns = captures
                          ? tt_frames_to_ns(stream->buffer_frames, stream->config.rate_hz)
                          : tt_frames_to_ns(stream->card->buffer_frames, stream->card->rate_hz);
    int error = tt_bridge_new(&setup, &stream->bridge);

    if (error == -EINVAL) {
        return tt_say(error, ret_message, "%s: the level does not fit into %s of %.1f ms; give %s",
                      stream->job->end, captures ? "the buffer" : "the card's buffer",
                      (double)room_ns / 1e6,
                      captures ? "a smaller level, or a larger buffer" : "a smaller level");
    }
    return error < 0 ? tt_say(error, ret_message, "out of memory") : 0;
}

void tt_cli_card_stop(struct tt_stream *stream)
{
    if (stream->bridge) {
        tt_bridge_stop(stream->bridge);
    }
}

int tt_cli_card_look(struct tt_stream *stream)
{
    struct tt_bridge_counters *counters = &stream->live.card;
    int error;

    if (!stream->card_started) {
        if (atomic_load(&stream->engine.device->state) == TT_DEVICE_STOPPED) {
            return 0;
        }
        stream->card_started = true;
        error = tt_bridge_start(stream->bridge, true);
        if (error < 0) {
            return error;
        }
    }
    tt_bridge_counters(stream->bridge, counters);
    tt_bridge_peaks(stream->bridge, stream->live.peaks);
    stream->live.frames =
        (int64_t)(stream->card->capture ? counters->frames_out : counters->frames_in);
    stream->live.clipped = counters->samples_clipped;
    return counters->error;
}

void tt_cli_card_close(struct tt_stream *stream)
{
    tt_bridge_free(stream->bridge);
    tt_card_close(stream->card);
    stream->bridge = NULL;
    stream->card = NULL;
}
