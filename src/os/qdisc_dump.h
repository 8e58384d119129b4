/*
 * An interface's qdiscs as the kernel's own messages, one behind the other.
 */
#ifndef TT_OS_QDISC_DUMP_H
#define TT_OS_QDISC_DUMP_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>

struct tt_qdisc_dump {
    void *bytes; /* the caller's to free */
    size_t n;
};

/* 0 or -errno; -ENODEV: no such interface. */
int tt_qdisc_dump(const char *ifname, struct tt_qdisc_dump *ret_dump);

/* Whether there is an attribute at `attr` in front of `end`; mnl_attr_next is the one behind it. */
static inline bool tt_attr_is(const struct nlattr *attr, const void *end)
{
    return mnl_attr_ok(attr, (int)((const char *)end - (const char *)attr));
}

static inline const void *tt_attr_end(const struct nlattr *attr)
{
    return (const char *)mnl_attr_get_payload(attr) + mnl_attr_get_payload_len(attr);
}

#endif
