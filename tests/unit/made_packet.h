/*
 * Packets as a host's stack hands them over, and frames taken apart by other means than those under
 * test: lengths and checksums are summed up anew, byte by byte.
 */
#ifndef TT_TESTS_UNIT_MADE_PACKET_H
#define TT_TESTS_UNIT_MADE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/segment.h"

enum { MADE_MAX = 70000 };

struct made_packet {
    bool ipv6;
    bool udp;
    bool tagged; /* PCP 5 */
    uint32_t sequence;
    uint8_t flags;         /* of TCP */
    uint8_t traffic_class; /* DSCP and ECN */
    size_t options;        /* of TCP, filled with NOP: 0 … 40, by 4 */
    size_t extensions;     /* of IPv6: 0, or 8 bytes of hop-by-hop */
    size_t payload_bytes;
};

/* The payload's byte at so many bytes from sequence number 0. */
uint8_t made_byte(uint32_t position);
/* Its checksum is left to be filled in. Returns the packet's length. */
size_t make_packet(const struct made_packet *packet, uint8_t *ret_packet, struct tt_gso *ret_gso);

struct taken_frame {
    bool good; /* version, lengths and checksums are right */
    bool ipv6;
    bool udp;
    size_t payload;
    size_t payload_bytes;
    uint32_t sequence;
    uint8_t flags;
    uint8_t traffic_class;
    uint16_t id;
};

/* TCP or UDP over IP, whatever else is in front. */
struct taken_frame take_apart(const uint8_t *frame, size_t bytes);

#endif
