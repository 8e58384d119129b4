/*
 * An Ethernet link by AF_PACKET.
 *
 * A sender binds to protocol 0 and so receives nothing; its packets can go by AF_XDP (xdp_ring.h).
 * A receiver takes ETH_P_ALL behind a BPF filter (a socket bound to 0x22F0 sees tagged frames
 * without their tag) from a ring that the kernel shares (packet_ring.h), with its receive stamps
 * and the tag that it took off, and joins the stream's multicast address.
 */
#ifndef TT_OS_LINK_PACKET_H
#define TT_OS_LINK_PACKET_H

#include "os/link.h"

struct tt_link_packet_setup {
    const char *ifname;
    int priority; /* SO_PRIORITY of what is sent */
    bool send;
    bool launch_times; /* ask for SO_TXTIME (CLOCK_TAI) with error reports */
    bool bypass;       /* send past the qdiscs */
    bool xdp;          /* send by AF_XDP, on the first queue */
    bool receive;
    /* receive: only to this address, joined when multicast. NULL: any, all multicast is joined */
    const uint8_t *dest;
    const uint64_t *stream_id;   /* receive: only AVTP of this stream. NULL: all AVTP */
    size_t receive_buffer_bytes; /* of the ring; a least one where 0 */
};

/* Which step failed, so that the front can name key and remedy. */
enum tt_link_step {
    TT_LINK_STEP_SOCKET,    /* EPERM: CAP_NET_RAW is missing */
    TT_LINK_STEP_INTERFACE, /* ENODEV: there is no such interface */
    TT_LINK_STEP_ETHERNET,  /* not an Ethernet interface: EMEDIUMTYPE */
    TT_LINK_STEP_BIND,
    TT_LINK_STEP_PRIORITY, /* EPERM above 6: CAP_NET_ADMIN is missing */
    TT_LINK_STEP_XDP,      /* see tt_xdp_ring_open */
    TT_LINK_STEP_LAUNCH,   /* SO_TXTIME was refused: EPERM without CAP_NET_ADMIN */
    TT_LINK_STEP_FILTER,
    TT_LINK_STEP_RING, /* ENOMEM: no memory for a receive ring */
    TT_LINK_STEP_MEMBERSHIP,
    TT_LINK_STEP_MEMORY,
    TT_LINK_STEPS
};

struct tt_link_packet_found {
    enum tt_link_step step;      /* on failure: where */
    size_t receive_buffer_bytes; /* what the kernel granted of what was asked for */
    bool up;                     /* the interface is up and has a carrier */
};

/* 0 with *ret_link (free with tt_link_close) or -errno; *ret_found is written in both cases. */
int tt_link_packet_new(const struct tt_link_packet_setup *setup, struct tt_link **ret_link,
                       struct tt_link_packet_found *ret_found);

/* Of a bound AF_PACKET socket: its interface was deleted or moved elsewhere; the kernel unbinds it
 * then. */
bool tt_link_packet_is_gone(int fd);

#endif
