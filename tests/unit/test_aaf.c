/*
 * AAF PDUs: bytes computed by hand from the standard's figures, both directions; round trips; every
 * reason; any bytes at all. Buffers are of the exact size, so that the address sanitizer sees a
 * byte too many.
 */
#include "test.h"

#include <string.h>

#include "audio/aaf.h"

struct vector {
    uint8_t header[TT_AAF_HEADER_BYTES];
    struct tt_aaf aaf;
};

static const struct vector vectors[] = {
    /* stereo, 16 bit, 48 kHz, 6 frames: the common case */
    {{0x02, 0x81, 0x5A, 0x00, 0x00, 0x1B, 0x21, 0xAA, 0xBB, 0xCC, 0x00, 0x01,
      0x12, 0x34, 0x56, 0x78, 0x04, 0x50, 0x02, 0x10, 0x00, 0x18, 0x00, 0x00},
     {.stream_id = UINT64_C(0x001B21AABBCC0001),
      .sequence = 0x5A,
      .tv = true,
      .timestamp = 0x12345678,
      .format = TT_AAF_INT16,
      .rate_hz = 48000,
      .channels = 2,
      .bit_depth = 16,
      .payload_bytes = 24,
      .frames = 6}},
    /* every flag and the most channels: 24 bits in 32, 192 kHz, 1 frame */
    {{0x02, 0x89, 0xFF, 0x01, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10,
      0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0x93, 0xFF, 0x18, 0x0F, 0xFC, 0x1A, 0x00},
     {.stream_id = UINT64_C(0xFEDCBA9876543210),
      .sequence = 255,
      .mr = true,
      .tv = true,
      .tu = true,
      .sp = true,
      .evt = 10,
      .timestamp = 0xFFFFFFFF,
      .format = TT_AAF_INT32,
      .rate_hz = 192000,
      .channels = 1023,
      .bit_depth = 24,
      .payload_bytes = 4092,
      .frames = 1}},
    /* a PDU between the stamps of a sparse stream: mono, float, 44.1 kHz, 1 frame */
    {{0x02, 0x80, 0x01, 0x00, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x00, 0x02,
      0x00, 0x00, 0x00, 0x00, 0x01, 0x40, 0x01, 0x20, 0x00, 0x04, 0x10, 0x00},
     {.stream_id = UINT64_C(0xAABBCCDDEEFF0002),
      .sequence = 1,
      .sp = true,
      .format = TT_AAF_FLOAT32,
      .rate_hz = 44100,
      .channels = 1,
      .bit_depth = 32,
      .payload_bytes = 4,
      .frames = 1}},
    /* 8 channels of 20 bits in 24, 24 kHz, 3 frames */
    {{0x02, 0x81, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x01, 0x03, 0xA0, 0x08, 0x14, 0x00, 0x48, 0x00, 0x00},
     {.tv = true,
      .timestamp = 1,
      .format = TT_AAF_INT24,
      .rate_hz = 24000,
      .channels = 8,
      .bit_depth = 20,
      .payload_bytes = 72,
      .frames = 3}},
};

static uint8_t *exact(size_t bytes)
{
    uint8_t *buffer = (uint8_t *)calloc(1, bytes);

    assert_true(buffer || bytes == 0);
    return buffer;
}

/* Everything but the payload pointer. */
static void assert_fields(const struct tt_aaf *a, const struct tt_aaf *b)
{
    assert_true(a->stream_id == b->stream_id);
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->mr, b->mr);
    assert_int_equal(a->tv, b->tv);
    assert_int_equal(a->tu, b->tu);
    assert_int_equal(a->sp, b->sp);
    assert_int_equal(a->evt, b->evt);
    assert_int_equal(a->timestamp, b->timestamp);
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->rate_hz, b->rate_hz);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->bit_depth, b->bit_depth);
    assert_int_equal(a->payload_bytes, b->payload_bytes);
    assert_int_equal(a->frames, b->frames);
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(vectors); i++) {
        const struct vector *v = &vectors[i];
        size_t bytes = sizeof(v->header) + v->aaf.payload_bytes;
        uint8_t *pdu = exact(bytes);
        uint8_t *header = exact(sizeof(v->header));
        struct tt_aaf aaf;

        memcpy(pdu, v->header, sizeof(v->header));
        assert_int_equal(tt_aaf_parse(pdu, bytes, &aaf), TT_AAF_OK);
        assert_fields(&aaf, &v->aaf);
        assert_ptr_equal(aaf.payload, pdu + sizeof(v->header));
        memset(header, 0xA5, sizeof(v->header));
        tt_aaf_build_header(&v->aaf, header);
        assert_memory_equal(header, v->header, sizeof(v->header));
        free(header);
        free(pdu);
    }
}

static struct tt_aaf random_flags(uint64_t *seed)
{
    uint64_t bits = random_next(seed);

    return (struct tt_aaf){
        .stream_id = random_next(seed),
        .sequence = (uint8_t)bits,
        .mr = (bits & 0x100) != 0,
        .tv = (bits & 0x200) != 0,
        .tu = (bits & 0x400) != 0,
        .sp = (bits & 0x800) != 0,
        .evt = (uint8_t)(bits >> 12 & 0xF),
        .timestamp = (uint32_t)(bits >> 32),
    };
}

static void round_trip(const struct tt_aaf *aaf, size_t padding)
{
    size_t bytes = TT_AAF_HEADER_BYTES + aaf->payload_bytes + padding;
    uint8_t *pdu = exact(bytes);
    struct tt_aaf parsed;

    tt_aaf_build_header(aaf, pdu);
    assert_int_equal(tt_aaf_parse(pdu, bytes, &parsed), TT_AAF_OK);
    assert_fields(&parsed, aaf);
    assert_ptr_equal(parsed.payload, pdu + TT_AAF_HEADER_BYTES);
    free(pdu);
}

/* Every format x rate x channels x bit depth, with random flags; as many frames as a frame of 1500
 * bytes takes, and one where only a jumbo frame takes it. */
static void test_round_trips(void **state)
{
    static const unsigned channels[] = {1, 2, 3, 8, 32, 1023};
    uint64_t seed = 5;

    (void)state;
    for (unsigned format = TT_AAF_FLOAT32; format <= TT_AAF_INT16; format++) {
        unsigned sample_bytes = tt_aaf_sample_bytes((enum tt_aaf_format)format);
        unsigned width = sample_bytes * 8;

        for (size_t i = 0; i < (size_t)TT_AAF_RATES * TT_COUNT_OF(channels); i++) {
            for (unsigned depth = format == TT_AAF_FLOAT32 ? width : 1; depth <= width; depth++) {
                struct tt_aaf aaf = random_flags(&seed);
                size_t most;

                aaf.format = (enum tt_aaf_format)format;
                aaf.rate_hz = tt_aaf_rates[i % TT_AAF_RATES];
                aaf.channels = channels[i / TT_AAF_RATES];
                aaf.bit_depth = depth;
                most = (1500 - TT_AAF_HEADER_BYTES) / ((size_t)aaf.channels * sample_bytes);
                aaf.frames = most > 1 ? 1 + random_size(&seed, most) : 1;
                aaf.payload_bytes = aaf.frames * aaf.channels * sample_bytes;
                round_trip(&aaf, random_size(&seed, 40));
            }
        }
    }
}

struct change {
    unsigned at;
    uint8_t value;
    enum tt_aaf_reason reason;
};

static const struct change changes[] = {
    {0, 0x04, TT_AAF_SUBTYPE},
    {1, 0x91, TT_AAF_VERSION},
    {1, 0xF1, TT_AAF_VERSION},
    {1, 0x01, TT_AAF_NO_STREAM},
    {16, 0, TT_AAF_FORMAT},
    {16, 5, TT_AAF_FORMAT},
    {16, 6, TT_AAF_FORMAT},
    {16, 255, TT_AAF_FORMAT},
    {17, 0x00, TT_AAF_RATE},
    {17, 0xB0, TT_AAF_RATE},
    {17, 0xF0, TT_AAF_RATE},
    {18, 0, TT_AAF_CHANNELS},
    {19, 0, TT_AAF_BIT_DEPTH},
    {19, 17, TT_AAF_BIT_DEPTH},
    {19, 255, TT_AAF_BIT_DEPTH},
    {21, 25, TT_AAF_TRUNCATED},
    {20, 0xFF, TT_AAF_TRUNCATED},
    {21, 0, TT_AAF_EMPTY},
    {21, 23, TT_AAF_RAGGED},
    {21, 1, TT_AAF_RAGGED},
    {16, 1, TT_AAF_BIT_DEPTH},
    {18, 5, TT_AAF_RAGGED},
    /* what the standard reserves, a peer may set */
    {1, 0x87, TT_AAF_OK},
    {3, 0xFE, TT_AAF_OK},
    {17, 0x5C, TT_AAF_OK},
    {22, 0xE0, TT_AAF_OK},
    {23, 0xFF, TT_AAF_OK},
};

static void test_every_reason(void **state)
{
    unsigned reached[TT_AAF_REASONS] = {0};
    struct tt_aaf untouched;
    struct tt_aaf aaf;

    (void)state;
    memset(&aaf, 0x5A, sizeof(aaf));
    untouched = aaf;
    for (size_t i = 0; i < TT_COUNT_OF(changes); i++) {
        uint8_t *pdu = exact(48);
        enum tt_aaf_reason reason;

        memcpy(pdu, vectors[0].header, TT_AAF_HEADER_BYTES);
        pdu[changes[i].at] = changes[i].value;
        memcpy(&aaf, &untouched, sizeof(aaf));
        reason = tt_aaf_parse(pdu, 48, &aaf);
        assert_int_equal(reason, changes[i].reason);
        if (reason != TT_AAF_OK)
            assert_memory_equal(&aaf, &untouched, sizeof(aaf));
        reached[reason]++;
        free(pdu);
    }
    for (size_t bytes = 0; bytes < 48; bytes++) {
        uint8_t *pdu = exact(bytes);
        enum tt_aaf_reason reason;

        memcpy(pdu, vectors[0].header, bytes < TT_AAF_HEADER_BYTES ? bytes : TT_AAF_HEADER_BYTES);
        reason = tt_aaf_parse(pdu, bytes, &aaf);
        assert_int_equal(reason, bytes < TT_AAF_HEADER_BYTES ? TT_AAF_SHORT : TT_AAF_TRUNCATED);
        reached[reason]++;
        free(pdu);
    }
    for (unsigned reason = 0; reason < TT_AAF_REASONS; reason++) {
        assert_true(reached[reason] > 0);
        assert_true(strlen(tt_aaf_reason_text((enum tt_aaf_reason)reason)) > 0);
    }
}

/* A capture may hold only the header of what was on the wire. */
static void test_reads_only_the_header(void **state)
{
    uint8_t *pdu = exact(TT_AAF_HEADER_BYTES);
    struct tt_aaf aaf;

    (void)state;
    memcpy(pdu, vectors[0].header, TT_AAF_HEADER_BYTES);
    assert_int_equal(tt_aaf_parse(pdu, 48, &aaf), TT_AAF_OK);
    assert_fields(&aaf, &vectors[0].aaf);
    free(pdu);
}

static void check_invariants(const struct tt_aaf *aaf, const uint8_t *pdu, size_t bytes)
{
    assert_ptr_equal(aaf->payload, pdu + TT_AAF_HEADER_BYTES);
    assert_true(aaf->payload_bytes <= bytes - TT_AAF_HEADER_BYTES);
    assert_true(aaf->frames > 0 && aaf->channels >= 1 && aaf->channels <= TT_AAF_CHANNELS_MAX);
    assert_true(aaf->frames * aaf->channels * tt_aaf_sample_bytes(aaf->format) ==
                aaf->payload_bytes);
    assert_true(tt_aaf_nsr(aaf->rate_hz) > 0);
}

/* Random bytes, most of them in a header that was good. */
static void test_any_bytes(void **state)
{
    uint64_t seed = 6;
    unsigned reached[TT_AAF_REASONS] = {0};

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        size_t bytes = random_size(&seed, 120);
        uint8_t *pdu = exact(bytes);
        unsigned damage = (unsigned)random_below(&seed, 8);
        struct tt_aaf aaf;
        enum tt_aaf_reason reason;

        for (size_t k = 0; k < bytes; k++)
            pdu[k] = (uint8_t)random_next(&seed);
        if (damage < 7) {
            memcpy(pdu, vectors[0].header, bytes < 24 ? bytes : 24);
            for (unsigned d = 0; d < damage && bytes > 0; d++)
                pdu[random_size(&seed, bytes)] = (uint8_t)random_next(&seed);
        }
        reason = tt_aaf_parse(pdu, bytes, &aaf);
        assert_in_range(reason, 0, TT_AAF_REASONS - 1);
        if (reason == TT_AAF_OK)
            check_invariants(&aaf, pdu, bytes);
        reached[reason]++;
        free(pdu);
    }
    for (unsigned reason = 0; reason < TT_AAF_REASONS; reason++)
        assert_true(reached[reason] > 0);
}

static void test_rates_and_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TT_AAF_RATES; i++) {
        assert_in_range(tt_aaf_nsr(tt_aaf_rates[i]), 1, 10);
        if (i > 0)
            assert_true(tt_aaf_rates[i] > tt_aaf_rates[i - 1]);
    }
    assert_int_equal(tt_aaf_nsr(0), 0);
    assert_int_equal(tt_aaf_nsr(47999), 0);
    assert_int_equal(tt_aaf_sample_bytes(TT_AAF_AES3), 0);
    assert_int_equal(tt_aaf_sample_bytes((enum tt_aaf_format)0), 0);
    assert_string_equal(tt_aaf_format_name(TT_AAF_INT24), "INT24");
    assert_string_equal(tt_aaf_format_name((enum tt_aaf_format)77), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),      cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_every_reason), cmocka_unit_test(test_reads_only_the_header),
        cmocka_unit_test(test_any_bytes),    cmocka_unit_test(test_rates_and_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
