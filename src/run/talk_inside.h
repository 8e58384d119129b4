/*
 * What the files of the talker engine share; nobody else includes it.
 *
 * talk.c is the program's side and the thread; talk_step.c the loop body; talk_clock.c what time it
 * is; talk_fate.c what became of the PDUs. All but talk.c is the engine's: no thread, no lock, no
 * allocation, one step after the other, so that one thread can step many.
 */
#ifndef TT_RUN_TALK_INSIDE_H
#define TT_RUN_TALK_INSIDE_H

#include "audio/talker.h"
#include "base/counters.h"
#include "base/timebase.h"
#include "run/flight.h"
#include "run/launch.h"
#include "run/ring.h"
#include "run/talk.h"
#include "run/thread.h"

/* What other threads read, under the sequence lock. */
struct tt_talk_public {
    struct tt_talk_counters counters;
    int64_t start_frame; /* presented at start_mono_ns */
    int64_t start_mono_ns;
    int64_t shift_frames; /* silence since then: the talker's positions are the program's plus
                                this */
};

struct tt_talk {
    struct tt_device device;
    struct tt_stream_config config;
    struct tt_link *link;
    struct tt_clock *clock;
    struct tt_talker talker;
    struct tt_timebase timebase;
    struct tt_engine_thread thread;
    bool kernel_pace; /* launch times are handed over */
    struct tt_launch_plan plan;
    struct tt_launch_trial trial;
    struct tt_flight flight;
    int64_t reports_until_tai_ns; /* after that the kernel has nothing more to report */
    int64_t last_launch_tai_ns;
    int64_t clock_look_mono_ns; /* when the clock's state is looked at next, … */
    int64_t link_look_mono_ns;  /* … and the link's */
    bool link_up;
    bool silent; /* silence stands in for the program */
    atomic_uint notes;

    size_t packet_bytes;
    struct tt_ring ring;
    uint8_t *packets; /* TT_LINK_BATCH */

    struct tt_seqlock lock;
    struct tt_talk_public shared;
    struct tt_talk_public live; /* the engine's own copy */
    struct tt_hist lateness;
    struct tt_event_log log;
};

/* What one step takes from the buffer. */
struct tt_talk_batch {
    struct tt_talker_pdu pdus[TT_LINK_BATCH];
    struct tt_link_packet packets[TT_LINK_BATCH];
    int64_t frames[TT_LINK_BATCH]; /* of the program's in each; `pdus` have device positions */
    bool refused[TT_LINK_BATCH];
    int n;
    bool starved; /* the program has not written the next one */
};

/* Device position of what is sent next. */
int64_t tt_talk_position(const struct tt_talk *talk);
/* The offset of the stamps; it may change when the clock steps. */
void tt_talk_read_tai_offset(struct tt_talk *talk);
int64_t tt_talk_mono(struct tt_talk *talk);
/* Now, by the followed offset; where TAI stepped, the stamps step with it. */
TT_RT int64_t tt_talk_follow_tai(struct tt_talk *talk);

/* Hands the counters to the other threads. */
TT_RT void tt_talk_publish(struct tt_talk *talk);
TT_RT void tt_talk_log_event(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame,
                             int64_t frames, int64_t now_tai_ns);

/* … of frames of the program's, where there are any. */
TT_RT void tt_talk_log_lost(struct tt_talk *talk, enum tt_event_kind kind, int64_t frame,
                            int64_t frames, int64_t now_tai_ns);

/* Takes the kernel's reports. Returns how many PDUs it dropped after it had taken them;
 * *launch_tai_ns becomes the launch time of the last one. */
TT_RT unsigned tt_talk_collect_errors(struct tt_talk *talk, int64_t now_tai_ns,
                                      int64_t *launch_tai_ns);
/* Kernel pacing: finds PDUs that the kernel has no more though their time has not come; no report
 * tells of these. Returns how many of them say that the qdisc keeps no launch times: what one step
 * handed over, at most, as a qdisc that is replaced takes all of its packets along once. */
TT_RT unsigned tt_talk_find_unkept(struct tt_talk *talk);
/* Books what became of the batch; returns how many were refused. */
TT_RT unsigned tt_talk_book(struct tt_talk *talk, const struct tt_talk_batch *batch,
                            int64_t done_tai_ns);
/* Where the qdiscs of a link that is up refuse most of what they get, packets go past them from
 * here on, and software keeps their time. */
TT_RT void tt_talk_judge_kernel(struct tt_talk *talk, unsigned handed, unsigned refused,
                                int64_t launch_tai_ns);

#endif
