/*
 * See card_script.h.
 */
#include "os/card_script.h"

#include <errno.h>
#include <string.h>

#include "base/ns.h"

static struct tt_card_script *script_of(struct tt_card *card)
{
    return (struct tt_card_script *)card; /* its first member */
}

/* When the card is at `frame`, and where it is now. */
static int64_t time_of(const struct tt_card_script *script, int64_t frame)
{
    int64_t nominal_ns = tt_frames_to_ns(frame, script->card.rate_hz);
    int64_t s = nominal_ns / TT_NS_PER_S;

    return script->start_mono_ns + nominal_ns - s * script->drift_ppb -
           (nominal_ns - s * TT_NS_PER_S) * script->drift_ppb / TT_NS_PER_S;
}

static int64_t frame_now(const struct tt_card_script *script)
{
    int64_t ns = script->clock->mono_ns - script->start_mono_ns;
    int64_t frame =
        tt_ns_to_frames(ns + ns / TT_NS_PER_S * script->drift_ppb, script->card.rate_hz);

    while (time_of(script, frame + 1) <= script->clock->mono_ns) {
        frame++;
    }
    while (frame > 0 && time_of(script, frame) > script->clock->mono_ns) {
        frame--;
    }
    return frame;
}

/* Plays or captures up to `frame`, or until it has no more. */
static void move(struct tt_card_script *script, int64_t frame)
{
    const struct tt_card *card = &script->card;
    int64_t end = card->capture ? script->moved + card->buffer_frames : script->moved;

    for (; script->pointer < frame && script->pointer < end; script->pointer++) {
        if (script->frame) {
            script->frame(script->context, script->pointer,
                          script->ring +
                              (size_t)(script->pointer % card->buffer_frames) * card->frame_bytes);
        }
    }
    if (script->pointer < frame) {
        script->running = false;
        script->stopped = true;
    }
}

/* The last period whose interrupt was served, and when. */
static int64_t served(const struct tt_card_script *script, int64_t *ret_mono_ns)
{
    int64_t period = script->card.period_frames;
    int64_t frame = script->pointer / period * period;

    for (;; frame -= period) {
        int64_t late_ns = script->late_ns ? script->late_ns(script->context, frame) : 0;

        *ret_mono_ns = time_of(script, frame) + late_ns;
        if (frame <= 0 || *ret_mono_ns <= script->clock->mono_ns) {
            return frame;
        }
    }
}

static int script_see(struct tt_card *card, struct tt_card_sight *ret_sight)
{
    struct tt_card_script *script = script_of(card);

    if (script->running) {
        move(script, frame_now(script));
    }
    if (!script->running) {
        return -EPIPE;
    }
    ret_sight->frame = served(script, &ret_sight->mono_ns);
    ret_sight->ready = card->capture ? ret_sight->frame - script->moved
                                     : ret_sight->frame + card->buffer_frames - script->moved;
    return 0;
}

static int script_write(struct tt_card *card, const uint8_t *frames, int count)
{
    struct tt_card_script *script = script_of(card);
    int64_t room = script->pointer + card->buffer_frames - script->moved;
    int n = 0;

    if (script->stopped) {
        return -EPIPE;
    }
    for (; n < count && n < room; n++, script->moved++) {
        memcpy(script->ring + (size_t)(script->moved % card->buffer_frames) * card->frame_bytes,
               frames + (size_t)n * card->frame_bytes, card->frame_bytes);
    }
    return n;
}

static int script_read(struct tt_card *card, uint8_t *ret_frames, int count)
{
    struct tt_card_script *script = script_of(card);
    int n = 0;

    if (script->stopped) {
        return -EPIPE;
    }
    for (; n < count && script->moved < script->pointer; n++, script->moved++) {
        memcpy(ret_frames + (size_t)n * card->frame_bytes,
               script->ring + (size_t)(script->moved % card->buffer_frames) * card->frame_bytes,
               card->frame_bytes);
    }
    return n;
}

static int script_prepare(struct tt_card *card)
{
    struct tt_card_script *script = script_of(card);

    script->running = false;
    script->stopped = false;
    script->moved = 0;
    script->pointer = 0;
    return 0;
}

static int script_start(struct tt_card *card)
{
    struct tt_card_script *script = script_of(card);

    script->running = true;
    script->start_mono_ns = script->clock->mono_ns;
    return 0;
}

static void script_close(struct tt_card *card)
{
    script_prepare(card);
}

static const struct tt_card_ops script_ops = {
    .see = script_see,
    .write = script_write,
    .read = script_read,
    .prepare = script_prepare,
    .start = script_start,
    .close = script_close,
};

void tt_card_script_init(struct tt_card_script *script, const struct tt_clock_script *clock)
{
    script->card.ops = &script_ops;
    script->clock = clock;
    script_prepare(&script->card);
}
