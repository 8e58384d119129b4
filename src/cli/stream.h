/*
 * One stream at work: its engine's buffer is kept full from the source, or emptied into the sink;
 * or a bridge does that, where the source or sink is a sound card.
 *
 * Threads: _open and _close belong to the command, _step and _finish to the feeder, and
 * _status_read and _lateness_hold to whoever shows it. Nothing here is touched by the real-time
 * thread but the buffer between.
 *
 * Invariant: time goes on. What a source does not give in time is silence on the wire, what a sink
 * does not take in time is silence in it (or, where it runs by its own clock, nothing), each of its
 * exact length and counted.
 */
#ifndef TT_CLI_STREAM_H
#define TT_CLI_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/card.h"
#include "cli/sink.h"
#include "cli/source.h"
#include "cli/stream_engine.h"
#include "cli/stream_job.h"
#include "os/card.h"
#include "run/bridge.h"

enum tt_stream_state {
    TT_STREAM_WAITING, /* a listener that has yet to see what the stream is */
    TT_STREAM_FILLING, /* a talker before it starts */
    TT_STREAM_RUNNING,
    TT_STREAM_DRAINING, /* a talker whose source has ended */
    TT_STREAM_ENDED,
};

struct tt_stream_status {
    enum tt_stream_state state;
    struct tt_stream_config config;   /* complete once it runs */
    int64_t engine_frame;             /* where the engine is */
    int64_t frames;                   /* taken from the source, or handed to the sink */
    uint64_t xruns;                   /* times that the source or sink was too slow */
    int64_t frames_skipped;           /* a listener's: lost or silent because of that */
    uint64_t clipped;                 /* samples, in the conversion */
    bool starved;                     /* now */
    bool without_clock;               /* a talker that waits for the one that it follows */
    float peaks[TT_AAF_CHANNELS_MAX]; /* since the last _status_read anew; full scale is 1 */
    float peaks_ever[TT_AAF_CHANNELS_MAX];
    struct tt_talk_counters talk;
    struct tt_listen_counters listen;
    struct tt_bridge_counters card; /* where the stream's end is one */
    unsigned notes;                 /* enum tt_note */
    struct tt_message remark;       /* what a pipe's end was like; "": as it should be */
    int error;                      /* why it ended early; 0: it did not */
    struct tt_message message;
};

struct tt_stream {
    const struct tt_stream_job *job;
    enum tt_role role;
    int cpu;                       /* of the engine; -1: any */
    struct tt_stream_group *group; /* of the streams whose shape is known from the start */
    int64_t duration_ns;           /* INT64_MAX: for ever */
    int64_t begin_mono_ns;

    struct tt_stream_config config;
    enum tt_stream_part part;   /* what is being opened: where a failure belongs */
    struct tt_stream_group own; /* of a listener that had to wait for its shape */
    bool has_own;
    struct tt_attachment attachment;
    struct tt_source *source;
    struct tt_sink *sink;
    struct tt_card *card; /* instead of those, with its bridge: */
    struct tt_bridge *bridge;
    enum tt_pcm_format card_format;
    bool card_started;
    struct tt_stream_engine engine;
    int64_t buffer_frames;
    int64_t frames_left; /* until duration_ns */
    uint32_t *patterns;  /* a block: */
    int64_t held_begin;  /* frames that the sink has not taken yet */
    int64_t held_end;
    int64_t silence_frames; /* that a sink is to get first */
    int64_t leave_mono_ns;  /* when a live sink that takes nothing is left; 0: not yet */
    uint64_t padded;        /* the engine's count when we last looked */
    bool source_ended;
    bool is_ready; /* to start, with its group */

    struct tt_stream_status live; /* the feeder's own */
    pthread_mutex_t mutex;        /* held where `engine` comes or goes, and for: */
    struct tt_stream_status shared;
};

#define TT_STREAM_BLOCK_FRAMES 2048

/* Opens source or sink and link. `job` and `group` stay the caller's. 0, or -errno with
 * *ret_message (-EINVAL, -EMSGSIZE: what was asked for will not do). Close it in any case. */
int tt_stream_open(struct tt_stream *stream, struct tt_message *ret_message);
void tt_stream_close(struct tt_stream *stream);

/* What is lost where source and wire do not have the same kind of samples or rate, for a person; ""
 * where nothing is. */
void tt_stream_conversion(const struct tt_stream *stream, struct tt_message *ret_message);

/* Does what can be done now. */
void tt_stream_step(struct tt_stream *stream);
/* Its group has started. */
void tt_stream_started(struct tt_stream *stream);
/* It could not. */
void tt_stream_not_started(struct tt_stream *stream, int error);
/* Ends it, empties what is left into the sink and closes that. */
void tt_stream_finish(struct tt_stream *stream);
void tt_stream_publish(struct tt_stream *stream);
/* `anew`: peaks are measured anew from here on. */
void tt_stream_status_read(struct tt_stream *stream, bool anew,
                           struct tt_stream_status *ret_status);

/* The distribution of its engine, which stays until it is released; NULL: it has no engine. */
const struct tt_hist *tt_stream_lateness_hold(struct tt_stream *stream);
void tt_stream_lateness_release(struct tt_stream *stream);

/* Of what was given, since the start of the command; INT64_MAX: for ever. */
int64_t tt_stream_time_left(const struct tt_stream *stream);
/* It ends here, and why. */
TT_PRINTF(3, 4) void tt_stream_fail(struct tt_stream *stream, int error, const char *format, ...);

/* The two ways, each in its file; as those without a name in it. */
int tt_stream_talk_open(struct tt_stream *stream, struct tt_message *ret_message);
void tt_stream_talk_step(struct tt_stream *stream);
int tt_stream_listen_open(struct tt_stream *stream, struct tt_message *ret_message);
void tt_stream_listen_step(struct tt_stream *stream);
void tt_stream_listen_finish(struct tt_stream *stream);

/* The engine of a stream whose shape is known, and a block. 0 or -errno with *ret_message. */
int tt_stream_engine_open(struct tt_stream *stream, struct tt_message *ret_message);
/* Before its group has started. */
void tt_stream_engine_close(struct tt_stream *stream);

#endif
