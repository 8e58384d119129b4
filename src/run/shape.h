/*
 * The shaper at work: packets from a TAP through the shaper to an interface, each frame at its
 * time; and what comes in on the interface back into the TAP. The TAP is a station of its own on
 * the wire, with its own address.
 *
 * One real-time thread reads the TAP, decides and sends; one without priority does the way back.
 * Everything in here is owned by it; lists are the caller's, and stay while they are used.
 */
#ifndef TT_RUN_SHAPE_H
#define TT_RUN_SHAPE_H

#include "audio/stream_config.h"
#include "base/hist.h"
#include "gate/classify.h"
#include "gate/shaper.h"
#include "os/clock.h"
#include "os/link_packet.h"
#include "os/tap.h"

struct tt_shape_setup {
    const char *tap;
    const char *ifname;
    struct tt_clock *clock;
    struct tt_shaper_setup shaper;
    struct tt_classifier classifier;
    const struct tt_gate_list *list;
    int64_t lead_ns; /* the interface keeps launch times: frames are handed over up to so long
                        before; computed departures only. 0: they are sent when they are due */
    int priority;    /* of what is sent; with a lead: where the etf is */
    bool log;        /* departures are kept for tt_shape_take */
};

struct tt_shape_class {
    struct tt_shaper_counters shaper;
    uint64_t overruns; /* frames that were really handed over too late for their window, or refused
                          for that */
    size_t waiting_bytes;
};

struct tt_shape_counters {
    struct tt_shape_class classes[TT_GATE_CLASSES];
    uint64_t returned;       /* packets from the interface into the TAP */
    uint64_t return_lost;    /* too long, not taken by the TAP, or more came than were read */
    uint64_t tap_dropped;    /* packets that the TAP had no room for, while nobody read it */
    uint64_t unknown;        /* packets that the TAP did not say how to cut */
    uint64_t send_refused;   /* frames that the interface did not take, of all classes */
    uint64_t launch_refused; /* frames that the kernel dropped for their launch time */
    uint64_t log_lost;       /* departures that nobody took in time */
    uint64_t clock_steps;    /* of TAI */
    int64_t elapsed_ns;      /* since the start, at … */
    int64_t now_tai_ns;
    int64_t cpu_ns;                           /* of the real-time thread */
    uint64_t lists;                           /* that were taken after the first */
    int64_t list_start_tai_ns;                /* of the newest list */
    const struct tt_gate_list *lists_used[2]; /* the newest, and the one that it replaces */
};

/* For the log. */
struct tt_shape_departure {
    int64_t launch_tai_ns; /* computed, or, strict, when it was decided */
    int64_t after_tai_ns;  /* when it was handed over at the latest */
    int64_t arrival_tai_ns;
    uint32_t bytes;
    uint32_t class;
};

enum tt_shape_step {
    TT_SHAPE_STEP_CLAIM, /* -EADDRINUSE: another one shapes to that interface */
    TT_SHAPE_STEP_LINK,
    TT_SHAPE_STEP_UPLINK,
    TT_SHAPE_STEP_TAP,
    TT_SHAPE_STEP_MEMORY,
    TT_SHAPE_STEP_THREAD,
};

struct tt_shape;

/* 0 with *ret_shape, at work; or -errno, and where: ret_link_step or ret_tap_step says more. */
struct tt_shape_fault {
    enum tt_shape_step step;
    enum tt_link_step link;
    enum tt_tap_step tap;
};
int tt_shape_new(const struct tt_shape_setup *setup, struct tt_shape **ret_shape,
                 struct tt_shape_fault *ret_fault);
/* Stops; NULL is fine. */
void tt_shape_free(struct tt_shape *shape);

/* Any thread. */
void tt_shape_read(struct tt_shape *shape, struct tt_shape_counters *ret_counters);
/* Real-time priority was granted. */
bool tt_shape_has_realtime(const struct tt_shape *shape);
/* The interface was up at the start. */
bool tt_shape_was_up(const struct tt_shape *shape);
/* What has become of the interface since the last call (or the start). The device gets its MTU
 * where that changed, and where it had a longer one: error is what came of that. From one thread.
 */
struct tt_shape_link {
    char ifname[TT_IFNAME_BYTES]; /* as it is called now, */
    char tap[TT_IFNAME_BYTES];    /* … and the device; "": it is gone */
    bool was_up;
    bool is_up;
    unsigned had_mtu_bytes;
    unsigned mtu_bytes;
    unsigned tap_mtu_bytes; /* before */
    int error;
};
void tt_shape_follow_link(struct tt_shape *shape, struct tt_shape_link *ret_link);
/* Why nothing is shaped any more; it does not come back. */
enum tt_shape_end { TT_SHAPE_AT_WORK, TT_SHAPE_INTERFACE_GONE, TT_SHAPE_TAP_GONE };
enum tt_shape_end tt_shape_end(struct tt_shape *shape);
/* Hands over a list; it is taken within a few ms (tt_shape_counters says from when). false: the one
 * before has not been taken yet. */
bool tt_shape_replace(struct tt_shape *shape, const struct tt_gate_list *list);
/* Departures since the last call, up to `capacity`. */
size_t tt_shape_take(struct tt_shape *shape, struct tt_shape_departure *ret_departures,
                     size_t capacity);
void tt_shape_stop(struct tt_shape *shape);
/* From the launch to its being handed over; from a packet's arrival to the launch, of a class
 * (NULL: that class is not in use). Before tt_shape_stop they grow while one reads them. */
const struct tt_hist *tt_shape_lateness(const struct tt_shape *shape);
const struct tt_hist *tt_shape_wait(const struct tt_shape *shape, unsigned class);

#endif
