/*
 * What the talker's files and the engine share; nobody else includes it.
 *
 * talk.c is the program's side; talk_step.c what a step does for one talker; talk_clock.c what time
 * it is; talk_fate.c what became of the PDUs. All but talk.c is the engine's thread's: no lock and
 * no allocation. run/engine.c drives any number of talkers through them.
 */
#ifndef TT_RUN_TALK_INSIDE_H
#define TT_RUN_TALK_INSIDE_H

#include "audio/talker.h"
#include "base/counters.h"
#include "run/engine.h"
#include "run/flight.h"
#include "run/launch.h"
#include "run/ring.h"
#include "run/talk.h"

/* PDUs of any number of talkers on their way to one link, in the order in which they are due. */
struct tt_talk_batch {
    struct tt_link *link;
    uint64_t calls; /* of batches handed to a link */
    int n;
    struct tt_talk *talks[TT_LINK_BATCH];
    struct tt_talker_pdu pdus[TT_LINK_BATCH];
    int64_t frames[TT_LINK_BATCH]; /* of the program's in each; `pdus` have device positions */
    struct tt_link_packet packets[TT_LINK_BATCH];
    bool refused[TT_LINK_BATCH];
    size_t packet_bytes; /* of the longest */
    uint8_t *data;       /* TT_LINK_BATCH x packet_bytes */
};

/* What other threads read, under the sequence lock. */
struct tt_talk_public {
    struct tt_talk_counters counters;
    int64_t start_frame; /* presented at start_mono_ns */
    int64_t start_mono_ns;
    int64_t
        shift_frames;   /* silence since then: the talker's positions are the program's plus this */
    int64_t next_frame; /* of the next PDU */
    int64_t next_due_tai_ns;
};

/* What a step has found of one talker. */
struct tt_talk_found {
    unsigned handed;        /* PDUs to the link */
    unsigned refused;       /* by it, or known by now to have been dropped by the kernel … */
    int64_t refused_tai_ns; /* … the last launch time of which */
    int64_t next_launch_tai_ns; /* of what is left */
    bool starved;           /* the program has not written the next PDU */
    bool link_down;
    bool link_gone;
};

struct tt_talk {
    struct tt_device device;
    struct tt_stream_config config;
    struct tt_link *link;
    struct tt_engine *engine;
    bool owns_engine;
    const struct tt_timebase *timebase; /* the engine's */
    struct tt_talker talker;
    struct tt_talk_found found;
    int64_t next_tai_ns; /* when there is something to do again */
    bool kernel_pace;    /* launch times are handed over */
    struct tt_launch_plan plan;
    struct tt_launch_trial trial;
    struct tt_flight flight;
    int64_t reports_until_tai_ns; /* after that the kernel has nothing more to report */
    int64_t last_launch_tai_ns;
    bool silent;        /* silence stands in for the program */
    atomic_bool ends;   /* where what was written does */
    int64_t xrun_frame; /* up to here the last xrun is told */
    atomic_uint notes;

    size_t packet_bytes;
    struct tt_ring ring;

    struct tt_seqlock lock;
    struct tt_talk_public shared;
    struct tt_talk_public live; /* the engine's own copy */
    struct tt_hist lateness;
    struct tt_event_log log;
};

/* The offset of the stamps; it may change when the clock steps. */
void tt_talk_read_tai_offset(struct tt_talk *talk);
/* Device position of what is sent next. */
int64_t tt_talk_position(const struct tt_talk *talk);
/* Whether the kernel says that its clock is not synchronised: then PDUs carry tu. */
TT_RT void tt_talk_set_clock(struct tt_talk *talk, bool unsynchronised);
/* TAI stepped: the stamps step with it. */
TT_RT void tt_talk_clock_step(struct tt_talk *talk, int64_t step_ns, int64_t now_tai_ns);

/* The first frame in the buffer has media time media_tai_ns; the device runs. */
void tt_talk_begin(struct tt_talk *talk, int64_t media_tai_ns, int64_t now_tai_ns);
/* The least time from now to a start, that its first PDU be in time. */
int64_t tt_talk_start_lead(const struct tt_talk *talk);
/* The engine has stopped. */
void tt_talk_end(struct tt_talk *talk);

/* Whether the device runs; only then the three parts of a step follow, for all that are due before
 * the next part: */
TT_RT bool tt_talk_runs(const struct tt_talk *talk);
/* Puts what is to be handed over now into the batch, which may be sent in between. */
TT_RT void tt_talk_gather(struct tt_talk *talk, int64_t now_tai_ns, struct tt_talk_batch *batch);
/* Sends the batch, books what became of it, and empties it. Returns the time when that was done. */
TT_RT int64_t tt_talk_flush(struct tt_engine *engine, struct tt_talk_batch *batch);
/* Judges, publishes, wakes the program, and sets next_tai_ns. */
TT_RT void tt_talk_conclude(struct tt_talk *talk, int64_t now_tai_ns);
/* It runs, and our steps decide when its PDUs leave. */
TT_RT bool tt_talk_is_paced(const struct tt_talk *talk);
/* … and the burst limit holds them back. */
TT_RT bool tt_talk_is_behind(const struct tt_talk *talk);

/* Hands the counters to the other threads. */
TT_RT void tt_talk_publish(struct tt_talk *talk);
TT_RT void tt_talk_log_event(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame,
                             int64_t frames, int64_t now_tai_ns);
/* … of frames of the program's, where there are any. */
TT_RT void tt_talk_log_lost(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame,
                            int64_t frames, int64_t now_tai_ns);
/* Asks now and then whether the link is up. */
TT_RT void tt_talk_look_at_link(struct tt_link *link, int64_t now_mono_ns);
/* Takes the kernel's reports of PDUs that it dropped after it had taken them. */
TT_RT void tt_talk_collect_errors(struct tt_talk *talk, int64_t now_tai_ns);
/* Kernel pacing: finds PDUs that the kernel has no more though their time has not come; no report
 * tells of these. */
TT_RT void tt_talk_find_unkept(struct tt_talk *talk);
/* Books what became of PDU i of the batch. */
TT_RT void tt_talk_book(const struct tt_talk_batch *batch, int i, int64_t done_tai_ns);
/* Where the qdiscs of a link that is up refuse most of what they get, packets go past them from
 * here on, and software keeps their time. */
TT_RT void tt_talk_judge_kernel(struct tt_talk *talk);

#endif
