/*
 * A taprio's schedule as the kernel dumps it. See qdisc_set.h. Source: linux/pkt_sched.h.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "os/qdisc_dump.h"
#include "os/qdisc_set.h"

#define ENTRIES_MAX 4096

struct attributes {
    const struct nlattr *of[TCA_TAPRIO_ATTR_MAX + 1];
};

static int collect(const struct nlattr *attr, void *data)
{
    struct attributes *attributes = data;

    if (mnl_attr_get_type(attr) <= TCA_TAPRIO_ATTR_MAX) {
        attributes->of[mnl_attr_get_type(attr)] = attr;
    }
    return MNL_CB_OK;
}

/* As many of its bytes as are there and wanted. */
static void get(const struct nlattr *attr, void *value, size_t bytes)
{
    if (attr && mnl_attr_get_payload_len(attr) >= bytes) {
        memcpy(value, mnl_attr_get_payload(attr), bytes);
    }
}

static int parse_entries(const struct nlattr *list, struct tt_qdisc_gates *gates)
{
    const struct nlattr *attr;
    size_t n = 0;

    for (attr = mnl_attr_get_payload(list); tt_attr_is(attr, tt_attr_end(list));
         attr = mnl_attr_next(attr)) {
        n++;
    }
    if (n > ENTRIES_MAX) {
        return -EINVAL;
    }
    gates->entries = calloc(n + 1, sizeof(*gates->entries));
    if (!gates->entries) {
        return -ENOMEM;
    }
    for (attr = mnl_attr_get_payload(list); tt_attr_is(attr, tt_attr_end(list));
         attr = mnl_attr_next(attr)) {
        struct tt_qdisc_entry *entry = &gates->entries[gates->entry_count++];
        struct attributes in = {0};

        mnl_attr_parse_nested(attr, collect, &in);
        get(in.of[TCA_TAPRIO_SCHED_ENTRY_CMD], &entry->command, sizeof(entry->command));
        get(in.of[TCA_TAPRIO_SCHED_ENTRY_GATE_MASK], &entry->mask, sizeof(entry->mask));
        get(in.of[TCA_TAPRIO_SCHED_ENTRY_INTERVAL], &entry->interval_ns,
            sizeof(entry->interval_ns));
    }
    return 0;
}

static void parse_times(const struct attributes *in, struct tt_qdisc_gates *gates)
{
    get(in->of[TCA_TAPRIO_ATTR_SCHED_BASE_TIME], &gates->base_ns, sizeof(gates->base_ns));
    get(in->of[TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME], &gates->cycle_ns, sizeof(gates->cycle_ns));
    get(in->of[TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION], &gates->extension_ns,
        sizeof(gates->extension_ns));
}

int tt_qdisc_gates_parse(const struct nlmsghdr *message, struct tt_qdisc_gates *ret_gates)
{
    const struct nlattr *options = NULL;
    const struct nlattr *attr;
    struct tt_qdisc_gates gates = {0};
    struct attributes in = {0};
    struct attributes admin = {0};
    struct tt_qdisc qdisc;
    int error = tt_qdisc_parse(message, &qdisc);

    if (error != 0 || strcmp(qdisc.kind, "taprio") != 0) {
        return -EINVAL;
    }
    for (attr = mnl_nlmsg_get_payload_offset(message, sizeof(struct tcmsg));
         tt_attr_is(attr, mnl_nlmsg_get_payload_tail(message)); attr = mnl_attr_next(attr)) {
        if (mnl_attr_get_type(attr) == TCA_OPTIONS) {
            options = attr;
        }
        gates.size_table = gates.size_table || mnl_attr_get_type(attr) == TCA_STAB;
    }
    if (options) {
        mnl_attr_parse_nested(options, collect, &in);
    }
    gates.has_clock = in.of[TCA_TAPRIO_ATTR_SCHED_CLOCKID] != NULL;
    get(in.of[TCA_TAPRIO_ATTR_SCHED_CLOCKID], &gates.clockid, sizeof(gates.clockid));
    gates.has_clock = gates.has_clock && gates.clockid >= 0;
    get(in.of[TCA_TAPRIO_ATTR_FLAGS], &gates.flags, sizeof(gates.flags));
    get(in.of[TCA_TAPRIO_ATTR_TXTIME_DELAY], &gates.txtime_delay_ns, sizeof(gates.txtime_delay_ns));
    if (in.of[TCA_TAPRIO_ATTR_ADMIN_SCHED]) {
        mnl_attr_parse_nested(in.of[TCA_TAPRIO_ATTR_ADMIN_SCHED], collect, &admin);
    }
    if (!in.of[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST] && admin.of[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST]) {
        in = admin;
        gates.pending = true;
    }
    parse_times(&in, &gates);
    if (in.of[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST]) {
        error = parse_entries(in.of[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST], &gates);
    }
    if (error == 0) {
        *ret_gates = gates;
    }
    return error;
}

int tt_qdisc_gates_read(const char *ifname, struct tt_qdisc_gates *ret_gates)
{
    struct tt_qdisc_dump dump;
    int error = tt_qdisc_dump(ifname, &dump);
    const struct nlmsghdr *message = dump.bytes;
    int left = (int)dump.n;

    if (error != 0) {
        return error;
    }
    error = -ENOENT;
    for (; error == -ENOENT && mnl_nlmsg_ok(message, left);
         message = mnl_nlmsg_next(message, &left)) {
        const struct tcmsg *tc = mnl_nlmsg_get_payload(message);

        if (tc->tcm_parent == TC_H_ROOT && tt_qdisc_gates_parse(message, ret_gates) == 0) {
            error = 0;
        }
    }
    free(dump.bytes);
    return error;
}
