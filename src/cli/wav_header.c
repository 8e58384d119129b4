/*
 * See wav_header.h.
 */
#include "cli/wav_header.h"

#include <string.h>

#include "base/bytes.h"

#define WAV_EXTENSIBLE 0xFFFE
#define RIFF_BYTES     12
#define CHUNK_BYTES    8
#define FMT_BYTES      16
#define FMT_BYTES_MAX  40 /* with the extension */
/* What programs that write to a pipe claim, or little less: 2 or 4 GiB. */
#define CLAIM_UNKNOWN 0x7FFF0000

static off_t file_bytes(FILE *in)
{
    return fseeko(in, 0, SEEK_END) == 0 ? ftello(in) : -1;
}

bool tt_wav_chunk_find(FILE *in, const char *name, uint64_t *ret_bytes)
{
    off_t end = file_bytes(in);
    off_t at = RIFF_BYTES;
    uint8_t head[CHUNK_BYTES];

    while (at <= end - CHUNK_BYTES && fseeko(in, at, SEEK_SET) == 0 &&
           fread(head, 1, sizeof(head), in) == sizeof(head)) {
        uint64_t left = (uint64_t)(end - at) - CHUNK_BYTES;
        uint64_t bytes = tt_get_le32(head + 4);

        if (memcmp(head, name, 4) == 0) {
            *ret_bytes = bytes < left ? bytes : left;
            return true;
        }
        bytes += bytes & 1;
        if (bytes > left) {
            return false;
        }
        at += CHUNK_BYTES + (off_t)bytes;
    }
    return false;
}

uint64_t tt_wav_bytes_missing(FILE *in)
{
    uint8_t claim[4];
    uint64_t bytes;

    if (!tt_wav_chunk_find(in, "data", &bytes) || fseeko(in, -4, SEEK_CUR) != 0 ||
        fread(claim, 1, sizeof(claim), in) != sizeof(claim) ||
        tt_get_le32(claim) >= CLAIM_UNKNOWN) {
        return 0;
    }
    return tt_get_le32(claim) - bytes;
}

static void fmt_parse(const uint8_t *fmt, struct tt_wav_header *header)
{
    header->tag = tt_get_le16(fmt) == WAV_EXTENSIBLE ? tt_get_le16(fmt + 24) : tt_get_le16(fmt);
    header->channels = tt_get_le16(fmt + 2);
    header->rate_hz = tt_get_le32(fmt + 4);
    header->frame_bytes = tt_get_le16(fmt + 12);
    header->bits = tt_get_le16(fmt + 14);
}

struct tt_wav_header tt_wav_header_read(FILE *in)
{
    struct tt_wav_header header = {0};
    uint8_t riff[RIFF_BYTES];
    uint8_t fmt[FMT_BYTES_MAX] = {0};
    uint64_t bytes;

    if (fread(riff, 1, sizeof(riff), in) != sizeof(riff) || memcmp(riff, "RIFF", 4) != 0 ||
        memcmp(riff + 8, "WAVE", 4) != 0) {
        return header;
    }
    header.is_wav = true;
    if (tt_wav_chunk_find(in, "fmt ", &bytes) && bytes >= FMT_BYTES) {
        bytes = bytes < FMT_BYTES_MAX ? bytes : FMT_BYTES_MAX;
        if (fread(fmt, 1, (size_t)bytes, in) == bytes) {
            fmt_parse(fmt, &header);
        }
    }
    return header;
}
