/*
 * See tap.h.
 */
#include "os/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(struct virtio_net_hdr) == TT_TAP_HEADER_BYTES, "virtio's header");

/* Newer than the headers that it may be built with. */
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif
#define GSO_UDP_L4 5

/* What the device holds while its reader is kept away: a class's queue is the shaper's, and this is
 * for a stall, such as the 50 ms in each second that the kernel takes from a busy real-time thread.
 */
#define RING_PACKETS 10000

#define TCP_OFFLOADS (TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)
#define UDP_OFFLOADS (TUN_F_USO4 | TUN_F_USO6)

static int ask_up(int fd, const char *name, unsigned mtu_bytes)
{
    struct ifreq request = {0};

    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_mtu = (int)(mtu_bytes < TT_TAP_MTU_MAX ? mtu_bytes : TT_TAP_MTU_MAX);
    if (ioctl(fd, SIOCSIFMTU, &request) < 0) {
        return -errno;
    }
    request.ifr_qlen = RING_PACKETS;
    if (ioctl(fd, SIOCSIFTXQLEN, &request) < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0) {
        return -errno;
    }
    request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
    return ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

static int set_up(const char *name, unsigned mtu_bytes)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? -errno : ask_up(fd, name, mtu_bytes);

    if (fd >= 0) {
        close(fd);
    }
    return error;
}

static int set_offloads(int fd)
{
    if (ioctl(fd, TUNSETOFFLOAD, TCP_OFFLOADS | UDP_OFFLOADS) == 0 ||
        ioctl(fd, TUNSETOFFLOAD, TCP_OFFLOADS) == 0) {
        return 0;
    }
    return -errno;
}

static int make(int fd, const char *name, unsigned mtu_bytes, enum tt_tap_step *ret_step)
{
    struct ifreq request = {.ifr_flags =
                                (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL)};
    int error;

    *ret_step = TT_TAP_STEP_NAME;
    if (name[0] == 0 || strlen(name) >= IFNAMSIZ) {
        return -EINVAL;
    }
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request) < 0) {
        return -errno;
    }
    *ret_step = TT_TAP_STEP_OFFLOAD;
    error = set_offloads(fd);
    if (error < 0) {
        return error;
    }
    *ret_step = TT_TAP_STEP_UP;
    return set_up(name, mtu_bytes);
}

int tt_tap_open(const char *name, unsigned mtu_bytes, int *ret_fd, enum tt_tap_step *ret_step)
{
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int error;

    *ret_step = TT_TAP_STEP_OPEN;
    if (fd < 0) {
        return -errno;
    }
    error = make(fd, name, mtu_bytes, ret_step);
    if (error < 0) {
        close(fd);
        return error;
    }
    *ret_fd = fd;
    return 0;
}

int tt_tap_read(int fd, uint8_t packet[TT_TAP_PACKET_MAX], struct tt_tap_header *ret_header)
{
    struct virtio_net_hdr header;
    ssize_t n = read(fd, packet, TT_TAP_PACKET_MAX);
    uint8_t kind;

    if (n < TT_TAP_HEADER_BYTES) {
        return n < 0 ? -errno : -EIO;
    }
    memcpy(&header, packet, sizeof(header));
    kind = header.gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;
    *ret_header = (struct tt_tap_header){
        .segments = kind == VIRTIO_NET_HDR_GSO_NONE ? TT_TAP_WHOLE
                    : kind == VIRTIO_NET_HDR_GSO_TCPV4 || kind == VIRTIO_NET_HDR_GSO_TCPV6
                        ? TT_TAP_TCP
                    : kind == GSO_UDP_L4 ? TT_TAP_UDP
                                         : TT_TAP_OTHER,
        .segment_bytes = header.gso_size,
        .needs_checksum = (header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0,
        .checksum_start = header.csum_start,
        .checksum_offset = header.csum_offset,
    };
    return (int)n - TT_TAP_HEADER_BYTES;
}

int tt_tap_write(int fd, const uint8_t *packet, size_t bytes)
{
    return write(fd, packet, bytes) < 0 ? -errno : 0;
}
