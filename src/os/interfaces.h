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
/* Packets that came and that nobody here got, since it was made: its own buffers were full, or the
 * queue of the processor that was to take them (a virtual interface has that one alone). */
uint64_t tt_interface_rx_dropped(const char *ifname);

#endif
