/*
 * See qdisc_set.h. Source: linux/pkt_sched.h; the kernel's net/sched/sch_api.c.
 */
#include "os/qdisc_set.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "os/qdisc_dump.h"

#define KERNEL_ENOTSUPP 524            /* ENOTSUPP, which has no place in errno.h */
#define HANDLE          (0x100u << 16) /* 100: */
#define OVERHEAD_BYTES  24
#define ENTRY_BYTES     64 /* more than an entry takes in a message */

struct talk {
    struct mnl_socket *socket;
    int ifindex;
    unsigned sequence;
    char *why; /* TT_QDISC_WHY_BYTES */
};

/* ---- asking the kernel */

static int talk_open(const char *ifname, char *why, struct talk *ret_talk)
{
    int one = 1;

    ret_talk->why = why;
    ret_talk->sequence = 0;
    ret_talk->ifindex = (int)if_nametoindex(ifname);
    if (ret_talk->ifindex == 0) {
        return -errno;
    }
    ret_talk->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (!ret_talk->socket) {
        return -errno;
    }
    mnl_socket_setsockopt(ret_talk->socket, NETLINK_EXT_ACK, &one, sizeof(one));
    if (mnl_socket_bind(ret_talk->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        mnl_socket_close(ret_talk->socket);
        return -errno;
    }
    return 0;
}

/* What the kernel says about an error stands behind it, and, unless capped, behind our message. */
static void read_why(const struct nlmsghdr *answer, char *why)
{
    const struct nlmsgerr *error = mnl_nlmsg_get_payload(answer);
    size_t skip = sizeof(*error);
    const struct nlattr *attr;

    why[0] = 0;
    if ((answer->nlmsg_flags & NLM_F_ACK_TLVS) == 0) {
        return;
    }
    if ((answer->nlmsg_flags & NLM_F_CAPPED) == 0) {
        skip += mnl_nlmsg_get_payload_len(&error->msg);
    }
    for (attr = mnl_nlmsg_get_payload_offset(answer, skip);
         tt_attr_is(attr, mnl_nlmsg_get_payload_tail(answer)); attr = mnl_attr_next(attr)) {
        if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
            mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0) {
            strncpy(why, mnl_attr_get_str(attr), TT_QDISC_WHY_BYTES - 1);
            why[TT_QDISC_WHY_BYTES - 1] = 0;
        }
    }
}

/* Sends the message and waits for what the kernel says to it. 0 or -errno. */
static int ask(struct talk *talk, struct nlmsghdr *message)
{
    char buffer[8192];
    const struct nlmsghdr *answer = (const struct nlmsghdr *)buffer;
    ssize_t n;

    message->nlmsg_seq = ++talk->sequence;
    if (mnl_socket_sendto(talk->socket, message, message->nlmsg_len) < 0) {
        return -errno;
    }
    do {
        n = mnl_socket_recvfrom(talk->socket, buffer, sizeof(buffer));
        if (n < 0) {
            return -errno;
        }
    } while (!mnl_nlmsg_ok(answer, (int)n) || answer->nlmsg_seq != message->nlmsg_seq ||
             answer->nlmsg_type != NLMSG_ERROR);
    read_why(answer, talk->why);
    return ((const struct nlmsgerr *)mnl_nlmsg_get_payload(answer))->error;
}

static struct nlmsghdr *begin(void *buffer, const struct talk *talk, uint16_t type, uint32_t parent,
                              uint32_t handle)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    struct tcmsg *tc = mnl_nlmsg_put_extra_header(message, sizeof(*tc));

    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    if (type == RTM_NEWQDISC) {
        message->nlmsg_flags |= NLM_F_CREATE | NLM_F_REPLACE;
    }
    tc->tcm_family = AF_UNSPEC;
    tc->tcm_ifindex = talk->ifindex;
    tc->tcm_parent = parent;
    tc->tcm_handle = handle;
    return message;
}

/* ---- what is set up */

static struct tc_mqprio_qopt map_of(const struct tt_qdisc *map)
{
    struct tc_mqprio_qopt qopt = {.num_tc = (uint8_t)map->classes};

    for (int i = 0; i < TT_QDISC_PRIORITIES; i++) {
        qopt.prio_tc_map[i] = map->class_of_priority[i];
        qopt.count[i] = map->queue_count[i];
        qopt.offset[i] = map->queue_offset[i];
    }
    return qopt;
}

static void put_i64(struct nlmsghdr *message, uint16_t type, int64_t value)
{
    if (value != 0) {
        mnl_attr_put(message, type, sizeof(value), &value);
    }
}

static void put_entries(struct nlmsghdr *message, const struct tt_qdisc_gates *gates)
{
    struct nlattr *list = mnl_attr_nest_start(message, TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST);

    for (size_t i = 0; i < gates->entry_count; i++) {
        struct nlattr *entry = mnl_attr_nest_start(message, TCA_TAPRIO_SCHED_ENTRY);

        mnl_attr_put_u8(message, TCA_TAPRIO_SCHED_ENTRY_CMD, gates->entries[i].command);
        mnl_attr_put_u32(message, TCA_TAPRIO_SCHED_ENTRY_GATE_MASK, gates->entries[i].mask);
        mnl_attr_put_u32(message, TCA_TAPRIO_SCHED_ENTRY_INTERVAL, gates->entries[i].interval_ns);
        mnl_attr_nest_end(message, entry);
    }
    mnl_attr_nest_end(message, list);
}

static void put_taprio(struct nlmsghdr *message, const struct tt_qdisc_setup *setup)
{
    const struct tt_qdisc_gates *gates = &setup->gates;
    struct tc_mqprio_qopt map = map_of(&setup->map);
    struct nlattr *options;

    mnl_attr_put_strz(message, TCA_KIND, "taprio");
    if (gates->size_table) {
        const struct tc_sizespec size = {.overhead = OVERHEAD_BYTES, .linklayer = 1};
        struct nlattr *table = mnl_attr_nest_start(message, TCA_STAB);

        mnl_attr_put(message, TCA_STAB_BASE, sizeof(size), &size);
        mnl_attr_nest_end(message, table);
    }
    options = mnl_attr_nest_start(message, TCA_OPTIONS);
    if (gates->has_clock) {
        mnl_attr_put(message, TCA_TAPRIO_ATTR_SCHED_CLOCKID, sizeof(gates->clockid),
                     &gates->clockid);
    }
    if (gates->flags != 0) {
        mnl_attr_put_u32(message, TCA_TAPRIO_ATTR_FLAGS, gates->flags);
    }
    if (map.num_tc > 0) {
        mnl_attr_put(message, TCA_TAPRIO_ATTR_PRIOMAP, sizeof(map), &map);
    }
    if (gates->txtime_delay_ns != 0) {
        mnl_attr_put_u32(message, TCA_TAPRIO_ATTR_TXTIME_DELAY, gates->txtime_delay_ns);
    }
    put_i64(message, TCA_TAPRIO_ATTR_SCHED_BASE_TIME, gates->base_ns);
    put_i64(message, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, gates->cycle_ns);
    put_i64(message, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION, gates->extension_ns);
    put_entries(message, gates);
    mnl_attr_nest_end(message, options);
}

static int set_root(struct talk *talk, const struct tt_qdisc_setup *setup)
{
    char *buffer = calloc(1, 8192 + ENTRY_BYTES * setup->gates.entry_count);
    struct nlmsghdr *message;
    int error;

    if (!buffer) {
        return -ENOMEM;
    }
    message = begin(buffer, talk, RTM_NEWQDISC, TC_H_ROOT, HANDLE);
    if (setup->taprio) {
        put_taprio(message, setup);
    } else {
        struct tc_mqprio_qopt map = map_of(&setup->map);

        mnl_attr_put_strz(message, TCA_KIND, "mqprio");
        mnl_attr_put(message, TCA_OPTIONS, sizeof(map), &map);
    }
    error = ask(talk, message);
    free(buffer);
    return error;
}

static int set_child(struct talk *talk, const struct tt_qdisc_child *child)
{
    char buffer[1024] = {0};
    struct nlmsghdr *message = begin(buffer, talk, RTM_NEWQDISC, HANDLE | (child->queue + 1), 0);
    struct nlattr *options;

    mnl_attr_put_strz(message, TCA_KIND, child->etf ? "etf" : "cbs");
    options = mnl_attr_nest_start(message, TCA_OPTIONS);
    if (child->etf) {
        const struct tc_etf_qopt qopt = {.delta = child->delta_ns,
                                         .clockid = child->clockid,
                                         .flags = child->offload ? TC_ETF_OFFLOAD_ON : 0};

        mnl_attr_put(message, TCA_ETF_PARMS, sizeof(qopt), &qopt);
    } else {
        const struct tc_cbs_qopt qopt = {.offload = child->offload,
                                         .hicredit = child->hi_bytes,
                                         .locredit = child->lo_bytes,
                                         .idleslope = child->idle_kbps,
                                         .sendslope = child->send_kbps};

        mnl_attr_put(message, TCA_CBS_PARMS, sizeof(qopt), &qopt);
    }
    mnl_attr_nest_end(message, options);
    return ask(talk, message);
}

/* ---- what was there */

/* Whether somebody set it up: what is there by itself has no handle. */
static bool is_set_up(const struct nlmsghdr *dumped)
{
    const struct tcmsg *tc = mnl_nlmsg_get_payload(dumped);

    return tc->tcm_handle != 0;
}

static const struct nlattr *find(const struct nlmsghdr *message, uint16_t type)
{
    const struct nlattr *attr;
    const struct nlattr *found = NULL;

    for (attr = mnl_nlmsg_get_payload_offset(message, sizeof(struct tcmsg));
         tt_attr_is(attr, mnl_nlmsg_get_payload_tail(message)); attr = mnl_attr_next(attr)) {
        if (mnl_attr_get_type(attr) == type) {
            found = attr;
        }
    }
    return found;
}

static bool same_attribute(const struct nlmsghdr *a, const struct nlmsghdr *b, uint16_t type)
{
    const struct nlattr *in[2] = {find(a, type), find(b, type)};

    if (!in[0] || !in[1]) {
        return in[0] == in[1];
    }
    return in[0]->nla_len == in[1]->nla_len && memcmp(in[0], in[1], in[0]->nla_len) == 0;
}

/* Qdisc by qdisc, statistics left aside. */
static bool same(const struct tt_qdisc_dump *a, const struct tt_qdisc_dump *b)
{
    const struct nlmsghdr *in[2] = {a->bytes, b->bytes};
    int left[2] = {(int)a->n, (int)b->n};

    while (mnl_nlmsg_ok(in[0], left[0]) && mnl_nlmsg_ok(in[1], left[1])) {
        const struct tcmsg *tc[2] = {mnl_nlmsg_get_payload(in[0]), mnl_nlmsg_get_payload(in[1])};

        if (tc[0]->tcm_handle != tc[1]->tcm_handle || tc[0]->tcm_parent != tc[1]->tcm_parent ||
            !same_attribute(in[0], in[1], TCA_KIND) || !same_attribute(in[0], in[1], TCA_OPTIONS)) {
            return false;
        }
        in[0] = mnl_nlmsg_next(in[0], &left[0]);
        in[1] = mnl_nlmsg_next(in[1], &left[1]);
    }
    return !mnl_nlmsg_ok(in[0], left[0]) && !mnl_nlmsg_ok(in[1], left[1]);
}

static void put_copy(struct nlmsghdr *message, const struct nlattr *attr)
{
    if (attr) {
        mnl_attr_put(message, attr->nla_type, mnl_attr_get_payload_len(attr),
                     mnl_attr_get_payload(attr));
    }
}

static int put_one_back(struct talk *talk, const struct nlmsghdr *dumped)
{
    const struct tcmsg *tc = mnl_nlmsg_get_payload(dumped);
    char *buffer = calloc(1, dumped->nlmsg_len + 1024);
    struct nlmsghdr *message;
    int error;

    if (!buffer) {
        return -ENOMEM;
    }
    message = begin(buffer, talk, RTM_NEWQDISC, tc->tcm_parent, tc->tcm_handle);
    put_copy(message, find(dumped, TCA_KIND));
    put_copy(message, find(dumped, TCA_STAB));
    put_copy(message, find(dumped, TCA_OPTIONS));
    error = ask(talk, message);
    free(buffer);
    return error;
}

/* What is there by itself comes by itself. */
static void take_root_away(struct talk *talk)
{
    char buffer[256] = {0};

    ask(talk, begin(buffer, talk, RTM_DELQDISC, TC_H_ROOT, 0));
}

static int put_back(struct talk *talk, const struct tt_qdisc_dump *before)
{
    const struct nlmsghdr *dumped = before->bytes;
    int left = (int)before->n;
    int error = 0;

    take_root_away(talk);
    for (; mnl_nlmsg_ok(dumped, left); dumped = mnl_nlmsg_next(dumped, &left)) {
        if (is_set_up(dumped)) {
            int one = put_one_back(talk, dumped);

            error = error ? error : one;
        }
    }
    return error;
}

/* After a refusal: as it was, or made so again. */
static bool restore(const char *ifname, struct talk *talk, const struct tt_qdisc_dump *before)
{
    char why[TT_QDISC_WHY_BYTES];
    char *kept = talk->why;
    struct tt_qdisc_dump now;
    bool good = false;

    if (tt_qdisc_dump(ifname, &now) == 0) {
        good = same(before, &now);
        free(now.bytes);
    }
    if (good) {
        return true;
    }
    talk->why = why; /* the first refusal's reason stays */
    good = put_back(talk, before) == 0;
    talk->why = kept;
    return good;
}

int tt_qdisc_setup(const char *ifname, const struct tt_qdisc_setup *setup,
                   struct tt_qdisc_refusal *ret_refusal)
{
    struct tt_qdisc_dump before;
    struct talk talk;
    int error;

    *ret_refusal = (struct tt_qdisc_refusal){.child = -1, .put_back = true};
    error = talk_open(ifname, ret_refusal->why, &talk);
    if (error != 0) {
        return error;
    }
    error = tt_qdisc_dump(ifname, &before);
    if (error == 0) {
        error = set_root(&talk, setup);
        if (error == -KERNEL_ENOTSUPP) {
            /* The classes of a taprio that runs cannot be changed; those of a new one can. */
            take_root_away(&talk);
            error = set_root(&talk, setup);
        }
        for (size_t i = 0; error == 0 && i < setup->child_count; i++) {
            ret_refusal->child = (int)i;
            error = set_child(&talk, &setup->children[i]);
        }
        if (error != 0) {
            ret_refusal->put_back = restore(ifname, &talk, &before);
        }
        free(before.bytes);
    }
    mnl_socket_close(talk.socket);
    return error;
}
