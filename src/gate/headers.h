/*
 * What stands at the front of an Ethernet frame, as far as a shaper needs it: tags, IP, TCP or UDP.
 *
 * Never looks beyond `bytes`. Where a header is cut off, malformed or unknown, what is above it is
 * left out (l3_bytes or l4_bytes is 0) and the frame is passed as it is.
 * Source: IEEE 802.1Q-2018 clause 9; RFC 791, RFC 8200, RFC 9293, RFC 768.
 */
#ifndef TT_GATE_HEADERS_H
#define TT_GATE_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_IP_TCP 6
#define TT_IP_UDP 17

struct tt_headers {
    int pcp; /* of the outermost tag; -1: untagged */
    uint16_t ethertype;
    bool link_local; /* to 01:80:C2:00:00:0X, which no bridge forwards */
    size_t l3;       /* where IP begins */
    size_t l3_bytes; /* its header with extensions; 0: not IP */
    bool ipv6;
    uint8_t traffic_class; /* DSCP and ECN */
    uint8_t protocol;      /* behind the extensions; of a fragment: its own number, no l4 */
    size_t end;            /* of the IP packet; what is behind it is padding */
    size_t l4_bytes;       /* 0: neither TCP nor UDP, or a fragment */
    bool has_ports;        /* TCP or UDP, whole or its first fragment */
    uint16_t source_port;
    uint16_t dest_port;
    uint8_t icmpv6_type; /* 0: it is none */
};

TT_RT void tt_headers_parse(const uint8_t *frame, size_t bytes, struct tt_headers *ret_headers);

static inline size_t tt_headers_l4(const struct tt_headers *headers)
{
    return headers->l3 + headers->l3_bytes;
}

/* ARP, neighbour discovery, PTP and what no bridge forwards: little, and all else hangs on it. PTP
 * over UDP only from its own ports, which ordinary programs cannot send from. */
TT_RT bool tt_headers_is_control(const struct tt_headers *headers);

#endif
