/*
 * Any bytes as an Ethernet frame, through the parsers as a receiver calls them.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audio/aaf.h"
#include "audio/avtp.h"
#include "audio/crf.h"
#include "audio/eth.h"

enum {
    ETH_SHORT,
    ETH_OTHER,
    ETH_TAGGED,
    AVTP_SHORT,
    AVTP_NO_SEQUENCE,
    AAF_FIRST,
    CRF_FIRST = AAF_FIRST + TT_AAF_REASONS,
    REASONS = CRF_FIRST + TT_CRF_REASONS
};

static struct fuzz_reason reasons[REASONS] = {
    [ETH_SHORT] = {"eth: shorter than its header", 0},
    [ETH_OTHER] = {"eth: another EtherType", 0},
    [ETH_TAGGED] = {"eth: a tag", 0},
    [AVTP_SHORT] = {"avtp: shorter than its header", 0},
    [AVTP_NO_SEQUENCE] = {"avtp: no sequence number", 0},
};

const struct fuzz_reason *fuzz_reasons(size_t *ret_count)
{
    for (unsigned i = 0; i < TT_AAF_REASONS; i++)
        reasons[AAF_FIRST + i].name = tt_aaf_reason_text((enum tt_aaf_reason)i);
    for (unsigned i = 0; i < TT_CRF_REASONS; i++)
        reasons[CRF_FIRST + i].name = tt_crf_reason_text((enum tt_crf_reason)i);
    *ret_count = REASONS;
    return reasons;
}

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

static void check_aaf(const uint8_t *pdu, size_t bytes)
{
    /* what is not reserved: sv mr tv, tu, sp evt, and bytes that are whole fields */
    static const uint8_t defined[TT_AAF_HEADER_BYTES] = {
        0xFF, 0xF9, 0xFF, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF3, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0x00,
    };
    uint8_t header[TT_AAF_HEADER_BYTES];
    struct tt_aaf aaf;
    enum tt_aaf_reason reason = tt_aaf_parse(pdu, bytes, &aaf);

    hold(reason < TT_AAF_REASONS);
    reasons[AAF_FIRST + reason].reached++;
    if (reason != TT_AAF_OK)
        return;
    hold(aaf.payload == pdu + TT_AAF_HEADER_BYTES);
    hold(aaf.payload_bytes <= bytes - TT_AAF_HEADER_BYTES);
    hold(aaf.channels >= 1 && aaf.channels <= TT_AAF_CHANNELS_MAX && aaf.frames >= 1);
    hold(aaf.frames * aaf.channels * tt_aaf_sample_bytes(aaf.format) == aaf.payload_bytes);
    tt_aaf_build_header(&aaf, header);
    for (size_t i = 0; i < sizeof(header); i++)
        hold(header[i] == (pdu[i] & defined[i]));
}

static void check_crf(const uint8_t *pdu, size_t bytes)
{
    uint8_t header[TT_CRF_HEADER_BYTES];
    struct tt_crf crf;
    struct tt_crf_rate rate;
    enum tt_crf_reason reason = tt_crf_parse(pdu, bytes, &crf);

    hold(reason < TT_CRF_REASONS);
    if (reason != TT_CRF_OK) {
        reasons[CRF_FIRST + reason].reached++;
        return;
    }
    hold(crf.timestamps == pdu + TT_CRF_HEADER_BYTES);
    hold(crf.timestamp_count <= (bytes - TT_CRF_HEADER_BYTES) / 8);
    hold(crf.pull < 8 && crf.base_hz < 1U << 29);
    tt_crf_build_header(&crf, header);
    for (size_t i = 0; i < sizeof(header); i++)
        hold(header[i] == (pdu[i] & (i == 1 ? 0x8B : 0xFF)));
    reason = tt_crf_audio(&crf, &rate);
    reasons[CRF_FIRST + reason].reached++;
    hold(reason != TT_CRF_OK || (rate.hz >= 1000 && rate.hz < 1U << 30 && rate.divisor >= 1));
}

/* Build and parse are inverse, but for the tag's drop bit. */
static void check_eth(const struct tt_eth *eth, const uint8_t *data)
{
    uint8_t header[TT_ETH_HEADER_BYTES + TT_ETH_TAG_BYTES];

    hold(tt_eth_build(eth, header) == eth->header_bytes);
    if (eth->vlan_id >= 0) {
        reasons[ETH_TAGGED].reached++;
        header[14] |= data[14] & 0x10;
    }
    hold(memcmp(header, data, eth->header_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_eth eth;
    struct tt_avtp avtp;
    const uint8_t *pdu;
    size_t bytes;

    if (tt_eth_parse(data, size, &eth) != 0) {
        reasons[ETH_SHORT].reached++;
        return 0;
    }
    hold(eth.header_bytes <= size);
    check_eth(&eth, data);
    if (eth.ethertype != TT_ETHERTYPE_AVTP) {
        reasons[ETH_OTHER].reached++;
        return 0;
    }
    pdu = data + eth.header_bytes;
    bytes = size - eth.header_bytes;
    if (tt_avtp_parse(pdu, bytes, &avtp) != 0)
        reasons[AVTP_SHORT].reached++;
    else if (!avtp.has_sequence)
        reasons[AVTP_NO_SEQUENCE].reached++;
    /* either, whatever the subtype says: the parsers stand on their own */
    check_aaf(pdu, bytes);
    check_crf(pdu, bytes);
    return 0;
}
