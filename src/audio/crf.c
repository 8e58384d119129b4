/*
 * See crf.h.
 */
#include "audio/crf.h"

#include "audio/avtp.h"
#include "base/bytes.h"

#define STAMP_BYTES 8

enum tt_crf_reason tt_crf_parse(const uint8_t *pdu, size_t bytes, struct tt_crf *ret_crf)
{
    size_t data_bytes;
    uint32_t base;

    if (bytes < TT_CRF_HEADER_BYTES)
        return TT_CRF_SHORT;
    if (pdu[0] != TT_AVTP_SUBTYPE_CRF)
        return TT_CRF_SUBTYPE;
    if ((pdu[1] & 0x70) != 0)
        return TT_CRF_VERSION;
    if ((pdu[1] & 0x80) == 0)
        return TT_CRF_NO_STREAM;
    data_bytes = tt_get_be16(pdu + 16);
    if (data_bytes > bytes - TT_CRF_HEADER_BYTES)
        return TT_CRF_TRUNCATED;
    if (data_bytes % STAMP_BYTES != 0)
        return TT_CRF_RAGGED;
    base = tt_get_be32(pdu + 12);
    *ret_crf = (struct tt_crf){
        .stream_id = tt_get_be64(pdu + 4),
        .sequence = pdu[2],
        .mr = (pdu[1] & 0x08) != 0,
        .fs = (pdu[1] & 0x02) != 0,
        .tu = (pdu[1] & 0x01) != 0,
        .type = pdu[3],
        .pull = (uint8_t)(base >> 29),
        .base_hz = base & 0x1FFFFFFF,
        .timestamp_interval = tt_get_be16(pdu + 18),
        .timestamps = pdu + TT_CRF_HEADER_BYTES,
        .timestamp_count = data_bytes / STAMP_BYTES,
    };
    return TT_CRF_OK;
}

const char *tt_crf_reason_text(enum tt_crf_reason reason)
{
    static const char *const texts[TT_CRF_REASONS] = {
        [TT_CRF_OK] = "good",
        [TT_CRF_SHORT] = "shorter than the CRF header",
        [TT_CRF_SUBTYPE] = "subtype is not CRF",
        [TT_CRF_VERSION] = "AVTP version is not 0",
        [TT_CRF_NO_STREAM] = "stream ID is not valid (sv is 0)",
        [TT_CRF_TRUNCATED] = "crf_data_length exceeds what was received",
        [TT_CRF_RAGGED] = "crf_data_length is no whole number of stamps",
    };

    return texts[reason];
}
