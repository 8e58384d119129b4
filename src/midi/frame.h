/*
 * A frame of 32 bytes: MIDI bytes with the time at which they were received, in the layout in which
 * the kernel hands them over and in which the raw log keeps them.
 *
 * type, length, reserved[2], tv_nsec (32 bits), tv_sec (64 bits), data[16]; numbers are
 * little-endian, as the kernel's are on a little-endian machine. Here the first reserved byte is
 * the port. The stamp is CLOCK_MONOTONIC. Source: include/uapi/sound/asound.h, struct
 * snd_rawmidi_framing_tstamp.
 */
#ifndef TT_MIDI_FRAME_H
#define TT_MIDI_FRAME_H

#include <stdint.h>

#define TT_MIDI_FRAME_BYTES 32
#define TT_MIDI_FRAME_DATA  16

struct tt_midi_frame {
    uint8_t type; /* 0: MIDI bytes; the raw log's own are in log.h; others are to be skipped */
    uint8_t port;
    uint8_t length; /* of data, 0 to 16 */
    int64_t time_mono_ns;
    uint8_t data[TT_MIDI_FRAME_DATA];
};

enum tt_midi_frame_reason {
    TT_MIDI_FRAME_OK,
    TT_MIDI_FRAME_LENGTH,  /* over 16 */
    TT_MIDI_FRAME_NSEC,    /* a second or more */
    TT_MIDI_FRAME_SECONDS, /* beyond 64 bits of ns */
    TT_MIDI_FRAME_BLANK,   /* nothing but zeros: written room that never got its content */
    TT_MIDI_FRAME_TYPE,    /* in a log (survey.h): an unknown type, or without what that holds */
    TT_MIDI_FRAME_PORT,    /* in a log: a port that it does not have */
    TT_MIDI_FRAME_STAMP,   /* in a log: a time that the frames around it contradict */
    TT_MIDI_FRAME_REASONS
};

enum tt_midi_frame_reason tt_midi_frame_read(const uint8_t bytes[TT_MIDI_FRAME_BYTES],
                                             struct tt_midi_frame *ret_frame);
const char *tt_midi_frame_reason_text(enum tt_midi_frame_reason reason);

/* length 0 to 16, time not negative; data beyond length is written as zeros. */
void tt_midi_frame_write(const struct tt_midi_frame *frame, uint8_t ret_bytes[TT_MIDI_FRAME_BYTES]);

#endif
