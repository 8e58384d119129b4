/*
 * Clock Reference Format: one PDU, parsed and built, and what its numbers mean.
 *
 * A stamp is the presentation time of one event of the clock (its time plus the maximum transit
 * time); stamps are timestamp_interval events apart. Of the types only audio samples are used.
 * Invariant: as for AAF, any bytes parse to a PDU or to a named reason.
 * Source: IEEE 1722-2016, clause 10.
 */
#ifndef TT_AUDIO_CRF_H
#define TT_AUDIO_CRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_CRF_HEADER_BYTES 20
#define TT_CRF_STAMP_BYTES  8
#define TT_CRF_TYPE_AUDIO   1

enum tt_crf_reason {
    TT_CRF_OK,
    TT_CRF_SHORT,
    TT_CRF_SUBTYPE,
    TT_CRF_VERSION,
    TT_CRF_NO_STREAM,
    TT_CRF_TRUNCATED, /* crf_data_length exceeds what was received */
    TT_CRF_RAGGED,    /* crf_data_length is no multiple of 8 */
    TT_CRF_TYPE,      /* it says nothing of audio samples: … */
    TT_CRF_RATE,      /* … no base frequency of audio, or a pull that is reserved … */
    TT_CRF_EMPTY,     /* … no stamps, or none of their distance */
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

/* The rate of a clock, exactly: hz / divisor events a second. */
struct tt_crf_rate {
    uint32_t hz;
    uint32_t divisor;
};

TT_RT enum tt_crf_reason tt_crf_parse(const uint8_t *pdu, size_t bytes, struct tt_crf *ret_crf);

/* Whether what was parsed is a clock of audio samples: TT_CRF_OK, _TYPE, _RATE or _EMPTY, and the
 * rate with its pull. Base frequencies are 1 kHz … 768 kHz. */
TT_RT enum tt_crf_reason tt_crf_audio(const struct tt_crf *crf, struct tt_crf_rate *ret_rate);

/* Writes the 20 bytes of the header; crf_data_length follows from timestamp_count. */
TT_RT void tt_crf_build_header(const struct tt_crf *crf, uint8_t *ret_header);

const char *tt_crf_reason_text(enum tt_crf_reason reason);

#endif
