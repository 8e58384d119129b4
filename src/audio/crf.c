/*
 * See crf.h.
 */
#include "audio/crf.h"

#include "audio/avtp.h"
#include "base/bytes.h"

#define BASE_MIN_HZ 1000
#define BASE_MAX_HZ 768000

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
    if (data_bytes % TT_CRF_STAMP_BYTES != 0)
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
        .timestamp_count = data_bytes / TT_CRF_STAMP_BYTES,
    };
    return TT_CRF_OK;
}

enum tt_crf_reason tt_crf_audio(const struct tt_crf *crf, struct tt_crf_rate *ret_rate)
{
    /* by the code of pull */
    static const struct {
        uint16_t by;
        uint16_t over;
    } pulls[] = {{1, 1}, {1000, 1001}, {1001, 1000}, {24, 25}, {25, 24}, {1, 8}};

    if (crf->type != TT_CRF_TYPE_AUDIO) {
        return TT_CRF_TYPE;
    }
    if (crf->pull >= TT_COUNT_OF(pulls) || crf->base_hz < BASE_MIN_HZ ||
        crf->base_hz > BASE_MAX_HZ) {
        return TT_CRF_RATE;
    }
    if (crf->timestamp_count == 0 || crf->timestamp_interval == 0) {
        return TT_CRF_EMPTY;
    }
    ret_rate->hz = crf->base_hz * pulls[crf->pull].by;
    ret_rate->divisor = pulls[crf->pull].over;
    return TT_CRF_OK;
}

void tt_crf_build_header(const struct tt_crf *crf, uint8_t *ret_header)
{
    ret_header[0] = TT_AVTP_SUBTYPE_CRF;
    ret_header[1] = (uint8_t)(0x80 | (crf->mr ? 0x08 : 0) | (crf->fs ? 0x02 : 0) | crf->tu);
    ret_header[2] = crf->sequence;
    ret_header[3] = crf->type;
    tt_put_be64(ret_header + 4, crf->stream_id);
    tt_put_be32(ret_header + 12, (uint32_t)crf->pull << 29 | (crf->base_hz & 0x1FFFFFFF));
    tt_put_be16(ret_header + 16, (uint16_t)(crf->timestamp_count * TT_CRF_STAMP_BYTES));
    tt_put_be16(ret_header + 18, crf->timestamp_interval);
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
        [TT_CRF_TYPE] = "not a clock of audio samples",
        [TT_CRF_RATE] = "no base frequency of audio, or a reserved pull",
        [TT_CRF_EMPTY] = "no stamps, or no timestamp_interval",
    };

    return texts[reason];
}
