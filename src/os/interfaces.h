/*
 * The network interfaces there are, for messages to people; their MTU, and what they dropped.
 */
#ifndef TT_OS_INTERFACES_H
#define TT_OS_INTERFACES_H

#include <stddef.h>
#include <stdint.h>

/* Their names with spaces between, as many as fit; "" where none can be named. */
void tt_interface_names(char *ret_text, size_t bytes);

struct tt_interface_facts {
    int64_t speed_bps; /* 0: unknown */
    char driver[32];   /* "": unknown */
    unsigned tx_queues;
};

/* 0 or -errno; -ENODEV: no such interface. */
int tt_interface_ask(const char *ifname, struct tt_interface_facts *ret_facts);

/* 0 or -errno. */
int tt_interface_mtu(const char *ifname, unsigned *ret_bytes);
int tt_interface_set_mtu(const char *ifname, unsigned bytes);

/* Packets that it was to send, since it was made. 0 where nobody says. */
uint64_t tt_interface_tx_dropped(const char *ifname);
/* Packets that came while its own buffers were full, since it was made. Not rx_dropped: what has a
 * tag that no VLAN interface here takes is counted there too, read or not. */
uint64_t tt_interface_rx_missed(const char *ifname);

/* How often it lost its link, or was taken down. */
uint64_t tt_interface_downs(const char *ifname);

/* Packets of any interface that the queue of the processor that was to take them had no room for,
 * since the machine started; a virtual interface has no other buffer. `path` is TT_SOFTNET but in
 * tests. 0 where nobody says. */
#define TT_SOFTNET "/proc/net/softnet_stat"
uint64_t tt_softnet_dropped(const char *path);

#endif
