/*
 * Standard MIDI Files: a reader that keeps whatever is good in a file and names each fault with the
 * offset of its byte, and a writer.
 *
 * Reader: over memory, one item at a time, in the order of the file; any bytes do, each call goes
 * on by at least one byte, nothing is allocated. What can be understood is read; what a file says
 * wrongly about itself is a warning; only what cannot be read is a loss.
 * Writer: makes the bytes in front of each event's data; the caller writes both. No running status.
 * Source: Standard MIDI Files 1.0 (RP-001).
 */
#ifndef TT_MIDI_SMF_H
#define TT_MIDI_SMF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "midi/message.h"
#include "midi/parser.h"

/* Written files: a tick is 20 us at 120 BPM, also to a reader that ignores tempo. */
#define TT_SMF_PPQ        25000
#define TT_SMF_TICK_NS    INT64_C(20000)
#define TT_SMF_TEMPO_US   500000 /* a quarter, where nothing is said */
#define TT_SMF_DELTA_MAX  UINT32_C(0x0FFFFFFF)
#define TT_SMF_HEAD_BYTES 16 /* in front of an event's data, at most */

#define TT_SMF_META_TEXT   0x01
#define TT_SMF_META_NAME   0x03
#define TT_SMF_META_MARKER 0x06
#define TT_SMF_META_END    0x2F
#define TT_SMF_META_TEMPO  0x51
#define TT_SMF_META_OFFSET 0x54 /* SMPTE */
#define TT_SMF_META_TIME   0x58 /* signature */
#define TT_SMF_META_KEY    0x59

enum tt_smf_kind {
    TT_SMF_MESSAGE, /* a whole channel message; of the others, what a file wrongly has bare */
    TT_SMF_SYSEX, /* data without the F0; `begins` tells a first piece, `more` that another comes */
    TT_SMF_ESCAPE, /* F7: bytes to be sent as they are */
    TT_SMF_META,
};

struct tt_smf_event {
    enum tt_smf_kind kind;
    uint8_t type; /* META */
    bool begins;  /* SYSEX */
    bool more;    /* SYSEX: it does not end with F7 */
    uint64_t tick;
    const uint8_t *data;
    size_t bytes;
};

/* In the order in which a file is read. */
enum tt_smf_fault {
    TT_SMF_FINE,
    TT_SMF_NO_HEADER, /* these four: nothing can be read at all */
    TT_SMF_HEADER_CUT,
    TT_SMF_HEADER_SHORT,
    TT_SMF_NO_TRACK,
    TT_SMF_FORMAT,         /* over 2: read as 1 */
    TT_SMF_FORMAT_0,       /* with several tracks: read as 1 */
    TT_SMF_DIVISION,       /* 0: times cannot be told */
    TT_SMF_DIVISION_SMPTE, /* frames a second that SMPTE does not have */
    TT_SMF_CHUNK_UNKNOWN,
    TT_SMF_CHUNK_HEAD,   /* what is behind the last chunk is too short for another */
    TT_SMF_CHUNK_LONG,   /* a length beyond the end of the file */
    TT_SMF_TRACK_CUT,    /* and the track does not end before */
    TT_SMF_TRACKS_FEWER, /* than announced */
    TT_SMF_TRACKS_MORE,
    TT_SMF_NO_END, /* of track */
    TT_SMF_AFTER_END,
    TT_SMF_LONG_NUMBER,    /* of five bytes or more: the rest of the track cannot be read */
    TT_SMF_EVENT_CUT,      /* by the end of the track */
    TT_SMF_NO_STATUS,      /* data with no status before: as LONG_NUMBER */
    TT_SMF_RUNNING_ACROSS, /* running status goes on behind a meta event or SysEx */
    TT_SMF_DATA_BYTE,      /* of 80 or more in a message, which is left out */
    TT_SMF_BARE_SYSTEM,    /* F1 to F6 or F8 to FE as an event of its own, or F8 to FE inside one */
    TT_SMF_SYSEX_UNFINISHED,
    TT_SMF_META_LENGTH,  /* not as long as its type is */
    TT_SMF_TEMPO_LENGTH, /* under three bytes: no tempo can be read; longer: the first three */
    TT_SMF_TEMPO_ZERO,
    TT_SMF_FAULTS
};

const char *tt_smf_fault_text(enum tt_smf_fault fault);
/* Something of the file is lost by it. */
bool tt_smf_fault_loses(enum tt_smf_fault fault);

enum tt_smf_item_kind { TT_SMF_ITEM_EVENT, TT_SMF_ITEM_FAULT };

struct tt_smf_item {
    enum tt_smf_item_kind kind;
    unsigned track; /* from 0; of the chunks that are tracks */
    size_t offset;  /* in the file: of the event's delta, or where the fault is */
    struct tt_smf_event event;
    enum tt_smf_fault fault;
};

struct tt_smf_division {
    unsigned ppq;   /* ticks a quarter; 0: SMPTE, the two below */
    unsigned fps;   /* 29 stands for 30000/1001 */
    unsigned ticks; /* a frame */
};

struct tt_smf_fault_at {
    enum tt_smf_fault fault;
    size_t offset;
};

#define TT_SMF_FAULTS_WAITING 6 /* one place can have so many */

struct tt_smf {
    const uint8_t *data; /* the caller's */
    size_t bytes;
    unsigned format; /* 0 to 2 */
    unsigned tracks_announced;
    struct tt_smf_division division;

    unsigned tracks; /* begun so far */
    size_t at;
    size_t end; /* of the chunk at hand, within the file */
    bool in_track;
    bool long_chunk; /* its length goes beyond the file */
    bool done;
    uint64_t tick;
    uint8_t running;
    bool running_broken; /* a meta event or SysEx came since */
    bool no_delta;       /* the event at hand cut the one before off */
    bool on_trial;       /* a copy, which looks how it would go on */
    size_t inside_at;    /* a message into which real-time bytes fell: these come next */
    size_t inside_end;
    bool sysex_open;
    size_t sysex_at;
    uint8_t message[TT_MIDI_MESSAGE_MAX];
    struct tt_smf_fault_at waiting[TT_SMF_FAULTS_WAITING];
    unsigned waiting_count;
    unsigned waiting_at;
    bool event_ready; /* behind the faults that wait */
    struct tt_smf_item event;
};

/* FINE, or why there is nothing to be read. The bytes stay the caller's. */
enum tt_smf_fault tt_smf_open(struct tt_smf *smf, const uint8_t *data, size_t bytes);
/* False: no more. An event's data is good until the next call. */
bool tt_smf_next(struct tt_smf *smf, struct tt_smf_item *ret_item);
/* From the first item again. */
void tt_smf_rewind(struct tt_smf *smf);

/* Microseconds a quarter of a tempo event; 0: it has none. */
uint32_t tt_smf_tempo_of(const struct tt_smf_event *event);

/* ---- writing */

struct tt_smf_track {
    uint64_t tick;  /* of the last event */
    uint64_t bytes; /* of the chunk, without its head */
};

#define TT_SMF_HEADER_BYTES 14
#define TT_SMF_CHUNK_BYTES  8 /* in front of a track */

void tt_smf_header_write(unsigned format, unsigned tracks, unsigned ppq,
                         uint8_t ret_bytes[TT_SMF_HEADER_BYTES]);
/* 0, or -EFBIG: a track has 2^32 - 1 bytes at most. */
int tt_smf_chunk_write(uint64_t track_bytes, uint8_t ret_bytes[TT_SMF_CHUNK_BYTES]);

/* The bytes in front of `event`'s data. 0: write them, then the data. 1: write them, and call
 * again: the gap is longer than a delta can say, and is bridged by an empty text. -EINVAL: there is
 * no such event, or its tick is before the last one's. */
int tt_smf_event_write(struct tt_smf_track *track, const struct tt_smf_event *event,
                       uint8_t ret_head[TT_SMF_HEAD_BYTES], size_t *ret_head_bytes);

/* How a parser's event stands in a file; STRAY bytes as an escape. */
struct tt_smf_event tt_smf_event_of(const struct tt_midi_event *event, uint64_t tick);
/* ns since the start of the file, not negative, to the nearest tick of 20 us. */
uint64_t tt_smf_tick_of(int64_t ns);

#endif
