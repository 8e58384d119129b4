/*
 * A TAP device: what the machine sends through it is read here, and what is written comes in there.
 * Packets carry what the stack left to do (virtio's header): whole TCP and UDP packets of up to
 * 64 KB, checksums not filled in.
 *
 * The kernel removes the device with its descriptor, whichever way the process ends.
 * Source: Linux, Documentation/networking/tuntap.rst; virtio 1.2, 5.1.6.2 (segmentation offload).
 */
#ifndef TT_OS_TAP_H
#define TT_OS_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_TAP_HEADER_BYTES 10     /* virtio's, in front of each packet */
#define TT_TAP_MTU_MAX      65521u /* with its Ethernet header 64 KiB - 1 */
#define TT_TAP_PACKET_MAX   (TT_TAP_HEADER_BYTES + 65536 + 18)

/* What is left to do on a packet, from the header. */
struct tt_tap_header {
    enum { TT_TAP_WHOLE, TT_TAP_TCP, TT_TAP_UDP, TT_TAP_OTHER } segments;
    uint16_t segment_bytes; /* payload */
    bool needs_checksum;
    uint16_t checksum_start;
    uint16_t checksum_offset;
};

enum tt_tap_step {
    TT_TAP_STEP_OPEN,    /* ENOENT, ENXIO: no TUN/TAP in this kernel; EACCES, EPERM: no right */
    TT_TAP_STEP_NAME,    /* EBUSY: there is an interface of that name; EPERM: CAP_NET_ADMIN */
    TT_TAP_STEP_OFFLOAD, /* an old kernel */
    TT_TAP_STEP_UP,
};

/* A non-blocking, close-on-exec descriptor of a new device that is up, with that MTU or the longest
 * that a TAP takes. name: up to 15 characters.
 * 0 or -errno with the step. */
int tt_tap_open(const char *name, unsigned mtu_bytes, int *ret_fd, enum tt_tap_step *ret_step);
/* One packet with its header in front. Its bytes without the header, or -errno: -EAGAIN, there is
 * none; -EBADFD, the device was deleted. */
TT_RT int tt_tap_read(int fd, uint8_t packet[TT_TAP_PACKET_MAX], struct tt_tap_header *ret_header);
/* One packet with virtio's header in front, as tt_uplink_read gives it. 0 or -errno. */
int tt_tap_write(int fd, const uint8_t *packet, size_t bytes);

#endif
