/*
 * Asking a running ptp4l over its management socket, as pmc does: what port it serves, whether it
 * has a grandmaster, how far off it is. Nothing is set.
 *
 * Source: IEEE 1588-2019, 15.4 and 15.5 (management messages and TLVs); linuxptp's own TLVs
 * (TIME_STATUS_NP, PORT_PROPERTIES_NP) as pmc(8) has them.
 */
#ifndef TT_OS_PTP_MANAGEMENT_H
#define TT_OS_PTP_MANAGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_PTP_SOCKET "/var/run/ptp4l"

enum tt_ptp_port_state { /* IEEE 1588-2019, table 20 */
                         TT_PTP_INITIALIZING = 1,
                         TT_PTP_FAULTY = 2,
                         TT_PTP_DISABLED = 3,
                         TT_PTP_LISTENING = 4,
                         TT_PTP_PRE_MASTER = 5,
                         TT_PTP_MASTER = 6,
                         TT_PTP_PASSIVE = 7,
                         TT_PTP_UNCALIBRATED = 8,
                         TT_PTP_SLAVE = 9,
};

#define TT_PTP_PORTS  16
#define TT_PTP_IFNAME 16

struct tt_ptp_port {
    uint16_t number;
    uint8_t state;
    char ifname[TT_PTP_IFNAME];
};

struct tt_ptp_status {
    uint8_t transport;        /* majorSdoId (transportSpecific) of the answers */
    bool time_known;          /* TIME_STATUS_NP was answered: */
    int64_t offset_ns;        /* from the grandmaster; as of the last Sync */
    bool grandmaster_present; /* another clock is it */
    uint64_t grandmaster;
    bool utc_known; /* TIME_PROPERTIES_DATA_SET was answered: */
    int16_t utc_offset_s;
    bool utc_offset_valid;
    bool ptp_timescale;
    bool port_known; /* PORT_DATA_SET was answered, of the first port: */
    uint8_t port_state;
    uint16_t port;
    struct tt_ptp_port ports[TT_PTP_PORTS]; /* PORT_PROPERTIES_NP: so many ports, the first ones */
    size_t port_count;
};

/* 0, or -errno: -ENOENT or -ECONNREFUSED: no ptp4l; -EACCES: its socket is not ours to use;
 * -ETIMEDOUT: no answer. */
int tt_ptp_ask(const char *socket_path, struct tt_ptp_status *ret_status);

/* One management answer; what it holds is filled in. Whether it was one that was asked for. */
bool tt_ptp_parse(const uint8_t *message, size_t bytes, struct tt_ptp_status *status);

#endif
