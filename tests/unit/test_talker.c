/*
 * The talker: due times without drift, headers, the burst limit, drops, restarts and clock steps.
 */
#include "test.h"

#include <string.h>

#include "audio/talker.h"
#include "base/ns.h"

#define START_NS INT64_C(1800000000123456789)

static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1};

static struct tt_stream_config config_of(uint32_t rate_hz, unsigned frames_per_pdu)
{
    return (struct tt_stream_config){
        .dest = {0x91, 0xE0, 0xF0, 0, 0xFE, 1},
        .stream_id = UINT64_C(0xAABBCCDDEEFF0001),
        .format = TT_AAF_INT16,
        .rate_hz = rate_hz,
        .channels = 2,
        .frames_per_pdu = frames_per_pdu,
        .vlan_id = -1,
        .mtt_ns = 2 * TT_NS_PER_MS,
        .time_uncertainty_ns = 125000,
    };
}

static void a_packet_is_what_the_standard_says(void **state)
{
    struct tt_stream_config config = config_of(48000, 6);
    struct tt_talker talker;
    struct tt_talker_pdu pdu;
    uint8_t packet[128];
    struct tt_eth eth;
    struct tt_aaf aaf;
    size_t payload_at;

    (void)state;
    config.vlan_id = 2;
    config.pcp = 3;
    tt_talker_init(&talker, &config, our_mac, 0);
    tt_talker_start(&talker, 0, START_NS);
    assert_int_equal(tt_talker_next(&talker, START_NS, &pdu), TT_TALKER_SEND);
    assert_int_equal(pdu.due_tai_ns, START_NS + 125000);
    assert_int_equal(pdu.launch_tai_ns, pdu.due_tai_ns);
    assert_int_equal(pdu.presentation_tai_ns, START_NS + 125000 + 2000000);
    payload_at = tt_talker_build(&talker, &pdu, packet);
    assert_int_equal(payload_at, 14 + 4 + 24);
    assert_int_equal(tt_talker_packet_bytes(&talker), payload_at + 24);
    assert_int_equal(tt_eth_parse(packet, tt_talker_packet_bytes(&talker), &eth), 0);
    assert_memory_equal(eth.src, our_mac, 6);
    assert_memory_equal(eth.dest, config.dest, 6);
    assert_int_equal(eth.vlan_id, 2);
    assert_int_equal(eth.pcp, 3);
    assert_int_equal(eth.ethertype, TT_ETHERTYPE_AVTP);
    assert_int_equal(tt_aaf_parse(packet + 18, tt_talker_packet_bytes(&talker) - 18, &aaf),
                     TT_AAF_OK);
    assert_int_equal(aaf.stream_id, config.stream_id);
    assert_int_equal(aaf.sequence, 0);
    assert_int_equal(aaf.timestamp, (uint32_t)pdu.presentation_tai_ns);
    assert_true(aaf.tv && !aaf.sp && !aaf.mr && !aaf.tu);
    assert_int_equal(aaf.frames, 6);
    assert_int_equal(aaf.bit_depth, 16);
}

/* Every 125 us at the phase that was planned, whenever it starts. */
static void launches_keep_their_offset(void **state)
{
    struct tt_stream_config config = config_of(48000, 6);

    (void)state;
    config.launch_offset_ns = 1680;
    for (int64_t start_ns = START_NS; start_ns < START_NS + 250000; start_ns += 777) {
        struct tt_talker talker;
        struct tt_talker_pdu pdu;

        tt_talker_init(&talker, &config, our_mac, 0);
        tt_talker_start(&talker, 0, start_ns);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(tt_talker_next(&talker, start_ns, &pdu), TT_TALKER_SEND);
            assert_int_equal(pdu.launch_tai_ns % 125000, 1680);
        }
        assert_true(pdu.launch_tai_ns - start_ns >= 375000);
        assert_true(pdu.launch_tai_ns - start_ns < 500000);
    }
}

/* Departures are put off by the turn, stamps are not; a short mtt is not used up. */
static void streams_take_turns(void **state)
{
    static const struct {
        size_t place;
        int64_t mtt_ns;
        int64_t offset_ns;
        int64_t turn_ns;
    } cases[] = {
        {0, 2 * TT_NS_PER_MS, 0, 0},           {15, 2 * TT_NS_PER_MS, 0, 0},
        {16, 2 * TT_NS_PER_MS, 0, 62500},      {32, 2 * TT_NS_PER_MS, 0, 31250},
        {48, 2 * TT_NS_PER_MS, 0, 93750},      {16, 400 * TT_NS_PER_US, 0, 25000},
        {16 * 256, 2 * TT_NS_PER_MS, 0, 0},    {16 * 255, 2 * TT_NS_PER_MS, 0, 124511},
        {16, 2 * TT_NS_PER_MS, 125 * 1000, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tt_stream_config config = config_of(48000, 6);
        struct tt_talker talker;
        struct tt_talker_pdu pdu;
        int64_t media_ns = START_NS + 125000;

        config.mtt_ns = cases[i].mtt_ns;
        config.launch_offset_ns = cases[i].offset_ns;
        tt_talker_init(&talker, &config, our_mac, 0);
        tt_talker_take_turn(&talker, cases[i].place);
        tt_talker_start(&talker, 0, START_NS);
        if (config.launch_offset_ns > 0) {
            media_ns = tt_talker_due(&talker, 0);
        }
        for (int k = 0; k < 3; k++, media_ns += 125000) {
            assert_int_equal(tt_talker_next_launch(&talker), media_ns + cases[i].turn_ns);
            assert_int_equal(tt_talker_next(&talker, START_NS, &pdu), TT_TALKER_SEND);
            assert_int_equal(pdu.due_tai_ns, media_ns + cases[i].turn_ns);
            assert_int_equal(pdu.launch_tai_ns, pdu.due_tai_ns);
            assert_int_equal(pdu.presentation_tai_ns, media_ns + config.mtt_ns);
            assert_false(tt_talker_is_behind(&talker));
        }
    }
}

/* A simulated week: PDU k is due exactly where frame k n belongs, at every rate. */
static void a_week_does_not_drift(void **state)
{
    (void)state;
    for (size_t r = 0; r < TT_AAF_RATES; r++) {
        struct tt_stream_config config = config_of(tt_aaf_rates[r], 6);
        struct tt_talker talker;
        struct tt_talker_pdu pdu;
        int64_t rate = tt_aaf_rates[r];
        int64_t week_frames = rate * 7 * 86400;
        int64_t last_due_ns;

        tt_talker_init(&talker, &config, our_mac, 0);
        tt_talker_start(&talker, 0, START_NS);
        tt_talker_next(&talker, START_NS, &pdu);
        last_due_ns = pdu.due_tai_ns;
        for (int i = 0; i < 100000; i++) {
            int64_t step_ns;

            tt_talker_next(&talker, pdu.due_tai_ns, &pdu);
            step_ns = pdu.due_tai_ns - last_due_ns;
            assert_in_range(step_ns, 6 * TT_NS_PER_S / rate, 6 * TT_NS_PER_S / rate + 1);
            last_due_ns = pdu.due_tai_ns;
        }
        talker.next_frame = week_frames - 6; /* as after so many PDUs */
        tt_talker_next(&talker, START_NS, &pdu);
        tt_talker_next(&talker, START_NS, &pdu);
        assert_int_equal(pdu.due_tai_ns, START_NS + 125000 + INT64_C(7) * 86400 * TT_NS_PER_S);
    }
}

static void sparse_stamps(void **state)
{
    struct tt_stream_config config = config_of(48000, 6);
    struct tt_talker talker;
    struct tt_talker_pdu pdu;
    uint8_t packet[128];
    struct tt_aaf aaf;

    (void)state;
    config.sparse = true;
    tt_talker_init(&talker, &config, our_mac, 0);
    tt_talker_start(&talker, 0, START_NS);
    for (int i = 0; i < 600; i++) {
        tt_talker_next(&talker, START_NS, &pdu);
        tt_talker_build(&talker, &pdu, packet);
        assert_int_equal(tt_aaf_parse(packet + 14, 48, &aaf), TT_AAF_OK);
        assert_true(aaf.sp);
        assert_int_equal(aaf.tv, i % 256 % 8 == 0);
        assert_int_equal(aaf.sequence, i % 256);
    }
}

/* Behind by 8 PDUs: two an interval, in order, until it has caught up; then one an interval again.
 */
static void catching_up(void **state)
{
    struct tt_stream_config config = config_of(48000, 6);
    struct tt_talker talker;
    struct tt_talker_pdu pdu;
    int64_t now_ns = START_NS + 125000 + 8 * 125000;
    int64_t launches[40];

    (void)state;
    tt_talker_init(&talker, &config, our_mac, 0);
    tt_talker_start(&talker, 0, START_NS);
    for (int i = 0; i < 40; i++) {
        int64_t at_ns = tt_talker_next_launch(&talker);

        now_ns = at_ns > now_ns ? at_ns : now_ns;
        assert_int_equal(tt_talker_next(&talker, now_ns, &pdu), TT_TALKER_SEND);
        assert_true(pdu.launch_tai_ns >= pdu.due_tai_ns);
        launches[i] = pdu.launch_tai_ns;
        if (i >= 2) {
            assert_true(launches[i] - launches[i - 2] >= 125000);
        }
        if (i >= 17) {
            assert_int_equal(pdu.launch_tai_ns, pdu.due_tai_ns);
        }
    }
}

static void what_cannot_be_presented_is_dropped(void **state)
{
    struct tt_stream_config config = config_of(48000, 6);
    struct tt_talker talker;
    struct tt_talker_pdu pdu;
    int64_t due_ns = START_NS + 125000;
    int64_t wire_ns = 6000;

    (void)state;
    tt_talker_init(&talker, &config, our_mac, wire_ns);
    tt_talker_start(&talker, 0, START_NS);
    /* now + wire time < presentation: the last ns that will do, and the first that will not. */
    assert_int_equal(tt_talker_next(&talker, due_ns + 2000000 - wire_ns - 1, &pdu), TT_TALKER_SEND);
    assert_int_equal(tt_talker_next(&talker, due_ns + 125000 + 2000000 - wire_ns, &pdu),
                     TT_TALKER_DROP);
    assert_int_equal(pdu.sequence, 1);
    assert_int_equal(pdu.frame, 6);
    tt_talker_next(&talker, START_NS, &pdu);
    assert_int_equal(pdu.sequence, 2); /* the dropped one has used its number */
}

static void restarts_and_steps_toggle_mr(void **state)
{
    struct tt_stream_config config = config_of(48000, 6);
    struct tt_talker talker;
    struct tt_talker_pdu pdu;
    uint8_t packet[128];
    struct tt_aaf aaf;

    (void)state;
    tt_talker_init(&talker, &config, our_mac, 0);
    tt_talker_start(&talker, 0, START_NS);
    assert_false(talker.mr);
    tt_talker_next(&talker, START_NS, &pdu);
    tt_talker_start(&talker, 6, START_NS + TT_NS_PER_S);
    assert_true(talker.mr);
    tt_talker_next(&talker, START_NS, &pdu);
    assert_int_equal(pdu.frame, 6);
    assert_int_equal(pdu.sequence, 1); /* numbers go on */
    assert_int_equal(pdu.due_tai_ns, START_NS + TT_NS_PER_S + 125000);
    tt_talker_clock_step(&talker, 37 * TT_NS_PER_S);
    assert_false(talker.mr);
    tt_talker_next(&talker, START_NS, &pdu);
    assert_int_equal(pdu.due_tai_ns, START_NS + 38 * TT_NS_PER_S + 125000 + 125000);
    tt_talker_start(&talker, 12,
                    START_NS + 60 * TT_NS_PER_S); /* nobody has seen the one nor the other */
    tt_talker_clock_step(&talker, TT_NS_PER_S);
    tt_talker_start(&talker, 12, START_NS + 60 * TT_NS_PER_S);
    assert_true(talker.mr);
    tt_talker_next(&talker, START_NS, &pdu);
    tt_talker_start(&talker, 18, START_NS + 90 * TT_NS_PER_S);
    tt_talker_set_uncertain(&talker, true);
    tt_talker_build(&talker, &pdu, packet);
    assert_int_equal(tt_aaf_parse(packet + 14, 48, &aaf), TT_AAF_OK);
    assert_true(aaf.tu);
    assert_false(aaf.mr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_what_the_standard_says),
        cmocka_unit_test(launches_keep_their_offset),
        cmocka_unit_test(streams_take_turns),
        cmocka_unit_test(a_week_does_not_drift),
        cmocka_unit_test(sparse_stamps),
        cmocka_unit_test(catching_up),
        cmocka_unit_test(what_cannot_be_presented_is_dropped),
        cmocka_unit_test(restarts_and_steps_toggle_mr),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
