/*
 * The sound card seam: one direction of a card, its frames and its clock. Two implementations:
 * card_alsa (libasound) and card_script (in memory, in virtual time).
 *
 * Frames are interleaved, in the card's format. Positions count from `prepare` on. A card is used
 * by one thread at a time. Calls never block. -EPIPE: it ran out of frames (or of room) and stands
 * still until it is prepared and started again; -ENODEV: it is gone.
 */
#ifndef TT_OS_CARD_H
#define TT_OS_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Where the card is. Between two of its updates it says the same. */
struct tt_card_sight {
    int64_t frame;   /* played, or captured */
    int64_t mono_ns; /* when it was there (CLOCK_MONOTONIC) */
    int64_t ready;   /* frames that can be written, or read */
};

struct tt_card;

struct tt_card_ops {
    int (*see)(struct tt_card *card, struct tt_card_sight *ret_sight);
    /* How many frames were taken or given, or -errno; 0: no room, nothing there. */
    int (*write)(struct tt_card *card, const uint8_t *frames, int count);
    int (*read)(struct tt_card *card, uint8_t *ret_frames, int count);
    /* Stops, and empties the buffer. 0 or -errno. */
    int (*prepare)(struct tt_card *card);
    int (*start)(struct tt_card *card);
    void (*close)(struct tt_card *card);
};

struct tt_card {
    const struct tt_card_ops *ops;
    bool capture;
    uint32_t rate_hz;
    unsigned channels;
    size_t frame_bytes;
    int64_t period_frames;
    int64_t buffer_frames;
};

/* What is asked of a card. */
struct tt_card_request {
    const char *device; /* ALSA's name: "hw:0", "default" */
    bool capture;
    uint32_t rate_hz; /* exactly; the card must not resample */
    unsigned channels;
    const char *const *formats; /* ALSA's names, the dearest first; `format_count` of them */
    size_t format_count;
    int64_t period_frames; /* near to that */
    int64_t buffer_frames;
};

/* At what it failed. */
enum tt_card_step {
    TT_CARD_STEP_OPEN,
    TT_CARD_STEP_FORMAT,   /* it does none of them */
    TT_CARD_STEP_CHANNELS, /* it does others */
    TT_CARD_STEP_RATE,     /* it does others, by itself */
    TT_CARD_STEP_SETUP,
};

struct tt_card_found {
    size_t format;          /* which of the formats */
    enum tt_card_step step; /* on failure alone, as … */
    unsigned least;         /* … of channels, or of Hz: what it does have */
    unsigned most;
};

/* Opens a card that is to be had by libasound. 0, or -errno with the step in *ret_found. */
int tt_card_alsa_open(const struct tt_card_request *request, struct tt_card_found *ret_found,
                      struct tt_card **ret_card);

/* Closes and frees; NULL is fine. */
static inline void tt_card_close(struct tt_card *card)
{
    if (card) {
        card->ops->close(card);
    }
}

#endif
