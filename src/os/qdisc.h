/*
 * What the kernel has set up on an interface for sending: its qdiscs, by rtnetlink (libmnl). Facts
 * only; what follows from them is decided above.
 */
#ifndef TT_OS_QDISC_H
#define TT_OS_QDISC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_QDISC_PRIORITIES 16

struct nlmsghdr;

struct tt_qdisc {
    char kind[16];
    uint32_t handle;
    uint32_t parent; /* TC_H_ROOT: root */
    bool offload;    /* the hardware does it */
    /* etf */
    int clockid;
    int64_t delta_ns;
    bool deadline_mode; /* sends as soon as it can, at the latest at the launch time */
    bool skip_sock_check;
    /* mqprio, taprio: class of each priority; classes as runs of queues */
    unsigned classes; /* 0: no map */
    uint8_t class_of_priority[TT_QDISC_PRIORITIES];
    uint16_t queue_count[TT_QDISC_PRIORITIES];
    uint16_t queue_offset[TT_QDISC_PRIORITIES];
    /* taprio */
    bool txtime_assist;
};

/* Up to `capacity` qdiscs of the interface, in the kernel's order. 0 or -errno; -ENODEV: no such
 * interface. */
int tt_qdisc_list(const char *ifname, struct tt_qdisc *ret_qdiscs, size_t capacity,
                  size_t *ret_count);

/* One RTM_NEWQDISC message; an attribute that is missing or too short leaves zeros. 0, or -EINVAL
 * where it is something else or has no kind. */
int tt_qdisc_parse(const struct nlmsghdr *message, struct tt_qdisc *ret_qdisc);

#endif
