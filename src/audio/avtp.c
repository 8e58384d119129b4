/*
 * See avtp.h. A stream PDU has the common stream header (24 bytes) or one of its own (CRF, NTSCF),
 * a control PDU the common control header (12 bytes): IEEE 1722-2016, 4.4 and table 6.
 */
#include "audio/avtp.h"

#include <errno.h>

#include "base/attr.h"
#include "base/bytes.h"

#define COMMON_BYTES 4 /* what even a subtype of unknown shape has */

struct shape {
    const char *name;
    uint8_t subtype;
    uint8_t header_bytes;
    uint8_t sequence_at; /* 0: no sequence number */
};

/* Those first that come most often. */
static const struct shape shapes[] = {
    {"AAF", TT_AVTP_SUBTYPE_AAF, 24, 2},
    {"CRF", TT_AVTP_SUBTYPE_CRF, 20, 2},
    {"61883/IIDC", 0x00, 24, 2},
    {"MMA", 0x01, 24, 2},
    {"CVF", 0x03, 24, 2},
    {"TSCF", 0x05, 24, 2},
    {"SVF", 0x06, 24, 2},
    {"RVF", 0x07, 24, 2},
    {"AEF continuous", 0x6E, COMMON_BYTES, 0},
    {"vendor stream", 0x6F, 24, 2},
    {"experimental stream", 0x7F, 24, 2},
    {"NTSCF", 0x82, 12, 3},
    {"ESCF", 0xEC, COMMON_BYTES, 0},
    {"EECF", 0xED, COMMON_BYTES, 0},
    {"AEF discrete", 0xEE, COMMON_BYTES, 0},
    {"ADP", 0xFA, 12, 0},
    {"AECP", 0xFB, 12, 0},
    {"ACMP", 0xFC, 12, 0},
    {"MAAP", 0xFE, 12, 0},
    {"experimental control", 0xFF, 12, 0},
};

static const struct shape *find_shape(uint8_t subtype)
{
    static const struct shape reserved = {"reserved", 0, COMMON_BYTES, 0};

    for (size_t i = 0; i < TT_COUNT_OF(shapes); i++) {
        if (shapes[i].subtype == subtype)
            return &shapes[i];
    }
    return &reserved;
}

int tt_avtp_parse(const uint8_t *pdu, size_t bytes, struct tt_avtp *ret_avtp)
{
    const struct shape *shape;
    bool whole;

    if (bytes < COMMON_BYTES)
        return -EINVAL;
    shape = find_shape(pdu[0]);
    if (bytes < shape->header_bytes)
        return -EINVAL;
    whole = shape->header_bytes > COMMON_BYTES;
    ret_avtp->subtype = pdu[0];
    ret_avtp->version = pdu[1] >> 4 & 7;
    ret_avtp->sv = whole && (pdu[1] & 0x80) != 0;
    ret_avtp->stream_id = whole ? tt_get_be64(pdu + 4) : 0;
    ret_avtp->has_sequence = shape->sequence_at > 0;
    ret_avtp->sequence = shape->sequence_at > 0 ? pdu[shape->sequence_at] : 0;
    return 0;
}

const char *tt_avtp_subtype_name(uint8_t subtype)
{
    return find_shape(subtype)->name;
}
