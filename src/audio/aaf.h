/*
 * AVTP Audio Format, PCM: parse and build one PDU.
 *
 * Invariant: any bytes at all parse to a PDU or to a named reason; after TT_AAF_OK, payload[0 …
 * frames * frame_bytes) lies inside what was given.
 * Source: IEEE 1722-2016, clause 7 (7.3: AAF PCM).
 */
#ifndef TT_AUDIO_AAF_H
#define TT_AUDIO_AAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_AAF_HEADER_BYTES 24
#define TT_AAF_CHANNELS_MAX 1023

/* Table 16 of the standard: the value on the wire. */
enum tt_aaf_format {
    TT_AAF_FLOAT32 = 1,
    TT_AAF_INT32 = 2,
    TT_AAF_INT24 = 3,
    TT_AAF_INT16 = 4,
    TT_AAF_AES3 = 5,
};

enum tt_aaf_reason {
    TT_AAF_OK,
    TT_AAF_SHORT,     /* fewer bytes than the header */
    TT_AAF_SUBTYPE,   /* not AAF */
    TT_AAF_VERSION,   /* a version other than 0 */
    TT_AAF_NO_STREAM, /* sv is 0 */
    TT_AAF_FORMAT,    /* not a PCM format (AES3, user, reserved) */
    TT_AAF_RATE,      /* nsr is reserved or user-defined */
    TT_AAF_CHANNELS,  /* no channels */
    TT_AAF_BIT_DEPTH, /* 0, beyond the container's width, or a float that is not 32 */
    TT_AAF_TRUNCATED, /* stream_data_length exceeds what was received */
    TT_AAF_EMPTY,     /* stream_data_length is 0 */
    TT_AAF_RAGGED,    /* stream_data_length is no whole number of frames */
    TT_AAF_REASONS
};

struct tt_aaf {
    uint64_t stream_id;
    uint8_t sequence;
    bool mr; /* media clock restart, toggles */
    bool tv; /* timestamp is valid */
    bool tu; /* timestamp is uncertain */
    bool sp; /* sparse: stamps in every eighth PDU */
    uint8_t evt;
    uint32_t timestamp; /* presentation time of the first frame, gPTP ns mod 2^32 */
    enum tt_aaf_format format;
    uint32_t rate_hz;
    unsigned channels;      /* 1 … 1023 */
    unsigned bit_depth;     /* 1 … container; 32 for FLOAT32 */
    const uint8_t *payload; /* interleaved, big-endian; points into the PDU */
    size_t payload_bytes;
    size_t frames;
};

/* `pdu` starts at the subtype byte; bytes beyond stream_data_length (Ethernet padding) are ignored.
 */
TT_RT enum tt_aaf_reason tt_aaf_parse(const uint8_t *pdu, size_t bytes, struct tt_aaf *ret_aaf);

/* Writes the 24 bytes of the header; payload is not read, payload_bytes is written as
 * stream_data_length. The fields must be valid (tt_aaf_nsr(rate_hz) > 0 …). */
TT_RT void tt_aaf_build_header(const struct tt_aaf *aaf, uint8_t *ret_header);

/* "rate is reserved", … for people. */
const char *tt_aaf_reason_text(enum tt_aaf_reason reason);

/* "INT16", "FLOAT32", …; "unknown" otherwise. */
const char *tt_aaf_format_name(enum tt_aaf_format format);

/* Bytes of one sample's container: 2, 3 or 4; 0 where the format is not PCM. */
unsigned tt_aaf_sample_bytes(enum tt_aaf_format format);

/* The nsr code of a rate (8, 16, 24, 32, 44.1, 48, 88.2, 96, 176.4, 192 kHz), or 0. */
unsigned tt_aaf_nsr(uint32_t rate_hz);

/* The rates that AAF names, ascending, TT_AAF_RATES of them. */
#define TT_AAF_RATES 10
extern const uint32_t tt_aaf_rates[TT_AAF_RATES];

#endif
