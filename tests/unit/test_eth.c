/*
 * Ethernet headers, the header common to AVTPDUs, and addresses as text.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "audio/avtp.h"
#include "audio/eth.h"

static const uint8_t tagged[] = {
    0x01, 0xAA, 0xAA, 0xAA, 0xAA, 0xAB, 0x00, 0x1B, 0x21,
    0x01, 0x02, 0x03, 0x81, 0x00, 0x60, 0x02, 0x22, 0xF0,
};

static uint8_t *copy_of(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = (uint8_t *)malloc(n);

    assert_true(copy || n == 0);
    if (n > 0)
        memcpy(copy, bytes, n);
    return copy;
}

static void test_tagged(void **state)
{
    uint8_t out[sizeof(tagged)];
    struct tt_eth eth;

    (void)state;
    assert_int_equal(tt_eth_parse(tagged, sizeof(tagged), &eth), 0);
    assert_memory_equal(eth.dest, tagged, 6);
    assert_memory_equal(eth.src, tagged + 6, 6);
    assert_int_equal(eth.vlan_id, 2);
    assert_int_equal(eth.pcp, 3);
    assert_int_equal(eth.ethertype, TT_ETHERTYPE_AVTP);
    assert_int_equal(eth.header_bytes, 18);
    assert_int_equal(tt_eth_build(&eth, out), 18);
    assert_memory_equal(out, tagged, sizeof(tagged));

    eth.vlan_id = 4095;
    eth.pcp = 7;
    assert_int_equal(tt_eth_build(&eth, out), 18);
    assert_memory_equal(out + 12, ((const uint8_t[]){0x81, 0x00, 0xEF, 0xFF, 0x22, 0xF0}), 6);
    /* a priority tag: VLAN 0 is a tag all the same; a PCP that was not given is 0 */
    eth.vlan_id = 0;
    eth.pcp = -1;
    assert_int_equal(tt_eth_build(&eth, out), 18);
    assert_memory_equal(out + 12, ((const uint8_t[]){0x81, 0x00, 0x00, 0x00, 0x22, 0xF0}), 6);
    assert_int_equal(tt_eth_parse(out, sizeof(out), &eth), 0);
    assert_int_equal(eth.vlan_id, 0);
    assert_int_equal(eth.pcp, 0);
}

static void test_untagged(void **state)
{
    uint8_t frame[14];
    uint8_t out[14];
    struct tt_eth eth;

    (void)state;
    memcpy(frame, tagged, 12);
    frame[12] = 0x22;
    frame[13] = 0xF0;
    assert_int_equal(tt_eth_parse(frame, sizeof(frame), &eth), 0);
    assert_int_equal(eth.vlan_id, -1);
    assert_int_equal(eth.pcp, -1);
    assert_int_equal(eth.ethertype, TT_ETHERTYPE_AVTP);
    assert_int_equal(eth.header_bytes, 14);
    assert_int_equal(tt_eth_build(&eth, out), 14);
    assert_memory_equal(out, frame, sizeof(frame));
}

static void test_short_frames(void **state)
{
    struct tt_eth eth = {.vlan_id = 77};

    (void)state;
    for (size_t bytes = 0; bytes < sizeof(tagged); bytes++) {
        uint8_t *frame = copy_of(tagged, bytes);

        assert_int_equal(tt_eth_parse(frame, bytes, &eth), -EINVAL);
        assert_int_equal(eth.vlan_id, 77);
        free(frame);
    }
}

static void test_mac_text(void **state)
{
    static const char *const bad[] = {
        "",
        "01",
        "01:AA:AA:AA:AA",
        "01:AA:AA:AA:AA:A",
        "01:AA:AA:AA:AA:AAA",
        "01:AA:AA:AA:AA:AA:",
        "01:AA:AA:AA:AA:AA ",
        " 01:AA:AA:AA:AA:AA",
        "01-AA-AA-AA-AA-AA",
        "01AAAAAAAAAA",
        "1:2:3:4:5:6",
        "01:AA:AA:AA:AA:0G",
        "01:AA:AA:AA:AA:G0",
        "01:AA:AA:AA:AA:AA:0001",
    };
    uint8_t mac[6] = {9, 9, 9, 9, 9, 9};
    char text[TT_MAC_TEXT];

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(bad); i++) {
        char *exact = strdup(bad[i]);

        assert_int_equal(tt_mac_parse(exact, mac), -EINVAL);
        assert_int_equal(mac[0], 9);
        free(exact);
    }
    assert_int_equal(tt_mac_parse("01:aA:09:f0:DE:42", mac), 0);
    assert_memory_equal(mac, ((const uint8_t[]){0x01, 0xAA, 0x09, 0xF0, 0xDE, 0x42}), 6);
    assert_string_equal(tt_mac_format(mac, text), "01:AA:09:F0:DE:42");
}

static void test_stream_id_text(void **state)
{
    static const char *const bad[] = {
        "",
        "AA:BB:CC:DD:EE:FF",
        "AA:BB:CC:DD:EE:FF:",
        "AA:BB:CC:DD:EE:FF:1",
        "AA:BB:CC:DD:EE:FF:001",
        "AA:BB:CC:DD:EE:FF:00001",
        "AA:BB:CC:DD:EE:FF:00:01",
        "AA:BB:CC:DD:EE:FF-0001",
        "AA:BB:CC:DD:EE:FF:000G",
        "AABBCCDDEEFF0001",
    };
    uint64_t id = 9;
    char text[TT_STREAM_ID_TEXT];

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(bad); i++) {
        char *exact = strdup(bad[i]);

        assert_int_equal(tt_stream_id_parse(exact, &id), -EINVAL);
        assert_true(id == 9);
        free(exact);
    }
    assert_int_equal(tt_stream_id_parse("aa:bb:CC:DD:EE:FF:01fE", &id), 0);
    assert_true(id == UINT64_C(0xAABBCCDDEEFF01FE));
    assert_string_equal(tt_stream_id_format(id, text), "AA:BB:CC:DD:EE:FF:01FE");
}

static void test_avtp_streams(void **state)
{
    static const uint8_t aaf[24] = {0x02, 0xF1, 0x5A, 0, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0, 2};
    struct tt_avtp avtp;

    (void)state;
    assert_int_equal(tt_avtp_parse(aaf, sizeof(aaf), &avtp), 0);
    assert_int_equal(avtp.subtype, TT_AVTP_SUBTYPE_AAF);
    assert_int_equal(avtp.version, 7);
    assert_true(avtp.sv && avtp.has_sequence);
    assert_int_equal(avtp.sequence, 0x5A);
    assert_true(avtp.stream_id == UINT64_C(0xAABBCCDDEEFF0002));
}

static void test_avtp_without_a_sequence(void **state)
{
    static const uint8_t adp[12] = {0xFA, 0x00, 0xF8, 0x38, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t reserved[4] = {0x42, 0xFF, 0xFF, 0xFF};
    struct tt_avtp avtp;

    (void)state;
    assert_int_equal(tt_avtp_parse(adp, sizeof(adp), &avtp), 0);
    assert_false(avtp.sv || avtp.has_sequence);
    assert_string_equal(tt_avtp_subtype_name(avtp.subtype), "ADP");
    assert_int_equal(tt_avtp_parse(reserved, sizeof(reserved), &avtp), 0);
    assert_false(avtp.sv || avtp.has_sequence);
    assert_string_equal(tt_avtp_subtype_name(0x42), "reserved");
    assert_string_equal(tt_avtp_subtype_name(0xFE), "MAAP");
    assert_string_equal(tt_avtp_subtype_name(0x02), "AAF");
}

/* Every subtype at every length: the parser reads no byte that is not there, and takes longer ones.
 */
static void test_avtp_any_length(void **state)
{
    uint64_t seed = 8;

    (void)state;
    for (unsigned subtype = 0; subtype < 256; subtype++) {
        bool took = false;

        for (size_t bytes = 0; bytes <= 24; bytes++) {
            uint8_t random[24];
            uint8_t *pdu;
            struct tt_avtp avtp;
            int err;

            for (size_t k = 0; k < sizeof(random); k++)
                random[k] = (uint8_t)random_next(&seed);
            random[0] = (uint8_t)subtype;
            pdu = copy_of(random, bytes);
            err = tt_avtp_parse(pdu, bytes, &avtp);
            assert_true(err == 0 || (err == -EINVAL && !took));
            took = err == 0;
            free(pdu);
        }
        assert_true(took);
        assert_true(strlen(tt_avtp_subtype_name((uint8_t)subtype)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tagged),
        cmocka_unit_test(test_untagged),
        cmocka_unit_test(test_short_frames),
        cmocka_unit_test(test_mac_text),
        cmocka_unit_test(test_stream_id_text),
        cmocka_unit_test(test_avtp_streams),
        cmocka_unit_test(test_avtp_without_a_sequence),
        cmocka_unit_test(test_avtp_any_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
