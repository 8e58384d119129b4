/*
 * What the kernel says of a network interface, without changing anything: state and size by
 * rtnetlink, speed and stamps by ethtool netlink.
 */
#ifndef TT_OS_NIC_H
#define TT_OS_NIC_H

#include <stdbool.h>
#include <stdint.h>

#define TT_NIC_TEXT       32
#define TT_NIC_PRIORITIES 8

struct tt_nic {
    char driver[TT_NIC_TEXT]; /* "" unknown */
    char kind[TT_NIC_TEXT];   /* "veth", "vlan", "bridge", …; "": a device of its own */
    unsigned flags;           /* IFF_… */
    bool carrier;
    bool in_bridge; /* a port of another interface */
    uint32_t mtu_bytes;
    uint32_t tx_queues;
    uint32_t rx_queues;
    int64_t speed_mbit; /* -1: unknown */
    bool full_duplex;   /* meaningless where the speed is unknown */
    bool stamps_known;  /* of the kernel's answer on stamps: */
    bool stamps_tx_hardware;
    bool stamps_rx_hardware;
    int phc_index; /* -1: there is no PTP clock */
    /* kind vlan */
    int vlan_id;                          /* -1: another kind */
    uint32_t vlan_pcp[TT_NIC_PRIORITIES]; /* of each priority; 0 unless mapped */
};

/* 0 or -errno; -ENODEV: there is none of that name. */
int tt_nic_read(const char *ifname, struct tt_nic *ret_nic);

/* How far the PTP clock is ahead of CLOCK_TAI, with half the time that reading took. 0 or -errno
 * (-EACCES: /dev/ptp is not ours to read). */
int tt_phc_minus_tai(int phc_index, int64_t *ret_ns, int64_t *ret_uncertainty_ns);

#endif
