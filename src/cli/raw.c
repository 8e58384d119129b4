/*
 * See raw.h.
 */
#include "cli/raw.h"

#include <stdio.h>
#include <string.h>

#include "audio/config_value.h"

#define PARTS 3

/* The part before the comma at *text, which then is behind it, or NULL at the end. */
static const char *cut_part(const char **text, char ret_part[16])
{
    const char *comma = strchr(*text, ',');
    size_t bytes = comma ? (size_t)(comma - *text) : strlen(*text);

    if (bytes >= 16) {
        return NULL;
    }
    memcpy(ret_part, *text, bytes);
    ret_part[bytes] = 0;
    *text = comma ? comma + 1 : NULL;
    return ret_part;
}

const char *tt_raw_parse(const char *text, struct tt_sound_raw *ret_raw)
{
    struct tt_sound_raw raw = {.format = TT_PCM_S16_LE};
    int64_t numbers[PARTS] = {0};
    char part[16];

    if (!cut_part(&text, part) || tt_pcm_format_parse(part, &raw.format) != 0) {
        return "begins with no format that there is";
    }
    for (int i = 0; text && i < PARTS; i++) {
        if (!cut_part(&text, part) || tt_value_number(part, &numbers[i])) {
            return "has something behind the format that is no number";
        }
        if (numbers[i] == 0) {
            return "has a 0 in it";
        }
    }
    if (numbers[PARTS - 1] != 0) {
        return "has more than format, channels and rate";
    }
    if (numbers[0] > TT_RAW_CHANNELS_MAX) {
        return "has more than 1024 channels";
    }
    if (numbers[1] > INT32_MAX) {
        return "has a rate that is no rate";
    }
    raw.channels = (unsigned)numbers[0];
    raw.rate_hz = (uint32_t)numbers[1];
    *ret_raw = raw;
    return NULL;
}

const char *tt_raw_formats(char ret_text[TT_RAW_FORMATS_TEXT])
{
    size_t at = 0;

    for (int i = 0; i < TT_PCM_FORMATS && at < TT_RAW_FORMATS_TEXT; i++) {
        at += (size_t)snprintf(ret_text + at, TT_RAW_FORMATS_TEXT - at, " %s",
                               tt_pcm_format_name((enum tt_pcm_format)i));
    }
    return ret_text;
}
