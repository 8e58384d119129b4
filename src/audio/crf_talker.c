/*
 * See crf_talker.h.
 */
#include "audio/crf_talker.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ns.h"

#define STAMPS_HZ      300 /* IEEE 1722-2016's recommendation for audio … */
#define STAMPS_PER_PDU 6
#define MILAN_HZ       500

void tt_crf_config_init(struct tt_crf_config *config, uint32_t base_hz)
{
    bool milan = base_hz % MILAN_HZ == 0;

    *config = (struct tt_crf_config){
        .vlan_id = -1,
        .pcp = 3,
        .base_hz = base_hz,
        .timestamp_interval = (uint16_t)(base_hz / (milan ? MILAN_HZ : STAMPS_HZ)),
        .timestamps_per_pdu = milan ? 1 : STAMPS_PER_PDU,
        .mtt_ns = 2 * TT_NS_PER_MS,
    };
}

int tt_crf_talker_init(struct tt_crf_talker *talker, const struct tt_crf_config *config,
                       const struct tt_media_grid *grid, const uint8_t src[6])
{
    struct tt_eth eth = {
        .vlan_id = config->vlan_id,
        .pcp = config->vlan_id >= 0 ? config->pcp : -1,
        .ethertype = TT_ETHERTYPE_AVTP,
    };
    struct tt_crf crf = {
        .stream_id = config->stream_id,
        .type = TT_CRF_TYPE_AUDIO,
        .pull = config->pull,
        .base_hz = config->base_hz,
        .timestamp_interval = config->timestamp_interval,
        .timestamp_count = config->timestamps_per_pdu,
    };
    struct tt_talker_schedule schedule = {
        .rate = {.ticks_hz = config->base_hz, .frame_ticks = 1},
        .frames_per_pdu = config->timestamp_interval * config->timestamps_per_pdu,
        .mtt_ns = config->mtt_ns,
        .time_uncertainty_ns = config->time_uncertainty_ns,
    };
    struct tt_crf_rate rate;

    if (config->timestamps_per_pdu > TT_CRF_STAMPS_MAX || tt_crf_audio(&crf, &rate) != TT_CRF_OK) {
        return -EINVAL;
    }
    if (!grid) { /* which has the pull itself */
        schedule.rate = (struct tt_media_rate){.ticks_hz = rate.hz, .frame_ticks = rate.divisor};
    }
    tt_talker_init_schedule(&talker->talker, &schedule);
    tt_talker_follow(&talker->talker, grid);
    memcpy(eth.dest, config->dest, sizeof eth.dest);
    memcpy(eth.src, src, sizeof eth.src);
    talker->talker.eth_bytes = tt_eth_build(&eth, talker->talker.header);
    talker->crf = crf;
    return 0;
}

size_t tt_crf_talker_packet_bytes(const struct tt_crf_talker *talker)
{
    return talker->talker.eth_bytes + TT_CRF_HEADER_BYTES +
           talker->crf.timestamp_count * TT_CRF_STAMP_BYTES;
}

size_t tt_crf_talker_build(const struct tt_crf_talker *talker, const struct tt_talker_pdu *pdu,
                           uint8_t *ret_packet)
{
    const struct tt_talker *base = &talker->talker;
    struct tt_crf crf = talker->crf;
    uint8_t *stamp = ret_packet + base->eth_bytes + TT_CRF_HEADER_BYTES;

    crf.sequence = pdu->sequence;
    crf.mr = base->mr;
    crf.tu = tt_talker_is_uncertain(base);
    memcpy(ret_packet, base->header, base->eth_bytes);
    tt_crf_build_header(&crf, ret_packet + base->eth_bytes);
    for (size_t i = 0; i < crf.timestamp_count; i++) {
        int64_t event = pdu->frame + (int64_t)(i * crf.timestamp_interval);

        tt_put_be64(stamp,
                    (uint64_t)(tt_talker_due(base, event) + base->mtt_ns + base->stamp_offset_ns));
        stamp += TT_CRF_STAMP_BYTES;
    }
    return tt_crf_talker_packet_bytes(talker);
}
