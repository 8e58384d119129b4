/*
 * A sound card by ALSA: samples in or out in the card's own clock. Never blocks.
 *
 * An xrun is recovered from and counted. Formats are named as ALSA names them.
 */
#ifndef TT_OS_CARD_H
#define TT_OS_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tt_card;

struct tt_card_setup {
    const char *device; /* as ALSA knows it: "hw:0", "default" */
    bool playback;
    uint32_t rate_hz;
    unsigned channels;
    const char *const *formats; /* the first that the card has is taken */
    size_t format_count;
    int64_t buffer_ns; /* about */
};

/* What could not be had. */
enum tt_card_step {
    TT_CARD_STEP_OPEN,
    TT_CARD_STEP_ACCESS,
    TT_CARD_STEP_FORMAT,
    TT_CARD_STEP_CHANNELS,
    TT_CARD_STEP_RATE,
    TT_CARD_STEP_BUFFER,
    TT_CARD_STEP_START,
};

struct tt_card_found {
    enum tt_card_step step; /* on failure: where */
    size_t format;          /* which of the formats */
    size_t frame_bytes;
    int64_t buffer_frames;
};

/* 0 or -errno; *ret_found is written in both cases. */
int tt_card_open(const struct tt_card_setup *setup, struct tt_card **ret_card,
                 struct tt_card_found *ret_found);
void tt_card_close(struct tt_card *card);

/* Up to `frames` interleaved frames; a playback starts when its buffer is half full. Returns how
 * many, 0: none now, or -errno: the card is gone. */
int64_t tt_card_read(struct tt_card *card, void *ret_samples, int64_t frames);
int64_t tt_card_write(struct tt_card *card, const void *samples, int64_t frames);

uint64_t tt_card_xruns(const struct tt_card *card);

#endif
