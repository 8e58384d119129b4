/*
 * See meter_card.h.
 */
#include "run/meter_card.h"

#include <errno.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"

#define NAP_MIN_NS    (50 * TT_NS_PER_US)
#define MARK_EVERY_NS (50 * TT_NS_PER_MS)
#define MARK_LOST_NS  TT_NS_PER_S
/* A card that does not move for so long is none. */
#define STILL_MAX_NS (2 * TT_NS_PER_S)

static int fill(struct tt_meter_card *card)
{
    struct tt_card *playback = card->playback;
    int64_t left = playback->buffer_frames;

    memset(card->fragment, 0, (size_t)playback->period_frames * playback->frame_bytes);
    while (left > 0) {
        int n = playback->ops->write(playback, card->fragment,
                                     (int)tt_min64(left, playback->period_frames));

        if (n <= 0) {
            return n < 0 ? n : left < playback->period_frames ? 0 : -EIO;
        }
        left -= n;
    }
    return 0;
}

static int start_one(struct tt_card *card)
{
    int error = card->ops->start(card);

    /* Cards that are linked, or that started by themselves, run already. */
    return error == -EBADFD ? 0 : error;
}

static int start_playback(struct tt_meter_card *card)
{
    struct tt_card *playback = card->playback;
    int error = playback->ops->prepare(playback);

    error = error < 0 ? error : fill(card);
    return error < 0 ? error : start_one(playback);
}

static int start_capture(struct tt_meter_card *card)
{
    int error = card->capture->ops->prepare(card->capture);

    card->mark_ns = 0;
    return error < 0 ? error : start_one(card->capture);
}

/* Just filled, it wants all of it again: what comes is not played, and nothing is late for it. */
static bool keeps_no_time(struct tt_card *playback, int64_t start_ns)
{
    int64_t buffer_ns = tt_frames_to_ns(playback->buffer_frames, playback->rate_hz);
    struct tt_card_sight sight;

    return playback->ops->see(playback, &sight) == 0 && sight.mono_ns - start_ns < buffer_ns / 2 &&
           sight.ready >= playback->buffer_frames;
}

int tt_meter_card_start(struct tt_meter_card *card, struct tt_meter_host *host,
                        int64_t *ret_start_ns)
{
    int error = card->capture ? start_capture(card) : 0;

    error = error < 0 ? error : start_playback(card);
    if (error < 0) {
        return error;
    }
    *ret_start_ns = host->ops->now_ns(host);
    if (keeps_no_time(card->playback, *ret_start_ns)) {
        return -EOPNOTSUPP;
    }
    card->frame_zero_ns = *ret_start_ns;
    card->offset_ns = 0;
    card->next_mark_ns = *ret_start_ns + MARK_EVERY_NS;
    return 0;
}

/* The account's time by where the card is. */
static void follow(struct tt_meter_card *card, const struct tt_card_sight *sight)
{
    int64_t played_ns = tt_frames_to_ns(sight->frame, card->playback->rate_hz);

    card->offset_ns = card->frame_zero_ns + played_ns - sight->mono_ns;
}

/* Until a fragment fits. 0; -EPIPE: it ran empty; -errno. */
static int wait_for_room(struct tt_meter_card *card, struct tt_meter_host *host,
                         struct tt_cycle *cycle)
{
    struct tt_card *playback = card->playback;
    int64_t end_ns = host->ops->now_ns(host) + STILL_MAX_NS;

    for (;;) {
        struct tt_card_sight sight;
        int error = playback->ops->see(playback, &sight);
        int64_t now_ns = host->ops->now_ns(host);
        int64_t missing;

        if (error < 0) {
            return error;
        }
        missing = playback->period_frames - sight.ready;
        if (missing <= 0) {
            follow(card, &sight);
            return 0;
        }
        if (now_ns > end_ns) {
            return -EIO;
        }
        cycle->sleeps++;
        host->ops->sleep_until(
            host, tt_max64(now_ns + NAP_MIN_NS,
                           sight.mono_ns + tt_frames_to_ns(missing, playback->rate_hz)));
    }
}

static void to_account(const struct tt_meter_card *card, struct tt_cycle *cycle)
{
    cycle->begin_ns += card->offset_ns;
    cycle->computed_ns += card->offset_ns;
    cycle->done_ns += card->offset_ns;
    cycle->offset_ns = card->offset_ns;
}

/* It stood still from when it had played all; now it starts anew, full. */
static int restart(struct tt_meter_card *card, struct tt_meter_host *host,
                   struct tt_fragments *fragments, struct tt_cycle *cycle)
{
    int error = start_playback(card);
    int64_t empty_ns = tt_fragments_due_ns(fragments, fragments->next + fragments->shape.count - 1);

    if (error < 0) {
        return error;
    }
    cycle->done_ns = host->ops->now_ns(host);
    to_account(card, cycle);
    cycle->done_ns = tt_max64(cycle->done_ns, empty_ns + 1);
    tt_fragments_hand_over(fragments, cycle->done_ns, &cycle->fate);
    cycle->fate.skipped += tt_fragments_restart(fragments, cycle->done_ns);
    card->frame_zero_ns = cycle->done_ns;
    return 0;
}

static int hand_over(struct tt_meter_card *card, struct tt_meter_host *host)
{
    struct tt_card *playback = card->playback;
    int64_t now_ns = host->ops->now_ns(host);
    bool mark = card->capture && card->mark_ns == 0 && now_ns >= card->next_mark_ns;
    int n;

    memset(card->fragment, mark ? TT_METER_MARK : 0, card->mark_bytes);
    n = playback->ops->write(playback, card->fragment, (int)playback->period_frames);
    if (mark && n > 0) {
        card->mark_ns = now_ns;
        card->next_mark_ns = now_ns + MARK_EVERY_NS;
    }
    return n < 0 ? n : 0;
}

/* A mark, be it turned over or weaker by the way. */
static bool has_mark(const struct tt_meter_card *card, int count)
{
    size_t frame_bytes = card->capture->frame_bytes;
    bool found = false;

    for (size_t frame = 0; frame < (size_t)count; frame++) {
        int top = (int8_t)card->captured[frame * frame_bytes + card->mark_bytes - 1];

        found = found || top >= TT_METER_MARK / 4 || top <= -TT_METER_MARK / 4;
    }
    return found;
}

static int take_captured(struct tt_meter_card *card, struct tt_meter_host *host,
                         int64_t *ret_round_trip_ns)
{
    struct tt_card *capture = card->capture;
    int n = 1;

    /* A whole buffer at the most: one without an end (ALSA's null) would keep the loop for ever. */
    for (int64_t frames = 0; n > 0 && frames < capture->buffer_frames; frames += n) {
        n = capture->ops->read(capture, card->captured, (int)card->playback->period_frames);
        if (n > 0 && card->mark_ns != 0 && has_mark(card, n)) {
            *ret_round_trip_ns = host->ops->now_ns(host) - card->mark_ns;
            card->mark_ns = 0;
        }
    }
    if (n == -EPIPE) {
        card->capture_overruns++;
        n = start_capture(card);
    }
    if (card->mark_ns != 0 && host->ops->now_ns(host) - card->mark_ns > MARK_LOST_NS) {
        card->marks_lost++;
        card->mark_ns = 0;
    }
    return n < 0 ? n : 0;
}

int tt_meter_card_cycle(struct tt_meter_card *card, struct tt_meter_host *host,
                        struct tt_fragments *fragments, struct tt_cycle *cycle,
                        int64_t *ret_round_trip_ns)
{
    int error = wait_for_room(card, host, cycle);

    if (error == 0) {
        cycle->done_ns = host->ops->now_ns(host);
        error = hand_over(card, host);
    }
    if (error == -EPIPE) {
        error = restart(card, host, fragments, cycle);
    } else if (error == 0) {
        to_account(card, cycle);
        /* Room is there when the card says so; that it says it early makes nothing early. */
        cycle->done_ns = tt_max64(cycle->done_ns, tt_fragments_due_ns(fragments, fragments->next));
        tt_fragments_hand_over(fragments, cycle->done_ns, &cycle->fate);
    }
    if (error == 0 && card->capture) {
        error = take_captured(card, host, ret_round_trip_ns);
    }
    return error;
}
