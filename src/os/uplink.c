/*
 * See uplink.h.
 */
#include "os/uplink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/link_packet.h"

#define TAG_BYTES   4
#define TAG_AT      12 /* behind both addresses */
#define BUFFER_SIZE (4 << 20)

static int set_int(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* Not what this machine sends, and not what is for the interface's own address: its own stack has
 * that. */
static int set_filter(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_HOST, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno : 0;
}

static int bind_to(int fd, int ifindex)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = ifindex};
    struct packet_mreq promiscuous = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};

    return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
                   setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
                              sizeof(promiscuous)) < 0
               ? -errno
               : 0;
}

static int prepare(int fd, const char *ifname)
{
    int ifindex = (int)if_nametoindex(ifname);
    int error = ifindex > 0 ? 0 : -ENODEV;

    if (error == 0) {
        error = set_int(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
    }
    if (error == 0) {
        error = set_int(fd, SOL_PACKET, PACKET_AUXDATA, 1);
    }
    if (error == 0) {
        error = set_filter(fd);
    }
    if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_SIZE) < 0) {
        set_int(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_SIZE);
    }
    return error < 0 ? error : bind_to(fd, ifindex);
}

int tt_uplink_open(const char *ifname)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = fd < 0 ? -errno : prepare(fd, ifname);

    if (error < 0 && fd >= 0) {
        close(fd);
    }
    return error < 0 ? error : fd;
}

/* Puts a tag back; what the header says of checksums moves along. */
static int put_tag(uint8_t *packet, int bytes, const struct tpacket_auxdata *auxdata)
{
    struct virtio_net_hdr header;
    uint8_t *tag = packet + sizeof(header) + TAG_AT;
    uint16_t type =
        htons(auxdata->tp_status & TP_STATUS_VLAN_TPID_VALID ? auxdata->tp_vlan_tpid : ETH_P_8021Q);
    uint16_t tci = htons(auxdata->tp_vlan_tci);

    memmove(tag + TAG_BYTES, tag, (size_t)bytes - sizeof(header) - TAG_AT);
    memcpy(tag, &type, sizeof(type));
    memcpy(tag + 2, &tci, sizeof(tci));
    memcpy(&header, packet, sizeof(header));
    if (header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
        header.csum_start = (uint16_t)(header.csum_start + TAG_BYTES);
    }
    if (header.hdr_len > 0) {
        header.hdr_len = (uint16_t)(header.hdr_len + TAG_BYTES);
    }
    memcpy(packet, &header, sizeof(header));
    return bytes + TAG_BYTES;
}

int tt_uplink_read(int fd, uint8_t packet[TT_TAP_PACKET_MAX])
{
    struct iovec vector = {.iov_base = packet, .iov_len = TT_TAP_PACKET_MAX - TAG_BYTES};
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    } control;
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(fd, &message, MSG_TRUNC);
    struct tpacket_auxdata auxdata = {0};

    if (n < 0) {
        int error = errno;

        return error == ENETDOWN && tt_link_packet_is_gone(fd) ? -ENXIO : -error;
    }
    if ((size_t)n > vector.iov_len || n < TT_TAP_HEADER_BYTES + ETH_HLEN) {
        return -EMSGSIZE;
    }
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA) {
            memcpy(&auxdata, CMSG_DATA(c), sizeof(auxdata));
        }
    }
    return auxdata.tp_status & TP_STATUS_VLAN_VALID ? put_tag(packet, (int)n, &auxdata) : (int)n;
}

uint64_t tt_uplink_dropped(int fd)
{
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);

    /* Reading resets it. */
    return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0 ? stats.tp_drops : 0;
}
