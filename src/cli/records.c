/*
 * See records.h.
 */
#include "cli/records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/ns.h"

#define BUFFER_BYTES      (128 << 10)
#define FRAME_BYTES_MAX   65536
#define HANDED_OVER_MAX   64 /* a file of which so much is unusual is libpcap's */
#define INTERFACES_MAX    16
#define SECONDS_MAX       INT64_C(0x7FFFFFFF)
#define CLASSIC_US        0xA1B2C3D4
#define CLASSIC_NS        0xA1B23C4D
#define CLASSIC_BYTES     24
#define RECORD_BYTES      16
#define BLOCK_SECTION     0x0A0D0D0A
#define BLOCK_INTERFACE   1
#define BLOCK_OLD_PACKET  2
#define BLOCK_BARE_PACKET 3
#define BLOCK_PACKET      6
#define BLOCK_BYTES       12 /* type, length, and length again */
#define SECTION_MAGIC     0x1A2B3C4D
#define PACKET_BYTES      20 /* of a packet block, before the frame */
#define INTERFACE_BYTES   8
#define LINK_ETHERNET     1
#define OPTION_END        0
#define OPTION_RESOLUTION 9
#define OPTION_OFFSET     14

struct tt_records {
    int fd;
    bool blocks; /* pcapng */
    bool big_endian;
    uint32_t snap_bytes;
    int64_t units_ns[INTERFACES_MAX]; /* of a stamp; 0: unusual. A classic file has one */
    uint16_t links[INTERFACES_MAX];
    size_t interfaces;
    bool kinds[2]; /* there are interfaces of others, of Ethernet */
    bool alone;
    struct tt_records_left_out left_out;
    const char *error;
    unsigned handed_over;
    off_t offset; /* of buffer[begin] */
    size_t begin;
    size_t end;
    uint8_t buffer[BUFFER_BYTES];
};

static uint32_t get32(const struct tt_records *records, const uint8_t *p)
{
    return records->big_endian ? tt_get_be32(p) : tt_get_le32(p);
}

static uint16_t get16(const struct tt_records *records, const uint8_t *p)
{
    return records->big_endian ? tt_get_be16(p) : tt_get_le16(p);
}

/* What follows, `bytes` of it at least; NULL where the file has no more. */
static const uint8_t *look(struct tt_records *records, size_t bytes)
{
    while (records->end - records->begin < bytes) {
        size_t kept = records->end - records->begin;
        ssize_t n;

        memmove(records->buffer, records->buffer + records->begin, kept);
        records->begin = 0;
        records->end = kept;
        n = pread(records->fd, records->buffer + kept, BUFFER_BYTES - kept,
                  records->offset + (off_t)kept);
        if (n <= 0) {
            return NULL;
        }
        records->end += (size_t)n;
    }
    return records->buffer + records->begin;
}

static void pass(struct tt_records *records, size_t bytes)
{
    records->begin += bytes;
    records->offset += (off_t)bytes;
}

static void go_to(struct tt_records *records, off_t offset)
{
    records->begin = 0;
    records->end = 0;
    records->offset = offset;
}

static bool next_classic(struct tt_records *records, struct tt_record *ret_record)
{
    const uint8_t *p = look(records, RECORD_BYTES);
    uint32_t seconds;
    uint32_t fraction;
    uint32_t bytes;

    if (!p) {
        return false;
    }
    seconds = get32(records, p);
    fraction = get32(records, p + 4);
    bytes = get32(records, p + 8);
    if (seconds > SECONDS_MAX || fraction >= TT_NS_PER_S / records->units_ns[0] ||
        bytes > records->snap_bytes) {
        return false;
    }
    p = look(records, RECORD_BYTES + bytes);
    if (!p) {
        return false;
    }
    ret_record->frame = p + RECORD_BYTES;
    ret_record->bytes = bytes;
    ret_record->wire_bytes = get32(records, p + 12);
    ret_record->arrival_utc_ns = seconds * TT_NS_PER_S + fraction * records->units_ns[0];
    pass(records, RECORD_BYTES + bytes);
    return true;
}

/* The block that follows, whole; its length is a multiple of 4 and stands at its end too. NULL:
 * there is none. */
static const uint8_t *look_block(struct tt_records *records, uint32_t *ret_bytes)
{
    const uint8_t *p = look(records, BLOCK_BYTES);
    uint32_t bytes;

    if (!p) {
        return NULL;
    }
    bytes = get32(records, p + 4);
    if (bytes < BLOCK_BYTES || bytes > BUFFER_BYTES || bytes % 4 != 0) {
        return NULL;
    }
    p = look(records, bytes);
    if (!p || get32(records, p + bytes - 4) != bytes) {
        return NULL;
    }
    *ret_bytes = bytes;
    return p;
}

/* `p` is a whole packet block. Whether its packet is usual. */
static bool take_packet(struct tt_records *records, const uint8_t *p, uint32_t block_bytes,
                        struct tt_record *ret_record)
{
    uint32_t interface;
    uint32_t bytes;
    uint64_t stamp;

    if (block_bytes < BLOCK_BYTES + PACKET_BYTES) {
        return false;
    }
    interface = get32(records, p + 8);
    stamp = (uint64_t)get32(records, p + 12) << 32 | get32(records, p + 16);
    bytes = get32(records, p + 20);
    if (interface >= records->interfaces || records->units_ns[interface] == 0 ||
        stamp > (uint64_t)(SECONDS_MAX * TT_NS_PER_S / records->units_ns[interface]) ||
        bytes > records->snap_bytes || bytes > block_bytes - BLOCK_BYTES - PACKET_BYTES) {
        return false;
    }
    ret_record->frame = p + 8 + PACKET_BYTES;
    ret_record->bytes = bytes;
    ret_record->wire_bytes = get32(records, p + 24);
    ret_record->arrival_utc_ns = (int64_t)stamp * records->units_ns[interface];
    pass(records, block_bytes);
    return true;
}

static bool next_block(struct tt_records *records, struct tt_record *ret_record)
{
    uint32_t bytes;
    const uint8_t *p = look_block(records, &bytes);

    return p && get32(records, p) == BLOCK_PACKET && take_packet(records, p, bytes, ret_record);
}

/* The unit of an interface's stamps; 0 where it is unusual. `p` is its block. */
static int64_t read_units(const struct tt_records *records, const uint8_t *p, uint32_t bytes)
{
    int64_t units_ns = TT_NS_PER_US;
    size_t at = 8 + INTERFACE_BYTES;

    if (bytes < BLOCK_BYTES + INTERFACE_BYTES) {
        return 0;
    }
    while (at + 4 <= bytes - 4) {
        uint16_t code = get16(records, p + at);
        uint16_t length = get16(records, p + at + 2);

        if (code == OPTION_END) {
            break;
        }
        if (code == OPTION_OFFSET || at + 4 + length > bytes - 4) {
            return 0;
        }
        if (code == OPTION_RESOLUTION) {
            units_ns = length != 1 ? 0 : p[at + 4] == 9 ? 1 : p[at + 4] == 6 ? TT_NS_PER_US : 0;
        }
        at += 4 + (length + 3U) / 4 * 4;
    }
    return units_ns;
}

static bool is_section(const uint8_t *p)
{
    return p && tt_get_be32(p) == BLOCK_SECTION; /* the same in either byte order */
}

/* Whether a section of the other byte order follows. */
static bool turns(struct tt_records *records)
{
    const uint8_t *p = look(records, BLOCK_BYTES);

    return is_section(p) &&
           (records->big_endian ? tt_get_le32(p + 8) : tt_get_be32(p + 8)) == SECTION_MAGIC;
}

/* Whether the section that follows is begun: it has interfaces of its own. */
static bool begin_section(struct tt_records *records)
{
    const uint8_t *p = look(records, BLOCK_BYTES);
    uint32_t bytes;

    records->big_endian = p && tt_get_be32(p + 8) == SECTION_MAGIC;
    records->interfaces = 0;
    p = look_block(records, &bytes);
    if (!p || get32(records, p + 8) != SECTION_MAGIC) {
        return false;
    }
    pass(records, bytes);
    return true;
}

/* `p` is an interface's block. Whether there is room for one more. */
static bool learn_interface(struct tt_records *records, const uint8_t *p, uint32_t bytes)
{
    if (records->interfaces == INTERFACES_MAX) {
        return false;
    }
    records->kinds[get16(records, p + 8) == LINK_ETHERNET] = true;
    records->links[records->interfaces] = get16(records, p + 8);
    records->units_ns[records->interfaces++] = read_units(records, p, bytes);
    return true;
}

/* Which interfaces are described between here and `until`. Whether that can be told. */
static bool learn(struct tt_records *records, off_t until)
{
    uint32_t bytes;
    const uint8_t *p;

    while (records->offset < until) {
        if (is_section(look(records, BLOCK_BYTES))) {
            if (turns(records) || !begin_section(records)) {
                return false;
            }
            continue;
        }
        p = look_block(records, &bytes);
        if (!p) {
            return false;
        }
        if (get32(records, p) == BLOCK_INTERFACE && !learn_interface(records, p, bytes)) {
            return false;
        }
        pass(records, bytes);
    }
    return records->offset == until;
}

/* So far libpcap reads on when it is asked for a packet. */
static bool stops_libpcap(uint32_t kind)
{
    return kind == BLOCK_PACKET || kind == BLOCK_OLD_PACKET || kind == BLOCK_BARE_PACKET;
}

/* Whether libpcap stops before the next packet: the interfaces until there are of more than one
 * link type, Ethernet among them, or a section of the other byte order comes. */
static bool is_beyond_libpcap(struct tt_records *records)
{
    const off_t here = records->offset;
    bool kinds[2] = {records->kinds[0], records->kinds[1]};
    bool beyond;
    const uint8_t *p;
    uint32_t bytes;

    while ((p = look_block(records, &bytes)) && !stops_libpcap(get32(records, p))) {
        if (get32(records, p) == BLOCK_INTERFACE && bytes >= BLOCK_BYTES + INTERFACE_BYTES) {
            kinds[get16(records, p + 8) == LINK_ETHERNET] = true;
        }
        pass(records, bytes);
    }
    beyond = turns(records) || (kinds[0] && kinds[1]);
    go_to(records, here);
    if (beyond) {
        records->snap_bytes = FRAME_BYTES_MAX; /* what libpcap said is the first interface's */
    }
    return beyond;
}

static bool begin_classic(struct tt_records *records, const uint8_t *p, off_t offset)
{
    uint32_t magic = tt_get_le32(p);

    records->big_endian = magic != CLASSIC_US && magic != CLASSIC_NS;
    magic = get32(records, p);
    records->units_ns[0] = magic == CLASSIC_US ? TT_NS_PER_US : 1;
    return (magic == CLASSIC_US || magic == CLASSIC_NS) && get16(records, p + 4) == 2 &&
           get16(records, p + 6) == 4 && offset == CLASSIC_BYTES;
}

static bool begin_blocks(struct tt_records *records, const uint8_t *p, off_t offset)
{
    records->blocks = true;
    records->big_endian = tt_get_be32(p + 8) == SECTION_MAGIC;
    if (!begin_section(records) || !learn(records, offset)) {
        return false;
    }
    records->alone = is_beyond_libpcap(records);
    return true;
}

struct tt_records *tt_records_new(int fd, size_t snap_bytes, off_t offset)
{
    struct tt_records *records = malloc(sizeof(*records));
    const uint8_t *p;

    if (!records) {
        return NULL;
    }
    memset(records, 0, offsetof(struct tt_records, buffer));
    records->fd = fd;
    records->snap_bytes = (uint32_t)(snap_bytes < FRAME_BYTES_MAX ? snap_bytes : FRAME_BYTES_MAX);
    p = look(records, CLASSIC_BYTES);
    if (!p || !(tt_get_be32(p) == BLOCK_SECTION ? begin_blocks(records, p, offset)
                                                : begin_classic(records, p, offset))) {
        free(records);
        return NULL;
    }
    go_to(records, offset);
    return records;
}

void tt_records_free(struct tt_records *records)
{
    free(records);
}

/* 1: it is read, or left out; 0: a packet; -1: it cannot be. `p` is what comes. */
static int pass_block(struct tt_records *records, const uint8_t *p, uint32_t bytes,
                      struct tt_record *ret_record)
{
    uint32_t kind = get32(records, p);
    uint32_t interface = bytes >= BLOCK_BYTES + PACKET_BYTES ? get32(records, p + 8) : 0;

    if (kind == BLOCK_PACKET && interface < records->interfaces &&
        records->links[interface] != LINK_ETHERNET) {
        records->left_out.packets++;
        records->left_out.link = records->links[interface];
    } else if (kind == BLOCK_PACKET) {
        return take_packet(records, p, bytes, ret_record) ? 0 : -1;
    } else if (stops_libpcap(kind) ||
               (kind == BLOCK_INTERFACE && !learn_interface(records, p, bytes))) {
        return -1;
    }
    pass(records, bytes);
    return 1;
}

/* 1: it is read, or left out; 0: a packet; -1: it cannot be. */
static int step_alone(struct tt_records *records, struct tt_record *ret_record)
{
    uint32_t bytes;
    const uint8_t *p;

    int status;

    if (is_section(look(records, BLOCK_BYTES)) && begin_section(records)) {
        return 1;
    }
    p = look_block(records, &bytes);
    if (!p) {
        records->error = look(records, 1) ? "truncated or damaged block" : NULL;
        return -1;
    }
    status = pass_block(records, p, bytes, ret_record);
    if (status < 0) {
        records->error = "an unusual block in a capture of several link types or byte orders";
    }
    return status;
}

/* Of a file that libpcap does not read. 1: a record; -1: the end. */
static int next_alone(struct tt_records *records, struct tt_record *ret_record)
{
    int status;

    do {
        status = step_alone(records, ret_record);
    } while (status > 0);
    return status == 0 ? 1 : -1;
}

int tt_records_next(struct tt_records *records, struct tt_record *ret_record, off_t *ret_offset)
{
    if (records->alone) {
        return next_alone(records, ret_record);
    }
    if (records->blocks ? next_block(records, ret_record) : next_classic(records, ret_record)) {
        return 1;
    }
    records->alone = records->blocks && is_beyond_libpcap(records);
    if (records->alone) {
        return next_alone(records, ret_record);
    }
    *ret_offset = records->offset;
    return 0;
}

int tt_records_resume(struct tt_records *records, off_t offset)
{
    if (++records->handed_over > HANDED_OVER_MAX || (records->blocks && !learn(records, offset))) {
        return -1;
    }
    go_to(records, offset);
    return 0;
}

bool tt_records_is_alone(const struct tt_records *records)
{
    return records && records->alone;
}

struct tt_records_left_out tt_records_left_out(const struct tt_records *records)
{
    return records->left_out;
}

const char *tt_records_error(const struct tt_records *records)
{
    return records->error;
}
