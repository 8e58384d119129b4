/*
 * All that comes in on an interface for others than the interface's own address: what a station
 * behind it hears, with virtio's header in front, so that it can be written to a TAP as it is.
 * Packets that were joined on the way in (GRO), or never cut (between virtual interfaces), stay
 * whole.
 *
 * The interface is promiscuous as long as the descriptor is open.
 * Source: Linux, packet(7); PACKET_VNET_HDR.
 */
#ifndef TT_OS_UPLINK_H
#define TT_OS_UPLINK_H

#include "os/tap.h"

/* A non-blocking, close-on-exec descriptor, or -errno: -ENODEV, no such interface; -EPERM. */
int tt_uplink_open(const char *ifname);
/* A packet and its header, a tag put back where the kernel had taken it off. Its bytes with the
 * header; -EAGAIN: none; -EMSGSIZE: it is too long, and dropped; -ENXIO: the interface is gone;
 * -errno. */
int tt_uplink_read(int fd, uint8_t packet[TT_TAP_PACKET_MAX]);

/* Packets that came while the buffer was full, since the last call. Any thread. */
uint64_t tt_uplink_dropped(int fd);

#endif
