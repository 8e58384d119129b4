/*
 * What a bystander can say of the AVTP streams on a link, from packets and arrival stamps alone.
 *
 * Pure, constant memory per stream (on the heap, at its first PDU), the same live and from a
 * capture. What of one stream: audio/observed.
 */
#ifndef TT_AUDIO_OBSERVER_H
#define TT_AUDIO_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/conduct.h"
#include "audio/link_traffic.h"
#include "audio/observed.h"

/* Which streams are looked at: all fields that are set have to fit. */
struct tt_observer_filter {
    bool by_stream_id;
    bool by_address;
    bool by_vlan;
    uint64_t stream_id;
    uint8_t address[6]; /* source or destination */
    int vlan_id;        /* -1: untagged */
};

struct tt_observer {
    struct tt_observed **streams; /* in order of appearance */
    struct tt_observed *latest;   /* that a PDU was of; NULL: none yet */
    size_t count;
    size_t capacity;
    uint32_t *slots; /* hash table: index + 1 into streams; 0: free */
    size_t slot_mask;
    uint64_t packets; /* of any kind */
    uint64_t not_avtp;
    uint64_t malformed; /* AVTP EtherType, but no AVTPDU */
    uint64_t cut;       /* too few bytes captured to tell */
    uint64_t beyond;    /* of streams beyond `capacity`, or of memory */
    uint64_t filtered;  /* AVTP that the filter leaves out; counted nowhere else */
    uint64_t by_subtype[256];
    struct tt_link_traffic traffic;
    struct tt_observer_filter filter; /* set it before the first packet */
    int64_t first_ns;                 /* the earliest arrival and the latest */
    int64_t last_ns;
    uint64_t dropped_here; /* packets that this machine lost before they could be seen, if known */
    uint64_t downs_here;   /* how often the interface was down meanwhile */
    bool tai_known;        /* scales.tai_offset_ns is no mere guess */
    struct tt_conduct_scales scales;
};

/* Up to `capacity` streams, each allocated when it first appears. 0 or -ENOMEM. */
int tt_observer_init(struct tt_observer *observer, size_t capacity);
/* How many seconds TAI is ahead of UTC, where arrivals are; before the first packet. 37 otherwise.
 * 0: nobody set it on this machine, so its UTC may be either. 37 s are tried then, and stamps that
 * fit with them or without are both taken as right. */
void tt_observer_set_tai_offset(struct tt_observer *observer, int seconds);
void tt_observer_done(struct tt_observer *observer);

/* One Ethernet frame, tag in-line, with its arrival time in ns of UTC. `bytes` is what was
 * captured, `wire_bytes` the frame's length on the wire (a snap length may have cut it: lengths are
 * then checked against wire_bytes and the payload is not read). Returns whether the filter lets it
 * through; what is not AVTP passes. */
bool tt_observer_packet(struct tt_observer *observer, const uint8_t *frame, size_t bytes,
                        size_t wire_bytes, int64_t arrival_ns);
/* One whose arrival time is damaged: its PDU is not missing, and that is all. */
void tt_observer_untimed(struct tt_observer *observer, const uint8_t *frame, size_t bytes);

#endif
