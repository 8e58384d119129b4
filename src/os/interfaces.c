/*
 * See interfaces.h.
 */
#include "os/interfaces.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void tt_interface_names(char *ret_text, size_t bytes)
{
    struct if_nameindex *interfaces = if_nameindex();
    size_t used = 0;

    ret_text[0] = 0;
    for (struct if_nameindex *i = interfaces; i && i->if_name; i++) {
        if (used + strlen(i->if_name) + 2 > bytes) {
            break;
        }
        used += (size_t)snprintf(ret_text + used, bytes - used, "%s%s", used > 0 ? " " : "",
                                 i->if_name);
    }
    if_freenameindex(interfaces);
}

static int ethtool(int fd, const char *ifname, void *command)
{
    struct ifreq request = {0};

    strncpy(request.ifr_name, ifname, sizeof(request.ifr_name) - 1);
    request.ifr_data = command;
    return ioctl(fd, SIOCETHTOOL, &request);
}

/* The old request: speeds are all that is wanted. */
static int64_t speed_of(int fd, const char *ifname)
{
    struct ethtool_cmd command = {.cmd = ETHTOOL_GSET};
    uint32_t mbits;

    if (ethtool(fd, ifname, &command) != 0) {
        return 0;
    }
    mbits = ethtool_cmd_speed(&command);
    return mbits == 0 || mbits == UINT32_MAX || mbits == UINT16_MAX ? 0 : mbits * INT64_C(1000000);
}

/* What the kernel says of an interface; 0: unknown. */
struct link_facts {
    unsigned tx_queues;
    uint64_t tx_dropped;
    uint64_t rx_missed;
    uint64_t downs;
};

static int find_facts(const struct nlattr *attr, void *data)
{
    struct link_facts *facts = data;
    struct rtnl_link_stats64 stats;

    if (mnl_attr_get_type(attr) == IFLA_NUM_TX_QUEUES) {
        facts->tx_queues = mnl_attr_get_u32(attr);
    } else if (mnl_attr_get_type(attr) == IFLA_CARRIER_DOWN_COUNT) {
        facts->downs = mnl_attr_get_u32(attr);
    } else if (mnl_attr_get_type(attr) == IFLA_STATS64) {
        size_t bytes = mnl_attr_get_payload_len(attr);

        memset(&stats, 0, sizeof(stats));
        memcpy(&stats, mnl_attr_get_payload(attr), bytes < sizeof(stats) ? bytes : sizeof(stats));
        facts->tx_dropped = stats.tx_dropped;
        facts->rx_missed = stats.rx_missed_errors + stats.rx_fifo_errors;
    }
    return MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *message, void *data)
{
    return mnl_attr_parse(message, sizeof(struct ifinfomsg), find_facts, data);
}

static struct link_facts ask_link(const char *ifname)
{
    char buffer[32768] = {0};
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(request, sizeof(*link));
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    struct link_facts facts = {0};
    ssize_t n;

    if (!socket) {
        return facts;
    }
    request->nlmsg_type = RTM_GETLINK;
    request->nlmsg_flags = NLM_F_REQUEST;
    link->ifi_index = (int)if_nametoindex(ifname);
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0 &&
        mnl_socket_sendto(socket, request, request->nlmsg_len) >= 0) {
        n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
        if (n > 0) {
            mnl_cb_run(buffer, (size_t)n, 0, 0, take_link, &facts);
        }
    }
    mnl_socket_close(socket);
    return facts;
}

uint64_t tt_interface_tx_dropped(const char *ifname)
{
    return ask_link(ifname).tx_dropped;
}

uint64_t tt_interface_rx_missed(const char *ifname)
{
    return ask_link(ifname).rx_missed;
}

uint64_t tt_interface_downs(const char *ifname)
{
    return ask_link(ifname).downs;
}

uint64_t tt_softnet_dropped(const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t dropped = 0;
    unsigned of_one; /* a line for each processor, of which this is the second figure */

    while (file && fscanf(file, "%*x %x%*[^\n]", &of_one) == 1) {
        dropped += of_one;
    }
    if (file) {
        fclose(file);
    }
    return dropped;
}

/* Of those made the ones in use; only sysfs knows, which is another namespace's where nobody has
 * mounted it. */
static unsigned used_of(const char *ifname, unsigned made)
{
    char path[80];
    unsigned n = 0;

    for (; n < made; n++) {
        snprintf(path, sizeof(path), "/sys/class/net/%.15s/queues/tx-%u", ifname, n);
        if (access(path, F_OK) != 0) {
            break;
        }
    }
    return n > 0 ? n : made;
}

int tt_interface_ask(const char *ifname, struct tt_interface_facts *ret_facts)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct tt_interface_facts facts = {0};
    int fd;

    if (if_nametoindex(ifname) == 0) {
        return -ENODEV;
    }
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    facts.speed_bps = speed_of(fd, ifname);
    if (ethtool(fd, ifname, &info) == 0) {
        snprintf(facts.driver, sizeof(facts.driver), "%.31s", info.driver);
    }
    close(fd);
    facts.tx_queues = used_of(ifname, ask_link(ifname).tx_queues);
    *ret_facts = facts;
    return 0;
}

static int ask_mtu(unsigned long what, const char *ifname, struct ifreq *request)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0) {
        return -errno;
    }
    strncpy(request->ifr_name, ifname, sizeof(request->ifr_name) - 1);
    error = ioctl(fd, what, request) < 0 ? -errno : 0;
    close(fd);
    return error;
}

int tt_interface_mtu(const char *ifname, unsigned *ret_bytes)
{
    struct ifreq request = {0};
    int error = ask_mtu(SIOCGIFMTU, ifname, &request);

    if (error == 0) {
        *ret_bytes = (unsigned)request.ifr_mtu;
    }
    return error;
}

int tt_interface_set_mtu(const char *ifname, unsigned bytes)
{
    struct ifreq request = {.ifr_mtu = (int)bytes};

    return ask_mtu(SIOCSIFMTU, ifname, &request);
}
