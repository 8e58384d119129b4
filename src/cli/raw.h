/*
 * Samples without a header, as a person describes them: FORMAT, FORMAT,CHANNELS or
 * FORMAT,CHANNELS,RATE, such as S24_LE,8,48000.
 */
#ifndef TT_CLI_RAW_H
#define TT_CLI_RAW_H

#include <stdint.h>

#include "audio/pcm.h"

struct tt_sound_raw {
    enum tt_pcm_format format;
    unsigned channels; /* 0: not said */
    uint32_t rate_hz;  /* 0: not said */
};

#define TT_RAW_CHANNELS_MAX 1024 /* libsndfile's limit */
#define TT_RAW_FORMATS_TEXT 128

/* NULL, or why it will not do. */
const char *tt_raw_parse(const char *text, struct tt_sound_raw *ret_raw);

/* " S16_LE S16_BE …": all there are. */
const char *tt_raw_formats(char ret_text[TT_RAW_FORMATS_TEXT]);

#endif
