/*
 * See headers.h.
 */
#include "gate/headers.h"

#include <string.h>

#include "base/bytes.h"
#include "gate/wire_time.h"

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_ARP = 0x0806,
    TYPE_VLAN = 0x8100,
    TYPE_IPV6 = 0x86DD,
    TYPE_SERVICE_VLAN = 0x88A8,
    TYPE_PTP = 0x88F7,
};

enum { IP_HOP_BY_HOP = 0, IP_ROUTING = 43, IP_FRAGMENT = 44, IP_ICMPV6 = 58, IP_OPTIONS = 60 };

#define TAGS_MAX       2
#define EXTENSIONS_MAX 8
#define IPV6_BYTES     40
#define FRAGMENT_BYTES 8
#define PTP_EVENT_PORT 319 /* and 320 */
#define ND_FIRST       133
#define ND_LAST        137

static void parse_ports(const uint8_t *frame, size_t at, uint8_t protocol, struct tt_headers *h)
{
    h->has_ports = (protocol == TT_IP_TCP || protocol == TT_IP_UDP) && at + 4 <= h->end;
    if (h->has_ports) {
        h->source_port = tt_get_be16(frame + at);
        h->dest_port = tt_get_be16(frame + at + 2);
    }
}

static void parse_l4(const uint8_t *frame, struct tt_headers *h)
{
    size_t l4 = tt_headers_l4(h);
    size_t left = h->end - l4;
    const uint8_t *p = frame + l4;

    if (h->protocol == TT_IP_TCP && left >= 20) {
        size_t bytes = (size_t)(p[12] >> 4) * 4;

        h->l4_bytes = bytes >= 20 && bytes <= left ? bytes : 0;
    } else if (h->protocol == TT_IP_UDP && left >= 8) {
        h->l4_bytes = 8;
    } else if (h->protocol == IP_ICMPV6 && h->ipv6 && left >= 4) {
        h->icmpv6_type = p[0];
    }
    if (h->l4_bytes > 0) {
        parse_ports(frame, l4, h->protocol, h);
    }
}

static void parse_ipv4(const uint8_t *frame, size_t bytes, struct tt_headers *h)
{
    const uint8_t *p = frame + h->l3;
    size_t left = bytes - h->l3;
    size_t header;
    size_t total;

    if (left < 20 || p[0] >> 4 != 4) {
        return;
    }
    header = (size_t)(p[0] & 0x0F) * 4;
    total = tt_get_be16(p + 2);
    if (header < 20 || total < header || total > left) {
        return;
    }
    h->l3_bytes = header;
    h->traffic_class = p[1];
    h->protocol = p[9];
    h->end = h->l3 + total;
    if ((tt_get_be16(p + 6) & 0x3FFF) == 0) {
        parse_l4(frame, h);
    } else if ((tt_get_be16(p + 6) & 0x1FFF) == 0) {
        parse_ports(frame, h->l3 + header, h->protocol, h);
    }
}

/* Behind the extension headers: at *ret_next. Fragments have no l4. */
static bool skip_extensions(const uint8_t *p, size_t total, uint8_t *next, size_t *ret_header)
{
    size_t header = IPV6_BYTES;

    for (int i = 0; i < EXTENSIONS_MAX; i++) {
        size_t length;

        if (*next != IP_HOP_BY_HOP && *next != IP_ROUTING && *next != IP_OPTIONS) {
            break;
        }
        if (total - header < 8) {
            return false;
        }
        length = ((size_t)p[header + 1] + 1) * 8;
        if (length > total - header) {
            return false;
        }
        *next = p[header];
        header += length;
    }
    *ret_header = header;
    return true;
}

static void parse_ipv6(const uint8_t *frame, size_t bytes, struct tt_headers *h)
{
    const uint8_t *p = frame + h->l3;
    size_t left = bytes - h->l3;
    size_t total;
    uint8_t next;

    if (left < IPV6_BYTES || p[0] >> 4 != 6) {
        return;
    }
    total = IPV6_BYTES + (size_t)tt_get_be16(p + 4);
    next = p[6];
    if (total > left || !skip_extensions(p, total, &next, &h->l3_bytes)) {
        return;
    }
    h->ipv6 = true;
    h->traffic_class = (uint8_t)(tt_get_be16(p) >> 4);
    h->protocol = next;
    h->end = h->l3 + total;
    if (next != IP_FRAGMENT) {
        parse_l4(frame, h);
    } else if (total - h->l3_bytes >= FRAGMENT_BYTES &&
               (tt_get_be16(p + h->l3_bytes + 2) & 0xFFF8) == 0) {
        parse_ports(frame, h->l3 + h->l3_bytes + FRAGMENT_BYTES, p[h->l3_bytes], h);
    }
}

void tt_headers_parse(const uint8_t *frame, size_t bytes, struct tt_headers *ret_headers)
{
    static const uint8_t link_local[] = {0x01, 0x80, 0xC2, 0x00, 0x00};
    struct tt_headers h = {.pcp = -1, .l3 = TT_FRAME_HEAD_BYTES};

    if (bytes >= TT_FRAME_HEAD_BYTES) {
        h.ethertype = tt_get_be16(frame + 12);
        h.link_local = memcmp(frame, link_local, sizeof(link_local)) == 0 && frame[5] < 16;
    }
    for (int i = 0; i < TAGS_MAX; i++) {
        if ((h.ethertype != TYPE_VLAN && h.ethertype != TYPE_SERVICE_VLAN) ||
            bytes < h.l3 + TT_FRAME_TAG_BYTES) {
            break;
        }
        h.pcp = h.pcp < 0 ? frame[h.l3] >> 5 : h.pcp;
        h.ethertype = tt_get_be16(frame + h.l3 + 2);
        h.l3 += TT_FRAME_TAG_BYTES;
    }
    if (h.ethertype == TYPE_IPV4) {
        parse_ipv4(frame, bytes, &h);
    } else if (h.ethertype == TYPE_IPV6) {
        parse_ipv6(frame, bytes, &h);
    }
    *ret_headers = h;
}

static bool is_ptp_port(uint16_t port)
{
    return port == PTP_EVENT_PORT || port == PTP_EVENT_PORT + 1;
}

bool tt_headers_is_control(const struct tt_headers *headers)
{
    return headers->link_local || headers->ethertype == TYPE_ARP ||
           headers->ethertype == TYPE_PTP ||
           (headers->icmpv6_type >= ND_FIRST && headers->icmpv6_type <= ND_LAST) ||
           (headers->protocol == TT_IP_UDP && headers->l4_bytes > 0 &&
            is_ptp_port(headers->source_port) && is_ptp_port(headers->dest_port));
}
