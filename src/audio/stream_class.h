/*
 * The stream reservation classes of AVB as presets: what a class means for a stream's description.
 *
 * Source: IEEE 802.1BA-2011, 6.2 (class A: 125 us, at most 2 ms; class B: 250 us, 50 ms); IEEE
 * 802.1Q-2018, 34 and Table 34-1 (priorities 3 and 2, VLAN 2).
 */
#ifndef TT_AUDIO_STREAM_CLASS_H
#define TT_AUDIO_STREAM_CLASS_H

#include <stdint.h>

#include "audio/stream_config.h"

enum tt_stream_class { TT_STREAM_CLASS_NONE, TT_STREAM_CLASS_A, TT_STREAM_CLASS_B };

/* NULL, or why the text will not do. */
const char *tt_stream_class_parse(const char *text, enum tt_stream_class *ret_class);

/* Keys that a class sets, as bits of those that somebody set by hand. */
enum {
    TT_STREAM_CLASS_VLAN_ID = 1 << 0,
    TT_STREAM_CLASS_PCP = 1 << 1,
    TT_STREAM_CLASS_PRIORITY = 1 << 2,
    TT_STREAM_CLASS_MTT = 1 << 3,
    TT_STREAM_CLASS_FRAMES = 1 << 4,
};

/* The bit of a key, or 0. */
unsigned tt_stream_class_bit(const char *key);

/* Sets what is not among `by_hand`; frames_per_pdu where the rate is known. */
void tt_stream_class_apply(enum tt_stream_class class, unsigned by_hand,
                           struct tt_stream_config *config);

/* Frames in the PDU of one interval of the class: at 44.1 kHz as at 48 kHz. */
unsigned tt_stream_class_frames(enum tt_stream_class class, uint32_t rate_hz);

#endif
