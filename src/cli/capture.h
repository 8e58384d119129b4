/*
 * Packets from a capture file or from an interface, by libpcap: Ethernet frames with their tag
 * in-line and arrival times in ns of UTC.
 *
 * Classic pcap and pcapng, either byte order, µs and ns stamps. Records whose stamps are no time,
 * and packets of interfaces that are not Ethernet, are left out and counted. Live: AVTP, tagged or
 * not, with gPTP, MSRP and MVRP, and only what arrives.
 */
#ifndef TT_CLI_CAPTURE_H
#define TT_CLI_CAPTURE_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cmd.h"

struct tt_packet {
    const uint8_t *frame; /* valid until the next packet is taken */
    size_t bytes;         /* captured */
    size_t wire_bytes;
    int64_t arrival_utc_ns;
    bool untimed; /* its stamp is damaged; arrival_utc_ns is the packet's before */
};

struct tt_records;

#define TT_CAPTURE_ERROR 512

struct tt_capture {
    pcap_t *pcap;
    struct tt_records *records; /* what of a file is read without libpcap; NULL: nothing */
    bool untimed_too;           /* set it, and they are handed out; counted they always are */
    int64_t latest_utc_ns;      /* of a file */
    bool coarse;                /* live: the system gives stamps in µs only */
    bool hardware;              /* live: the interface stamps, as was asked for */
    uint64_t bad_fractions;     /* records that were left out: their stamps have a second or more */
    uint64_t bad_seconds;       /* … or are no time */
    char error[TT_CAPTURE_ERROR];
};

struct tt_capture_live {
    const char *ifname;
    bool promiscuous;
    int snap_bytes;
    bool everything; /* not AVTP alone */
    bool sent;       /* what leaves, and not what arrives */
    bool hardware;   /* stamps of the interface, in its own clock */
};

/* All say on stderr, as `command`, what went wrong. TT_EXIT_GOOD, or the exit code. */
enum tt_exit tt_capture_open_file(const char *command, const char *path,
                                  struct tt_capture *ret_capture);
enum tt_exit tt_capture_open_live(const char *command, const struct tt_capture_live *live,
                                  struct tt_capture *ret_capture);
/* Whether libpcap can have the interface stamp all that it receives. */
bool tt_capture_can_stamp(const char *ifname);
void tt_capture_close(struct tt_capture *capture);

/* 1: a packet; 0: none now (live) or the end (file); -1: broken, or something was left out by the
 * end, tt_capture_error says what. */
int tt_capture_next(struct tt_capture *capture, struct tt_packet *ret_packet);
const char *tt_capture_error(const struct tt_capture *capture);
/* Live: waits until there may be packets, at most wait_ms, or a signal. */
void tt_capture_wait(struct tt_capture *capture, int wait_ms);

/* "eth0, lo": the interfaces there are. */
void tt_capture_list_interfaces(char *ret_text, size_t bytes);

#endif
