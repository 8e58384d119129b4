/*
 * See made_packet.h.
 */
#include "made_packet.h"

#include <string.h>

uint8_t made_byte(uint32_t position)
{
    return (uint8_t)(position * 2654435761U >> 24);
}

static uint8_t *put16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
    return p + 2;
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* One's complement sum of the bytes, an odd one filled up. */
static unsigned add(unsigned sum, const uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        sum += i % 2 ? p[i] : (unsigned)p[i] << 8;
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

static unsigned add16(unsigned sum, unsigned value)
{
    sum += value;
    return (sum & 0xFFFF) + (sum >> 16);
}

static uint8_t *put_ip(const struct made_packet *packet, uint8_t *p, size_t l4_bytes)
{
    uint8_t protocol = packet->udp ? 17 : 6;
    uint8_t *start = p;

    if (packet->ipv6) {
        p = put16(p, 0x6000U | (unsigned)packet->traffic_class << 4);
        p = put16(p, 0);
        p = put16(p, (unsigned)(l4_bytes + packet->extensions));
        *p++ = packet->extensions ? 0 : protocol;
        *p++ = 64;
        for (int i = 0; i < 32; i++)
            *p++ = (uint8_t)(0x20 + i);
        if (packet->extensions) {
            memcpy(p, (uint8_t[]){protocol, 0, 1, 4, 0, 0, 0, 0}, 8);
            p += 8;
        }
        return p;
    }
    p = put16(p, 0x4500U | packet->traffic_class);
    p = put16(p, (unsigned)(20 + l4_bytes));
    p = put16(p, 0xFFFE); /* identification: over its end soon */
    p = put16(p, 0x4000);
    *p++ = 64;
    *p++ = protocol;
    p = put16(p, 0);
    memcpy(p, (uint8_t[]){10, 1, 2, 3, 10, 4, 5, 6}, 8);
    put16(start + 10, 0xFFFF & ~add(0, start, 20));
    return p + 8;
}

static uint8_t *put_l4(const struct made_packet *packet, uint8_t *p)
{
    if (packet->udp) {
        p = put16(p, 40000);
        p = put16(p, 5201);
        p = put16(p, (unsigned)(8 + packet->payload_bytes) & 0xFFFF);
        return put16(p, 0);
    }
    p = put16(p, 40000);
    p = put16(p, 5201);
    p = put16(p, packet->sequence >> 16);
    p = put16(p, packet->sequence & 0xFFFF);
    memset(p, 0, 4);
    p += 4;
    *p++ = (uint8_t)((20 + packet->options) / 4 << 4);
    *p++ = packet->flags;
    p = put16(p, 1000);
    p = put16(p, 0);
    p = put16(p, 0);
    memset(p, 1, packet->options);
    return p + packet->options;
}

size_t make_packet(const struct made_packet *packet, uint8_t *ret_packet, struct tt_gso *ret_gso)
{
    size_t l4_bytes = (packet->udp ? 8 : 20 + packet->options) + packet->payload_bytes;
    uint8_t *p = ret_packet;
    uint8_t *l4;
    unsigned sum;

    memcpy(p, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
    p += 12;
    if (packet->tagged) {
        p = put16(p, 0x8100);
        p = put16(p, 5U << 13 | 7);
    }
    p = put16(p, packet->ipv6 ? 0x86DD : 0x0800);
    l4 = put_ip(packet, p, l4_bytes);
    sum = packet->ipv6 ? add(0, p + 8, 32) : add(0, p + 12, 8);
    sum = add16(add16(sum, packet->udp ? 17 : 6), (unsigned)l4_bytes & 0xFFFF);
    p = put_l4(packet, l4);
    put16(l4 + (packet->udp ? 6 : 16), sum);
    for (size_t i = 0; i < packet->payload_bytes; i++)
        *p++ = made_byte(packet->sequence + (uint32_t)i);
    *ret_gso = (struct tt_gso){
        .needs_checksum = true,
        .checksum_start = (uint16_t)(l4 - ret_packet),
        .checksum_offset = packet->udp ? 6 : 16,
    };
    return (size_t)(p - ret_packet);
}

static size_t ip_of(const uint8_t *frame, struct taken_frame *taken)
{
    size_t at = 12;

    while (get16(frame + at) == 0x8100)
        at += 4;
    taken->ipv6 = get16(frame + at) == 0x86DD;
    return at + 2;
}

static bool take_ip(const uint8_t *ip, size_t bytes, struct taken_frame *taken, size_t *ret_l4)
{
    uint8_t protocol = ip[9];

    if (taken->ipv6) {
        *ret_l4 = 40;
        protocol = ip[6];
        if (protocol == 0) {
            protocol = ip[40];
            *ret_l4 = 48;
        }
        taken->traffic_class = (uint8_t)(get16(ip) >> 4);
    } else {
        *ret_l4 = 20;
        taken->traffic_class = ip[1];
        taken->id = (uint16_t)get16(ip + 4);
    }
    taken->udp = protocol == 17;
    return (taken->udp || protocol == 6) &&
           (taken->ipv6 ? ip[0] >> 4 == 6 && get16(ip + 4) == bytes - 40
                        : ip[0] == 0x45 && get16(ip + 2) == bytes && add(0, ip, 20) == 0xFFFF);
}

struct taken_frame take_apart(const uint8_t *frame, size_t bytes)
{
    struct taken_frame taken = {0};
    size_t at = ip_of(frame, &taken);
    const uint8_t *ip = frame + at;
    size_t l4;
    size_t l4_bytes;
    unsigned sum;

    taken.good = take_ip(ip, bytes - at, &taken, &l4);
    l4_bytes = bytes - at - l4;
    sum = taken.ipv6 ? add(0, ip + 8, 32) : add(0, ip + 12, 8);
    sum = add16(add16(sum, taken.udp ? 17 : 6), (unsigned)l4_bytes);
    taken.good = taken.good && add(sum, ip + l4, l4_bytes) == 0xFFFF;
    taken.payload = at + l4 + (taken.udp ? 8 : (size_t)(ip[l4 + 12] >> 4) * 4);
    taken.payload_bytes = bytes - taken.payload;
    if (taken.udp) {
        taken.good = taken.good && get16(ip + l4 + 4) == l4_bytes && get16(ip + l4 + 6) != 0;
    } else {
        taken.sequence = (uint32_t)get16(ip + l4 + 4) << 16 | get16(ip + l4 + 6);
        taken.flags = ip[l4 + 13];
    }
    return taken;
}
