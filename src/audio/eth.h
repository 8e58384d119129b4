/*
 * Ethernet II frames with at most one 802.1Q tag, MAC addresses and stream IDs as text.
 * Source: IEEE 802.3 clause 3, IEEE 802.1Q-2018 clause 9.
 */
#ifndef TT_AUDIO_ETH_H
#define TT_AUDIO_ETH_H

#include <stddef.h>
#include <stdint.h>

#define TT_ETHERTYPE_AVTP   0x22F0
#define TT_ETHERTYPE_VLAN   0x8100
#define TT_ETH_HEADER_BYTES 14
#define TT_ETH_TAG_BYTES    4

struct tt_eth {
    uint8_t dest[6];
    uint8_t src[6];
    int vlan_id; /* 0 … 4095; -1: untagged */
    int pcp;     /* 0 … 7; -1: untagged */
    uint16_t ethertype;
    size_t header_bytes; /* 14, or 18 with a tag */
};

/* 0, or -EINVAL where the frame is shorter than its own header. */
int tt_eth_parse(const uint8_t *frame, size_t bytes, struct tt_eth *ret_eth);

/* Writes the header (14 bytes, or 18 where vlan_id >= 0) and returns its length; header_bytes is
 * not read. */
size_t tt_eth_build(const struct tt_eth *eth, uint8_t *ret_frame);

/* "01:AA:AA:AA:AA:AA", either case. 0 or -EINVAL. */
int tt_mac_parse(const char *text, uint8_t ret_mac[6]);

/* "AA:BB:CC:DD:EE:FF:0001" (MAC, then the unique ID as four hex digits), either case. 0 or -EINVAL.
 */
int tt_stream_id_parse(const char *text, uint64_t *ret_stream_id);

#define TT_MAC_TEXT       18
#define TT_STREAM_ID_TEXT 23

/* Both return ret_text. */
const char *tt_mac_format(const uint8_t mac[6], char ret_text[TT_MAC_TEXT]);
const char *tt_stream_id_format(uint64_t stream_id, char ret_text[TT_STREAM_ID_TEXT]);

#endif
