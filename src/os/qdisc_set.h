/*
 * Setting up an interface's qdiscs, all or nothing, by rtnetlink (libmnl): a taprio or mqprio at
 * the root, etf and cbs below.
 *
 * What was there is kept as the kernel dumped it. Where a part is refused, and also where a refusal
 * has changed something (a taprio that is refused below another zeroes that one's class map, 6.1
 * and 6.12), it is put back.
 */
#ifndef TT_OS_QDISC_SET_H
#define TT_OS_QDISC_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/qdisc.h"

#define TT_QDISC_CHILDREN_MAX 16
#define TT_QDISC_WHY_BYTES    256

struct tt_qdisc_entry {
    uint8_t command; /* 0 set, 1 hold, 2 release */
    uint32_t mask;
    uint32_t interval_ns;
};

/* A taprio's schedule and what goes with it; the map is in struct tt_qdisc. */
struct tt_qdisc_gates {
    bool has_clock;
    int32_t clockid;
    uint32_t flags;
    uint32_t txtime_delay_ns;
    int64_t base_ns;
    int64_t cycle_ns; /* 0: not said */
    int64_t extension_ns;
    bool pending;    /* read: it starts at base_ns, and is not at work yet */
    bool size_table; /* set: 24 bytes of overhead are counted */
    size_t entry_count;
    struct tt_qdisc_entry *entries;
};

struct tt_qdisc_child {
    bool etf;       /* else cbs */
    unsigned queue; /* from 0 */
    bool offload;
    /* etf */
    int32_t clockid;
    int32_t delta_ns;
    /* cbs: kbit/s and bytes */
    int32_t idle_kbps;
    int32_t send_kbps;
    int32_t hi_bytes;
    int32_t lo_bytes;
};

struct tt_qdisc_setup {
    struct tt_qdisc map; /* classes, map and queues */
    bool taprio;         /* else mqprio */
    struct tt_qdisc_gates gates;
    size_t child_count;
    struct tt_qdisc_child children[TT_QDISC_CHILDREN_MAX];
};

struct tt_qdisc_refusal {
    int child;                    /* -1: the root; else which of the children */
    bool put_back;                /* what was there before is there again */
    char why[TT_QDISC_WHY_BYTES]; /* what the kernel said; empty: nothing */
};

/* 0, or -errno with the refusal. */
int tt_qdisc_setup(const char *ifname, const struct tt_qdisc_setup *setup,
                   struct tt_qdisc_refusal *ret_refusal);

/* The root taprio's schedule: the one at work, or, where there is none, the one that is pending.
 * ret_gates->entries is the caller's to free. 0 or -errno; -ENOENT: no taprio. */
int tt_qdisc_gates_read(const char *ifname, struct tt_qdisc_gates *ret_gates);
/* One RTM_NEWQDISC message of a taprio. 0, -EINVAL or -ENOMEM. */
int tt_qdisc_gates_parse(const struct nlmsghdr *message, struct tt_qdisc_gates *ret_gates);

#endif
