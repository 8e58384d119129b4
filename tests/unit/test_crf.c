/*
 * CRF PDUs: bytes computed by hand, every reason, any bytes at all.
 */
#include "test.h"

#include <string.h>

#include "audio/crf.h"
#include "base/bytes.h"

/* Milan: 48 kHz, one stamp for 96 samples */
static const uint8_t milan[] = {
    0x04, 0x80, 0x2A, 0x01, 0x00, 0x1B, 0x21, 0xAA, 0xBB, 0xCC, 0x00, 0x07, 0x00, 0x00,
    0xBB, 0x80, 0x00, 0x08, 0x00, 0x60, 0x17, 0x97, 0x9D, 0x06, 0xD3, 0x89, 0x80, 0x2A,
};

/* every flag, pull 1/1.001, 74.25 MHz, three stamps of 65535 events */
static const uint8_t flags[] = {
    0x04, 0x8B, 0xFF, 0x02, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10, 0x24, 0x6C, 0xF7,
    0x10, 0x00, 0x18, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

static uint8_t *copy_of(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = (uint8_t *)malloc(n);

    assert_true(copy || n == 0);
    if (n > 0)
        memcpy(copy, bytes, n);
    return copy;
}

static void test_vectors(void **state)
{
    uint8_t *pdu = copy_of(milan, sizeof(milan));
    struct tt_crf crf;

    (void)state;
    assert_int_equal(tt_crf_parse(pdu, sizeof(milan), &crf), TT_CRF_OK);
    assert_true(crf.stream_id == UINT64_C(0x001B21AABBCC0007));
    assert_int_equal(crf.sequence, 42);
    assert_false(crf.mr || crf.fs || crf.tu);
    assert_int_equal(crf.type, 1);
    assert_int_equal(crf.pull, 0);
    assert_int_equal(crf.base_hz, 48000);
    assert_int_equal(crf.timestamp_interval, 96);
    assert_int_equal(crf.timestamp_count, 1);
    assert_ptr_equal(crf.timestamps, pdu + 20);
    assert_true(tt_get_be64(crf.timestamps) == UINT64_C(1700000037000020010));
    free(pdu);

    pdu = copy_of(flags, sizeof(flags));
    assert_int_equal(tt_crf_parse(pdu, sizeof(flags), &crf), TT_CRF_OK);
    assert_true(crf.stream_id == UINT64_C(0xFEDCBA9876543210));
    assert_int_equal(crf.sequence, 255);
    assert_true(crf.mr && crf.fs && crf.tu);
    assert_int_equal(crf.type, 2);
    assert_int_equal(crf.pull, 1);
    assert_int_equal(crf.base_hz, 74250000);
    assert_int_equal(crf.timestamp_interval, 65535);
    assert_int_equal(crf.timestamp_count, 3);
    assert_true(tt_get_be64(crf.timestamps + 16) == UINT64_MAX);
    free(pdu);
}

struct change {
    unsigned at;
    uint8_t value;
    enum tt_crf_reason reason;
};

static void test_every_reason(void **state)
{
    static const struct change changes[] = {
        {0, 0x02, TT_CRF_SUBTYPE},   {1, 0x90, TT_CRF_VERSION}, {1, 0xF0, TT_CRF_VERSION},
        {1, 0x00, TT_CRF_NO_STREAM}, {17, 9, TT_CRF_TRUNCATED}, {17, 16, TT_CRF_TRUNCATED},
        {16, 255, TT_CRF_TRUNCATED}, {17, 7, TT_CRF_RAGGED},    {17, 1, TT_CRF_RAGGED},
        {17, 0, TT_CRF_OK},          {1, 0x84, TT_CRF_OK},
    };
    unsigned reached[TT_CRF_REASONS] = {0};
    struct tt_crf crf;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(changes); i++) {
        uint8_t *pdu = copy_of(milan, sizeof(milan));
        enum tt_crf_reason reason;

        pdu[changes[i].at] = changes[i].value;
        reason = tt_crf_parse(pdu, sizeof(milan), &crf);
        assert_int_equal(reason, changes[i].reason);
        reached[reason]++;
        free(pdu);
    }
    for (size_t bytes = 0; bytes < sizeof(milan); bytes++) {
        uint8_t *pdu = copy_of(milan, bytes);
        enum tt_crf_reason reason = tt_crf_parse(pdu, bytes, &crf);

        assert_int_equal(reason, bytes < TT_CRF_HEADER_BYTES ? TT_CRF_SHORT : TT_CRF_TRUNCATED);
        reached[reason]++;
        free(pdu);
    }
    for (unsigned reason = 0; reason < TT_CRF_REASONS; reason++) {
        assert_true(reached[reason] > 0 || reason >= TT_CRF_TYPE); /* not of the parser */
        assert_true(strlen(tt_crf_reason_text((enum tt_crf_reason)reason)) > 0);
    }
}

static void test_any_bytes(void **state)
{
    unsigned reached[TT_CRF_REASONS] = {0};
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        size_t bytes = random_size(&seed, sizeof(flags) + 1);
        uint8_t *pdu = copy_of(flags, bytes);
        struct tt_crf crf;
        enum tt_crf_reason reason;

        for (uint64_t damage = random_below(&seed, 4); damage > 0 && bytes > 0; damage--)
            pdu[random_size(&seed, bytes)] = (uint8_t)random_next(&seed);
        if (bytes > 17 && random_below(&seed, 2) != 0)
            tt_put_be16(pdu + 16, (uint16_t)random_below(&seed, 30));
        reason = tt_crf_parse(pdu, bytes, &crf);
        assert_in_range(reason, 0, TT_CRF_REASONS - 1);
        if (reason == TT_CRF_OK) {
            assert_ptr_equal(crf.timestamps, pdu + TT_CRF_HEADER_BYTES);
            assert_true(crf.timestamp_count * 8 <= bytes - TT_CRF_HEADER_BYTES);
            assert_true(crf.pull < 8 && crf.base_hz < 1U << 29);
        }
        reached[reason]++;
        free(pdu);
    }
    for (unsigned reason = 0; reason < TT_CRF_TYPE; reason++)
        assert_true(reached[reason] > 0);
}

struct audio_case {
    struct tt_crf crf;
    enum tt_crf_reason reason;
    struct tt_crf_rate rate;
};

#define CRF(kind, pull_code, base, interval, count)                                                \
    {                                                                                              \
        .type = kind, .pull = pull_code, .base_hz = base, .timestamp_interval = interval,          \
        .timestamp_count = count                                                                   \
    }

static void what_is_a_clock_of_audio(void **state)
{
    static const struct audio_case cases[] = {
        {CRF(1, 0, 48000, 96, 1), TT_CRF_OK, {48000, 1}},
        {CRF(1, 1, 48000, 96, 1), TT_CRF_OK, {48000000, 1001}},
        {CRF(1, 2, 44100, 147, 6), TT_CRF_OK, {44144100, 1000}},
        {CRF(1, 3, 96000, 320, 6), TT_CRF_OK, {2304000, 25}},
        {CRF(1, 4, 96000, 320, 6), TT_CRF_OK, {2400000, 24}},
        {CRF(1, 5, 768000, 1, 180), TT_CRF_OK, {768000, 8}},
        {CRF(1, 6, 48000, 96, 1), TT_CRF_RATE, {0, 0}},
        {CRF(1, 7, 48000, 96, 1), TT_CRF_RATE, {0, 0}},
        {CRF(1, 0, 0, 96, 1), TT_CRF_RATE, {0, 0}},
        {CRF(1, 0, 999, 96, 1), TT_CRF_RATE, {0, 0}},
        {CRF(1, 0, 768001, 96, 1), TT_CRF_RATE, {0, 0}},
        {CRF(0, 0, 48000, 96, 1), TT_CRF_TYPE, {0, 0}},
        {CRF(2, 0, 48000, 96, 1), TT_CRF_TYPE, {0, 0}},
        {CRF(1, 0, 48000, 0, 1), TT_CRF_EMPTY, {0, 0}},
        {CRF(1, 0, 48000, 96, 0), TT_CRF_EMPTY, {0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct tt_crf_rate rate = {0, 0};

        assert_int_equal(tt_crf_audio(&cases[i].crf, &rate), cases[i].reason);
        assert_int_equal(rate.hz, cases[i].rate.hz);
        assert_int_equal(rate.divisor, cases[i].rate.divisor);
    }
}

static void build_is_the_inverse_of_parse(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint8_t header[TT_CRF_HEADER_BYTES];
        uint8_t pdu[sizeof(flags)];
        struct tt_crf crf;

        for (size_t b = 0; b < sizeof(pdu); b++)
            pdu[b] = (uint8_t)random_next(&seed);
        pdu[0] = 0x04;
        pdu[1] = (uint8_t)(0x80 | (pdu[1] & 0x0B));
        tt_put_be16(pdu + 16, (uint16_t)(8 * random_below(&seed, 4)));
        assert_int_equal(tt_crf_parse(pdu, sizeof(pdu), &crf), TT_CRF_OK);
        tt_crf_build_header(&crf, header);
        assert_memory_equal(header, pdu, sizeof(header));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_every_reason),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(what_is_a_clock_of_audio),
        cmocka_unit_test(build_is_the_inverse_of_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
