/*
 * See segment.h.
 */
#include "gate/segment.h"

#include <string.h>

#include "base/bytes.h"
#include "base/min_max.h"
#include "gate/wire_time.h"

enum { FIN = 0x01, SYN = 0x02, RST = 0x04, PSH = 0x08, URG = 0x20, CWR = 0x80 };
enum { OPTION_END = 0, OPTION_NOP = 1, OPTION_MD5 = 19, OPTION_AO = 29 };
enum { ECN_MASK = 3, ECN_CE = 3 };

/* Of big-endian 16-bit words, the last one filled up with 0; not yet folded. */
static uint64_t sum_words(const uint8_t *p, size_t bytes, uint64_t sum)
{
    while (bytes >= 4) {
        sum += tt_get_be32(p);
        p += 4;
        bytes -= 4;
    }
    if (bytes >= 2) {
        sum += tt_get_be16(p);
        p += 2;
        bytes -= 2;
    }
    return bytes > 0 ? sum + ((uint64_t)*p << 8) : sum;
}

static uint16_t fold(uint64_t sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return (uint16_t)~sum;
}

/* Whether a TCP option says that the segment is signed; malformed options count as that. */
static bool is_signed(const uint8_t *tcp, size_t header_bytes)
{
    size_t at = 20;

    while (at < header_bytes && tcp[at] != OPTION_END) {
        if (tcp[at] == OPTION_NOP) {
            at++;
            continue;
        }
        if (at + 1 >= header_bytes || tcp[at + 1] < 2 || tcp[at] == OPTION_MD5 ||
            tcp[at] == OPTION_AO) {
            return true;
        }
        at += tcp[at + 1];
    }
    return false;
}

static size_t checksum_at(const struct tt_headers *h)
{
    return tt_headers_l4(h) + (h->protocol == TT_IP_TCP ? 16 : 6);
}

/* Of addresses and protocol; the length comes on top. What the stack left in the field has it, and
 * the packet's last destination where a route is in its headers and the one here is the next. */
static uint64_t sum_pseudo(const struct tt_segmenter *s, const uint8_t *packet)
{
    const struct tt_headers *h = &s->headers;
    const uint8_t *ip = packet + h->l3;
    size_t field = checksum_at(h);

    if (s->gso.needs_checksum && s->gso.checksum_start == tt_headers_l4(h) &&
        (size_t)s->gso.checksum_start + s->gso.checksum_offset == field) {
        return (uint64_t)tt_get_be16(packet + field) + (uint16_t) ~(h->end - tt_headers_l4(h));
    }
    return sum_words(ip + (h->ipv6 ? 8 : 12), h->ipv6 ? 32 : 8, h->protocol);
}

/* A packet that only passes through may be damaged: cut, it would have good checksums. The stack's
 * own ones are yet to be filled in. */
static bool is_intact(const struct tt_segmenter *s, const uint8_t *packet)
{
    const struct tt_headers *h = &s->headers;
    size_t l4 = tt_headers_l4(h);
    size_t l4_bytes = h->end - l4;

    return s->gso.kind != TT_GSO_NONE || s->gso.needs_checksum ||
           ((h->ipv6 || fold(sum_words(packet + h->l3, h->l3_bytes, 0)) == 0) &&
            fold(sum_words(packet + l4, l4_bytes, sum_pseudo(s, packet) + l4_bytes)) == 0);
}

static bool may_be_cut(const struct tt_segmenter *s, const uint8_t *packet)
{
    const uint8_t *tcp = packet + tt_headers_l4(&s->headers);

    return s->headers.protocol == TT_IP_TCP && (tcp[13] & (SYN | RST | URG)) == 0 &&
           !is_signed(tcp, s->headers.l4_bytes) && is_intact(s, packet);
}

static enum tt_segment_fault check_gso(const struct tt_segmenter *s)
{
    uint8_t protocol = s->gso.kind == TT_GSO_TCP ? TT_IP_TCP : TT_IP_UDP;

    if (s->gso.kind == TT_GSO_NONE) {
        return !s->gso.needs_checksum ||
                       (size_t)s->gso.checksum_start + s->gso.checksum_offset + 2 <= s->bytes
                   ? TT_SEGMENT_OK
                   : TT_SEGMENT_CHECKSUM;
    }
    if (s->headers.l4_bytes == 0 || s->headers.protocol != protocol) {
        return TT_SEGMENT_HEADERS;
    }
    return s->gso.size > 0 ? TT_SEGMENT_OK : TT_SEGMENT_SIZE;
}

enum tt_segment_fault tt_segmenter_init(struct tt_segmenter *segmenter, const uint8_t *packet,
                                        size_t bytes, const struct tt_gso *gso)
{
    struct tt_segmenter s = {.gso = *gso, .bytes = bytes, .head_bytes = bytes};
    enum tt_segment_fault fault;

    if (bytes < TT_FRAME_HEAD_BYTES || bytes > TT_SEGMENT_PACKET_MAX) {
        return TT_SEGMENT_SHORT;
    }
    tt_headers_parse(packet, bytes, &s.headers);
    fault = check_gso(&s);
    if (fault != TT_SEGMENT_OK) {
        return fault;
    }
    s.less = s.headers.l4_bytes > 0 && may_be_cut(&s, packet);
    if (s.less || gso->kind != TT_GSO_NONE) {
        s.head_bytes = tt_headers_l4(&s.headers) + s.headers.l4_bytes;
        s.payload_bytes = s.headers.end - s.head_bytes;
        s.pseudo = sum_pseudo(&s, packet);
    }
    if (s.payload_bytes == 0 && gso->kind != TT_GSO_NONE) {
        return TT_SEGMENT_SIZE;
    }
    if (s.payload_bytes == 0) {
        s.head_bytes = bytes;
        s.less = false;
    }
    *segmenter = s;
    return TT_SEGMENT_OK;
}

size_t tt_segmenter_full(const struct tt_segmenter *segmenter)
{
    size_t left = segmenter->payload_bytes - segmenter->done_bytes;

    return segmenter->gso.kind != TT_GSO_NONE && segmenter->gso.size < left ? segmenter->gso.size
                                                                            : left;
}

size_t tt_segmenter_frame_bytes(const struct tt_segmenter *segmenter, size_t payload_bytes)
{
    return segmenter->head_bytes + payload_bytes;
}

bool tt_segmenter_can_mark(const struct tt_segmenter *segmenter)
{
    return segmenter->headers.l3_bytes > 0 && (segmenter->headers.traffic_class & ECN_MASK) != 0;
}

static void mark_congestion(const struct tt_headers *h, uint8_t *frame)
{
    uint8_t *ip = frame + h->l3;
    uint64_t sum;

    if (h->ipv6) {
        ip[1] |= ECN_CE << 4;
        return;
    }
    /* RFC 1624: a wrong checksum stays wrong. */
    sum = (uint64_t)(uint16_t)~tt_get_be16(ip + 10) + (uint16_t)~tt_get_be16(ip);
    ip[1] |= ECN_CE;
    tt_put_be16(ip + 10, fold(sum + tt_get_be16(ip)));
}

static void fix_ip(const struct tt_segmenter *s, uint8_t *frame, size_t frame_bytes)
{
    const struct tt_headers *h = &s->headers;
    uint8_t *ip = frame + h->l3;

    if (h->ipv6) {
        tt_put_be16(ip + 4, (uint16_t)(frame_bytes - h->l3 - 40));
        return;
    }
    tt_put_be16(ip + 2, (uint16_t)(frame_bytes - h->l3));
    tt_put_be16(ip + 4, (uint16_t)(tt_get_be16(ip + 4) + s->index));
    tt_put_be16(ip + 10, 0);
    tt_put_be16(ip + 10, fold(sum_words(ip, h->l3_bytes, 0)));
}

static void fix_l4(const struct tt_segmenter *s, uint8_t *frame, size_t frame_bytes, bool last)
{
    size_t l4_bytes = frame_bytes - tt_headers_l4(&s->headers);
    uint8_t *l4 = frame + tt_headers_l4(&s->headers);
    bool tcp = s->headers.protocol == TT_IP_TCP;
    uint8_t *checksum = frame + checksum_at(&s->headers);
    uint16_t value;

    if (tcp) {
        tt_put_be32(l4 + 4, tt_get_be32(l4 + 4) + (uint32_t)s->done_bytes);
        l4[13] &= (uint8_t) ~((last ? 0 : FIN | PSH) | (s->index == 0 ? 0 : CWR));
    } else {
        tt_put_be16(l4 + 4, (uint16_t)l4_bytes);
    }
    tt_put_be16(checksum, 0);
    value = fold(sum_words(l4, l4_bytes, s->pseudo + l4_bytes));
    tt_put_be16(checksum, !tcp && value == 0 ? 0xFFFF : value);
}

/* The stack left the sum of the pseudo header in the field. */
static void fill_checksum(const struct tt_segmenter *s, uint8_t *frame)
{
    uint8_t *field = frame + s->gso.checksum_start + s->gso.checksum_offset;
    uint16_t value =
        fold(sum_words(frame + s->gso.checksum_start, s->bytes - s->gso.checksum_start, 0));

    tt_put_be16(field, value == 0 ? 0xFFFF : value);
}

void tt_segmenter_skip(struct tt_segmenter *segmenter, size_t payload_bytes)
{
    segmenter->done_bytes += payload_bytes;
    segmenter->index++;
    segmenter->done = segmenter->done_bytes == segmenter->payload_bytes;
}

size_t tt_segmenter_next(struct tt_segmenter *segmenter, const uint8_t *packet,
                         size_t payload_bytes, bool mark, uint8_t *ret_frame)
{
    const struct tt_segmenter *s = segmenter;
    size_t bytes = s->head_bytes + payload_bytes;

    if (s->done_bytes == 0 && payload_bytes == s->payload_bytes && s->gso.kind == TT_GSO_NONE) {
        bytes = s->bytes;
        memcpy(ret_frame, packet, bytes);
        if (s->gso.needs_checksum) {
            fill_checksum(s, ret_frame);
        }
    } else {
        memcpy(ret_frame, packet, s->head_bytes);
        memcpy(ret_frame + s->head_bytes, packet + s->head_bytes + s->done_bytes, payload_bytes);
        fix_ip(s, ret_frame, bytes);
        fix_l4(s, ret_frame, bytes, s->done_bytes + payload_bytes == s->payload_bytes);
    }
    if (mark) {
        mark_congestion(&s->headers, ret_frame);
    }
    tt_segmenter_skip(segmenter, payload_bytes);
    return bytes;
}
