/*
 * See pcapng_writer.h. Blocks are little-endian, as their first says.
 */
#include "cli/pcapng_writer.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

#define BLOCK_SECTION   UINT32_C(0x0A0D0D0A)
#define BLOCK_INTERFACE 1
#define BLOCK_PACKET    6
#define MAGIC           UINT32_C(0x1A2B3C4D)
#define LINK_ETHERNET   1
#define OPTION_NAME     2
#define OPTION_TSRESOL  9
#define TSRESOL_NS      9
#define NAME_MAX_BYTES  64

static size_t padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

/* Type, length, the fixed part, the rest padded, the length again. */
static void write_block(FILE *out, uint32_t type, const uint8_t *fixed, size_t fixed_bytes,
                        const uint8_t *rest, size_t rest_bytes)
{
    static const uint8_t zeros[4];
    uint32_t length = (uint32_t)(12 + fixed_bytes + padded(rest_bytes));
    uint8_t head[8];

    tt_put_le32(head, type);
    tt_put_le32(head + 4, length);
    fwrite(head, 1, 8, out);
    fwrite(fixed, 1, fixed_bytes, out);
    if (rest_bytes > 0) {
        fwrite(rest, 1, rest_bytes, out);
    }
    fwrite(zeros, 1, padded(rest_bytes) - rest_bytes, out);
    fwrite(head + 4, 1, 4, out);
}

static size_t put_option(uint8_t *at, uint16_t code, const void *value, size_t bytes)
{
    tt_put_le16(at, code);
    tt_put_le16(at + 2, (uint16_t)bytes);
    memcpy(at + 4, value, bytes);
    return 4 + padded(bytes);
}

int tt_pcapng_open(struct tt_pcapng_writer *writer, const char *path, const char *ifname,
                   int snap_bytes)
{
    static const uint8_t resolution = TSRESOL_NS;
    size_t name_bytes = strnlen(ifname, NAME_MAX_BYTES);
    uint8_t section[16];
    uint8_t interface[8] = {LINK_ETHERNET};
    uint8_t options[NAME_MAX_BYTES + 32] = {0};
    size_t at;

    writer->out = fopen(path, "wbe");
    if (!writer->out) {
        return -errno;
    }
    tt_put_le32(section, MAGIC);
    tt_put_le16(section + 4, 1); /* version 1.0 */
    tt_put_le16(section + 6, 0);
    tt_put_le64(section + 8, UINT64_MAX); /* the section's length is not known */
    write_block(writer->out, BLOCK_SECTION, section, sizeof(section), NULL, 0);
    tt_put_le32(interface + 4, (uint32_t)snap_bytes);
    at = put_option(options, OPTION_NAME, ifname, name_bytes);
    at += put_option(options + at, OPTION_TSRESOL, &resolution, 1);
    at += put_option(options + at, 0, "", 0);
    write_block(writer->out, BLOCK_INTERFACE, interface, sizeof(interface), options, at);
    return tt_pcapng_flush(writer);
}

void tt_pcapng_write(struct tt_pcapng_writer *writer, const struct tt_packet *packet)
{
    uint64_t stamp = (uint64_t)packet->arrival_utc_ns;
    uint8_t fixed[20] = {0};

    tt_put_le32(fixed + 4, (uint32_t)(stamp >> 32));
    tt_put_le32(fixed + 8, (uint32_t)stamp);
    tt_put_le32(fixed + 12, (uint32_t)packet->bytes);
    tt_put_le32(fixed + 16, (uint32_t)packet->wire_bytes);
    write_block(writer->out, BLOCK_PACKET, fixed, sizeof(fixed), packet->frame, packet->bytes);
}

int tt_pcapng_flush(struct tt_pcapng_writer *writer)
{
    errno = 0;
    if (fflush(writer->out) != 0 || ferror(writer->out)) {
        return errno ? -errno : -EIO;
    }
    return 0;
}

void tt_pcapng_close(struct tt_pcapng_writer *writer)
{
    if (writer->out) {
        fclose(writer->out);
        writer->out = NULL;
    }
}
