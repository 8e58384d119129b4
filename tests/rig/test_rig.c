/*
 * The fault rig's script, what each rule does to a packet, and the order in which packets leave.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../unit/test.h"
#include "base/bytes.h"
#include "base/ns.h"
#include "queue.h"
#include "rules.h"

#define HEADER_BYTES 14
#define PDU_BYTES    48
#define FRAME_BYTES  (HEADER_BYTES + PDU_BYTES)
#define CAPACITY     128
#define INTERVAL_NS  INT64_C(125000)

struct bench {
    struct rig_rules rules;
    uint8_t memory[RIG_PACKETS_MAX][CAPACITY];
    struct rig_packet packets[RIG_PACKETS_MAX];
    size_t count;
};

static struct bench bench;

static void load(const char *script)
{
    struct rig_error error;

    memset(&bench, 0, sizeof bench);
    if (rig_rules_parse(script, &bench.rules, &error) < 0) {
        fail_msg("line %u: %s", error.line, error.text);
    }
    for (size_t i = 0; i < RIG_PACKETS_MAX; i++) {
        bench.packets[i] = (struct rig_packet){.frame = bench.memory[i], .capacity = CAPACITY};
    }
}

static int64_t time_of(uint64_t index)
{
    return 5 * TT_NS_PER_S + (int64_t)index * INTERVAL_NS;
}

/* PDU `index` of a class A stream. */
static const struct rig_packet *step(uint64_t index)
{
    uint8_t *frame = bench.packets[0].frame;
    uint8_t *pdu = frame + HEADER_BYTES;

    memset(frame, 0, CAPACITY);
    tt_put_be16(frame + 12, 0x22F0);
    pdu[0] = 2;
    pdu[1] = 0x81;
    pdu[2] = (uint8_t)index;
    tt_put_be64(pdu + 4, UINT64_C(0x0200000000010001));
    tt_put_be32(pdu + 12, (uint32_t)(time_of(index) + 2 * TT_NS_PER_MS));
    tt_put_be32(pdu + 24, (uint32_t)index);
    bench.packets[0].bytes = FRAME_BYTES;
    bench.count = rig_step(&bench.rules, index, time_of(index), bench.packets);
    return bench.packets;
}

static const uint8_t *pdu_of(size_t packet)
{
    return bench.packets[packet].frame + HEADER_BYTES;
}

static int64_t moved_ns(uint64_t index, size_t packet)
{
    return (int32_t)(tt_get_be32(pdu_of(packet) + 12) -
                     (uint32_t)(time_of(index) + 2 * TT_NS_PER_MS));
}

/* How many of 0 … count - 1 are dropped. */
static unsigned dropped(uint64_t count)
{
    unsigned n = 0;

    for (uint64_t i = 0; i < count; i++) {
        n += step(i)->is_dropped;
    }
    return n;
}

static void test_nothing_happens_without_a_rule(void **state)
{
    (void)state;
    load("\n# nothing\n\n");
    for (uint64_t i = 0; i < 10; i++) {
        uint8_t before[FRAME_BYTES];

        step(i);
        memcpy(before, bench.packets[0].frame, sizeof before);
        assert_int_equal(bench.count, 1);
        assert_int_equal(bench.packets[0].bytes, FRAME_BYTES);
        assert_int_equal(bench.packets[0].delay_ns, 0);
        assert_true(bench.packets[0].rules == 0 && bench.packets[0].wait == 0);
        assert_int_equal(before[HEADER_BYTES + 2], i);
    }
}

static void test_conditions(void **state)
{
    static const struct {
        const char *script;
        unsigned dropped; /* of 1000 */
    } cases[] = {
        {"pdu 7 drop", 1},
        {"pdu 100-199 drop", 100},
        {"pdu 900- drop", 100},
        {"every 10 drop", 100},
        {"pdu 100-199 every 10 drop", 10},
        {"pdu 101- every 300 drop # 101, 401, 701", 3},
        {"time 25ms-50ms drop", 200},
        {"time 100ms- drop", 200},
        {"time 100ms- pdu 0-809 drop", 10},
        {"original drop", 1000},
        {"copy drop", 0},
        {"chance 100% drop", 1000},
        {"chance 0% drop", 0},
        {"drop\npdu 3 drop", 1000},
    };

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        load(cases[i].script);
        if (dropped(1000) != cases[i].dropped) {
            fail_msg("%s", cases[i].script);
        }
    }
}

static void test_chance_is_seeded_and_of_each_rule_alone(void **state)
{
    uint64_t seen[3] = {0};
    static const char *const scripts[3] = {
        "seed 7\nchance 10% drop",
        "seed 7\nchance 10% drop\nchance 50% delay 1ms",
        "seed 8\nchance 10% drop",
    };

    (void)state;
    for (size_t s = 0; s < 3; s++) {
        load(scripts[s]);
        for (uint64_t i = 0; i < 20000; i++) {
            seen[s] = seen[s] * 31 + step(i)->is_dropped;
        }
        assert_in_range(bench.rules.rules[0].applied, 1850, 2150);
    }
    assert_true(seen[0] == seen[1]);
    assert_true(seen[0] != seen[2]);
}

static void test_delays_have_their_distribution(void **state)
{
    static const struct {
        const char *script;
        double mean_us;
        double deviation_us;
    } cases[] = {
        {"delay 300us", 300, 0},
        {"delay uniform 100us 400us", 250, 86.6},
        {"delay normal 2ms 100us", 2000, 100},
        {"delay exponential 500us", 500, 500},
    };

    (void)state;
    for (size_t c = 0; c < TT_COUNT_OF(cases); c++) {
        double sum = 0;
        double squares = 0;
        const int n = 20000;

        load(cases[c].script);
        for (int i = 0; i < n; i++) {
            double us = (double)step((uint64_t)i)->delay_ns / 1000;

            assert_true(us >= 0);
            sum += us;
            squares += us * us;
        }
        sum /= n;
        squares = squares / n - sum * sum;
        assert_true(sum > cases[c].mean_us * 0.97 && sum < cases[c].mean_us * 1.03);
        assert_true(squares >= cases[c].deviation_us * cases[c].deviation_us * 0.93 - 1);
        assert_true(squares <= cases[c].deviation_us * cases[c].deviation_us * 1.07 + 1);
    }
    load("delay normal 10us 1ms");
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(step(i)->delay_ns >= 0);
    }
}

static void test_stamps(void **state)
{
    (void)state;
    load("pdu 10- stamp +1ms\npdu 20- stamp -37s");
    step(9);
    assert_int_equal(moved_ns(9, 0), 0);
    step(10);
    assert_int_equal(moved_ns(10, 0), TT_NS_PER_MS);
    step(20);
    assert_int_equal(moved_ns(20, 0), (int32_t)(uint32_t)(TT_NS_PER_MS - 37 * TT_NS_PER_S));

    load("stamp jitter 20us");
    for (uint64_t i = 0; i < 1000; i++) {
        step(i);
        assert_in_range(moved_ns(i, 0) + 20000, 0, 40000);
    }

    load("pdu 8- stamp drift -200");
    for (uint64_t i = 0; i <= 80008; i++) { /* 10 s: past two wraps of the stamp */
        step(i);
    }
    assert_in_range(-moved_ns(80008, 0), 1999000, 2000000);
}

static void test_fields(void **state)
{
    (void)state;
    load("set tu 1\nset mr +1\nset tv 0\nset sequence +77\nset format 4\nset nsr 5\n"
         "set channels 1023\nset stream 02:00:00:00:00:01:0002\nset source 02:00:00:00:00:09\n"
         "set length -1\nset subtype 3\nset payload 4294967295\nset version 7\nset depth 24\nset "
         "sp 1");
    step(200);
    assert_int_equal(pdu_of(0)[0], 3);
    assert_int_equal(pdu_of(0)[1], 0x80 | 0x70 | 0x08);
    assert_int_equal(pdu_of(0)[2], (200 + 77) % 256);
    assert_int_equal(pdu_of(0)[3], 1);
    assert_true(tt_get_be64(pdu_of(0) + 4) == UINT64_C(0x0200000000010002));
    assert_int_equal(pdu_of(0)[16], 4);
    assert_int_equal(tt_get_be16(pdu_of(0) + 17), 0x53FF);
    assert_int_equal(pdu_of(0)[19], 24);
    assert_int_equal(tt_get_be16(pdu_of(0) + 20), 0xFFFF);
    assert_int_equal(pdu_of(0)[22], 0x10);
    assert_true(tt_get_be32(pdu_of(0) + 24) == UINT32_MAX);
    assert_memory_equal(bench.packets[0].frame + 6, "\x02\0\0\0\0\x09", 6);
}

static void test_a_tag_is_stepped_over(void **state)
{
    uint8_t *frame;

    (void)state;
    load("set sequence 9\ntruncate 3");
    frame = bench.packets[0].frame;
    tt_put_be32(frame + 12, 0x81006002);
    tt_put_be16(frame + 16, 0x22F0);
    bench.packets[0].bytes = 60;
    rig_step(&bench.rules, 0, 0, bench.packets);
    assert_int_equal(frame[20], 9);
    assert_int_equal(bench.packets[0].bytes, 21);
}

static void test_bytes(void **state)
{
    uint8_t before[CAPACITY];

    (void)state;
    load("truncate 30");
    assert_int_equal(step(0)->bytes, HEADER_BYTES + 30);
    load("truncate 300");
    assert_int_equal(step(0)->bytes, FRAME_BYTES);
    load("extend 20");
    assert_int_equal(step(0)->bytes, FRAME_BYTES + 20);
    load("extend 2000");
    assert_int_equal(step(0)->bytes, CAPACITY);
    load("truncate 0\nset tu 1\nstamp +1ms\ncorrupt 5");
    assert_int_equal(step(0)->bytes, HEADER_BYTES);

    load("");
    step(3);
    memcpy(before, bench.packets[0].frame, sizeof before);
    load("corrupt");
    step(3);
    assert_memory_equal(before, bench.packets[0].frame, HEADER_BYTES);
    assert_memory_not_equal(before, bench.packets[0].frame, FRAME_BYTES);
}

static void test_copies_are_told_from_originals(void **state)
{
    (void)state;
    load("every 2 duplicate 2\ncopy set stream 02:00:00:00:00:01:0009\noriginal pdu 4 drop\n"
         "copy pdu 2 drop");
    step(1);
    assert_int_equal(bench.count, 1);
    step(2);
    assert_int_equal(bench.count, 3);
    assert_true(!bench.packets[0].is_dropped && bench.packets[1].is_dropped);
    step(4);
    assert_true(bench.packets[0].is_dropped && !bench.packets[2].is_dropped);
    assert_int_equal(pdu_of(0)[11], 1);
    assert_int_equal(pdu_of(2)[11], 9);
    assert_int_equal(tt_get_be32(pdu_of(2) + 24), 4);
    load("duplicate 15\nduplicate 15\nset tu 1");
    step(0);
    assert_int_equal(bench.count, RIG_PACKETS_MAX);
    assert_int_equal(bench.rules.rules[2].applied, RIG_PACKETS_MAX);
}

static void test_a_pause_keeps_the_count(void **state)
{
    (void)state;
    load("pdu 300 pause 50ms"); /* 400 PDUs */
    assert_int_equal(dropped(1000), 400);
    assert_int_equal(bench.rules.rules[0].applied, 400);
    load("pdu 300 pause 50ms");
    for (uint64_t i = 0; i <= 705; i++) {
        step(i);
    }
    assert_int_equal(pdu_of(0)[2], (705 - 400) % 256);
    assert_int_equal(moved_ns(705, 0), 0);
}

/* Steps `count` packets through rules and queue and writes the indices as they leave. */
static void leave_order(const char *script, uint64_t count, char *ret_text, size_t bytes)
{
    struct rig_queue queue;
    const struct rig_entry *entry;
    size_t used = 0;

    load(script);
    assert_int_equal(rig_queue_init(&queue, 64, CAPACITY), 0);
    for (uint64_t i = 0; i <= count; i++) {
        bool is_end = i == count;
        int64_t now_ns = time_of(i) + (is_end ? 2 * TT_NS_PER_S : 0);

        if (!is_end) {
            step(i);
            rig_queue_arrive(&queue, i, now_ns);
            for (size_t p = 0; p < bench.count; p++) {
                if (!bench.packets[p].is_dropped) {
                    rig_queue_put(&queue, &bench.packets[p], i, now_ns);
                }
            }
        }
        if (is_end) {
            used += (size_t)snprintf(ret_text + used, bytes - used, "| ");
        }
        while ((entry = rig_queue_take(&queue, now_ns))) {
            used += (size_t)snprintf(ret_text + used, bytes - used, "%u ",
                                     (unsigned)tt_get_be32(entry->frame + HEADER_BYTES + 24));
        }
    }
    assert_true(rig_queue_next_ns(&queue) == INT64_MAX);
    assert_int_equal(queue.overflowed, 0);
    rig_queue_done(&queue);
}

static void test_order_of_departure(void **state)
{
    static const struct {
        const char *script;
        const char *order; /* of 10; | the end, and what had to wait for it */
    } cases[] = {
        {"", "0 1 2 3 4 5 6 7 8 9 | "},
        {"pdu 2 drop", "0 1 3 4 5 6 7 8 9 | "},
        {"pdu 2 duplicate 2", "0 1 2 2 2 3 4 5 6 7 8 9 | "},
        {"pdu 2 reorder", "0 1 3 2 4 5 6 7 8 9 | "},
        {"pdu 2 reorder 5", "0 1 3 4 5 6 7 2 8 9 | "},
        {"pdu 2 reorder\npdu 3 drop", "0 1 2 4 5 6 7 8 9 | "},
        {"pdu 9 reorder", "0 1 2 3 4 5 6 7 8 | 9 "},
        {"pdu 4- burst 3", "0 1 2 3 4 5 6 7 8 9 | "},
        {"pdu 4- burst 4", "0 1 2 3 4 5 6 7 | 8 9 "},
        {"pdu 2 delay 260us", "0 1 3 4 2 5 6 7 8 9 | "},
        {"pdu 2-3 delay 1ms", "0 1 4 5 6 7 8 9 | 2 3 "},
        {"pdu 2-3 reorder\npdu 2 duplicate", "0 1 2 2 4 3 5 6 7 8 9 | "},
    };
    char order[256];

    (void)state;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        leave_order(cases[i].script, 10, order, sizeof order);
        if (strcmp(order, cases[i].order) != 0) {
            fail_msg("%s: %s, not %s", cases[i].script, order, cases[i].order);
        }
    }
}

static void test_the_queue_at_random(void **state)
{
    struct rig_queue queue;
    const struct rig_entry *entry;
    uint64_t random = 5;
    size_t in = 0;
    size_t out = 0;

    (void)state;
    load("");
    assert_int_equal(rig_queue_init(&queue, 100, CAPACITY), 0);
    for (int64_t now_ns = 1; now_ns < 20000; now_ns++) {
        struct rig_packet packet = *step(in);
        int64_t last_ns = 0;

        packet.delay_ns = (int64_t)random_below(&random, 150);
        packet.wait = random_below(&random, 10) == 0 ? random_below(&random, 20) : 0;
        rig_queue_arrive(&queue, in, now_ns);
        rig_queue_put(&queue, &packet, in++, now_ns);
        while (random_below(&random, 4) == 0 && (entry = rig_queue_take(&queue, now_ns))) {
            assert_true(entry->due_ns >= last_ns && entry->due_ns <= now_ns);
            last_ns = entry->due_ns;
            out++;
        }
        while ((entry = rig_queue_take(&queue, now_ns))) {
            out++;
        }
    }
    while (rig_queue_take(&queue, INT64_MAX - 1)) {
        out++;
    }
    assert_int_equal(in, out + queue.overflowed);
    assert_true(queue.waiting == 0 && out > 10000);
    rig_queue_done(&queue);
}

static void test_what_is_refused(void **state)
{
    static const struct {
        const char *script;
        unsigned line;
        const char *says;
    } cases[] = {
        {"dorp", 1, "\"dorp\" is no condition and no action; there are: pdu,"},
        {"drop\n\npdu 5", 3, "an action is missing; give drop"},
        {"pdu", 1, "pdu is missing; give"},
        {"pdu x drop", 1, "pdu \"x\" is no range; give"},
        {"pdu 1-x drop", 1, "pdu \"1-x\" is no range; give"},
        {"pdu 9-3 drop", 1, "pdu \"9-3\" ends before it begins; give"},
        {"every 0 drop", 1, "every \"0\" is out of range; give a number from 1"},
        {"time 3s drop", 1, "time \"3s\" is no range; give"},
        {"time 3s-1s drop", 1, "ends before it begins"},
        {"time 1m-2s drop", 1, "time \"1m\" has a unit that is not"},
        {"time 5min- drop", 1, "is longer than a minute; give"},
        {"chance 1 drop", 1, "chance \"1\" is no percentage; give"},
        {"chance 101% drop", 1, "up to 100%"},
        {"chance -1% drop", 1, "is no percentage"},
        {"drop drop", 1, "\"drop\" is too much; one action a line"},
        {"delay", 1, "delay is missing; give a time"},
        {"delay uniform 2ms 1ms", 1, "ends before it begins"},
        {"burst 1", 1, "burst \"1\" is out of range; give a number from 2"},
        {"duplicate 16", 1, "from 1 to 15"},
        {"stamp 1ms", 1, "has no sign; give +T"},
        {"stamp drift fast", 1, "stamp drift \"fast\" will not do; give"},
        {"set colour 1", 1, "\"colour\" is no field; there are: sequence,"},
        {"set tu 2", 1, "tu \"2\" will not do; give a number up to 1"},
        {"set tu", 1, "tu is missing; give its value"},
        {"set source me", 1, "source \"me\" is no MAC address; give"},
        {"set stream 1", 1, "stream \"1\" is no stream ID; give"},
        {"seed x", 1, "seed \"x\" is not a number; give"},
        {"seed 1 2", 1, "\"2\" is too much; a seed is one number"},
        {"drop \x01", 1, "a character of code 1; give"},
        {"drop \"", 1, "a character of code 34; give"},
    };
    struct rig_rules rules;
    struct rig_rules before;
    struct rig_error error;
    char many[2000] = "";

    (void)state;
    memset(&rules, 0x5A, sizeof rules);
    before = rules;
    for (size_t i = 0; i < TT_COUNT_OF(cases); i++) {
        memset(&error, 0, sizeof error);
        if (rig_rules_parse(cases[i].script, &rules, &error) != -EINVAL ||
            error.line != cases[i].line || !strstr(error.text, cases[i].says)) {
            fail_msg("of \"%s\" it says, line %u: %s", cases[i].script, error.line, error.text);
        }
    }
    for (unsigned i = 0; i < RIG_RULES_MAX + 1; i++) {
        strcat(many, "drop\n");
    }
    assert_int_equal(rig_rules_parse(many, &rules, &error), -EINVAL);
    assert_string_equal(error.text, "more than 64 rules; leave some out");
    memset(many, 'x', 300);
    many[300] = 0;
    assert_int_equal(rig_rules_parse(many, &rules, &error), -EINVAL);
    assert_string_equal(error.text, "longer than 119 characters; one action a line");
    for (unsigned i = 0; i < 30; i++) {
        memcpy(many + 2 * i, "1 ", 3);
    }
    assert_int_equal(rig_rules_parse(many, &rules, &error), -EINVAL);
    assert_string_equal(error.text, "more than 24 words; one action a line");
    assert_memory_equal(&before, &rules, sizeof rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_happens_without_a_rule),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_chance_is_seeded_and_of_each_rule_alone),
        cmocka_unit_test(test_delays_have_their_distribution),
        cmocka_unit_test(test_stamps),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_a_tag_is_stepped_over),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_copies_are_told_from_originals),
        cmocka_unit_test(test_a_pause_keeps_the_count),
        cmocka_unit_test(test_order_of_departure),
        cmocka_unit_test(test_the_queue_at_random),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
