/*
 * audio/stream_class and base/word: what a class sets, and what it leaves alone.
 */
#include <string.h>

#include "audio/stream_class.h"
#include "base/ns.h"
#include "base/word.h"
#include "test.h"

static void test_frames_of_an_interval(void **state)
{
    static const struct {
        uint32_t rate_hz;
        unsigned a;
        unsigned b;
    } cases[] = {{8000, 1, 2},     {16000, 2, 4},   {24000, 3, 6},   {32000, 4, 8},
                 {44100, 6, 12},   {48000, 6, 12},  {88200, 12, 24}, {96000, 12, 24},
                 {176400, 24, 48}, {192000, 24, 48}};

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        assert_int_equal(tt_stream_class_frames(TT_STREAM_CLASS_A, cases[i].rate_hz), cases[i].a);
        assert_int_equal(tt_stream_class_frames(TT_STREAM_CLASS_B, cases[i].rate_hz), cases[i].b);
    }
}

static void test_names(void **state)
{
    enum tt_stream_class class = TT_STREAM_CLASS_NONE;

    (void)state;
    assert_null(tt_stream_class_parse("b", &class));
    assert_int_equal(class, TT_STREAM_CLASS_B);
    assert_null(tt_stream_class_parse("A", &class));
    assert_int_equal(class, TT_STREAM_CLASS_A);
    assert_non_null(tt_stream_class_parse("C", &class));
    assert_int_equal(class, TT_STREAM_CLASS_A);
}

static void test_a_class_sets_what_nobody_set(void **state)
{
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    config.rate_hz = 96000;
    tt_stream_class_apply(TT_STREAM_CLASS_NONE, 0, &config);
    assert_int_equal(config.vlan_id, -1);
    tt_stream_class_apply(TT_STREAM_CLASS_B, 0, &config);
    assert_int_equal(config.vlan_id, 2);
    assert_int_equal(config.pcp, 2);
    assert_int_equal(config.priority, 2);
    assert_int_equal(config.mtt_ns, 50 * TT_NS_PER_MS);
    assert_int_equal(config.frames_per_pdu, 24);
    tt_stream_config_init(&config);
    config.rate_hz = 48000;
    config.vlan_id = 7;
    config.frames_per_pdu = 3;
    tt_stream_class_apply(TT_STREAM_CLASS_A,
                          tt_stream_class_bit("vlan-id") | tt_stream_class_bit("frames_per_pdu"),
                          &config);
    assert_int_equal(config.vlan_id, 7);
    assert_int_equal(config.frames_per_pdu, 3);
    assert_int_equal(config.mtt_ns, 2 * TT_NS_PER_MS);
    assert_int_equal(tt_stream_class_bit("sparse"), 0);
    assert_int_equal(tt_stream_class_bit("PRIORITY"), tt_stream_class_bit("prio"));
}

static void test_words(void **state)
{
    char far[100];

    (void)state;
    memset(far, 'a', sizeof(far) - 1);
    far[sizeof(far) - 1] = 0;
    assert_true(tt_word_same("Stream-ID", "stream_id"));
    assert_false(tt_word_same("stream", "stream_id"));
    assert_int_equal(tt_word_distance("wach", "watch"), 1);
    assert_int_equal(tt_word_distance("frames-per-pdu", "frames_per_pdu"), 0);
    assert_int_equal(tt_word_distance("", "mtt"), 3);
    assert_int_equal(tt_word_distance(far, "mtt"), 3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_an_interval),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_class_sets_what_nobody_set),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
