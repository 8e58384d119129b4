/*
 * The send ring of an AF_XDP socket, in copy mode: packets go from memory that is shared with the
 * kernel straight to the driver, past the qdiscs and past what watches the interface from this
 * machine. No message is copied per packet and no header looked into, which is a third of what a
 * packet socket costs.
 *
 * Only one socket can have a queue of an interface. Any interface will do; nothing is received.
 * Invariant: after a send nothing of it is left in the ring, so that nothing leaves late: a ring
 * that the kernel does not empty is closed.
 * Source: the kernel's networking/af_xdp.rst.
 */
#ifndef TT_OS_XDP_RING_H
#define TT_OS_XDP_RING_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "os/link.h"

struct xdp_desc;

#define TT_XDP_RING_BYTES   4096 /* the most that a packet has */
#define TT_XDP_RING_PACKETS 512  /* in the ring, or not yet reported as done; a power of two */

/* fd 0 and less: not open. */
struct tt_xdp_ring {
    int fd;
    uint8_t *packets; /* TT_XDP_RING_PACKETS of packet_bytes */
    size_t packet_bytes;
    uint8_t *send_memory; /* the kernel's, mapped */
    size_t send_bytes;
    uint8_t *done_memory;
    size_t done_bytes;
    uint32_t *send_producer;
    uint32_t *send_consumer;
    struct xdp_desc *sends;
    uint32_t *done_producer;
    uint32_t *done_consumer;
    uint64_t *dones;
    uint64_t free[TT_XDP_RING_PACKETS]; /* addresses in `packets` */
    size_t free_count;
    int dropped; /* of the last send's packets, not told yet */
};

/* For packets of up to packet_bytes on this queue of the interface, or of up to a page where that
 * is less. 0 or -errno: EPERM (CAP_NET_RAW is missing), EBUSY (another socket has the queue),
 * EINVAL (there is no such queue), EAFNOSUPPORT (a kernel without AF_XDP), ENOBUFS
 * (RLIMIT_MEMLOCK). */
int tt_xdp_ring_open(int ifindex, uint32_t queue, size_t packet_bytes,
                     struct tt_xdp_ring *ret_ring);
/* Also of one that was not opened (all zero). */
void tt_xdp_ring_close(struct tt_xdp_ring *ring);

/* As link.h's send. How many the driver dropped is known, not which: that is said of the last ones,
 * as refusals, where the caller hands these over again. Where the kernel takes no more (-ENETDOWN,
 * -ENXIO, -EAGAIN and others but -ENOBUFS and -EMSGSIZE) the ring is closed. */
TT_RT int tt_xdp_ring_send(struct tt_xdp_ring *ring, const struct tt_link_packet *packets, int n);

#endif
