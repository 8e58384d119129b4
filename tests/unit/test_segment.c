/*
 * Packets cut into frames: every byte once, and all that a receiver looks at right.
 */
#include "test.h"

#include <string.h>

#include "gate/segment.h"
#include "made_packet.h"

enum { FIN = 1, PSH = 8, ACK = 16, CWR = 128, SYN = 2 };

static uint8_t packet[MADE_MAX];
static uint8_t frame[MADE_MAX];

/* Cuts to the sizes that `draw` gives, and holds what a receiver would see. Returns the frames. */
static unsigned cut_all(const struct made_packet *made, uint16_t gso_size, uint64_t *seed)
{
    struct tt_gso gso;
    struct tt_segmenter s;
    size_t bytes = make_packet(made, packet, &gso);
    size_t at = 0;
    unsigned n = 0;

    gso.kind = gso_size == 0 ? TT_GSO_NONE : made->udp ? TT_GSO_UDP : TT_GSO_TCP;
    gso.size = gso_size;
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_OK);
    while (!s.done) {
        size_t full = tt_segmenter_full(&s);
        size_t payload = s.less && seed ? 1 + random_size(seed, full) : full;
        size_t length = tt_segmenter_frame_bytes(&s, payload);
        struct taken_frame taken;

        memset(frame, 0xEE, sizeof(frame));
        assert_int_equal(tt_segmenter_next(&s, packet, payload, false, frame), length);
        assert_int_equal(frame[length], 0xEE);
        taken = take_apart(frame, length);
        assert_true(taken.good);
        assert_int_equal(taken.ipv6, made->ipv6);
        assert_int_equal(taken.traffic_class, made->traffic_class);
        if (!made->udp)
            assert_int_equal(taken.sequence, (uint32_t)(made->sequence + at));
        for (size_t i = 0; i < taken.payload_bytes; i++)
            assert_int_equal(frame[taken.payload + i],
                             made_byte(made->sequence + (uint32_t)(at + i)));
        at += taken.payload_bytes;
        if (!made->udp)
            assert_int_equal(taken.flags,
                             made->flags & ~((s.done ? 0 : FIN | PSH) | (n > 0 ? CWR : 0)));
        if (!made->ipv6)
            assert_int_equal(taken.id, (uint16_t)(0xFFFE + n));
        n++;
    }
    assert_int_equal(at, made->payload_bytes);
    return n;
}

static void test_sizes(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        struct made_packet made = {.ipv6 = i & 1,
                                   .udp = i & 2,
                                   .tagged = i & 4,
                                   .extensions = i & 8 ? 8 : 0,
                                   .sequence = 0xFFFFF000,
                                   .flags = ACK | PSH | FIN | CWR,
                                   .traffic_class = 0xB9,
                                   .options = 12,
                                   .payload_bytes = 10 * 1448 + 1};

        assert_int_equal(cut_all(&made, 1448, NULL), 11);
        made.payload_bytes = 1448;
        assert_int_equal(cut_all(&made, 1448, NULL), 1);
        made.payload_bytes = 999;
        assert_int_equal(cut_all(&made, 0, NULL), 1);
        made.payload_bytes = 0;
        assert_int_equal(cut_all(&made, 0, NULL), 1);
    }
}

static void test_random_cuts(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t seed = i;
        struct made_packet made = {.ipv6 = random_below(&seed, 2),
                                   .tagged = random_below(&seed, 2),
                                   .sequence = (uint32_t)random_next(&seed),
                                   .flags =
                                       (uint8_t)(ACK | (random_next(&seed) & (FIN | PSH | CWR))),
                                   .options = 4 * random_size(&seed, 11),
                                   .payload_bytes = 1 + random_size(&seed, i % 4 ? 1448 : 60000)};

        cut_all(&made, (uint16_t)(made.payload_bytes > 1448 ? 1 + random_below(&seed, 1448) : 0),
                &seed);
    }
}

static bool may_be_cut(const struct made_packet *made, uint8_t option)
{
    struct tt_gso gso;
    struct tt_segmenter s;
    size_t bytes = make_packet(made, packet, &gso);

    if (option)
        memcpy(packet + 54, (uint8_t[]){option, 18}, 2);
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_OK);
    return s.less;
}

static void test_what_is_not_cut(void **state)
{
    struct made_packet made = {.flags = ACK, .options = 20, .payload_bytes = 1000};

    (void)state;
    assert_true(may_be_cut(&made, 0));
    assert_true(may_be_cut(&made, 8)); /* another option */
    assert_false(may_be_cut(&made, 19));
    assert_false(may_be_cut(&made, 29));
    made.flags = ACK | SYN;
    assert_false(may_be_cut(&made, 0));
    made.flags = ACK | 32;
    assert_false(may_be_cut(&made, 0));
    made.flags = ACK;
    made.payload_bytes = 0;
    assert_false(may_be_cut(&made, 0));
    made.payload_bytes = 1000;
    made.udp = true;
    assert_false(may_be_cut(&made, 0));
}

static void test_congestion_mark(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct made_packet made = {.ipv6 = i & 1,
                                   .udp = i & 2,
                                   .flags = ACK,
                                   .traffic_class = i & 4 ? 0x2A : 0x28,
                                   .payload_bytes = 700};
        struct tt_gso gso;
        struct tt_segmenter s;
        size_t bytes = make_packet(&made, packet, &gso);

        assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_OK);
        assert_int_equal(tt_segmenter_can_mark(&s), (i & 4) != 0);
        bytes = tt_segmenter_next(&s, packet, tt_segmenter_full(&s), true, frame);
        assert_true(take_apart(frame, bytes).good);
        assert_int_equal(take_apart(frame, bytes).traffic_class, 0x2B);
    }
}

static void test_refused(void **state)
{
    struct made_packet made = {.flags = ACK, .payload_bytes = 3000};
    struct tt_gso gso;
    struct tt_segmenter s;
    size_t bytes = make_packet(&made, packet, &gso);

    (void)state;
    gso.kind = TT_GSO_TCP;
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_SIZE);
    gso.size = 1448;
    assert_int_equal(tt_segmenter_init(&s, packet, 13, &gso), TT_SEGMENT_SHORT);
    assert_int_equal(tt_segmenter_init(&s, packet, 53, &gso), TT_SEGMENT_HEADERS);
    assert_int_equal(tt_segmenter_init(&s, packet, bytes - 1, &gso), TT_SEGMENT_HEADERS);
    gso.kind = TT_GSO_UDP;
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_HEADERS);
    gso = (struct tt_gso){.needs_checksum = true, .checksum_start = (uint16_t)(bytes - 1)};
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_CHECKSUM);
    assert_int_equal(tt_segmenter_init(&s, packet, TT_SEGMENT_PACKET_MAX + 1, &gso),
                     TT_SEGMENT_SHORT);
    gso = (struct tt_gso){.kind = TT_GSO_TCP, .size = 1448};
    made.payload_bytes = 0;
    bytes = make_packet(&made, packet, &(struct tt_gso){0});
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_SIZE);
}

/* What passes through with its checksums filled in: cut only where they are right. */
static void test_damaged(void **state)
{
    struct made_packet made = {.flags = ACK, .payload_bytes = 1000, .traffic_class = 2};
    struct tt_gso gso;
    struct tt_segmenter s;
    size_t bytes = make_packet(&made, packet, &gso);
    uint8_t whole[1514];

    (void)state;
    assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_OK);
    bytes = tt_segmenter_next(&s, packet, tt_segmenter_full(&s), false, whole);
    gso = (struct tt_gso){0};
    assert_int_equal(tt_segmenter_init(&s, whole, bytes, &gso), TT_SEGMENT_OK);
    assert_true(s.less);
    for (size_t at = 14 + 4; at < bytes;
         at += 301) { /* the IP header's identification, the payload */
        whole[at] ^= 1;
        assert_int_equal(tt_segmenter_init(&s, whole, bytes, &gso), TT_SEGMENT_OK);
        assert_false(s.less);
        tt_segmenter_next(&s, whole, tt_segmenter_full(&s), true, frame);
        assert_false(take_apart(frame, bytes).good);
        whole[at] ^= 1;
    }
}

/* With a route in its headers a packet is for another address than the next one on it, which stands
 * in front; the stack's sum is for the last one. */
static void test_route_in_the_headers(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct made_packet made = {.ipv6 = i & 1,
                                   .udp = i & 2,
                                   .tagged = i & 4,
                                   .flags = ACK,
                                   .payload_bytes = 3 * 1448 + 1};
        size_t address = (made.tagged ? 18U : 14U) + (made.ipv6 ? 24U : 16U);
        struct tt_gso gso;
        struct tt_segmenter s;
        size_t bytes = make_packet(&made, packet, &gso);
        unsigned n = 0;

        gso.kind = made.udp ? TT_GSO_UDP : TT_GSO_TCP;
        gso.size = 1448;
        packet[address] ^= 0x5A;
        assert_int_equal(tt_segmenter_init(&s, packet, bytes, &gso), TT_SEGMENT_OK);
        for (; !s.done; n++) {
            size_t length = tt_segmenter_next(&s, packet, tt_segmenter_full(&s), false, frame);

            assert_false(take_apart(frame, length).good);
            frame[address] ^= 0x5A; /* as it arrives at the last one, … */
            if (!made.ipv6) {       /* … the sum in front renewed on the way */
                unsigned sum = (unsigned)(frame[address - 6] << 8 | frame[address - 5]) +
                               (frame[address] ^ 0x5A) * 256U + (uint16_t) ~(frame[address] * 256U);

                sum = (sum & 0xFFFF) + (sum >> 16);
                sum = (sum & 0xFFFF) + (sum >> 16);
                frame[address - 6] = (uint8_t)(sum >> 8);
                frame[address - 5] = (uint8_t)sum;
            }
            assert_true(take_apart(frame, length).good);
        }
        assert_int_equal(n, 4);
    }
}

static bool is_control(struct made_packet made, uint16_t source_port, uint16_t dest_port)
{
    struct tt_gso gso;
    size_t bytes = make_packet(&made, packet, &gso);
    struct tt_headers headers;

    memcpy(packet + gso.checksum_start,
           (uint8_t[]){(uint8_t)(source_port >> 8), (uint8_t)source_port}, 2);
    memcpy(packet + gso.checksum_start + 2,
           (uint8_t[]){(uint8_t)(dest_port >> 8), (uint8_t)dest_port}, 2);
    tt_headers_parse(packet, bytes, &headers);
    return tt_headers_is_control(&headers);
}

static void test_control(void **state)
{
    struct made_packet udp = {.udp = true, .payload_bytes = 44};
    struct tt_headers headers;

    (void)state;
    memset(packet, 0, 64);
    memcpy(packet + 12, "\x08\x06", 2);
    tt_headers_parse(packet, 60, &headers);
    assert_true(tt_headers_is_control(&headers));
    memcpy(packet + 12, "\x81\x00\x60\x00\x88\xF7", 6);
    tt_headers_parse(packet, 60, &headers);
    assert_true(tt_headers_is_control(&headers));
    assert_int_equal(headers.pcp, 3);
    memcpy(packet + 12, "\x22\xF0", 2);
    tt_headers_parse(packet, 60, &headers);
    assert_false(tt_headers_is_control(&headers));
    memcpy(packet, "\x01\x80\xC2\x00\x00\x0E", 6);
    tt_headers_parse(packet, 60, &headers);
    assert_true(tt_headers_is_control(&headers));
    /* Anybody may send to PTP's ports, and only root from them. */
    for (udp.ipv6 = false;; udp.ipv6 = true) {
        assert_true(is_control(udp, 319, 319) && is_control(udp, 320, 320));
        assert_false(is_control(udp, 40000, 319) || is_control(udp, 40000, 320));
        assert_false(is_control(udp, 319, 40000) || is_control(udp, 318, 319));
        if (udp.ipv6)
            break;
    }
    assert_false(is_control((struct made_packet){.payload_bytes = 44}, 319, 319)); /* TCP */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_random_cuts),
        cmocka_unit_test(test_what_is_not_cut), cmocka_unit_test(test_congestion_mark),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_control),         cmocka_unit_test(test_route_in_the_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
