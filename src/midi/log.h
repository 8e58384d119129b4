/*
 * The raw log of a recording: a header of 64 bytes, then frames of 32 (frame.h), only ever
 * appended.
 *
 * So whatever was written is readable, however the writing ended. All that befalls a recording is a
 * frame too, of a type from 0x80: who the ports are, anchors to the wall clock, losses, a port that
 * went and came back, the end.
 *
 * Header, little-endian: magic (8), version (16 bits), header bytes (16 bits), frame bytes (16
 * bits), 2 unused, then CLOCK_MONOTONIC, CLOCK_REALTIME and the width of the bracket in which both
 * were read (64 bits each, ns), and these three again: a start that is off would move everything.
 * Logs of before have zeros there. A reader takes longer headers and skips what it does not know.
 */
#ifndef TT_MIDI_LOG_H
#define TT_MIDI_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "midi/frame.h"

#define TT_MIDI_LOG_HEADER_BYTES 64
#define TT_MIDI_LOG_PORTS        256
#define TT_MIDI_LOG_START_AT     16  /* of the header: its times */
#define TT_MIDI_LOG_NAME_BYTES   256 /* of a port's name, with its end */

enum tt_midi_log_type {
    TT_MIDI_LOG_BYTES = 0,
    TT_MIDI_LOG_CLOCK = 0x80, /* struct tt_midi_log_clock, read at the frame's time */
    TT_MIDI_LOG_LOSS =
        0x81, /* struct tt_midi_log_loss; the frame's time is the end of its bracket */
    TT_MIDI_LOG_GONE = 0x82,  /* the port was unplugged; seen at the frame's time */
    TT_MIDI_LOG_BACK = 0x83,  /* it goes on */
    TT_MIDI_LOG_NAME = 0x84,  /* up to 16 bytes of the port's name, added to what came before */
    TT_MIDI_LOG_STAMP = 0x85, /* data[0]: an enum tt_midi_stamp, for what follows of the port */
    TT_MIDI_LOG_END = 0x86,   /* the recording was ended, and not cut off */
};

/* Where the stamps of a port come from, the best first. */
enum tt_midi_stamp {
    TT_MIDI_STAMP_KERNEL,    /* raw MIDI framing: the driver's reception */
    TT_MIDI_STAMP_SEQUENCER, /* the sequencer's real-time queue */
    TT_MIDI_STAMP_READ,      /* when read() returned */
    TT_MIDI_STAMP_TICKS,     /* the sequencer's ticks: of use for comparison only */
    TT_MIDI_STAMPS
};

struct tt_midi_log_clock {
    int64_t utc_ns;
    int64_t bracket_ns;
};

/* Bytes were lost behind the frame before this one of the port, between two times. */
struct tt_midi_log_loss {
    int64_t since_mono_ns;
    uint64_t bytes; /* 0: it is not known how many */
};

struct tt_midi_log_header {
    int64_t mono_ns;
    struct tt_midi_log_clock clock;
};

/* "kernel framing" … ; NULL for a number that is none. */
const char *tt_midi_stamp_name(unsigned stamp);

void tt_midi_log_header_write(const struct tt_midi_log_header *header,
                              uint8_t ret_bytes[TT_MIDI_LOG_HEADER_BYTES]);

/* Frames of the log's own. */
struct tt_midi_frame tt_midi_log_clock_frame(int64_t mono_ns, struct tt_midi_log_clock clock);
struct tt_midi_frame tt_midi_log_loss_frame(uint8_t port, int64_t until_mono_ns,
                                            struct tt_midi_log_loss loss);
/* `at`: of the name's bytes, how many are in earlier frames. */
struct tt_midi_frame tt_midi_log_name_frame(uint8_t port, int64_t mono_ns, const char *name,
                                            size_t at);
struct tt_midi_frame tt_midi_log_stamp_frame(uint8_t port, int64_t mono_ns,
                                             enum tt_midi_stamp stamp);
/* What they hold; 0 or -EINVAL where the frame is too short for it. */
int tt_midi_log_clock_of(const struct tt_midi_frame *frame, struct tt_midi_log_clock *ret_clock);
int tt_midi_log_loss_of(const struct tt_midi_frame *frame, struct tt_midi_log_loss *ret_loss);
int tt_midi_log_stamp_of(const struct tt_midi_frame *frame, enum tt_midi_stamp *ret_stamp);

enum tt_midi_log_refusal {
    TT_MIDI_LOG_OK,
    TT_MIDI_LOG_MAGIC,   /* not such a file */
    TT_MIDI_LOG_SHORT,   /* cut within its header */
    TT_MIDI_LOG_VERSION, /* of a later time */
    TT_MIDI_LOG_LAYOUT,  /* sizes that cannot be */
    TT_MIDI_LOG_REFUSALS
};

/* A log in memory; the bytes stay the caller's. */
struct tt_midi_log {
    const uint8_t *data;
    size_t bytes;
    size_t at; /* of the next frame */
    struct tt_midi_log_header header;
    bool start_damaged; /* its times stand there twice, and differ: the likelier start is taken */
};

enum tt_midi_log_item {
    TT_MIDI_LOG_FRAME,
    TT_MIDI_LOG_BAD, /* a frame that cannot be: 32 bytes that are lost */
    TT_MIDI_LOG_CUT, /* the last frame is not whole */
    TT_MIDI_LOG_DONE,
};

enum tt_midi_log_refusal tt_midi_log_open(struct tt_midi_log *log, const uint8_t *data,
                                          size_t bytes);
const char *tt_midi_log_refusal_text(enum tt_midi_log_refusal refusal);
/* The next frame; BAD: why in *ret_reason. *ret_offset: where it is. */
enum tt_midi_log_item tt_midi_log_next(struct tt_midi_log *log, size_t *ret_offset,
                                       struct tt_midi_frame *ret_frame,
                                       enum tt_midi_frame_reason *ret_reason);
/* From the first frame again. */
void tt_midi_log_rewind(struct tt_midi_log *log);

#endif
