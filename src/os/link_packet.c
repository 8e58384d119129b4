/*
 * See link_packet.h. One socket per link. A new socket has protocol 0 and sees nothing until bind,
 * so the filter is in place before the first packet can come in.
 *
 * Traps: a link that went down leaves ENETDOWN in the socket, which the next call returns once
 * although the link may be up again. Packets that wait in a qdisc for their launch time count
 * against the send buffer. etf answers a launch time that is past with ENOBUFS, and with a report
 * in the error queue.
 * What the kernel drops without a report (a qdisc that is taken away) is charged to the send buffer
 * no more: that is how `waiting` knows.
 */
#include "os/link_packet.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* These need the ones above. */
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#include "base/ns.h"
#include "os/clock.h"
#include "os/packet_filter.h"
#include "os/packet_ring.h"
#include "os/xdp_ring.h"

#define MTU_MAX           9000
#define SEND_BUFFER_BYTES (4 * 1024 * 1024)
#define XDP_MTU           (TT_XDP_RING_BYTES - ETH_HLEN - 4)
/* So many times the charge of a packet is measured; where one left meanwhile it seems less. */
#define CHARGES_MEASURED 16

#define SEND_CONTROL_BYTES CMSG_SPACE(sizeof(uint64_t))
#define ERROR_CONTROL_BYTES                                                                        \
    CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_storage))

/* What sendmmsg, and recvmmsg of the error queue, need for a batch. */
struct packet_batch {
    struct mmsghdr messages[TT_LINK_BATCH];
    struct iovec vectors[TT_LINK_BATCH];
    _Alignas(struct cmsghdr) uint8_t control[TT_LINK_BATCH][ERROR_CONTROL_BYTES];
};

struct packet_link {
    struct tt_link link; /* first: what callers hold */
    int fd;
    int ifindex;
    int charge_bytes;      /* of the send buffer, by one packet; 0: not known */
    int charges_measured;  /* times */
    int64_t tai_offset_ns; /* TAI - UTC as last read */
    struct tt_packet_ring ring;
    bool by_xdp;
    struct tt_xdp_ring xdp; /* closed where the kernel has refused it; opened again when up */
    struct packet_batch batch;
};

static struct packet_link *packet_of(struct tt_link *link)
{
    return (struct packet_link *)link;
}

static void batch_set(struct packet_batch *batch, int i, void *data, size_t bytes,
                      size_t control_bytes)
{
    batch->vectors[i] = (struct iovec){.iov_base = data, .iov_len = bytes};
    batch->messages[i] = (struct mmsghdr){
        .msg_hdr = {.msg_iov = &batch->vectors[i],
                    .msg_iovlen = 1,
                    .msg_control = control_bytes > 0 ? batch->control[i] : NULL,
                    .msg_controllen = control_bytes},
    };
}

static void set_launch_time(struct msghdr *message, int64_t launch_tai_ns)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(message);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_TXTIME;
    c->cmsg_len = CMSG_LEN(sizeof(launch_tai_ns));
    memcpy(CMSG_DATA(c), &launch_tai_ns, sizeof(launch_tai_ns));
}

static int waiting_bytes(const struct packet_link *p)
{
    int bytes;

    return ioctl(p->fd, SIOCOUTQ, &bytes) < 0 ? -1 : bytes;
}

/* Packets of a stream are all of one length, and so is what the kernel charges for each. */
static void measure_charge(struct packet_link *p, int before_bytes, int packets)
{
    int charge_bytes = (waiting_bytes(p) - before_bytes) / packets;

    p->charges_measured++;
    if (before_bytes >= 0 && charge_bytes > p->charge_bytes) {
        p->charge_bytes = charge_bytes;
    }
}

static int packet_send(struct tt_link *link, const struct tt_link_packet *packets, int n)
{
    struct packet_link *p = packet_of(link);
    bool measure = link->keeps_launch_times && p->charges_measured < CHARGES_MEASURED;
    int before_bytes = measure ? waiting_bytes(p) : 0;
    int sent;

    assert(n <= TT_LINK_BATCH);
    if (p->by_xdp) {
        if (p->xdp.fd > 0) {
            return tt_xdp_ring_send(&p->xdp, packets, n);
        }
        return tt_link_packet_is_gone(p->fd) ? -ENXIO : -ENETDOWN;
    }
    for (int i = 0; i < n; i++) {
        batch_set(&p->batch, i, packets[i].data, packets[i].bytes,
                  link->keeps_launch_times ? SEND_CONTROL_BYTES : 0);
        if (link->keeps_launch_times) {
            set_launch_time(&p->batch.messages[i].msg_hdr, packets[i].time_tai_ns);
        }
    }
    sent = sendmmsg(p->fd, p->batch.messages, (unsigned)n, 0);
    if (sent < 0 && errno == ENETDOWN) {
        sent = sendmmsg(p->fd, p->batch.messages, (unsigned)n, 0); /* perhaps of an earlier time */
    }
    if (sent < 0) {
        return -errno;
    }
    if (measure) {
        measure_charge(p, before_bytes, sent);
    }
    return sent;
}

bool tt_link_packet_is_gone(int fd)
{
    struct sockaddr_ll address = {.sll_ifindex = 1};
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && address.sll_ifindex < 0;
}

static bool packet_is_gone(struct tt_link *link)
{
    return tt_link_packet_is_gone(packet_of(link)->fd);
}

static int packet_receive(struct tt_link *link, struct tt_link_packet *packets, int n)
{
    struct packet_link *p = packet_of(link);
    int tai_offset_s;
    int taken = 0;

    while (taken < n && tt_packet_ring_take(&p->ring, &packets[taken])) {
        taken++;
    }
    if (taken == 0 && packet_is_gone(link)) {
        return -ENXIO;
    }
    if (taken > 0 && tt_clock_tai_offset(&tai_offset_s) == 0) {
        p->tai_offset_ns = tai_offset_s * TT_NS_PER_S;
    }
    for (int i = 0; i < taken; i++) {
        packets[i].time_tai_ns += p->tai_offset_ns;
    }
    return taken;
}

static void count_error(struct msghdr *message, struct tt_link_errors *errors)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct sock_extended_err e;

        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_TX_TIMESTAMP) {
            continue;
        }
        memcpy(&e, CMSG_DATA(c), sizeof(e));
        if (e.ee_origin != SO_EE_ORIGIN_TXTIME) {
            errors->other++;
            continue;
        }
        errors->last_launch_tai_ns = (int64_t)((uint64_t)e.ee_data << 32 | e.ee_info);
        if (e.ee_code == SO_EE_CODE_TXTIME_MISSED) {
            errors->launch_missed++;
            errors->missed_tai_ns[errors->located++] = errors->last_launch_tai_ns;
        } else {
            errors->launch_invalid++;
        }
    }
}

static int packet_collect_errors(struct tt_link *link, struct tt_link_errors *errors)
{
    struct packet_link *p = packet_of(link);
    int n;

    errors->located = 0;
    for (int i = 0; i < TT_LINK_BATCH; i++) {
        batch_set(&p->batch, i, NULL, 0, ERROR_CONTROL_BYTES);
    }
    n = recvmmsg(p->fd, p->batch.messages, TT_LINK_BATCH, MSG_ERRQUEUE | MSG_DONTWAIT, NULL);
    for (int i = 0; i < n; i++) {
        count_error(&p->batch.messages[i].msg_hdr, errors);
    }
    return n < 0 ? 0 : n;
}

static int packet_waiting(struct tt_link *link)
{
    const struct packet_link *p = packet_of(link);
    int bytes = p->charge_bytes > 0 ? waiting_bytes(p) : -1;

    return bytes < 0 ? -1 : (bytes + p->charge_bytes - 1) / p->charge_bytes;
}

static bool is_running(const struct ifreq *request)
{
    return (request->ifr_flags & IFF_UP) && (request->ifr_flags & IFF_RUNNING);
}

/* The longest packet that is looked into: a tagged one of the MTU, and not of a virtual
 * interface's. */
static size_t packet_bytes_max(const struct packet_link *p)
{
    unsigned mtu_bytes = p->link.mtu_bytes < MTU_MAX ? p->link.mtu_bytes : MTU_MAX;

    return mtu_bytes + ETH_HLEN + 4;
}

static int open_xdp(struct packet_link *p)
{
    return tt_xdp_ring_open(p->ifindex, 0, packet_bytes_max(p), &p->xdp);
}

static bool packet_is_up(struct tt_link *link)
{
    struct packet_link *p = packet_of(link);
    struct ifreq request = {.ifr_ifindex = p->ifindex};

    if (ioctl(p->fd, SIOCGIFNAME, &request) == 0 && /* it may have another name by now */
        ioctl(p->fd, SIOCGIFFLAGS, &request) == 0 && !is_running(&request)) {
        return false;
    }
    return !p->by_xdp || p->xdp.fd > 0 || open_xdp(p) == 0;
}

static int set_int(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int packet_bypass(struct tt_link *link)
{
    struct packet_link *p = packet_of(link);
    int rc = p->by_xdp ? -EOPNOTSUPP : set_int(p->fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1);

    if (rc == 0) {
        link->keeps_launch_times = false;
    }
    return rc;
}

static uint64_t packet_receive_drops(struct tt_link *link)
{
    struct packet_link *p = packet_of(link);
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);

    if (!p->ring.losing) {
        return 0;
    }
    p->ring.losing = false;
    /* Reading resets it. */
    getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes);
    return stats.tp_drops;
}

static void packet_close(struct tt_link *link)
{
    struct packet_link *p = packet_of(link);

    tt_packet_ring_close(&p->ring);
    tt_xdp_ring_close(&p->xdp);
    if (p->fd >= 0) {
        close(p->fd);
    }
    free(p);
}

static const struct tt_link_ops packet_ops = {
    .send = packet_send,
    .receive = packet_receive,
    .collect_errors = packet_collect_errors,
    .waiting = packet_waiting,
    .is_up = packet_is_up,
    .is_gone = packet_is_gone,
    .bypass = packet_bypass,
    .receive_drops = packet_receive_drops,
    .close = packet_close,
};

static int64_t read_speed(int fd, struct ifreq *request)
{
    struct ethtool_cmd command = {.cmd = ETHTOOL_GSET};
    uint32_t speed_mbps;

    request->ifr_data = (void *)&command;
    if (ioctl(fd, SIOCETHTOOL, request) < 0) {
        return 0;
    }
    speed_mbps = ethtool_cmd_speed(&command);
    return speed_mbps == (uint32_t)SPEED_UNKNOWN ? 0 : speed_mbps;
}

/* What the interface is: index, address, MTU, speed, state. */
static int read_interface(struct packet_link *p, const char *ifname,
                          struct tt_link_packet_found *found)
{
    struct ifreq request = {0};
    size_t length = strlen(ifname);

    found->step = TT_LINK_STEP_INTERFACE;
    if (length == 0 || length >= sizeof(request.ifr_name)) {
        return -ENODEV;
    }
    memcpy(request.ifr_name, ifname, length);
    if (ioctl(p->fd, SIOCGIFINDEX, &request) < 0) {
        return -errno;
    }
    p->ifindex = request.ifr_ifindex;
    if (ioctl(p->fd, SIOCGIFFLAGS, &request) < 0) {
        return -errno;
    }
    found->up = is_running(&request);
    if (ioctl(p->fd, SIOCGIFMTU, &request) < 0) {
        return -errno;
    }
    p->link.mtu_bytes = (unsigned)request.ifr_mtu;
    if (ioctl(p->fd, SIOCGIFHWADDR, &request) < 0) {
        return -errno;
    }
    found->step = TT_LINK_STEP_ETHERNET;
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
        return -EMEDIUMTYPE;
    }
    memcpy(p->link.mac, request.ifr_hwaddr.sa_data, sizeof(p->link.mac));
    p->link.speed_mbps = read_speed(p->fd, &request);
    return 0;
}

static int prepare_send(struct packet_link *p, const struct tt_link_packet_setup *setup,
                        struct tt_link_packet_found *found)
{
    struct sock_txtime txtime = {.clockid = CLOCK_TAI, .flags = SOF_TXTIME_REPORT_ERRORS};
    int rc;

    found->step = TT_LINK_STEP_PRIORITY;
    rc = set_int(p->fd, SOL_SOCKET, SO_PRIORITY, setup->priority);
    if (rc == 0 && setup->bypass) {
        rc = packet_bypass(&p->link);
    }
    if (rc == 0 && setup->xdp) {
        found->step = TT_LINK_STEP_XDP;
        p->by_xdp = true;
        rc = open_xdp(p);
        if (p->link.mtu_bytes > XDP_MTU) {
            p->link.mtu_bytes = XDP_MTU;
        }
    }
    if (rc < 0 || !setup->launch_times) {
        return rc;
    }
    if (set_int(p->fd, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER_BYTES) < 0) {
        set_int(p->fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES);
    }
    found->step = TT_LINK_STEP_LAUNCH;
    if (setsockopt(p->fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)) < 0) {
        return -errno;
    }
    p->link.keeps_launch_times = true;
    return 0;
}

static int join(struct packet_link *p, const uint8_t *dest)
{
    struct packet_mreq request = {.mr_ifindex = p->ifindex, .mr_type = PACKET_MR_ALLMULTI};

    if (dest && !(dest[0] & 1)) {
        return 0;
    }
    if (dest) {
        request.mr_type = PACKET_MR_MULTICAST;
        request.mr_alen = 6;
        memcpy(request.mr_address, dest, 6);
    }
    return setsockopt(p->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) < 0
               ? -errno
               : 0;
}

static int prepare_receive(struct packet_link *p, const struct tt_link_packet_setup *setup,
                           struct tt_link_packet_found *found)
{
    struct sock_filter code[TT_PACKET_FILTER_MAX];
    struct sock_fprog program = {.filter = code};
    int rc;

    found->step = TT_LINK_STEP_FILTER;
    program.len = (unsigned short)tt_packet_filter_build(setup->dest, setup->stream_id, code);
    if (setsockopt(p->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0) {
        return -errno;
    }
    /* Spares a copy of each packet sent; where it is not known, the filter alone drops them. */
    set_int(p->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
    /* Has packets stamped as they come in, which the ring shows. */
    set_int(p->fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    found->step = TT_LINK_STEP_RING;
    rc = tt_packet_ring_open(p->fd, packet_bytes_max(p), setup->receive_buffer_bytes, &p->ring);
    if (rc < 0) {
        return rc;
    }
    found->receive_buffer_bytes = p->ring.memory_bytes;
    found->step = TT_LINK_STEP_MEMBERSHIP;
    return join(p, setup->dest);
}

static int bind_to(struct packet_link *p, uint16_t protocol, struct tt_link_packet_found *found)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = p->ifindex};

    found->step = TT_LINK_STEP_BIND;
    return bind(p->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int open_link(struct packet_link *p, const struct tt_link_packet_setup *setup,
                     struct tt_link_packet_found *found)
{
    int rc;

    found->step = TT_LINK_STEP_SOCKET;
    p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->fd < 0) {
        return -errno;
    }
    rc = read_interface(p, setup->ifname, found);
    if (rc == 0 && setup->send) {
        rc = prepare_send(p, setup, found);
    }
    if (rc == 0 && setup->receive) {
        rc = prepare_receive(p, setup, found);
    }
    return rc < 0 ? rc : bind_to(p, setup->receive ? ETH_P_ALL : 0, found);
}

int tt_link_packet_new(const struct tt_link_packet_setup *setup, struct tt_link **ret_link,
                       struct tt_link_packet_found *ret_found)
{
    struct packet_link *p = calloc(1, sizeof(*p));
    int rc;

    *ret_found = (struct tt_link_packet_found){.step = TT_LINK_STEP_MEMORY};
    if (!p) {
        return -ENOMEM;
    }
    p->link.ops = &packet_ops;
    rc = open_link(p, setup, ret_found);
    if (rc < 0) {
        tt_link_close(&p->link);
        return rc;
    }
    *ret_link = &p->link;
    return 0;
}
