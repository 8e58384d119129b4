/*
 * See link_traffic.h.
 */
#include "audio/link_traffic.h"

#include "base/bytes.h"

#define FRAME_MIN_BYTES  60 /* without FCS */
#define AROUND_BYTES     24 /* FCS 4, preamble and start 8, gap 12 */
#define TYPE_SYNC        0x0
#define TYPE_ANNOUNCE    0xB
#define ANNOUNCE_BYTES   64
#define FLAG_UTC_VALID   0x04 /* in the second octet of flagField */
#define AT_FLAGS         7
#define AT_UTC_OFFSET    44
#define AT_GRANDMASTER   53
#define PTP_HEADER_BYTES 34

static void count_announce(struct tt_link_traffic *traffic, const uint8_t *message)
{
    uint64_t grandmaster = tt_get_be64(message + AT_GRANDMASTER);

    traffic->gptp_announce++;
    traffic->grandmaster_changes +=
        traffic->grandmaster != 0 && traffic->grandmaster != grandmaster;
    traffic->grandmaster = grandmaster;
    traffic->utc_offset_known = (message[AT_FLAGS] & FLAG_UTC_VALID) != 0;
    traffic->utc_offset_s = (int16_t)tt_get_be16(message + AT_UTC_OFFSET);
}

static void count_ptp(struct tt_link_traffic *traffic, const uint8_t *message, size_t bytes)
{
    if (bytes < PTP_HEADER_BYTES) {
        return;
    }
    traffic->gptp++;
    traffic->gptp_sync += (message[0] & 0xF) == TYPE_SYNC;
    if ((message[0] & 0xF) == TYPE_ANNOUNCE && bytes >= ANNOUNCE_BYTES) {
        count_announce(traffic, message);
    }
}

void tt_link_traffic_packet(struct tt_link_traffic *traffic, const struct tt_eth *eth,
                            const uint8_t *frame, size_t bytes, size_t wire_bytes)
{
    size_t padded = wire_bytes > FRAME_MIN_BYTES ? wire_bytes : FRAME_MIN_BYTES;
    struct tt_link_share *share;

    switch (eth->ethertype) {
    case TT_ETHERTYPE_AVTP:
        share = &traffic->avtp[eth->pcp < 0 ? TT_LINK_UNTAGGED : eth->pcp];
        share->packets++;
        share->wire_bytes += padded + AROUND_BYTES;
        break;
    case TT_ETHERTYPE_PTP:
        count_ptp(traffic, frame + eth->header_bytes, bytes - eth->header_bytes);
        break;
    case TT_ETHERTYPE_MSRP:
        traffic->msrp++;
        break;
    case TT_ETHERTYPE_MVRP:
        traffic->mvrp++;
        break;
    default:
        break;
    }
}
