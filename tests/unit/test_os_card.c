/*
 * The sound card seam: alsa-lib's null device, which is everywhere, and the card in memory.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/ns.h"
#include "os/card.h"
#include "os/card_script.h"

static const char *const formats[] = {"NO_SUCH_FORMAT", "S32_LE", "S16_LE"};

static struct tt_card_request request_of(const char *device, bool captures)
{
    return (struct tt_card_request){
        .device = device,
        .capture = captures,
        .rate_hz = 48000,
        .channels = 2,
        .formats = formats,
        .format_count = TT_COUNT_OF(formats),
        .period_frames = 240,
        .buffer_frames = 4800,
    };
}

static void by_alsa(void **state)
{
    (void)state;
    for (int captures = 0; captures < 2; captures++) {
        struct tt_card_request request = request_of("null", captures != 0);
        struct tt_card *card;
        struct tt_card_sight sight;
        uint8_t frames[240 * 8] = {0};
        struct tt_card_found found;

        assert_int_equal(tt_card_alsa_open(&request, &found, &card), 0);
        assert_int_equal(found.format, 1);
        assert_int_equal(card->capture, captures);
        assert_int_equal(card->frame_bytes, 8);
        assert_int_equal(card->period_frames, 240);
        assert_int_equal(card->buffer_frames, 4800);
        assert_int_equal(card->ops->see(card, &sight), -EPIPE); /* it does not run */
        for (int again = 0; again < 2; again++) {
            assert_int_equal(card->ops->prepare(card), 0);
            assert_int_equal(captures ? 240 : card->ops->write(card, frames, 240), 240);
            assert_int_equal(card->ops->start(card), 0);
            assert_int_equal(captures ? card->ops->read(card, frames, 240) : 240, 240);
            assert_int_equal(card->ops->see(card, &sight), 0);
            assert_true(sight.frame >= 240 && sight.ready > 0 && sight.mono_ns > 0);
        }
        tt_card_close(card);
    }
}

static void what_alsa_does_not_have(void **state)
{
    struct tt_card_request request = request_of("no-such-device-anywhere", false);
    struct tt_card *card = NULL;
    struct tt_card_found found;

    (void)state;
    assert_true(tt_card_alsa_open(&request, &found, &card) < 0);
    assert_int_equal(found.step, TT_CARD_STEP_OPEN);
    request.device = "null";
    request.format_count = 1;
    assert_int_equal(tt_card_alsa_open(&request, &found, &card), -EINVAL);
    assert_int_equal(found.step, TT_CARD_STEP_FORMAT);
    request.format_count = TT_COUNT_OF(formats);
    request.channels = 0;
    assert_int_equal(tt_card_alsa_open(&request, &found, &card), -EINVAL);
    assert_int_equal(found.step, TT_CARD_STEP_CHANNELS);
    assert_int_equal(found.least, 1);
    request.channels = 2;
    request.rate_hz = 0;
    assert_int_equal(tt_card_alsa_open(&request, &found, &card), -EINVAL);
    assert_int_equal(found.step, TT_CARD_STEP_RATE);
    assert_true(found.least > 0 && found.most >= 48000);
    assert_null(card);
    tt_card_close(NULL);
}

static void remember(void *context, int64_t frame, uint8_t *bytes)
{
    int64_t *played = context;

    assert_int_equal(bytes[0], frame & 255);
    *played = frame + 1;
}

/* Plays what was written at 100 ppm more than nominal, tells of it by periods, and stops where
 * there is no more. */
static void in_memory(void **state)
{
    static uint8_t ring[4800];
    int64_t played = 0;
    struct tt_clock_script clock;
    struct tt_card_script script = {
        .card = {.rate_hz = 48000,
                 .channels = 1,
                 .frame_bytes = 1,
                 .period_frames = 240,
                 .buffer_frames = 4800},
        .drift_ppb = 100000,
        .frame = remember,
        .context = &played,
        .ring = ring,
    };
    struct tt_card *card = &script.card;
    struct tt_card_sight sight;
    uint8_t frames[5000];

    (void)state;
    for (size_t i = 0; i < sizeof frames; i++) {
        frames[i] = (uint8_t)i;
    }
    tt_clock_script_init(&clock, TT_NS_PER_S, 0);
    tt_card_script_init(&script, &clock);
    assert_int_equal(card->ops->see(card, &sight), -EPIPE);
    assert_int_equal(card->ops->write(card, frames, 5000), 4800);
    assert_int_equal(card->ops->start(card), 0);
    clock.mono_ns += 10 * TT_NS_PER_MS + 100;
    assert_int_equal(card->ops->see(card, &sight), 0);
    assert_int_equal(played, 480);
    assert_int_equal(sight.frame, 480);
    assert_int_equal(sight.ready, 480);
    assert_int_equal(sight.mono_ns, TT_NS_PER_S + 10 * TT_NS_PER_MS - 1000);
    clock.mono_ns += 100 * TT_NS_PER_MS;
    assert_int_equal(card->ops->see(card, &sight), -EPIPE);
    assert_int_equal(played, 4800);
    assert_int_equal(card->ops->write(card, frames, 1), -EPIPE);
    assert_int_equal(card->ops->prepare(card), 0);
    assert_int_equal(card->ops->write(card, frames, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_alsa),
        cmocka_unit_test(what_alsa_does_not_have),
        cmocka_unit_test(in_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
