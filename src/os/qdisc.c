/*
 * See qdisc.h. Source: linux/pkt_sched.h, linux/rtnetlink.h.
 */
#include "os/qdisc.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "os/qdisc_dump.h"

#define DUMP_ATTEMPTS 3
#define DUMP_BYTES    32768 /* the most that the kernel puts into one message of a dump */

struct attributes {
    const struct nlattr *of[TCA_MAX + 1];
};

static int collect(const struct nlattr *attr, void *data)
{
    struct attributes *attributes = data;

    if (mnl_attr_get_type(attr) <= TCA_MAX) {
        attributes->of[mnl_attr_get_type(attr)] = attr;
    }
    return MNL_CB_OK;
}

/* Copies a structure out of an attribute; false where it is not there or too short. */
static bool get(const struct nlattr *attr, void *ret_value, size_t bytes)
{
    if (!attr || mnl_attr_get_payload_len(attr) < bytes) {
        return false;
    }
    memcpy(ret_value, mnl_attr_get_payload(attr), bytes);
    return true;
}

static void set_map(struct tt_qdisc *q, const struct tc_mqprio_qopt *map)
{
    q->classes = map->num_tc < TT_QDISC_PRIORITIES ? map->num_tc : TT_QDISC_PRIORITIES;
    for (int i = 0; i < TT_QDISC_PRIORITIES; i++) {
        q->class_of_priority[i] = map->prio_tc_map[i];
        q->queue_count[i] = map->count[i];
        q->queue_offset[i] = map->offset[i];
    }
}

static void parse_etf(const struct nlattr *options, struct tt_qdisc *q)
{
    struct attributes in = {0};
    struct tc_etf_qopt parms;

    mnl_attr_parse_nested(options, collect, &in);
    if (!get(in.of[TCA_ETF_PARMS], &parms, sizeof(parms))) {
        return;
    }
    q->clockid = parms.clockid;
    q->delta_ns = parms.delta;
    q->offload = (parms.flags & TC_ETF_OFFLOAD_ON) != 0;
    q->deadline_mode = (parms.flags & TC_ETF_DEADLINE_MODE_ON) != 0;
    q->skip_sock_check = (parms.flags & TC_ETF_SKIP_SOCK_CHECK) != 0;
}

static void parse_mqprio(const struct nlattr *options, struct tt_qdisc *q)
{
    struct tc_mqprio_qopt map;

    /* Attributes may follow the structure; nothing here needs them. */
    if (get(options, &map, sizeof(map))) {
        set_map(q, &map);
        q->offload = map.hw != 0;
    }
}

static void parse_taprio(const struct nlattr *options, struct tt_qdisc *q)
{
    struct attributes in = {0};
    struct tc_mqprio_qopt map;
    uint32_t flags;

    mnl_attr_parse_nested(options, collect, &in);
    if (get(in.of[TCA_TAPRIO_ATTR_PRIOMAP], &map, sizeof(map))) {
        set_map(q, &map);
    }
    if (get(in.of[TCA_TAPRIO_ATTR_FLAGS], &flags, sizeof(flags))) {
        q->txtime_assist = (flags & TCA_TAPRIO_ATTR_FLAG_TXTIME_ASSIST) != 0;
        q->offload = (flags & TCA_TAPRIO_ATTR_FLAG_FULL_OFFLOAD) != 0;
    }
}

int tt_qdisc_parse(const struct nlmsghdr *message, struct tt_qdisc *ret_qdisc)
{
    static const struct {
        const char *kind;
        void (*parse)(const struct nlattr *options, struct tt_qdisc *q);
    } parsers[] = {{"etf", parse_etf}, {"mqprio", parse_mqprio}, {"taprio", parse_taprio}};
    const struct tcmsg *tc = mnl_nlmsg_get_payload(message);
    struct attributes in = {0};
    struct tt_qdisc q = {0};
    uint8_t offload;

    if (message->nlmsg_type != RTM_NEWQDISC || mnl_nlmsg_get_payload_len(message) < sizeof(*tc)) {
        return -EINVAL;
    }
    mnl_attr_parse(message, sizeof(*tc), collect, &in);
    if (!in.of[TCA_KIND] || mnl_attr_validate(in.of[TCA_KIND], MNL_TYPE_NUL_STRING) < 0) {
        return -EINVAL;
    }
    strncpy(q.kind, mnl_attr_get_str(in.of[TCA_KIND]), sizeof(q.kind) - 1);
    q.handle = tc->tcm_handle;
    q.parent = tc->tcm_parent;
    if (get(in.of[TCA_HW_OFFLOAD], &offload, sizeof(offload))) {
        q.offload = offload != 0;
    }
    for (size_t i = 0; in.of[TCA_OPTIONS] && i < sizeof(parsers) / sizeof(parsers[0]); i++) {
        if (strcmp(q.kind, parsers[i].kind) == 0) {
            parsers[i].parse(in.of[TCA_OPTIONS], &q);
        }
    }
    *ret_qdisc = q;
    return 0;
}

/* What is done with each message of the interface. */
struct walk {
    int ifindex;
    int (*take)(const struct nlmsghdr *message, void *context);
    void (*restart)(void *context);
    void *context;
    int error;
};

/* The kernel's answer holds the qdiscs of all interfaces. */
static int take(const struct nlmsghdr *message, void *data)
{
    const struct tcmsg *tc = mnl_nlmsg_get_payload(message);
    struct walk *walk = data;

    if (walk->error == 0 && mnl_nlmsg_get_payload_len(message) >= sizeof(*tc) &&
        tc->tcm_ifindex == walk->ifindex) {
        walk->error = walk->take(message, walk->context);
    }
    return MNL_CB_OK;
}

/* 0 or -errno; -EINTR: the qdiscs changed meanwhile. */
static int dump(struct mnl_socket *socket, unsigned sequence, struct walk *walk, void *buffer)
{
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct tcmsg *tc = mnl_nlmsg_put_extra_header(request, sizeof(*tc));
    int rc = MNL_CB_OK;

    request->nlmsg_type = RTM_GETQDISC;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request->nlmsg_seq = sequence;
    tc->tcm_family = AF_UNSPEC;
    tc->tcm_ifindex = walk->ifindex;
    walk->restart(walk->context);
    walk->error = 0;
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0) {
        return -errno;
    }
    while (rc == MNL_CB_OK) {
        ssize_t n = mnl_socket_recvfrom(socket, buffer, DUMP_BYTES);

        rc = n < 0 ? MNL_CB_ERROR
                   : mnl_cb_run(buffer, (size_t)n, sequence, mnl_socket_get_portid(socket), take,
                                walk);
    }
    return rc == MNL_CB_ERROR ? -errno : walk->error;
}

static int walk_interface(const char *ifname, struct walk *walk)
{
    struct mnl_socket *socket;
    void *buffer;
    int rc = -EINTR;

    walk->ifindex = (int)if_nametoindex(ifname);
    if (walk->ifindex == 0) {
        return -errno;
    }
    socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (!socket) {
        return -errno;
    }
    buffer = malloc(DUMP_BYTES);
    if (!buffer) {
        rc = -ENOMEM;
    } else if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        rc = -errno;
    } else {
        for (unsigned i = 1; i <= DUMP_ATTEMPTS && rc == -EINTR; i++) {
            rc = dump(socket, i, walk, buffer);
        }
    }
    free(buffer);
    mnl_socket_close(socket);
    return rc;
}

struct listing {
    struct tt_qdisc *qdiscs;
    size_t capacity;
    size_t count;
};

static int list_one(const struct nlmsghdr *message, void *context)
{
    struct listing *listing = context;

    if (listing->count < listing->capacity &&
        tt_qdisc_parse(message, &listing->qdiscs[listing->count]) == 0) {
        listing->count++;
    }
    return 0;
}

static void list_again(void *context)
{
    ((struct listing *)context)->count = 0;
}

int tt_qdisc_list(const char *ifname, struct tt_qdisc *ret_qdiscs, size_t capacity,
                  size_t *ret_count)
{
    struct listing listing = {.qdiscs = ret_qdiscs, .capacity = capacity};
    struct walk walk = {.take = list_one, .restart = list_again, .context = &listing};
    int rc = walk_interface(ifname, &walk);

    if (rc == 0) {
        *ret_count = listing.count;
    }
    return rc;
}

static int keep_one(const struct nlmsghdr *message, void *context)
{
    struct tt_qdisc_dump *kept = context;
    size_t bytes = (message->nlmsg_len + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
    void *larger = realloc(kept->bytes, kept->n + bytes);

    if (!larger) {
        return -ENOMEM;
    }
    kept->bytes = larger;
    memcpy((char *)larger + kept->n, message, message->nlmsg_len);
    kept->n += bytes;
    return 0;
}

static void keep_again(void *context)
{
    ((struct tt_qdisc_dump *)context)->n = 0;
}

int tt_qdisc_dump(const char *ifname, struct tt_qdisc_dump *ret_dump)
{
    struct tt_qdisc_dump kept = {0};
    struct walk walk = {.take = keep_one, .restart = keep_again, .context = &kept};
    int rc = walk_interface(ifname, &walk);

    if (rc != 0) {
        free(kept.bytes);
        return rc;
    }
    *ret_dump = kept;
    return 0;
}
