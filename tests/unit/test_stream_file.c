/*
 * cli/stream_file: what a file says, and where it is wrong: every fault has its line and column.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ns.h"
#include "cli/json_place.h"
#include "cli/stream_file.h"
#include "test.h"

#define ONE "\"stream_id\": \"AA:BB:CC:DD:EE:FF:0001\", \"dest\": \"91:E0:F0:00:FE:01\""
#define TWO "\"stream_id\": \"AA:BB:CC:DD:EE:FF:0002\", \"dest\": \"91:E0:F0:00:FE:02\""

#define ID       "02:00:00:00:00:01:0009"
#define MAC      "91:E0:F0:00:FE:09"
#define OTHER_ID "02:00:00:00:00:01:000A"

static struct tt_stream_file_fault fault;

static int parse(const char *text, enum tt_role role, struct tt_stream_file *ret_file)
{
    memset(&fault, 0, sizeof(fault));
    return tt_stream_file_parse(text, strlen(text), role, NULL, ret_file, &fault);
}

static void test_streams_and_what_is_common(void **state)
{
    struct tt_stream_file file;
    const struct tt_stream_job *jobs;

    (void)state;
    assert_int_equal(
        parse("{\"interface\": \"eth0\", \"class\": \"B\", \"loop\": true,\n"
              " \"streams\": [\n"
              "  {" ONE ", \"source\": \"a.wav\", \"rate\": 96000},\n"
              "  {" TWO ", \"source\": \"tone:440\", \"interface\": \"eth1\",\n"
              "   \"class\": \"a\", \"vlan-id\": 7, \"mtt\": \"1.5ms\", \"loop\": \"no\",\n"
              "   \"raw\": \"S24_LE,8,44100\", \"buffer\": \"20ms\"}]}",
              TT_ROLE_TALKER, &file),
        0);
    jobs = file.jobs;
    assert_int_equal(file.count, 2);
    assert_string_equal(jobs[0].config.ifname, "eth0");
    assert_string_equal(jobs[0].end, "a.wav");
    assert_int_equal(jobs[0].config.vlan_id, 2);
    assert_int_equal(jobs[0].config.pcp, 2);
    assert_int_equal(jobs[0].config.mtt_ns, 50 * TT_NS_PER_MS);
    assert_int_equal(jobs[0].config.frames_per_pdu, 24);
    assert_true(jobs[0].loop);
    assert_string_equal(jobs[1].config.ifname, "eth1");
    assert_int_equal(jobs[1].config.vlan_id, 7);
    assert_int_equal(tt_stream_config_pcp(&jobs[1].config), 3);
    assert_int_equal(jobs[1].config.mtt_ns, 1500 * TT_NS_PER_US);
    assert_false(jobs[1].loop);
    assert_true(jobs[1].is_raw);
    assert_int_equal(jobs[1].raw.format, TT_PCM_S24_LE);
    assert_int_equal(jobs[1].raw.channels, 8);
    assert_int_equal(jobs[1].raw.rate_hz, 44100);
    assert_int_equal(jobs[1].buffer_ns, 20 * TT_NS_PER_MS);
    tt_stream_file_done(&file);
}

static void test_clocks_and_cards(void **state)
{
    static const uint8_t mac[6] = {0x91, 0xE0, 0xF0, 0x00, 0xFE, 0x09};
    struct tt_stream_file file;

    (void)state;
    assert_int_equal(
        parse("{\"interface\": \"eth0\", \"clock\": \"crf:" ID "," MAC "\", \"level\": \"15ms\",\n"
              " \"crf\": \"" OTHER_ID "," MAC ",44100\", \"quality\": \"medium\", \"streams\": [\n"
              "  {" ONE ", \"source\": \"alsa:hw:0\"},\n"
              "  {" TWO ", \"source\": \"alsa:hw:1\", \"quality\": \"best\"}]}",
              TT_ROLE_TALKER, &file),
        0);
    for (size_t i = 0; i < 2; i++) {
        const struct tt_stream_job *job = &file.jobs[i];

        assert_true(job->clock.stream_id == UINT64_C(0x0200000000010009));
        assert_memory_equal(job->clock.dest, mac, sizeof(mac));
        assert_true(job->crf.stream_id == UINT64_C(0x020000000001000A));
        assert_memory_equal(job->crf.dest, mac, sizeof(mac));
        assert_int_equal(job->crf.rate_hz, 44100);
        assert_int_equal(job->level_ns, 15 * TT_NS_PER_MS);
        assert_int_equal(job->quality, i == 0 ? TT_QUALITY_MEDIUM : TT_QUALITY_BEST);
    }
    tt_stream_file_done(&file);
}

static void test_options_hold_for_the_file(void **state)
{
    static const char text[] = "{\"streams\": [{" ONE ", \"sink\": \"a.wav\"}]}";
    struct tt_stream_file file;
    struct tt_stream_job base;

    (void)state;
    tt_stream_job_init(&base);
    strcpy(base.config.ifname, "eth3");
    assert_int_equal(
        tt_stream_file_parse(text, strlen(text), TT_ROLE_LISTENER, &base, &file, &fault), 0);
    assert_string_equal(file.jobs[0].config.ifname, "eth3");
    tt_stream_file_done(&file);
}

struct wrong {
    const char *text;
    enum tt_role role;
    int line;
    int column;
    const char *says;
};

static void test_faults_have_a_place(void **state)
{
    static const struct wrong cases[] = {
        {"{\n\"streams\" [\n]}", 0, 2, 11, "':' expected"},
        {"{\"streams\": [], \"streams\": []}", 0, 1, 25, "duplicate"},
        {"[]", 0, 1, 1, "an object in braces"},
        {"", 0, 1, 1, "object in braces"},
        {" \n", 0, 1, 1, "object in braces"},
        {"]", 0, 1, 1, "object in braces"},
        {"{\"cpu\": 1}", 0, 1, 2, "cpu is an option of the command, --cpu"},
        {"{\"interface\": \"eth0\"}", 0, 1, 1, "streams is missing"},
        {"{\n  \"streams\": {}}", 0, 2, 14, "no list of streams"},
        {"{\n  \"streams\": []}", 0, 2, 14, "no list of streams"},
        {"{\"streams\": [\n 7]}", 0, 2, 2, "a stream is an object"},
        {"{\"interface\": \"eth0/\",\n\"streams\": []}", 0, 1, 15, "is no interface name"},
        {"{\"ifname\": \"a\",\n\"Interface\": \"b\"}", 0, 2, 1, "are one key; give it once"},
        {"{\"streams\": [{\"dest\": \"" MAC "\", \"addr\": 1}]}", 0, 1, 44, "are one key"},
        {"{\"interfaze\": 1}", 0, 1, 2, "did you mean interface?"},
        {"{\"streams\": [{" ONE ",\n   \"sourze\": \"a\"}]}", 0, 2, 4, "did you mean source?"},
        {"{\"streams\": [{" ONE ",\n   \"strem_id\": \"a\"}]}", 0, 2, 4, "did you mean stream_id?"},
        {"{\"streams\": [{\"colour of it\": \"a\"}]}", 0, 1, 15, "channels class source"},
        {"{\"source\": \"a.wav\"}", 0, 1, 2, "belongs into one of the streams"},
        {"{\"stream-id\": \"a.wav\"}", 0, 1, 2, "belongs into one of the streams"},
        {"{\"streams\": [{\n\"mtt\":\n  \"2 ells\"}]}", 0, 3, 3, "has a unit that is not"},
        {"{\"streams\": [{\"mtt\": 2.5e3}]}", 0, 1, 22, "mtt \"2.5e3\""},
        {"{\"streams\": [{\"mtt\": null}]}", 0, 1, 22, "give one value"},
        {"{\"streams\": [{\"\xC3\xA4\xC3\xB6\": 1, \"pcp\": [1]}]}", 0, 1, 15, "no key \"????\""},
        {"{\"class\": \"\xC3\xA4\xC3\xB6\", \"pcp\": [1]}", 0, 1, 11, "class \"????\" is no class"},
        {"{\"loop\": true, \"raw\": \"S16_LE,0\"}", 0, 1, 23, "has a 0 in it"},
        {"{\"raw\": \"S16,2\"}", 0, 1, 9, "begins with no format"},
        {"{\"raw\": \"S16_LE,two\"}", 0, 1, 9, "no number"},
        {"{\"raw\": \"S16_LE,2,48000,1\"}", 0, 1, 9, "more than format"},
        {"{\"raw\": \"S16_LE,1025\"}", 0, 1, 9, "more than 1024"},
        {"{\"raw\": \"S16_LE,2,4294967296\"}", 0, 1, 9, "no rate"},
        {"{\"buffer\": \"10us\"}", 0, 1, 12, "is too small"},
        {"{\"buffer\": \"2min\"}", 0, 1, 12, "is too large"},
        {"{\"buffer\": \"\"}", 0, 1, 12, "is empty"},
        {"{\"level\": \"2s\"}", 0, 1, 11, "is too large"},
        {"{\"quality\": \"fine\"}", 0, 1, 13, "give best or medium"},
        {"{\"clock\": \"gps\"}", 0, 1, 11, "is no clock"},
        {"{\"clock\": \"crf:1,2,3\"}", 0, 1, 11, "is no stream ID, comma, address"},
        {"{\"crf\": \"" ID "\"}", 0, 1, 9, "is no stream ID, comma, address"},
        {"{\"crf\": \"" ID "," MAC ",8000\"}", 0, 1, 9, "neither of 44.1 nor of 48 kHz"},
        {"{\"crf\": \"" ID "," MAC ",kHz\"}", 0, 1, 9, "has no number for its rate"},
        {"{\"clock\": \"crf:" ID "," MAC "\", \"crf\": \"" ID "," MAC
         "\", \"interface\": \"e\",\n\"streams\": [{" ONE ", \"source\": \"-\"}]}",
         0, 2, 13, "is the ID of the clock that is followed"},
        {"{\"streams\": [{\"clock\": \"tai\"}]}", 0, 1, 15, "belongs beside streams"},
        {"{\"crf\": \"" ID "," MAC "\"}", TT_ROLE_LISTENER, 1, 9, "crf is for a talker"},
        {"{\"streams\": [{\"sink\": \"a.wav\"}]}", 0, 1, 23, "a talker has a source"},
        {"{\"loop\": true}", TT_ROLE_LISTENER, 1, 10, "a listener has a sink"},
        {"{\"interface\": \"e\", \"streams\": [ {" ONE "}]}", 0, 1, 33, "source is missing"},
        {"{\"interface\": \"e\", \"streams\": [ {" ONE "}]}", TT_ROLE_LISTENER, 1, 33,
         "sink is missing"},
        {"{\"streams\": [ {" ONE ", \"source\": \"a\"}]}", 0, 1, 15, "ifname is missing"},
        {"{\"interface\": \"e\", \"mtt\": 0, \"streams\": [{" ONE ", \"source\": \"a\"}]}", 0, 1,
         42, "leaves no time"},
        {"{\"interface\": \"e\", \"streams\": [\n{" ONE ", \"source\": \"a\"},\n"
         "{\"source\": \"b\", " ONE "}]}",
         0, 3, 30, "is that of the stream in line 2"},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        struct tt_stream_file file;

        if (parse(cases[i].text, cases[i].role, &file) != -EINVAL || fault.line != cases[i].line ||
            fault.column != cases[i].column || !strstr(fault.message.text, cases[i].says)) {
            fail_msg("%s: %d:%d: %s", cases[i].text, fault.line, fault.column, fault.message.text);
        }
    }
}

static void test_one_id_on_two_interfaces(void **state)
{
    struct tt_stream_file file;

    (void)state;
    assert_int_equal(parse("{\"streams\": [{\"interface\": \"a\", \"sink\": \"a.wav\", " ONE "},"
                           "{\"interface\": \"b\", \"sink\": \"b.wav\", " ONE "}]}",
                           TT_ROLE_LISTENER, &file),
                     0);
    tt_stream_file_done(&file);
}

static void test_places_by_path(void **state)
{
    static const char text[] =
        "{\"a\\\"}\": [1, {\"}]\": [[], {}, \"]\"], \"k\" :\n\ttrue}], \"z\": -1e5}";
    const struct tt_json_text json = {text, sizeof(text) - 1};
    struct tt_json_place place;

    (void)state;
    place = tt_json_place_find(&json, (size_t[]){0, 1, 0, 2}, 4, false);
    assert_int_equal(tt_json_token_bytes(&json, place.offset), 3);
    assert_memory_equal(text + place.offset, "\"]\"", 3);
    place = tt_json_place_find(&json, (size_t[]){0, 1, 1}, 3, true);
    assert_memory_equal(text + place.offset, "\"k\" :", 5);
    place = tt_json_place_find(&json, (size_t[]){0, 1, 1}, 3, false);
    assert_memory_equal(text + place.offset, "true}", 5);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 2);
    place = tt_json_place_find(&json, (size_t[]){1}, 1, false);
    assert_int_equal(tt_json_token_bytes(&json, place.offset), 4);
}

static void test_files(void **state)
{
    struct tt_stream_file file;

    (void)state;
    assert_int_equal(tt_stream_file_read("/nonexistent.json", TT_ROLE_TALKER, NULL, &file, &fault),
                     -ENOENT);
    assert_int_equal(fault.line, 0);
    assert_int_equal(tt_stream_file_read("/dev/zero", TT_ROLE_TALKER, NULL, &file, &fault), -EFBIG);
    assert_int_equal(tt_stream_file_read("/dev/null", TT_ROLE_TALKER, NULL, &file, &fault),
                     -EINVAL);
}

static void test_what_it_says_for_all(void **state)
{
    static char path[] = "/tmp/test_stream_file_XXXXXX";
    static const char text[] =
        "{\"ifname\": \"eth0\", \"streams\": [{\"stream_id\": \"" ID "\", \"dest\": \"" MAC
        "\", \"source\": \"tone:1\", \"mtt\": 9}, {\"streamid\": \"" OTHER_ID "\", \"dest\": \"" MAC
        "\",\n\"source\": \"tone:1\", \"frames_per_pdu\": 12, \"mtt\": 9}]}";
    struct tt_stream_file file;
    struct tt_json_place place;
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    assert_int_equal(tt_stream_file_read(path, TT_ROLE_TALKER, NULL, &file, &fault), 0);
    unlink(path);
    assert_true(tt_stream_file_says(&file, "interface"));
    assert_true(tt_stream_file_says(&file, "mtt"));
    assert_true(tt_stream_file_says(&file, "stream-id"));
    assert_false(tt_stream_file_says(&file, "frames-per-pdu"));
    assert_false(tt_stream_file_says(&file, "loop"));
    place = tt_stream_file_place(&file, 1, TT_STREAM_PART_END);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 11);
    place = tt_stream_file_place(&file, 1, TT_STREAM_PART_INTERFACE);
    assert_int_equal(place.column, 12);
    tt_stream_file_done(&file);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_and_what_is_common),
        cmocka_unit_test(test_options_hold_for_the_file),
        cmocka_unit_test(test_clocks_and_cards),
        cmocka_unit_test(test_faults_have_a_place),
        cmocka_unit_test(test_one_id_on_two_interfaces),
        cmocka_unit_test(test_places_by_path),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_what_it_says_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
