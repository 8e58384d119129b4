/*
 * See made_stream.h.
 */
#include "made_stream.h"

#include <string.h>

#define PACKET_MAX 1600

struct sender class_a(void)
{
    return (struct sender){
        .eth = {.dest = {0x91, 0xE0, 0xF0, 0, 0xFE, 1},
                .src = {2, 0, 0, 0, 0, 1},
                .vlan_id = 2,
                .pcp = 3,
                .ethertype = TT_ETHERTYPE_AVTP},
        .aaf = {.stream_id = 7,
                .tv = true,
                .format = TT_AAF_INT16,
                .rate_hz = 48000,
                .channels = 2,
                .bit_depth = 16},
        .frames = 6,
    };
}

void send_bytes(struct tt_observer *observer, const struct sender *sender, const uint8_t *pdu,
                size_t bytes, int64_t arrival_ns)
{
    uint8_t packet[PACKET_MAX] = {0};
    size_t at = tt_eth_build(&sender->eth, packet);

    assert_true(at + bytes <= PACKET_MAX);
    memcpy(packet + at, pdu, bytes);
    tt_observer_packet(observer, packet, at + bytes, at + bytes, arrival_ns);
}

void send_pdu(struct tt_observer *observer, struct sender *sender, int64_t sequence,
              int64_t stamp_ns, int64_t arrival_ns)
{
    uint8_t pdu[PACKET_MAX] = {0};
    struct tt_aaf *aaf = &sender->aaf;

    aaf->sequence = (uint8_t)sequence;
    aaf->timestamp = (uint32_t)stamp_ns;
    aaf->payload_bytes = sender->frames * aaf->channels * tt_aaf_sample_bytes(aaf->format);
    tt_aaf_build_header(aaf, pdu);
    send_bytes(observer, sender, pdu, TT_AAF_HEADER_BYTES + aaf->payload_bytes, arrival_ns);
}

void send_moved(struct tt_observer *observer, struct sender *sender, int64_t i, int64_t stamp_ns,
                int64_t arrival_ns)
{
    int64_t due_ns = UTC_NS + tt_frames_to_ns(i * (int64_t)sender->frames, sender->aaf.rate_hz);

    send_pdu(observer, sender, i, due_ns + TAI_NS + MARGIN_NS + stamp_ns, due_ns + arrival_ns);
}

void send_run(struct tt_observer *observer, struct sender *sender, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        send_moved(observer, sender, i, 0, 0);
    }
}

void start(struct tt_observer *observer)
{
    assert_int_equal(tt_observer_init(observer, 4), 0);
}

uint64_t found(const struct tt_observer *observer, struct tt_finding *findings)
{
    size_t n = tt_findings(observer, observer->streams[0], findings);
    uint64_t kinds = 0;

    for (size_t i = 0; i < n; i++) {
        kinds |= UINT64_C(1) << findings[i].kind;
    }
    return kinds;
}

void expect(struct tt_observer *observer, uint64_t kinds)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    uint64_t got = found(observer, findings);

    if (got != kinds) {
        print_error("found %#llx, not %#llx\n", (unsigned long long)got, (unsigned long long)kinds);
    }
    assert_true(got == kinds);
    tt_observer_done(observer);
}

void expect_figure(struct tt_observer *observer, uint64_t kinds, enum tt_figure figure,
                   int64_t value)
{
    struct tt_finding findings[TT_FINDINGS_MAX];

    assert_true(found(observer, findings) == kinds);
    assert_true(findings[0].has >> figure & 1);
    assert_int_equal(findings[0].figures[figure], value);
    tt_observer_done(observer);
}
