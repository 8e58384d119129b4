/*
 * A scene: a talker by script and whatever else is on the wire, the loop link, the listener engine
 * and a program that records, in virtual time. Seeded; the same scene gives the same run.
 *
 * A scene is arranged first (scene_pdu by scene_pdu, with what happens to each), then run, then
 * judged. Every frame's content says which frame of the source it is, so what should be where is
 * worked out from the script and the recording alone, without the listener.
 *
 * Times are ns after the scene's start unless their name says TAI.
 */
#ifndef TT_TESTS_SCENE_H
#define TT_TESTS_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audio/stream_config.h"
#include "run/listen.h"

#define SCENE_NEVER        INT64_MAX
#define SCENE_SEGMENTS     64
#define SCENE_FAILURE_TEXT 400

enum scene_kind {
    SCENE_GOOD,
    SCENE_PADDED,          /* good, with bytes behind stream_data_length */
    SCENE_OTHER_FORMAT,    /* in place of a good one, and so are the next two */
    SCENE_TRUNCATED,       /* cut to `bytes` */
    SCENE_OVERSIZED,       /* longer than the interface's MTU */
    SCENE_REPEAT,          /* beside: the same once more */
    SCENE_OTHER_STREAM,    /* beside: another stream ID */
    SCENE_OTHER_TALKER,    /* beside: the same stream ID, another source */
    SCENE_FOREIGN_SUBTYPE, /* beside: no AAF */
};

struct scene_pdu {
    enum scene_kind kind;
    unsigned segment;
    int64_t frame;        /* of the source */
    int64_t due_ns;       /* presentation, without playout latency, of its first frame … */
    int64_t stamp_ns;     /* … and what is stamped */
    int64_t departure_ns; /* in this order */
    int64_t delay_ns;     /* on the wire */
    bool lost;
    unsigned copies;
    uint8_t sequence;
    bool tv;
    bool tu;
    bool mr;
    size_t bytes; /* SCENE_TRUNCATED: of the AVTPDU */
};

/* A stretch of the talker's media clock; the next one begins with a pause, a restart or a jump. */
struct scene_segment {
    int64_t first_frame;
    /* Until the listener knows better, this many frames may be missing or stand where the segment
     * before goes on. */
    int64_t settle_frames;
};

/* What a counter must be at the end. */
struct scene_expect {
    size_t offset; /* in tt_listener_counters */
    uint64_t least;
    uint64_t most;
};

struct scene {
    uint64_t seed;
    uint64_t random;
    struct tt_stream_config config;
    int64_t start_tai_ns;
    unsigned mtu_bytes;
    int64_t place_tolerance_frames; /* between where a segment stands and what the time says */
    int64_t slack_ns;        /* what comes so close to its presentation may be in time or late */
    int64_t tail_frames;     /* before a new segment may come when that has begun already */
    int64_t gap_settle_pdus; /* behind a lost PDU so many may be missing too */
    bool unplaced;           /* nothing of the stream is ever presented */
    bool mixed;              /* any counter may count */
    uint64_t xruns;          /* that must be */

    /* The talker's state while the scene is arranged. */
    int64_t drift_ppm; /* of its media clock; positive is fast */
    int64_t at_ns;     /* where the media clock was at … */
    int64_t since;     /* … so many frames ago */
    int64_t next_frame;
    int64_t jump_ns;  /* presentation - departure - mtt */
    int64_t stamp_ns; /* stamp - presentation */
    uint8_t sequence;
    bool mr;
    bool jumped_far; /* its stamps have been out of reach */

    struct scene_pdu *pdus;
    size_t pdu_count;
    size_t pdu_capacity;
    struct scene_segment segments[SCENE_SEGMENTS];
    unsigned segment_count;
    struct scene_expect expect[32];
    size_t expect_count;
    char story[1000]; /* what the script does, in words */

    char failure[SCENE_FAILURE_TEXT]; /* empty: good */
};

/* A stretch of the recording. */
struct scene_run {
    int64_t position;
    int64_t frames;
    int64_t source; /* first frame; SCENE_SILENCE, SCENE_OTHER */
};

#define SCENE_SILENCE (-1)
#define SCENE_OTHER   (-2)

struct scene_result {
    struct tt_listen_counters counters;
    struct tt_event *events;
    size_t event_count;
    struct scene_run *runs;
    size_t run_count;
    int64_t recorded;
    int64_t end_tai_ns;   /* when the device was stopped */
    int64_t lag_first_ns; /* the device behind its media time: the worst of the first tenth … */
    int64_t lag_last_ns;  /* … and of the last */
    unsigned notes;
};

/* 48 kHz stereo, 16 bits, class A; the first PDU leaves 10 ms after the device's start. */
void scene_init(struct scene *s, uint64_t seed);
void scene_done(struct scene *s);

uint64_t scene_below(struct scene *s, uint64_t limit);
int64_t scene_frames_ns(const struct scene *s, int64_t frames);
/* Adds words to the story. */
TT_PRINTF(2, 3) void scene_tell(struct scene *s, const char *format, ...);

/* Adds `pdus` good PDUs to the current segment; they leave by the media clock. */
void scene_talk(struct scene *s, int64_t pdus);
/* A new segment: nothing is sent for pause_ns while the source waits, and what follows is due by
 * jump_ns later than before. */
void scene_break(struct scene *s, int64_t pause_ns, int64_t jump_ns, int64_t settle_pdus);
/* Adds a packet that is none of the stream's, or is a copy of PDU `like` in another shape. */
void scene_beside(struct scene *s, enum scene_kind kind, size_t like, int64_t later_ns);

#define SCENE_COUNTER(name) offsetof(struct tt_listener_counters, name)
void scene_expect(struct scene *s, size_t counter, uint64_t least, uint64_t most);

void scene_run(struct scene *s, struct scene_result *ret_result);
void scene_result_done(struct scene_result *r);

/* Says in s->failure what is first wrong, where something is. */
void scene_judge(struct scene *s, const struct scene_result *r);

/* The run in words. */
void scene_show(const struct scene *s, const struct scene_result *r, FILE *out);

#endif
