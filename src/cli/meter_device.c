/*
 * See meter_device.h.
 */
#include "cli/meter_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/meter_job.h"

#define CHANNELS 2

static const char *const formats[] = {"S16_LE", "S32_LE", "S24_3LE"};
static const size_t sample_bytes[] = {2, 4, 3};

static enum tt_exit explain(const struct tt_card_request *request,
                            const struct tt_card_found *found, int error)
{
    const char *does = request->capture ? "captures" : "plays";

    switch (found->step) {
    case TT_CARD_STEP_OPEN:
        tt_cli_say(TT_METER_COMMAND, "cannot open %s: %s; `aplay -l` lists the cards%s",
                   request->device, strerror(-error),
                   error == -EBUSY ? ", this one is in use" : "");
        break;
    case TT_CARD_STEP_FORMAT:
        tt_cli_say(TT_METER_COMMAND,
                   "%s %s none of S16_LE, S32_LE and S24_3LE; give plug:'%s' for any",
                   request->device, does, request->device);
        break;
    case TT_CARD_STEP_CHANNELS:
        tt_cli_say(TT_METER_COMMAND, "%s %s %u to %u channels, not %u", request->device, does,
                   found->least, found->most, request->channels);
        break;
    case TT_CARD_STEP_RATE:
        tt_cli_say(TT_METER_COMMAND, "%s %s at %u to %u Hz, not %u; give another --rate",
                   request->device, does, found->least, found->most, request->rate_hz);
        break;
    case TT_CARD_STEP_SETUP:
        tt_cli_say(TT_METER_COMMAND, "cannot set %s up for fragments of %lld frames: %s",
                   request->device, (long long)request->period_frames, strerror(-error));
        break;
    }
    return TT_EXIT_ENVIRONMENT;
}

static enum tt_exit open_one(const struct tt_card_request *request, struct tt_card **ret_card,
                             size_t *ret_format)
{
    struct tt_card_found found = {0};
    int error = tt_card_alsa_open(request, &found, ret_card);

    *ret_format = found.format;
    return error < 0 ? explain(request, &found, error) : TT_EXIT_GOOD;
}

static enum tt_exit open_round_trip(struct tt_card_request *request, const char *device,
                                    size_t format, struct tt_meter_card *card)
{
    const char *const same[] = {formats[format]};
    size_t ignored;
    enum tt_exit code;

    request->device = device;
    request->capture = true;
    request->formats = same;
    request->format_count = 1;
    /* So much that a loop that is late loses nothing of what came back. */
    request->buffer_frames = request->period_frames * 64;
    code = open_one(request, &card->capture, &ignored);
    return code;
}

enum tt_exit tt_meter_device_open(const char *device, const char *round_trip,
                                  const struct tt_fragment_shape *shape,
                                  struct tt_meter_card *ret_card)
{
    struct tt_card_request request = {
        .device = device,
        .rate_hz = shape->rate_hz,
        .channels = CHANNELS,
        .formats = formats,
        .format_count = TT_COUNT_OF(formats),
        .period_frames = shape->frames,
        .buffer_frames = shape->frames * shape->count,
    };
    size_t format = 0;
    size_t bytes;
    enum tt_exit code;

    *ret_card = (struct tt_meter_card){0};
    code = open_one(&request, &ret_card->playback, &format);
    if (code == TT_EXIT_GOOD && round_trip) {
        code = open_round_trip(&request, round_trip, format, ret_card);
    }
    if (code != TT_EXIT_GOOD) {
        return code;
    }
    bytes = (size_t)ret_card->playback->period_frames * ret_card->playback->frame_bytes;
    ret_card->fragment = calloc(1, bytes);
    ret_card->captured = calloc(1, bytes);
    ret_card->mark_bytes = sample_bytes[format];
    if (!ret_card->fragment || !ret_card->captured) {
        tt_cli_say(TT_METER_COMMAND, "out of memory");
        return TT_EXIT_ENVIRONMENT;
    }
    return TT_EXIT_GOOD;
}

void tt_meter_device_shape(const struct tt_meter_card *card, struct tt_fragment_shape *shape)
{
    int64_t count = card->playback->buffer_frames / card->playback->period_frames;

    shape->frames = card->playback->period_frames;
    shape->count = count < 2                       ? 2
                   : count > TT_FRAGMENT_COUNT_MAX ? TT_FRAGMENT_COUNT_MAX
                                                   : (unsigned)count;
}

void tt_meter_device_close(struct tt_meter_card *card)
{
    tt_card_close(card->playback);
    tt_card_close(card->capture);
    free(card->fragment);
    free(card->captured);
    *card = (struct tt_meter_card){0};
}

enum tt_exit tt_meter_device_say(int error)
{
    if (error == -ENODEV) {
        tt_cli_say(TT_METER_COMMAND, "the sound card is gone");
    } else if (error == -EOPNOTSUPP) {
        tt_cli_say(
            TT_METER_COMMAND,
            "that device keeps no time (as ALSA's null): it takes all that comes at once, and "
            "nothing can be late for it; give a sound card, or leave --device out");
    } else if (error == -EIO) {
        tt_cli_say(TT_METER_COMMAND, "the sound card does not play: its pointer stands still");
    } else {
        tt_cli_say(TT_METER_COMMAND, "the sound card failed: %s", strerror(-error));
    }
    return TT_EXIT_ENVIRONMENT;
}
