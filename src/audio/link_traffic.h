/*
 * What else a bystander sees on a link with AVTP: who keeps its time (gPTP), whether anybody makes
 * reservations (MSRP, MVRP), and what AVTP takes of each priority.
 *
 * Pure. Bytes are those of the wire: padding, FCS, preamble and gap included.
 * Source: IEEE 802.1AS-2020, 10.6 and 11.4 (messages); IEEE 1588-2019, 13.3 and 13.5 (fields of
 * Announce); IEEE 802.1Q-2018, table 10-2 and 35.2.2 (EtherTypes of MRP applications).
 */
#ifndef TT_AUDIO_LINK_TRAFFIC_H
#define TT_AUDIO_LINK_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/eth.h"

#define TT_ETHERTYPE_PTP  0x88F7
#define TT_ETHERTYPE_MSRP 0x22EA
#define TT_ETHERTYPE_MVRP 0x88F5

#define TT_LINK_PRIORITIES 8
#define TT_LINK_UNTAGGED   TT_LINK_PRIORITIES

struct tt_link_share {
    uint64_t packets;
    uint64_t wire_bytes;
};

struct tt_link_traffic {
    struct tt_link_share avtp[TT_LINK_PRIORITIES + 1]; /* by PCP; TT_LINK_UNTAGGED */
    uint64_t gptp;                                     /* messages */
    uint64_t gptp_sync;
    uint64_t gptp_announce;
    uint64_t grandmaster; /* of the latest Announce: clock identity; 0: none was seen */
    uint64_t grandmaster_changes;
    bool utc_offset_known; /* currentUtcOffsetValid of the latest Announce */
    int16_t utc_offset_s;
    uint64_t msrp;
    uint64_t mvrp;
};

/* A frame whose Ethernet header has been read; `bytes` of it, header included, were captured. */
void tt_link_traffic_packet(struct tt_link_traffic *traffic, const struct tt_eth *eth,
                            const uint8_t *frame, size_t bytes, size_t wire_bytes);

#endif
