/*
 * What is common to every AVTPDU: subtype, version, stream ID, sequence number.
 * Source: IEEE 1722-2016, 4.4.
 */
#ifndef TT_AUDIO_AVTP_H
#define TT_AUDIO_AVTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_AVTP_SUBTYPE_AAF 0x02
#define TT_AVTP_SUBTYPE_CRF 0x04

struct tt_avtp {
    uint8_t subtype;
    uint8_t version;
    bool sv;           /* the stream ID is valid */
    bool has_sequence; /* a stream PDU: sequence and stream_id are meaningful */
    uint8_t sequence;
    uint64_t stream_id;
};

/* 0, or -EINVAL where `bytes` is too short for the header that the subtype has. Control subtypes
 * (0xFA ADP, 0xFB AECP, 0xFC ACMP, 0xFE MAAP, …) have no sequence number. */
int tt_avtp_parse(const uint8_t *pdu, size_t bytes, struct tt_avtp *ret_avtp);

/* "AAF", "CRF", "61883/IIDC", "CVF", "ADP", "AECP", "ACMP", "MAAP", …; "reserved" where 1722 names
 * none. */
const char *tt_avtp_subtype_name(uint8_t subtype);

#endif
