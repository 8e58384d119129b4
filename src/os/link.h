/*
 * The link seam: packets of one Ethernet interface, out with launch times, in with arrival stamps.
 * Two implementations: link_packet (AF_PACKET) and link_loop (in memory, scripted).
 *
 * All times are TAI. A link is used by one thread at a time. Calls never block.
 */
#ifndef TT_OS_LINK_H
#define TT_OS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_LINK_BATCH 64 /* packets per call, at most */

struct tt_link_packet {
    uint8_t *data;       /* the Ethernet frame; tags in-line when sent */
    size_t bytes;        /* send: its length. receive: capacity, then the length on the wire */
    int64_t time_tai_ns; /* send: launch time where the link keeps them. receive: arrival, by the
                            kernel */
    int vlan_id;         /* receive: of the tag that the kernel took off; -1: none */
    int pcp;
};

/* What became of packets after they were handed over (the socket's error queue). */
struct tt_link_errors {
    uint64_t launch_missed;  /* dropped: its launch time passed before it could be sent */
    uint64_t launch_invalid; /* refused: past already, or the wrong clock */
    uint64_t other;
    int64_t last_launch_tai_ns;           /* launch time of the last one of these */
    int64_t missed_tai_ns[TT_LINK_BATCH]; /* launch times that passed, of this call … */
    int located;                          /* … so many; the others are only counted */
};

struct tt_link;

struct tt_link_ops {
    /* Sends up to n <= TT_LINK_BATCH packets in order; returns how many the kernel took before it
     * refused one, or -errno where it refused the first: -EAGAIN, -ENOBUFS no room, or etf refuses
     * the first one's launch time (then collect_errors counts it); -EMSGSIZE longer than the MTU
     * allows; -ENETDOWN, works again by itself when the link is up; -ENXIO the interface is gone.
     */
    int (*send)(struct tt_link *link, const struct tt_link_packet *packets, int n);
    /* Takes up to n <= TT_LINK_BATCH packets that are there; 0: none. An interface that is down has
     * none; they come again by themselves when it is up. -ENXIO: the interface is gone. */
    int (*receive)(struct tt_link *link, struct tt_link_packet *packets, int n);
    /* Adds up to TT_LINK_BATCH reports of the error queue to *errors and returns how many. */
    int (*collect_errors)(struct tt_link *link, struct tt_link_errors *errors);
    /* How many packets that were handed over have neither left nor been dropped; -1: cannot be
     * told.
     */
    int (*waiting)(struct tt_link *link);
    /* Whether the interface is up and has a carrier, as far as can be told. */
    bool (*is_up)(struct tt_link *link);
    /* Whether the interface is gone for good, for who neither sends nor receives; any thread may
     * ask, whatever the others do. */
    bool (*is_gone)(struct tt_link *link);
    /* From now on packets leave when they are sent, past the kernel's qdiscs, which can refuse them
     * no more: launch times are no longer kept. 0 or -errno. */
    int (*bypass)(struct tt_link *link);
    /* Packets lost before they could be read (ring full), since the last call; known with the next
     * packet that comes. */
    uint64_t (*receive_drops)(struct tt_link *link);
    void (*close)(struct tt_link *link);
};

struct tt_link {
    const struct tt_link_ops *ops;
    uint8_t mac[6];
    unsigned mtu_bytes;
    int64_t speed_mbps;      /* 0: unknown */
    bool keeps_launch_times; /* the kernel or the hardware releases packets at their time */
    bool was_up;             /* for who sends: is_up as last asked, … */
    int64_t ask_mono_ns;     /* … and when to ask again */
};

/* Closes and frees; NULL is fine. */
static inline void tt_link_close(struct tt_link *link)
{
    if (link) {
        link->ops->close(link);
    }
}

#endif
