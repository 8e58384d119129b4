/*
 * Clock Reference Format: parse one PDU.
 *
 * Invariant: as for AAF, any bytes parse to a PDU or to a named reason.
 * Source: IEEE 1722-2016, clause 10.
 */
#ifndef TT_AUDIO_CRF_H
#define TT_AUDIO_CRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_CRF_HEADER_BYTES 20

enum tt_crf_reason {
    TT_CRF_OK,
    TT_CRF_SHORT,
    TT_CRF_SUBTYPE,
    TT_CRF_VERSION,
    TT_CRF_NO_STREAM,
    TT_CRF_TRUNCATED, /* crf_data_length exceeds what was received */
    TT_CRF_RAGGED,    /* crf_data_length is no multiple of 8 */
    TT_CRF_REASONS
};

struct tt_crf {
    uint64_t stream_id;
    uint8_t sequence;
    bool mr;
    bool fs;
    bool tu;
    uint8_t type; /* 1: audio sample */
    uint8_t pull; /* multiplier: 0 1.0, 1 1/1.001, 2 1.001, 3 24/25, 4 25/24, 5 1/8 */
    uint32_t base_hz;
    uint16_t timestamp_interval; /* events per stamp */
    const uint8_t *timestamps;   /* 64-bit big-endian ns; points into the PDU */
    size_t timestamp_count;
};

enum tt_crf_reason tt_crf_parse(const uint8_t *pdu, size_t bytes, struct tt_crf *ret_crf);
const char *tt_crf_reason_text(enum tt_crf_reason reason);

#endif
