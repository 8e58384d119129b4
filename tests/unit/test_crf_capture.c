/*
 * What another talker put on the wire (tests/data/captures/open1722-crf-talker.pcapng), to the ns:
 * parsed, followed, and built again byte for byte.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "audio/crf_listener.h"
#include "audio/crf_talker.h"
#include "base/bytes.h"
#include "base/ns.h"

#define PDUS           199
#define STAMPS         6
#define PACKET_BYTES   (14 + 20 + STAMPS * 8)
#define FIRST_STAMP_NS INT64_C(1796025712737249570)
#define STREAM_ID      UINT64_C(0xAABBCCDDEEFF0002)
/* It counts in whole ns: five steps are cut, and the sixth makes up for it. */
#define STEP_NS 3333333
#define PDU_NS  20000000

static const char *path;

struct packet {
    int64_t arrival_ns;
    uint8_t bytes[PACKET_BYTES];
};

static void read_capture(struct packet *ret_packets)
{
    FILE *file = fopen(path, "rb");
    uint8_t block[28];
    int n = 0;

    assert_non_null(file);
    while (fread(block, 1, 8, file) == 8) {
        size_t length = tt_get_le32(block + 4);

        if (tt_get_le32(block) != 6) { /* not an enhanced packet block */
            assert_int_equal(fseek(file, (long)length - 8, SEEK_CUR), 0);
            continue;
        }
        assert_true(n < PDUS);
        assert_int_equal(fread(block + 8, 1, 20, file), 20);
        assert_int_equal(tt_get_le32(block + 20), PACKET_BYTES);
        ret_packets[n].arrival_ns =
            (int64_t)((uint64_t)tt_get_le32(block + 12) << 32 | tt_get_le32(block + 16));
        assert_int_equal(fread(ret_packets[n++].bytes, 1, PACKET_BYTES, file), PACKET_BYTES);
        assert_int_equal(fseek(file, (long)length - 28 - PACKET_BYTES, SEEK_CUR), 0);
    }
    fclose(file);
    assert_int_equal(n, PDUS);
}

static void every_stamp(void **state)
{
    static struct packet packets[PDUS];
    static struct tt_crf_listener listener;
    struct tt_crf crf;
    struct tt_crf_rate rate;

    (void)state;
    read_capture(packets);
    tt_crf_listener_init(&listener, STREAM_ID, NULL, packets[0].arrival_ns);
    for (int i = 0; i < PDUS; i++) {
        const uint8_t *pdu = packets[i].bytes + 14;

        assert_int_equal(tt_crf_parse(pdu, PACKET_BYTES - 14, &crf), TT_CRF_OK);
        assert_int_equal(tt_crf_audio(&crf, &rate), TT_CRF_OK);
        assert_true(crf.stream_id == STREAM_ID);
        assert_int_equal(crf.sequence, i);
        assert_false(crf.mr || crf.fs || crf.tu);
        assert_int_equal(crf.base_hz, 48000);
        assert_int_equal(crf.pull, 0);
        assert_int_equal(crf.timestamp_interval, 160);
        assert_int_equal(crf.timestamp_count, STAMPS);
        for (int s = 0; s < STAMPS; s++) {
            assert_int_equal(tt_get_be64(crf.timestamps + s * 8),
                             FIRST_STAMP_NS + (int64_t)i * PDU_NS + (int64_t)s * STEP_NS);
        }
        tt_crf_listener_receive(&listener, pdu, PACKET_BYTES - 14, packets[i].bytes + 6,
                                packets[i].arrival_ns);
    }
    assert_int_equal(listener.state, TT_CRF_LOCKED);
    assert_int_equal(listener.counters.pdus, PDUS);
    assert_int_equal(listener.counters.stamps, PDUS * STAMPS);
    assert_int_equal(listener.counters.stamps_off + listener.counters.pdus_lost, 0);
    assert_in_range(tt_media_clock_drift_ppb(&listener.grid.clock) + 1, 0, 2);
}

/* Our talker with its parameters: the same bytes, but for what it cuts off. */
static void our_talker_says_the_same(void **state)
{
    static struct packet packets[PDUS];
    struct tt_crf_config config = {
        .dest = {1, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA},
        .vlan_id = -1,
        .stream_id = STREAM_ID,
        .base_hz = 48000,
        .timestamp_interval = 160,
        .timestamps_per_pdu = STAMPS,
        .mtt_ns = 2 * TT_NS_PER_MS,
    };
    struct tt_crf_talker talker;

    (void)state;
    read_capture(packets);
    assert_int_equal(tt_crf_talker_init(&talker, &config, NULL, packets[0].bytes + 6), 0);
    tt_talker_start(&talker.talker, 0, FIRST_STAMP_NS - config.mtt_ns);
    for (int i = 0; i < PDUS; i++) {
        uint8_t packet[PACKET_BYTES];
        struct tt_talker_pdu pdu;

        assert_int_equal(tt_talker_next(&talker.talker, 0, &pdu), TT_TALKER_SEND);
        assert_int_equal(tt_crf_talker_build(&talker, &pdu, packet), PACKET_BYTES);
        assert_memory_equal(packet, packets[i].bytes, 14 + 20 + 8);
        for (int s = 1; s < STAMPS; s++) {
            uint64_t ours = tt_get_be64(packet + 34 + s * 8);

            assert_in_range(ours - tt_get_be64(packets[i].bytes + 34 + s * 8), 0, 2);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stamp),
        cmocka_unit_test(our_talker_says_the_same),
    };

    path = argc == 2 ? argv[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
