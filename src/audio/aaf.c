/*
 * See aaf.h.
 */
#include "audio/aaf.h"

#include "audio/avtp.h"
#include "base/bytes.h"

#define NSR_CODES 16

static const uint32_t rate_by_nsr[NSR_CODES] = {
    [1] = 8000,  [2] = 16000, [3] = 32000,  [4] = 44100,  [5] = 48000,
    [6] = 88200, [7] = 96000, [8] = 176400, [9] = 192000, [10] = 24000,
};

const uint32_t tt_aaf_rates[TT_AAF_RATES] = {8000,  16000, 24000, 32000,  44100,
                                             48000, 88200, 96000, 176400, 192000};

unsigned tt_aaf_sample_bytes(enum tt_aaf_format format)
{
    switch (format) {
    case TT_AAF_FLOAT32:
    case TT_AAF_INT32:
        return 4;
    case TT_AAF_INT24:
        return 3;
    case TT_AAF_INT16:
        return 2;
    case TT_AAF_AES3:
        break;
    }
    return 0;
}

unsigned tt_aaf_nsr(uint32_t rate_hz)
{
    for (unsigned nsr = 1; nsr < NSR_CODES; nsr++) {
        if (rate_by_nsr[nsr] == rate_hz && rate_hz > 0)
            return nsr;
    }
    return 0;
}

static bool bit_depth_fits(enum tt_aaf_format format, unsigned bit_depth)
{
    unsigned width = tt_aaf_sample_bytes(format) * 8;

    /* A float has no narrower form inside its container. */
    if (format == TT_AAF_FLOAT32)
        return bit_depth == width;
    return bit_depth >= 1 && bit_depth <= width;
}

static void parse_fields(const uint8_t *pdu, struct tt_aaf *ret_aaf)
{
    ret_aaf->mr = (pdu[1] & 0x08) != 0;
    ret_aaf->tv = (pdu[1] & 0x01) != 0;
    ret_aaf->sequence = pdu[2];
    ret_aaf->tu = (pdu[3] & 0x01) != 0;
    ret_aaf->stream_id = tt_get_be64(pdu + 4);
    ret_aaf->timestamp = tt_get_be32(pdu + 12);
    ret_aaf->format = (enum tt_aaf_format)pdu[16];
    ret_aaf->rate_hz = rate_by_nsr[pdu[17] >> 4];
    ret_aaf->channels = tt_get_be16(pdu + 17) & 0x3FF;
    ret_aaf->bit_depth = pdu[19];
    ret_aaf->payload_bytes = tt_get_be16(pdu + 20);
    ret_aaf->sp = (pdu[22] & 0x10) != 0;
    ret_aaf->evt = pdu[22] & 0x0F;
    ret_aaf->payload = pdu + TT_AAF_HEADER_BYTES;
}

static enum tt_aaf_reason check_shape(const uint8_t *pdu, size_t bytes, size_t *ret_frames)
{
    enum tt_aaf_format format = (enum tt_aaf_format)pdu[16];
    unsigned channels = tt_get_be16(pdu + 17) & 0x3FF;
    unsigned payload_bytes = tt_get_be16(pdu + 20);
    unsigned frame_bytes = channels * tt_aaf_sample_bytes(format);

    if (tt_aaf_sample_bytes(format) == 0)
        return TT_AAF_FORMAT;
    if (rate_by_nsr[pdu[17] >> 4] == 0)
        return TT_AAF_RATE;
    if (channels == 0)
        return TT_AAF_CHANNELS;
    if (!bit_depth_fits(format, pdu[19]))
        return TT_AAF_BIT_DEPTH;
    if (payload_bytes > bytes - TT_AAF_HEADER_BYTES)
        return TT_AAF_TRUNCATED;
    if (payload_bytes == 0)
        return TT_AAF_EMPTY;
    if (payload_bytes % frame_bytes != 0)
        return TT_AAF_RAGGED;
    *ret_frames = payload_bytes / frame_bytes;
    return TT_AAF_OK;
}

/* The fields are written where they belong, once all is checked: a copy of them costs more than the
 * reading. */
enum tt_aaf_reason tt_aaf_parse(const uint8_t *pdu, size_t bytes, struct tt_aaf *ret_aaf)
{
    enum tt_aaf_reason reason;
    size_t frames;

    if (bytes < TT_AAF_HEADER_BYTES)
        return TT_AAF_SHORT;
    if (pdu[0] != TT_AVTP_SUBTYPE_AAF)
        return TT_AAF_SUBTYPE;
    if ((pdu[1] & 0x70) != 0)
        return TT_AAF_VERSION;
    if ((pdu[1] & 0x80) == 0)
        return TT_AAF_NO_STREAM;
    reason = check_shape(pdu, bytes, &frames);
    if (reason != TT_AAF_OK)
        return reason;
    parse_fields(pdu, ret_aaf);
    ret_aaf->frames = frames;
    return TT_AAF_OK;
}

void tt_aaf_build_header(const struct tt_aaf *aaf, uint8_t *ret_header)
{
    unsigned nsr = tt_aaf_nsr(aaf->rate_hz);

    ret_header[0] = TT_AVTP_SUBTYPE_AAF;
    ret_header[1] = (uint8_t)(0x80 | (aaf->mr ? 0x08 : 0) | (aaf->tv ? 0x01 : 0));
    ret_header[2] = aaf->sequence;
    ret_header[3] = aaf->tu ? 0x01 : 0;
    tt_put_be64(ret_header + 4, aaf->stream_id);
    tt_put_be32(ret_header + 12, aaf->timestamp);
    ret_header[16] = (uint8_t)aaf->format;
    tt_put_be16(ret_header + 17, (uint16_t)(nsr << 12 | (aaf->channels & 0x3FF)));
    ret_header[19] = (uint8_t)aaf->bit_depth;
    tt_put_be16(ret_header + 20, (uint16_t)aaf->payload_bytes);
    ret_header[22] = (uint8_t)((aaf->sp ? 0x10 : 0) | (aaf->evt & 0x0F));
    ret_header[23] = 0;
}

const char *tt_aaf_reason_text(enum tt_aaf_reason reason)
{
    static const char *const texts[TT_AAF_REASONS] = {
        [TT_AAF_OK] = "good",
        [TT_AAF_SHORT] = "shorter than the AAF header",
        [TT_AAF_SUBTYPE] = "subtype is not AAF",
        [TT_AAF_VERSION] = "AVTP version is not 0",
        [TT_AAF_NO_STREAM] = "stream ID is not valid (sv is 0)",
        [TT_AAF_FORMAT] = "format is not PCM",
        [TT_AAF_RATE] = "rate is reserved or user-defined",
        [TT_AAF_CHANNELS] = "no channels",
        [TT_AAF_BIT_DEPTH] = "bit depth does not fit the format",
        [TT_AAF_TRUNCATED] = "stream_data_length exceeds what was received",
        [TT_AAF_EMPTY] = "stream_data_length is 0",
        [TT_AAF_RAGGED] = "stream_data_length is no whole number of frames",
    };

    return texts[reason];
}

const char *tt_aaf_format_name(enum tt_aaf_format format)
{
    switch (format) {
    case TT_AAF_FLOAT32:
        return "FLOAT32";
    case TT_AAF_INT32:
        return "INT32";
    case TT_AAF_INT24:
        return "INT24";
    case TT_AAF_INT16:
        return "INT16";
    case TT_AAF_AES3:
        return "AES3";
    }
    return "unknown";
}
