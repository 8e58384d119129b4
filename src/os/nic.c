/*
 * See nic.h. Source: rtnetlink(7), Documentation/networking/ethtool-netlink.rst.
 */
#include "os/nic.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/ns.h"

#define ANSWER_BYTES 32768
#define ATTRIBUTES   256
#define PHC_SAMPLES  5
#define CLOCK_OF(fd) ((clockid_t)((~(unsigned)(fd) << 3) | 3)) /* FD_TO_CLOCKID of the kernel */

struct attributes {
    const struct nlattr *of[ATTRIBUTES];
};

static int collect(const struct nlattr *attribute, void *data)
{
    struct attributes *in = data;
    uint16_t type = mnl_attr_get_type(attribute);

    if (type < ATTRIBUTES) {
        in->of[type] = attribute;
    }
    return MNL_CB_OK;
}

static uint32_t get_u32(const struct nlattr *attribute, uint32_t otherwise)
{
    return attribute && mnl_attr_get_payload_len(attribute) >= 4 ? mnl_attr_get_u32(attribute)
                                                                 : otherwise;
}

static uint8_t get_u8(const struct nlattr *attribute, uint8_t otherwise)
{
    return attribute && mnl_attr_get_payload_len(attribute) >= 1 ? mnl_attr_get_u8(attribute)
                                                                 : otherwise;
}

static void get_text(const struct nlattr *attribute, char text[TT_NIC_TEXT])
{
    if (attribute && mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0) {
        snprintf(text, TT_NIC_TEXT, "%s", mnl_attr_get_str(attribute));
    }
}

/* One request, one answer through `take`. 0 or -errno. */
static int ask(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t take, void *data)
{
    char *answer = malloc(ANSWER_BYTES);
    int rc = MNL_CB_OK;

    if (!answer) {
        return -ENOMEM;
    }
    request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0) {
        rc = MNL_CB_ERROR;
    }
    while (rc == MNL_CB_OK) {
        ssize_t n = mnl_socket_recvfrom(socket, answer, ANSWER_BYTES);

        rc = n < 0 ? MNL_CB_ERROR
                   : mnl_cb_run(answer, (size_t)n, request->nlmsg_seq,
                                mnl_socket_get_portid(socket), take, data);
    }
    free(answer);
    return rc == MNL_CB_ERROR ? -errno : 0;
}

static int open_netlink(int bus, struct mnl_socket **ret_socket)
{
    struct mnl_socket *socket = mnl_socket_open2(bus, SOCK_CLOEXEC);

    if (!socket) {
        return -errno;
    }
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        int error = -errno;

        mnl_socket_close(socket);
        return error;
    }
    *ret_socket = socket;
    return 0;
}

static int take_mapping(const struct nlattr *attribute, void *data)
{
    struct tt_nic *nic = data;
    struct ifla_vlan_qos_mapping map;

    if (mnl_attr_get_payload_len(attribute) >= sizeof(map)) {
        memcpy(&map, mnl_attr_get_payload(attribute), sizeof(map));
        if (map.from < TT_NIC_PRIORITIES) {
            nic->vlan_pcp[map.from] = map.to;
        }
    }
    return MNL_CB_OK;
}

static void take_vlan(const struct nlattr *data, struct tt_nic *nic)
{
    struct attributes in = {0};

    mnl_attr_parse_nested(data, collect, &in);
    if (in.of[IFLA_VLAN_ID] && mnl_attr_get_payload_len(in.of[IFLA_VLAN_ID]) >= 2) {
        nic->vlan_id = mnl_attr_get_u16(in.of[IFLA_VLAN_ID]);
    }
    if (in.of[IFLA_VLAN_EGRESS_QOS]) {
        mnl_attr_parse_nested(in.of[IFLA_VLAN_EGRESS_QOS], take_mapping, nic);
    }
}

static int take_link(const struct nlmsghdr *message, void *data)
{
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
    struct attributes in = {0};
    struct attributes kind = {0};
    struct tt_nic *nic = data;

    if (mnl_nlmsg_get_payload_len(message) < sizeof(*info)) {
        return MNL_CB_OK;
    }
    mnl_attr_parse(message, sizeof(*info), collect, &in);
    nic->flags = info->ifi_flags;
    nic->mtu_bytes = get_u32(in.of[IFLA_MTU], 0);
    nic->tx_queues = get_u32(in.of[IFLA_NUM_TX_QUEUES], 0);
    nic->rx_queues = get_u32(in.of[IFLA_NUM_RX_QUEUES], 0);
    nic->carrier = get_u8(in.of[IFLA_CARRIER], 0) != 0;
    nic->in_bridge = in.of[IFLA_MASTER] != NULL;
    if (in.of[IFLA_LINKINFO]) {
        mnl_attr_parse_nested(in.of[IFLA_LINKINFO], collect, &kind);
        get_text(kind.of[IFLA_INFO_KIND], nic->kind);
        if (strcmp(nic->kind, "vlan") == 0 && kind.of[IFLA_INFO_DATA]) {
            take_vlan(kind.of[IFLA_INFO_DATA], nic);
        }
    }
    return MNL_CB_OK;
}

static int read_link(int ifindex, struct tt_nic *nic)
{
    char buffer[256];
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));
    struct mnl_socket *socket = NULL;
    int rc = open_netlink(NETLINK_ROUTE, &socket);

    if (rc) {
        return rc;
    }
    request->nlmsg_type = RTM_GETLINK;
    request->nlmsg_seq = 1;
    info->ifi_family = AF_UNSPEC;
    info->ifi_index = ifindex;
    rc = ask(socket, request, take_link, nic);
    mnl_socket_close(socket);
    return rc;
}

static struct nlmsghdr *put_generic(char *buffer, uint16_t family, uint8_t command, unsigned number)
{
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(request, sizeof(*generic));

    request->nlmsg_type = family;
    request->nlmsg_seq = number;
    generic->cmd = command;
    generic->version = 1;
    return request;
}

static int take_family(const struct nlmsghdr *message, void *data)
{
    struct attributes in = {0};
    uint16_t *family = data;

    mnl_attr_parse(message, sizeof(struct genlmsghdr), collect, &in);
    if (in.of[CTRL_ATTR_FAMILY_ID] && mnl_attr_get_payload_len(in.of[CTRL_ATTR_FAMILY_ID]) >= 2) {
        *family = mnl_attr_get_u16(in.of[CTRL_ATTR_FAMILY_ID]);
    }
    return MNL_CB_OK;
}

static int take_modes(const struct nlmsghdr *message, void *data)
{
    struct attributes in = {0};
    struct tt_nic *nic = data;
    uint32_t speed;

    mnl_attr_parse(message, sizeof(struct genlmsghdr), collect, &in);
    speed = get_u32(in.of[ETHTOOL_A_LINKMODES_SPEED], (uint32_t)SPEED_UNKNOWN);
    nic->speed_mbit = speed == (uint32_t)SPEED_UNKNOWN || speed == 0 ? -1 : (int64_t)speed;
    nic->full_duplex = get_u8(in.of[ETHTOOL_A_LINKMODES_DUPLEX], DUPLEX_HALF) == DUPLEX_FULL;
    return MNL_CB_OK;
}

/* The first word of a compact bitset. */
static uint32_t get_bits(const struct nlattr *set)
{
    struct attributes in = {0};

    if (set) {
        mnl_attr_parse_nested(set, collect, &in);
    }
    return get_u32(in.of[ETHTOOL_A_BITSET_VALUE], 0);
}

static int take_stamps(const struct nlmsghdr *message, void *data)
{
    struct attributes in = {0};
    struct tt_nic *nic = data;
    uint32_t can;

    mnl_attr_parse(message, sizeof(struct genlmsghdr), collect, &in);
    can = get_bits(in.of[ETHTOOL_A_TSINFO_TIMESTAMPING]);
    nic->stamps_known = true;
    nic->stamps_tx_hardware = (can & SOF_TIMESTAMPING_TX_HARDWARE) != 0;
    nic->stamps_rx_hardware = (can & SOF_TIMESTAMPING_RX_HARDWARE) != 0;
    nic->phc_index = (int)get_u32(in.of[ETHTOOL_A_TSINFO_PHC_INDEX], (uint32_t)-1);
    return MNL_CB_OK;
}

/* What an older kernel or a driver does not answer stays unknown. */
static int read_ethtool(int ifindex, struct tt_nic *nic)
{
    static const struct {
        uint8_t command;
        uint16_t header;
        mnl_cb_t take;
    } questions[] = {{ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER, take_modes},
                     {ETHTOOL_MSG_TSINFO_GET, ETHTOOL_A_TSINFO_HEADER, take_stamps}};
    char buffer[256];
    struct mnl_socket *socket = NULL;
    struct nlmsghdr *request;
    uint16_t family = 0;
    int rc = open_netlink(NETLINK_GENERIC, &socket);

    if (rc) {
        return rc;
    }
    request = put_generic(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
    mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
    rc = ask(socket, request, take_family, &family);
    for (unsigned i = 0; rc == 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
        struct nlattr *header;

        request = put_generic(buffer, family, questions[i].command, i + 2);
        header = mnl_attr_nest_start(request, questions[i].header);
        mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)ifindex);
        mnl_attr_put_u32(request, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS);
        mnl_attr_nest_end(request, header);
        ask(socket, request, questions[i].take, nic);
    }
    mnl_socket_close(socket);
    return rc;
}

static void read_driver(const char *ifname, struct tt_nic *nic)
{
    char path[64];
    char target[PATH_MAX];
    const char *name;
    ssize_t n;

    snprintf(path, sizeof(path), "/sys/class/net/%.16s/device/driver", ifname);
    n = readlink(path, target, sizeof(target) - 1);
    if (n > 0) {
        target[n] = 0;
        name = strrchr(target, '/');
        snprintf(nic->driver, sizeof(nic->driver), "%.31s", name ? name + 1 : target);
    }
}

int tt_nic_read(const char *ifname, struct tt_nic *ret_nic)
{
    struct tt_nic nic = {.speed_mbit = -1, .phc_index = -1, .vlan_id = -1};
    int ifindex = (int)if_nametoindex(ifname);
    int rc;

    if (ifindex == 0) {
        return -ENODEV;
    }
    rc = read_link(ifindex, &nic);
    if (rc) {
        return rc;
    }
    read_ethtool(ifindex, &nic);
    read_driver(ifname, &nic);
    *ret_nic = nic;
    return 0;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0};

    clock_gettime(clock, &t);
    return t.tv_sec * TT_NS_PER_S + t.tv_nsec;
}

int tt_phc_minus_tai(int phc_index, int64_t *ret_ns, int64_t *ret_uncertainty_ns)
{
    int64_t best_ns = INT64_MAX;
    char path[32];
    int fd;

    snprintf(path, sizeof(path), "/dev/ptp%d", phc_index);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    for (int i = 0; i < PHC_SAMPLES; i++) {
        int64_t before_ns = clock_ns(CLOCK_TAI);
        int64_t phc_ns = clock_ns(CLOCK_OF(fd));
        int64_t after_ns = clock_ns(CLOCK_TAI);

        if (after_ns - before_ns < best_ns) {
            best_ns = after_ns - before_ns;
            *ret_ns = phc_ns - (before_ns + best_ns / 2);
        }
    }
    *ret_uncertainty_ns = best_ns / 2;
    close(fd);
    return 0;
}
