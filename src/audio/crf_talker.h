/*
 * A CRF talker: a media clock becomes PDUs of stamps. Its scheduling is tt_talker's (due, launch,
 * drops, restarts, steps of the clock, tu), with PDUs of timestamp_interval x stamps frames; only
 * what is in a packet differs.
 *
 * The clock is the local TAI, exactly, or a grid that follows another.
 * Invariant: stamp i of all is the presentation time of event i * timestamp_interval: due + mtt.
 * Source: IEEE 1722-2016, clause 10; Milan: 48 kHz, an interval of 96, one stamp a PDU, 2 ms.
 */
#ifndef TT_AUDIO_CRF_TALKER_H
#define TT_AUDIO_CRF_TALKER_H

#include <stddef.h>
#include <stdint.h>

#include "audio/crf.h"
#include "audio/eth.h"
#include "audio/talker.h"
#include "base/attr.h"

#define TT_CRF_STAMPS_MAX 64 /* in a PDU that we send */

struct tt_crf_config {
    uint8_t dest[6];
    int vlan_id; /* -1: no tag */
    int pcp;
    uint64_t stream_id;
    uint32_t base_hz;
    uint8_t pull; /* as in struct tt_crf; on a grid it must be the grid's */
    uint16_t timestamp_interval;
    unsigned timestamps_per_pdu; /* 1 … TT_CRF_STAMPS_MAX */
    int64_t mtt_ns;
    int64_t time_uncertainty_ns;
};

struct tt_crf_talker {
    struct tt_talker talker; /* start, next, clock_step … it directly */
    struct tt_crf crf;
};

/* Milan's parameters for a base frequency: a stamp every 2 ms (96 samples of 48 kHz), 500 PDUs a
 * second. At 44.1 kHz, where that is no whole number, 1722's: 300 stamps a second, six a PDU. */
void tt_crf_config_init(struct tt_crf_config *config, uint32_t base_hz);

/* 0, or -EINVAL where the numbers describe no clock. `grid` may be NULL; `src` is the interface's
 * address. */
int tt_crf_talker_init(struct tt_crf_talker *talker, const struct tt_crf_config *config,
                       const struct tt_media_grid *grid, const uint8_t src[6]);

/* The bytes of a whole Ethernet frame. */
size_t tt_crf_talker_packet_bytes(const struct tt_crf_talker *talker);

/* Writes the whole Ethernet frame of what tt_talker_next gave, and returns its length. */
TT_RT size_t tt_crf_talker_build(const struct tt_crf_talker *talker,
                                 const struct tt_talker_pdu *pdu, uint8_t *ret_packet);

#endif
