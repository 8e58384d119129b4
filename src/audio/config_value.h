/*
 * Values of a stream's description as people write them.
 *
 * Each of these returns NULL, or why the text will not do ("is negative"); what it sets is
 * untouched then. Any bytes may be handed in.
 */
#ifndef TT_AUDIO_CONFIG_VALUE_H
#define TT_AUDIO_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "audio/stream_config.h"

/* Decimal digits. */
const char *tt_value_number(const char *text, int64_t *ret_value);
/* Digits with an optional fraction and unit (ns, us, ms, s, min, h; none: us), exact to the ns. */
const char *tt_value_time(const char *text, int64_t *ret_ns);
/* yes, true, on, 1 and their opposites. */
const char *tt_value_boolean(const char *text, bool *ret_value);
/* The name of AAF (INT16) or of ALSA (S16_LE). */
const char *tt_value_format(const char *text, enum tt_aaf_format *ret_format);
/* What the kernel takes as an interface's name. */
const char *tt_value_ifname(const char *text, char ret_ifname[TT_IFNAME_BYTES]);
/* Any but all zeros. */
const char *tt_value_mac(const char *text, uint8_t ret_mac[6]);
/* Any but 0. */
const char *tt_value_stream_id(const char *text, uint64_t *ret_stream_id);

#endif
