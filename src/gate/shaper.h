/*
 * A time-aware shaper: packets of a host's stack in, frames out, each at a time at which its gate
 * is open for all of it and the wire is free. A pure decision: queues, gate lists, the time.
 *
 * Classes are served by strict priority, the highest that may send first; each class in order.
 * Control frames (tt_headers_is_control) have a lane of their own in each class, in front of all
 * other frames whose gate is open as well: they never wait behind a queue. A packet is cut into
 * frames when they leave (segment.h), so that a frame can be made to fit what is left of a window.
 * A packet of which no frame ever fits is dropped and counted; also one that would fit only after a
 * change of lists that is further away than controlled delay lets a packet wait.
 *
 * Two modes. Computed departures: the shaper's own wire clock decides, as launch-time hardware
 * would; a frame's launch may be before now_ns, when that comes late (back_ns). Strict: a frame
 * leaves at now_ns or not at all, and stays off the last margin_ns of a window, because the frame
 * may reach the wire so much later. Invariant, in both: launches and wire times overlap neither a
 * closed gate nor each other.
 *
 * Uses the heap (_new and _free only). Times are TAI.
 * Source: IEEE 802.1Q-2018, 8.6.8 and 8.6.8.4.
 */
#ifndef TT_GATE_SHAPER_H
#define TT_GATE_SHAPER_H

#include "gate/codel.h"
#include "gate/packet_queue.h"
#include "gate/timeline.h"

#define TT_SHAPER_LANES       (2 * TT_GATE_CLASSES)
#define TT_SHAPER_FRAME_MAX   TT_SEGMENT_PACKET_MAX
#define TT_SHAPER_CONTROL_MAX 16384 /* bytes of control frames that wait in a class */

struct tt_shaper_setup {
    bool strict;
    bool whole; /* packets are not cut but to their segment size, and leave in one go or never,
                   with all behind them in their class: as Linux did until 2021 */
    unsigned classes;   /* 1 … TT_GATE_CLASSES */
    int64_t rate_bps;   /* of the wire */
    int64_t margin_ns;  /* strict only */
    int64_t back_ns;    /* computed only: no launch is more than so long before now_ns, because the
                           kernel would not take it. 0: any will do */
    size_t queue_bytes; /* in a class, at most; TT_SEGMENT_PACKET_MAX at least */
    size_t cut_bytes;   /* a TCP segment is cut to this payload and more, to fit what is left of a
                           window. 0: only where it fits no window at all */
};

struct tt_shaper_counters {
    uint64_t packets;         /* that came */
    uint64_t frames;          /* that left and were not refused … */
    uint64_t bytes;           /* … with so many bytes, FCS not counted */
    uint64_t payload_bytes;   /* of them TCP's or UDP's, where packets were cut */
    int64_t wire_ns;          /* … for so long on the wire */
    uint64_t segmented;       /* packets that became more than one frame */
    uint64_t cut;             /* frames shorter than their segment size, to fit what was left */
    uint64_t marked;          /* frames that tell congestion (ECN) */
    uint64_t dropped_full;    /* packets, whole */
    uint64_t dropped_delay;   /* frames, by controlled delay */
    uint64_t dropped_never;   /* packets: no window is ever long enough */
    uint64_t dropped_refused; /* frames: tt_shaper_refused */
    uint64_t refused[TT_SEGMENT_FAULTS];
    int64_t wait_max_ns; /* since it was last set to 0 */
    int64_t wait_last_ns;
};

struct tt_shaper_lane {
    struct tt_packet_queue queue;
    struct tt_codel codel;
};

struct tt_shaper {
    struct tt_shaper_setup setup;
    struct tt_gate_timeline timeline;
    bool changing; /* timeline.list has not begun yet */
    struct tt_wire wire;
    uint32_t waiting;                             /* bit n: lane n has packets */
    struct tt_shaper_lane lanes[TT_SHAPER_LANES]; /* 2 c: class c; 2 c + 1: its control frames */
    struct tt_shaper_counters counters[TT_GATE_CLASSES];
};

struct tt_shaper_frame {
    unsigned class;
    size_t bytes;
    size_t payload_bytes; /* of it TCP's or UDP's, where its packet was cut */
    int64_t launch_tai_ns;
    int64_t end_tai_ns;   /* the wire is free again */
    int64_t close_tai_ns; /* its window's end; INT64_MAX: none */
    int64_t wait_ns;      /* from its arrival to its launch */
};

/* `list` stays the caller's; it has always run. NULL: no memory. */
struct tt_shaper *tt_shaper_new(const struct tt_shaper_setup *setup,
                                const struct tt_gate_list *list);
void tt_shaper_free(struct tt_shaper *shaper);

/* From its base time on, or from its next cycle (tt_gate_start_ns), which is returned, the new list
 * holds. One that has not begun yet is replaced; both must stay until that time is over. */
TT_RT int64_t tt_shaper_replace(struct tt_shaper *shaper, const struct tt_gate_list *list,
                                int64_t now_tai_ns);

/* A packet for a class below setup.classes. What will not do is counted. */
TT_RT void tt_shaper_push(struct tt_shaper *shaper, unsigned class, const uint8_t *packet,
                          size_t bytes, const struct tt_gso *gso, int64_t now_tai_ns);

/* The next frame that is due at now_tai_ns, into `frame` (TT_SHAPER_FRAME_MAX bytes): true. Else
 * false, and when one will be: INT64_MAX, not before another packet comes. */
TT_RT bool tt_shaper_next(struct tt_shaper *shaper, int64_t now_tai_ns, uint8_t *frame,
                          struct tt_shaper_frame *ret_frame, int64_t *ret_wake_tai_ns);

/* Strict: the frame that tt_shaper_next gave was on its way at after_tai_ns at the latest, so the
 * wire is free only so much later. */
TT_RT void tt_shaper_sent(struct tt_shaper *shaper, const struct tt_shaper_frame *frame,
                          int64_t after_tai_ns);

/* The frame that tt_shaper_next gave was not taken: it did not leave. */
TT_RT void tt_shaper_refused(struct tt_shaper *shaper, const struct tt_shaper_frame *frame);

/* Bytes that wait in a class. */
TT_RT size_t tt_shaper_waiting(const struct tt_shaper *shaper, unsigned class);

#endif
