/*
 * What source and sink have in common of a sound card: formats, and what to say where it cannot be
 * opened.
 */
#ifndef TT_CLI_CARD_H
#define TT_CLI_CARD_H

#include "audio/aaf.h"
#include "audio/pcm.h"
#include "audio/stream_config.h"
#include "os/card.h"

struct tt_cli_card {
    struct tt_card *card;
    enum tt_pcm_format format;
    size_t frame_bytes;
    int64_t block_frames; /* of `samples` */
    uint8_t *samples;
    int64_t waiting_frames; /* a playback's, until it starts */
    uint64_t xruns;
};

struct tt_cli_card_setup {
    const char *name; /* "alsa:hw:0" */
    bool playback;
    enum tt_aaf_format format; /* the wire's: what carries it is preferred */
    uint32_t rate_hz;
    unsigned channels;
    int64_t buffer_ns;
};

/* 0 or -errno with *ret_message. */
int tt_cli_card_open(const struct tt_cli_card_setup *setup, struct tt_cli_card *ret_card,
                     struct tt_message *ret_message);
/* Up to `frames` <= block_frames frames to or from `samples`. Returns how many, 0: none now, or
 * -errno: the card is gone. */
int64_t tt_cli_card_read(struct tt_cli_card *card, int64_t frames);
int64_t tt_cli_card_write(struct tt_cli_card *card, int64_t frames);
void tt_cli_card_close(struct tt_cli_card *card);

#endif
