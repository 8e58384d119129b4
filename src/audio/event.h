/*
 * What happened to a stream, and where: a bounded log beside the counters, so that every frame that
 * differs from what was sent can be located.
 *
 * Invariant: memory is the caller's and fixed; neighbours of one kind merge; what no longer fits is
 * counted in `unkept`, never dropped without a trace. One writer; readers after it has stopped.
 */
#ifndef TT_AUDIO_EVENT_H
#define TT_AUDIO_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

enum tt_event_kind {
    TT_EVENT_START,  /* the device started: frame is its position, time_tai_ns its media time */
    TT_EVENT_ABSENT, /* listener: no talker; silence of `frames` */
    TT_EVENT_LOST,   /* listener: PDUs missing in the sequence; silence */
    /* listener: PDUs that came after their presentation; silence. talker, of a device that an xrun
     * does not stop: not written when they were due; silence */
    TT_EVENT_LATE,
    TT_EVENT_RESYNC,  /* listener: the stream was placed anew at `frame` */
    TT_EVENT_DROPPED, /* talker: could not meet its presentation time any more; not sent */
    TT_EVENT_REFUSED, /* talker: the link or the kernel did not take it, or gave it up */
    TT_EVENT_XRUN,    /* the program was too slow; the device stopped at `frame` */
    TT_EVENT_CLOCK,   /* TAI stepped by `frames` ns: stamps follow, mr toggled */
    TT_EVENT_SILENCE, /* talker: the program was too slow; silence of `frames` in front of `frame`
                       */
    TT_EVENT_CLOCK_LOCKED, /* the media clock's master is followed: `frame` is an event of it */
    TT_EVENT_CLOCK_LOST,   /* it is gone: the clock runs on alone, stamps are uncertain (tu) */
    TT_EVENT_KINDS
};

struct tt_event {
    enum tt_event_kind kind;
    int64_t frame;       /* device position: frames since the device was first started */
    int64_t frames;      /* how many, from there */
    int64_t time_tai_ns; /* when it was noticed */
};

struct tt_event_log {
    struct tt_event *events; /* caller's memory; may be NULL with capacity 0 */
    size_t capacity;
    size_t n;
    uint64_t unkept;
};

TT_RT void tt_event_log_add(struct tt_event_log *log, struct tt_event event);
/* "lost", "late", … as in JSON. */
const char *tt_event_kind_name(enum tt_event_kind kind);

#endif
