/*
 * The keys of a stream's description: what each takes, what it refuses, and what it says then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audio/stream_config.h"
#include "base/attr.h"
#include "base/ns.h"

static const char *const key_names[] = {
    "ifname",           "addr",        "streamid", "prio",    "mtt",           "frames_per_pdu",
    "ptime_tolerance",  "vlan_id",     "pcp",      "sparse",  "on_absence",    "playout_latency",
    "timescale",        "launch_lead", "pace",     "format",  "rate",          "channels",
    "time_uncertainty", "on_underrun", "tu",       "on_loss", "launch_offset",
};

static struct tt_message message;

static int set(struct tt_stream_config *config, const char *key, const char *value)
{
    message.text[0] = 0;
    return tt_stream_config_set(config, key, value, &message);
}

static void accept_value(struct tt_stream_config *config, const char *key, const char *value)
{
    int error = set(config, key, value);

    if (error != 0) {
        fail_msg("%s \"%s\": %s", key, value, message.text);
    }
}

static void refuse_value(const char *key, const char *value, const char *why)
{
    struct tt_stream_config config;
    struct tt_stream_config before;

    tt_stream_config_init(&config);
    memcpy(&before, &config, sizeof(config));
    if (set(&config, key, value) != -EINVAL) {
        fail_msg("%s takes \"%s\"", key, value);
    }
    if (strncmp(message.text, key, strlen(key)) != 0 || !strstr(message.text, why) ||
        !strstr(message.text, "; give ")) {
        fail_msg("of %s \"%s\" it says: %s", key, value, message.text);
    }
    assert_memory_equal(&before, &config, sizeof(config));
}

static void test_configuration_of_2018(void **state)
{
    static const char *const pairs[][2] = {
        {"ifname", "eth0"},      {"addr", "01:AA:AA:AA:AA:AA"},
        {"prio", "3"},           {"streamid", "AA:BB:CC:DD:EE:FF:0001"},
        {"mtt", "2000"},         {"time_uncertainty", "125"},
        {"frames_per_pdu", "6"}, {"ptime_tolerance", "100"},
    };
    static const uint8_t dest[6] = {0x01, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA};
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    for (size_t i = 0; i < TT_COUNT_OF(pairs); i++) {
        accept_value(&config, pairs[i][0], pairs[i][1]);
    }
    assert_string_equal(config.ifname, "eth0");
    assert_memory_equal(config.dest, dest, sizeof(dest));
    assert_true(config.stream_id == UINT64_C(0xAABBCCDDEEFF0001));
    assert_int_equal(config.priority, 3);
    assert_int_equal(config.mtt_ns, 2000000);
    assert_int_equal(config.time_uncertainty_ns, 125000);
    assert_int_equal(config.frames_per_pdu, 6);
    assert_int_equal(config.ptime_tolerance_ns, 100000);
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_TALKER, &message), 0);
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_LISTENER, &message), 0);
}

static void test_defaults(void **state)
{
    struct tt_stream_config config;

    (void)state;
    memset(&config, 0xA5, sizeof(config));
    tt_stream_config_init(&config);
    assert_int_equal(config.mtt_ns, 2 * TT_NS_PER_MS);
    assert_int_equal(config.time_uncertainty_ns, 125 * TT_NS_PER_US);
    assert_int_equal(config.frames_per_pdu, 6);
    assert_int_equal(config.ptime_tolerance_ns, 100 * TT_NS_PER_US);
    assert_int_equal(config.priority, 3);
    assert_int_equal(config.vlan_id, -1);
    assert_int_equal(config.pcp, -1);
    assert_int_equal(tt_stream_config_pcp(&config), -1);
    assert_int_equal(config.playout_latency_ns, 0);
    assert_int_equal(config.launch_lead_ns, 5 * TT_NS_PER_MS);
    assert_false(config.sparse);
    assert_int_equal(config.on_absence, TT_ABSENCE_SILENCE);
    assert_int_equal(config.on_loss, TT_LOSS_SILENCE);
    assert_int_equal(config.on_underrun, TT_UNDERRUN_XRUN);
    assert_int_equal(config.tu, TT_TU_AUTO);
    assert_int_equal(config.timescale, TT_TIMESCALE_TAI);
    assert_int_equal(config.pace, TT_PACE_AUTO);
    assert_int_equal(config.format, 0);
    assert_int_equal(config.rate_hz, 0);
    assert_int_equal(config.channels, 0);
}

static void test_missing_keys_are_named(void **state)
{
    static const char *const required[][2] = {
        {"ifname", "eth0"},
        {"addr", "91:E0:F0:00:FE:01"},
        {"streamid", "AA:BB:CC:DD:EE:FF:0001"},
    };

    (void)state;
    for (size_t skipped = 0; skipped < TT_COUNT_OF(required); skipped++) {
        struct tt_stream_config config;

        tt_stream_config_init(&config);
        for (size_t i = 0; i < TT_COUNT_OF(required); i++) {
            if (i != skipped) {
                accept_value(&config, required[i][0], required[i][1]);
            }
        }
        assert_int_equal(tt_stream_config_check(&config, TT_ROLE_TALKER, &message), -EINVAL);
        assert_non_null(strstr(message.text, required[skipped][0]));
        assert_non_null(strstr(message.text, " is missing; give "));
        assert_non_null(strstr(message.text, "like"));
    }
}

static void test_times(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"2000", 2000000},
        {"2000us", 2000000},
        {"2ms", 2000000},
        {"0.5ms", 500000},
        {"0.125ms", 125000},
        {"125000ns", 125000},
        {"1s", 1000000000},
        {"1000000", 1000000000},
        {"0", 0},
        {"2 ms", 2000000},
        {"0.0", 0},
        {"125.5", 125500},
        {"0.001us", 1},
        {"0.000000001s", 1},
        {"0.0000000010000s", 1},
        {"1.000ns", 1},
    };
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"", "is empty"},
        {"-5", "is negative"},
        {"-0.5ms", "is negative"},
        {"2 sec", "has a unit"},
        {"2MS", "has a unit"},
        {"2  ms", "has a unit"},
        {"2ms ", "has a unit"},
        {"0x10", "has a unit"},
        {"1e3", "has a unit"},
        {"+5", "is not a time"},
        {" 5", "is not a time"},
        {"ms", "is not a time"},
        {"fast", "is not a time"},
        {"nan", "is not a time"},
        {".5", "is not a number"},
        {"5.", "is not a time"},
        {"5.ms", "is not a time"},
        {"1.2.3", "is not a time"},
        {"..", "is not a number"},
        {"0.0001", "is finer than 1 ns"},
        {"0.00000000001s", "is finer than 1 ns"},
        {"0.5ns", "is finer than 1 ns"},
        {"0.000000000005h", "is finer than 1 ns"},
        {"1min", "is too large"},
        {"1001ms", "is too large"},
        {"9223372036854775807", "is too large"},
        {"9223372036854775808ns", "is too large"},
        {"99999999999999999999999999999999s", "is too large"},
        {"9223372036.9s", "is too large"},
    };
    struct tt_stream_config config;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(good); i++) {
        tt_stream_config_init(&config);
        accept_value(&config, "mtt", good[i].text);
        assert_int_equal(config.mtt_ns, good[i].ns);
    }
    for (size_t i = 0; i < TT_COUNT_OF(bad); i++) {
        refuse_value("mtt", bad[i].text, bad[i].why);
    }
    tt_stream_config_init(&config);
    accept_value(&config, "time_uncertainty", "1ms");
    accept_value(&config, "ptime_tolerance", "2ms");
    accept_value(&config, "playout_latency", "3ms");
    accept_value(&config, "launch_lead", "4ms");
    assert_int_equal(config.time_uncertainty_ns, 1 * TT_NS_PER_MS);
    assert_int_equal(config.ptime_tolerance_ns, 2 * TT_NS_PER_MS);
    assert_int_equal(config.playout_latency_ns, 3 * TT_NS_PER_MS);
    assert_int_equal(config.launch_lead_ns, 4 * TT_NS_PER_MS);
    refuse_value("launch_lead", "501ms", "is too large");
}

static void test_numbers(void **state)
{
    static const struct {
        const char *key;
        const char *least;
        const char *most;
        const char *below;
        const char *beyond;
    } ranges[] = {
        {"prio", "0", "15", "-1", "16"},        {"frames_per_pdu", "1", "32767", "0", "32768"},
        {"vlan_id", "0", "4094", "-1", "4095"}, {"pcp", "0", "7", "-1", "8"},
        {"channels", "1", "1023", "0", "1024"},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(ranges); i++) {
        struct tt_stream_config config;

        tt_stream_config_init(&config);
        accept_value(&config, ranges[i].key, ranges[i].least);
        accept_value(&config, ranges[i].key, ranges[i].most);
        refuse_value(ranges[i].key, ranges[i].below,
                     ranges[i].below[0] == '-' ? "is negative" : "is too small");
        refuse_value(ranges[i].key, ranges[i].beyond, "is too large");
        refuse_value(ranges[i].key, "4294967297", "is too large");
        refuse_value(ranges[i].key, "18446744073709551617", "is too large");
        refuse_value(ranges[i].key, "2.5", "is not a whole number");
        refuse_value(ranges[i].key, "6x", "is not a whole number");
        refuse_value(ranges[i].key, "six", "is not a number");
        refuse_value(ranges[i].key, "", "is empty");
    }
}

static void test_words(void **state)
{
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    accept_value(&config, "sparse", "yes");
    assert_true(config.sparse);
    accept_value(&config, "sparse", "false");
    assert_false(config.sparse);
    accept_value(&config, "sparse", "1");
    assert_true(config.sparse);
    accept_value(&config, "on_loss", "fade");
    assert_int_equal(config.on_loss, TT_LOSS_FADE);
    accept_value(&config, "on_absence", "XRUN");
    assert_int_equal(config.on_absence, TT_ABSENCE_XRUN);
    accept_value(&config, "on_underrun", "silence");
    assert_int_equal(config.on_underrun, TT_UNDERRUN_SILENCE);
    accept_value(&config, "tu", "never");
    assert_int_equal(config.tu, TT_TU_NEVER);
    accept_value(&config, "timescale", "utc");
    assert_int_equal(config.timescale, TT_TIMESCALE_UTC);
    accept_value(&config, "pace", "kernel");
    assert_int_equal(config.pace, TT_PACE_KERNEL);
    accept_value(&config, "pace", "software");
    assert_int_equal(config.pace, TT_PACE_SOFTWARE);
    refuse_value("sparse", "2", "is neither");
    refuse_value("on_absence", "noise", "is none of them");
    refuse_value("on_underrun", "noise", "is none of them");
    refuse_value("tu", "always", "is none of them");
    refuse_value("timescale", "gps", "is none of them");
    refuse_value("pace", "hardware", "is none of them");
}

static void test_addresses(void **state)
{
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    accept_value(&config, "addr", "91:e0:f0:00:fe:01");
    accept_value(&config, "streamid", "aa:bb:cc:dd:ee:ff:00a1");
    assert_true(config.stream_id == UINT64_C(0xAABBCCDDEEFF00A1));
    accept_value(&config, "ifname", "fifteen-chars.0");
    accept_value(&config, "ifname", "e");
    assert_string_equal(config.ifname, "e");
    refuse_value("addr", "91:E0:F0:00:FE", "is not a MAC address");
    refuse_value("addr", "91:E0:F0:00:FE:0G", "is not a MAC address");
    refuse_value("addr", "00:00:00:00:00:00", "is nobody's address");
    refuse_value("streamid", "AA:BB:CC:DD:EE:FF", "is not a stream ID");
    refuse_value("streamid", "00:00:00:00:00:00:0000", "is no stream's ID");
    refuse_value("ifname", "sixteen-chars.00", "is longer than 15 characters");
    refuse_value("ifname", "a/b", "is no interface name");
    refuse_value("ifname", "a b", "is no interface name");
    refuse_value("ifname", "..", "is no interface name");
    refuse_value("ifname", "a\nb", "is no interface name");
}

static void test_formats_and_rates(void **state)
{
    static const struct {
        const char *text;
        enum tt_aaf_format format;
    } formats[] = {
        {"INT16", TT_AAF_INT16},      {"int24", TT_AAF_INT24},  {"INT32", TT_AAF_INT32},
        {"FLOAT32", TT_AAF_FLOAT32},  {"S16_LE", TT_AAF_INT16}, {"S16_BE", TT_AAF_INT16},
        {"S24_3LE", TT_AAF_INT24},    {"S24_LE", TT_AAF_INT24}, {"S32_BE", TT_AAF_INT32},
        {"float_le", TT_AAF_FLOAT32},
    };
    struct tt_stream_config config;

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(formats); i++) {
        tt_stream_config_init(&config);
        accept_value(&config, "format", formats[i].text);
        assert_int_equal(config.format, formats[i].format);
    }
    for (size_t i = 0; i < TT_AAF_RATES; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%u", tt_aaf_rates[i]);
        accept_value(&config, "rate", text);
        assert_int_equal(config.rate_hz, tt_aaf_rates[i]);
    }
    refuse_value("format", "AES3", "is no format");
    refuse_value("format", "U8", "is no format");
    refuse_value("format", "INT16 ", "is no format");
    refuse_value("rate", "47999", "is no rate");
    refuse_value("rate", "0", "is no rate");
    refuse_value("rate", "4295015296", "is no rate"); /* 48000 modulo 2^32 */
    refuse_value("rate", "48k", "is not a whole number");
}

static void test_unknown_keys(void **state)
{
    static const char *const near[][2] = {
        {"ifnam", "ifname?"}, {"frame_per_pdu", "frames_per_pdu?"}, {"streamd_id", "stream_id?"},
        {"vlan", "vlan_id?"}, {"launchlead", "launch_lead?"},       {"channel", "channels?"},
    };
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    for (size_t i = 0; i < TT_COUNT_OF(near); i++) {
        assert_int_equal(set(&config, near[i][0], "1"), -ENOENT);
        assert_non_null(strstr(message.text, near[i][0]));
        if (!strstr(message.text, near[i][1])) {
            fail_msg("%s", message.text);
        }
    }
    assert_int_equal(set(&config, "colour_of_the_cable", "red"), -ENOENT);
    for (size_t i = 0; i < TT_COUNT_OF(key_names); i++) {
        if (!strstr(message.text, key_names[i])) {
            fail_msg("%s is not in: %s", key_names[i], message.text);
        }
    }
    assert_int_equal(set(&config, "", "1"), -ENOENT);
}

static void test_dashes_are_underscores(void **state)
{
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    accept_value(&config, "frames-per-pdu", "12");
    accept_value(&config, "Playout-Latency", "1ms");
    assert_int_equal(config.frames_per_pdu, 12);
    assert_int_equal(config.playout_latency_ns, TT_NS_PER_MS);
}

static void check_printable(void)
{
    assert_true(memchr(message.text, 0, sizeof(message.text)) != NULL);
    for (const char *c = message.text; *c != 0; c++) {
        assert_true(*c >= ' ' && *c <= '~');
    }
}

/* Nothing that is handed in crashes, changes what it must not, or reaches a terminal as it is. */
static void test_other_names(void **state)
{
    assert_true(tt_stream_config_same_key("dest", "ADDR"));
    assert_true(tt_stream_config_same_key("stream-id", "streamid"));
    assert_true(tt_stream_config_same_key("sink", "SINK"));
    assert_false(tt_stream_config_same_key("dest", "mtt"));
    assert_false(tt_stream_config_same_key("sink", "source"));

    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    accept_value(&config, "interface", "eth7");
    accept_value(&config, "dest", "91:E0:F0:00:FE:01");
    accept_value(&config, "stream-id", "AA:BB:CC:DD:EE:FF:0001");
    accept_value(&config, "Priority", "5");
    assert_string_equal(config.ifname, "eth7");
    assert_int_equal(config.dest[5], 1);
    assert_true(config.stream_id == UINT64_C(0xAABBCCDDEEFF0001));
    assert_int_equal(config.priority, 5);
}

static void test_hostile_strings(void **state)
{
    static char huge[100000];
    static const char *const hostile[] = {
        "",       "%s%s%s%n", "\x1b[2J\x1b]0;x\x07", "\xff\xfe\x80", "\"; rm -rf /",
        "\n\r\t", "----",     "0000000000",          "..........",   huge,
        ":",      "::::::",
    };

    (void)state;
    memset(huge, '9', sizeof(huge) - 1);
    for (size_t v = 0; v < TT_COUNT_OF(hostile); v++) {
        for (size_t k = 0; k < TT_COUNT_OF(key_names); k++) {
            struct tt_stream_config config;

            tt_stream_config_init(&config);
            if (set(&config, key_names[k], hostile[v]) != 0) {
                check_printable();
            }
            assert_int_equal(set(&config, hostile[v], key_names[k]), -ENOENT);
            check_printable();
        }
    }
}

static void test_random_strings(void **state)
{
    static const char alphabet[] = "0123456789.:-_ abcdefmnstuxLES%\x01\xff";
    uint32_t seed = 20181217;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct tt_stream_config config;
        char text[24];
        size_t n;

        seed = seed * 1664525 + 1013904223;
        n = (seed >> 8) % sizeof(text);
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = alphabet[(seed >> 8) % (sizeof(alphabet) - 1)];
        }
        text[n] = 0;
        tt_stream_config_init(&config);
        if (set(&config, key_names[(unsigned)round % TT_COUNT_OF(key_names)], text) != 0) {
            check_printable();
        } else {
            assert_in_range(config.mtt_ns, 0, TT_NS_PER_S);
            assert_in_range(config.frames_per_pdu, 1, 32767);
            assert_in_range(config.channels, 0, 1023);
        }
    }
}

static void test_what_fits_the_mtu(void **state)
{
    struct tt_stream_config config;

    (void)state;
    tt_stream_config_init(&config);
    accept_value(&config, "ifname", "eth7");
    assert_int_equal(tt_stream_config_fits(&config, TT_AAF_INT16, 2, 1500, &message), 0);
    assert_int_equal(tt_stream_config_fits(&config, TT_AAF_INT32, 61, 1500, &message), 0);
    /* 64 channels of 32 bits, 6 frames: 24 + 1536 bytes. */
    assert_int_equal(tt_stream_config_fits(&config, TT_AAF_INT32, 64, 1500, &message), -EMSGSIZE);
    assert_non_null(strstr(message.text, "frames_per_pdu 6"));
    assert_non_null(strstr(message.text, "1560 bytes"));
    assert_non_null(strstr(message.text, "eth7"));
    assert_non_null(strstr(message.text, "frames_per_pdu 5"));
    assert_non_null(strstr(message.text, "channels 61"));
    assert_int_equal(tt_stream_config_fits(&config, TT_AAF_INT32, 1023, 1500, &message), -EMSGSIZE);
    assert_non_null(strstr(message.text, "not even one frame fits"));
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT16, 1, 1500), 738);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT32, 64, 1500), 5);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT32, 1023, 1500), 0);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT16, 1, 65536), 32756);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT16, 1, 24), 0);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT16, 1, 0), 0);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_AES3, 1, 1500), 0);
    assert_int_equal(tt_frames_per_pdu_max(TT_AAF_INT16, 0, 1500), 0);
}

static void init_stream(struct tt_stream_config *config)
{
    tt_stream_config_init(config);
    accept_value(config, "ifname", "eth0");
    accept_value(config, "addr", "91:E0:F0:00:FE:01");
    accept_value(config, "streamid", "AA:BB:CC:DD:EE:FF:0001");
}

static void test_priority_needs_a_tag(void **state)
{
    struct tt_stream_config config;

    (void)state;
    init_stream(&config);
    accept_value(&config, "pcp", "0");
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_TALKER, &message), -EINVAL);
    assert_non_null(strstr(message.text, "pcp \"0\" is the priority in a VLAN tag"));
    assert_non_null(strstr(message.text, "give vlan_id too"));
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_LISTENER, &message), 0);
    assert_int_equal(tt_stream_config_pcp(&config), -1);
    accept_value(&config, "vlan_id", "0");
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_TALKER, &message), 0);
    assert_int_equal(tt_stream_config_pcp(&config), 0);
    config.pcp = -1;
    assert_int_equal(tt_stream_config_pcp(&config), 3);
}

static void test_no_transit_time(void **state)
{
    struct tt_stream_config config;

    (void)state;
    init_stream(&config);
    accept_value(&config, "mtt", "0");
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_LISTENER, &message), 0);
    assert_int_equal(tt_stream_config_check(&config, TT_ROLE_TALKER, &message), -EINVAL);
    assert_non_null(strstr(message.text, "mtt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configuration_of_2018),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_missing_keys_are_named),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_formats_and_rates),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_dashes_are_underscores),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_hostile_strings),
        cmocka_unit_test(test_random_strings),
        cmocka_unit_test(test_what_fits_the_mtu),
        cmocka_unit_test(test_priority_needs_a_tag),
        cmocka_unit_test(test_no_transit_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
