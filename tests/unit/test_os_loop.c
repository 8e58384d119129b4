/*
 * The clock that tests move, and the link in memory: departure, order of arrival, fates, tags,
 * limits.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "os/link_loop.h"

#define START_NS    INT64_C(5000000000)
#define OFFSET_NS   INT64_C(1700000037000000000)
#define FRAME_BYTES 64

struct loop_world {
    struct tt_clock_script clock;
    struct tt_link *a;
    struct tt_link *b;
    struct tt_loop_fate fates[8]; /* of the first packets; delay 0: as it comes */
    uint64_t random;              /* not 0: fates by this generator instead */
    int64_t departures[64];
    size_t departed;
    bool corrupt;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void decide(void *context, uint64_t index, uint8_t *data, size_t bytes,
                   struct tt_loop_fate *fate)
{
    struct loop_world *w = context;

    assert_false(fate->lost);
    assert_int_equal(fate->copies, 0);
    assert_int_equal(fate->delay_ns, 10000);
    if (w->random) {
        fate->lost = next_random(&w->random) % 10 == 0;
        fate->copies = next_random(&w->random) % 10 == 0;
        fate->delay_ns = (int64_t)(next_random(&w->random) % 1000000);
    } else if (index < 8 && (w->fates[index].delay_ns || w->fates[index].lost)) {
        *fate = w->fates[index];
    }
    if (w->corrupt) {
        data[bytes - 1] ^= 0xFF;
    }
}

static void departed(void *context, const uint8_t *data, size_t bytes, int64_t departure_tai_ns)
{
    struct loop_world *w = context;

    (void)data;
    (void)bytes;
    if (w->departed < 64) {
        w->departures[w->departed++] = departure_tai_ns;
    }
}

static void world_init(struct loop_world *w, bool keeps, size_t capacity)
{
    struct tt_loop_setup setup = {.clock = &w->clock,
                                  .mtu_bytes = 1500,
                                  .keeps_launch_times = keeps,
                                  .fate = decide,
                                  .context = w,
                                  .departure = departed,
                                  .capacity = capacity};

    memset(w, 0, sizeof(*w));
    tt_clock_script_init(&w->clock, START_NS, OFFSET_NS);
    assert_int_equal(tt_link_loop_new(&setup, &w->a, &w->b), 0);
}

static void world_done(struct loop_world *w)
{
    tt_link_close(w->a);
    tt_link_close(w->b);
}

/* Sends one untagged frame that carries `mark` in its last byte. */
static int send_mark(struct tt_link *link, uint8_t mark, int64_t launch_tai_ns)
{
    uint8_t frame[FRAME_BYTES] = {0};
    struct tt_link_packet packet = {
        .data = frame, .bytes = sizeof(frame), .time_tai_ns = launch_tai_ns};

    tt_put_be16(frame + 12, 0x22F0);
    frame[FRAME_BYTES - 1] = mark;
    return link->ops->send(link, &packet, 1);
}

/* The mark of the next packet, or -1. */
static int receive_mark(struct tt_link *link, int64_t *ret_time_tai_ns)
{
    uint8_t frame[FRAME_BYTES];
    struct tt_link_packet packet = {.data = frame, .bytes = sizeof(frame)};

    if (link->ops->receive(link, &packet, 1) != 1) {
        return -1;
    }
    assert_int_equal(packet.bytes, FRAME_BYTES);
    assert_int_equal(packet.vlan_id, -1);
    *ret_time_tai_ns = packet.time_tai_ns;
    return frame[FRAME_BYTES - 1];
}

static void test_clock(void **state)
{
    struct tt_clock_script script;
    struct tt_clock *clock = &script.clock;
    struct tt_clock_reading r;

    (void)state;
    tt_clock_script_init(&script, 1000, 50);
    clock->ops->sleep_until(clock, 3000);
    clock->ops->sleep_until(clock, 2000);
    clock->ops->read(clock, &r);
    assert_int_equal(r.mono_before_ns, 3000);
    assert_int_equal(r.mono_after_ns, 3000);
    assert_int_equal(r.tai_ns, 3050);
    script.wake_late_ns = 7;
    clock->ops->sleep_until(clock, 4000);
    assert_int_equal(script.mono_ns, 4007);
    clock->ops->sleep_until(clock, 4000);
    assert_int_equal(script.mono_ns, 4014);
}

static void test_system_clock(void **state)
{
    struct tt_clock *clock = tt_clock_system();
    struct tt_clock_reading a;
    struct tt_clock_reading b;
    int seconds;

    (void)state;
    clock->ops->read(clock, &a);
    clock->ops->sleep_until(clock, a.mono_after_ns + 1000000);
    clock->ops->sleep_until(clock, -1);
    clock->ops->read(clock, &b);
    assert_true(a.mono_before_ns <= a.mono_after_ns);
    assert_true(b.mono_before_ns >= a.mono_after_ns + 1000000);
    assert_int_equal(tt_clock_tai_offset(&seconds), 0);
    assert_in_range(seconds, 0, 100);
}

static void test_arrival(void **state)
{
    struct loop_world w;
    int64_t t = 0;

    (void)state;
    world_init(&w, false, 4);
    /* Without launch times it departs at once. */
    assert_int_equal(send_mark(w.a, 1, START_NS + OFFSET_NS + 500000), 1);
    w.clock.mono_ns += 9999;
    assert_int_equal(receive_mark(w.b, &t), -1);
    w.clock.mono_ns += 1;
    assert_int_equal(receive_mark(w.a, &t), -1);
    assert_int_equal(receive_mark(w.b, &t), 1);
    assert_int_equal(t, START_NS + OFFSET_NS + 10000);
    assert_int_equal(receive_mark(w.b, &t), -1);
    assert_int_equal(w.departures[0], START_NS + OFFSET_NS);
    world_done(&w);
}

static void test_launch(void **state)
{
    struct loop_world w;
    int64_t now_tai_ns = START_NS + OFFSET_NS;
    int64_t t = 0;

    (void)state;
    world_init(&w, true, 4);
    assert_true(w.a->keeps_launch_times);
    assert_int_equal(send_mark(w.a, 1, now_tai_ns + 500000), 1);
    assert_int_equal(send_mark(w.a, 2, now_tai_ns - 500000), 1);
    w.clock.mono_ns += 510000;
    assert_int_equal(receive_mark(w.b, &t), 2);
    assert_int_equal(t, now_tai_ns + 10000);
    assert_int_equal(receive_mark(w.b, &t), 1);
    assert_int_equal(t, now_tai_ns + 510000);
    assert_int_equal(w.departures[0], now_tai_ns + 500000);
    assert_int_equal(w.departures[1], now_tai_ns);
    world_done(&w);
}

/* A missed launch is reported once; past the qdiscs nothing is missed, and nothing waits. */
static void test_missed_and_bypass(void **state)
{
    struct loop_world w;
    struct tt_link_errors errors = {0};
    int64_t now_tai_ns = START_NS + OFFSET_NS;
    int64_t t = 0;

    (void)state;
    world_init(&w, true, 4);
    w.fates[0] =
        (struct tt_loop_fate){.launch_kept = true, .launch_missed = true, .delay_ns = 10000};
    assert_int_equal(send_mark(w.a, 1, now_tai_ns + 500000), 1);
    w.a->ops->collect_errors(w.a, &errors);
    w.a->ops->collect_errors(w.a, &errors);
    assert_int_equal(errors.launch_missed, 1);
    assert_int_equal(errors.last_launch_tai_ns, now_tai_ns + 500000);
    assert_int_equal(w.a->ops->bypass(w.a), 0);
    assert_false(w.a->keeps_launch_times);
    assert_int_equal(send_mark(w.a, 2, now_tai_ns + 500000), 1);
    w.clock.mono_ns += 10000;
    assert_int_equal(receive_mark(w.b, &t), 2);
    world_done(&w);
}

static void test_fates(void **state)
{
    static const int expected[] = {1, 1, 1, 3, 0};
    struct loop_world w;
    int64_t t = 0;

    (void)state;
    world_init(&w, false, 8);
    w.fates[0].delay_ns = 30000;
    w.fates[1] = (struct tt_loop_fate){.copies = 2, .delay_ns = 20000};
    w.fates[2].lost = true;
    w.fates[3].delay_ns = 20000;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(send_mark(w.a, (uint8_t)i, 0), 1);
    }
    w.clock.mono_ns += 30000;
    for (size_t i = 0; i < TT_COUNT_OF(expected); i++) {
        assert_int_equal(receive_mark(w.b, &t), expected[i]);
    }
    assert_int_equal(receive_mark(w.b, &t), -1);
    w.corrupt = true;
    assert_int_equal(send_mark(w.b, 0x0F, 0), 1);
    w.clock.mono_ns += 10000;
    assert_int_equal(receive_mark(w.a, &t), 0xF0);
    world_done(&w);
}

static void test_tai_step(void **state)
{
    struct loop_world w;
    int64_t t = 0;

    (void)state;
    world_init(&w, false, 4);
    assert_int_equal(send_mark(w.a, 1, 0), 1);
    w.clock.tai_minus_mono_ns -= INT64_C(37000000000);
    w.clock.mono_ns += 10000;
    assert_int_equal(receive_mark(w.b, &t), 1);
    assert_int_equal(t, START_NS + OFFSET_NS - INT64_C(37000000000) + 10000);
    world_done(&w);
}

static void test_full(void **state)
{
    uint8_t frame[FRAME_BYTES] = {0};
    struct tt_link_packet packets[5];
    struct loop_world w;

    (void)state;
    world_init(&w, false, 3);
    for (int i = 0; i < 5; i++) {
        packets[i] = (struct tt_link_packet){.data = frame, .bytes = sizeof(frame)};
    }
    assert_int_equal(w.a->ops->send(w.a, packets, 5), 3);
    assert_int_equal(w.a->ops->send(w.a, packets + 3, 2), -ENOBUFS);
    w.clock.mono_ns += 10000;
    assert_int_equal(w.b->ops->receive(w.b, packets, 2), 2);
    assert_int_equal(w.a->ops->send(w.a, packets + 3, 2), 2);
    world_done(&w);
}

static void test_tag_and_size(void **state)
{
    uint8_t frame[1519] = {0};
    uint8_t got[1519];
    struct tt_link_packet packet = {.data = frame, .bytes = 1518};
    struct loop_world w;

    (void)state;
    world_init(&w, false, 3);
    for (size_t i = 0; i < sizeof(frame); i++) {
        frame[i] = (uint8_t)i;
    }
    tt_put_be16(frame + 12, 0x8100);
    tt_put_be16(frame + 14, 3 << 13 | 2);
    tt_put_be16(frame + 16, 0x22F0);
    assert_int_equal(w.a->ops->send(w.a, &packet, 1), 1);
    packet.bytes = 1519;
    assert_int_equal(w.a->ops->send(w.a, &packet, 1), -EMSGSIZE);
    packet.bytes = 13;
    assert_int_equal(w.a->ops->send(w.a, &packet, 1), -EINVAL);
    w.clock.mono_ns += 10000;
    packet = (struct tt_link_packet){.data = got, .bytes = 20};
    assert_int_equal(w.b->ops->receive(w.b, &packet, 1), 1);
    assert_int_equal(packet.bytes, 1514);
    assert_int_equal(packet.vlan_id, 2);
    assert_int_equal(packet.pcp, 3);
    assert_memory_equal(got, frame, 12);
    assert_memory_equal(got + 12, frame + 16, 8);
    /* Untagged, the same length is too long. */
    tt_put_be16(frame + 12, 0x22F0);
    packet = (struct tt_link_packet){.data = frame, .bytes = 1518};
    assert_int_equal(w.a->ops->send(w.a, &packet, 1), -EMSGSIZE);
    world_done(&w);
}

/* Arrival times and marks of a seeded run; returns how many packets arrived. */
static size_t seeded_run(uint64_t seed, int64_t *ret_times, int *ret_marks, size_t capacity)
{
    struct loop_world w;
    size_t n = 0;
    int64_t t = 0;
    int mark;

    world_init(&w, false, 64);
    w.random = seed;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(send_mark(w.a, (uint8_t)i, 0), 1);
        w.clock.mono_ns += 125000;
        while (n < capacity && (mark = receive_mark(w.b, &t)) >= 0) {
            assert_true(t <= w.clock.mono_ns + w.clock.tai_minus_mono_ns);
            assert_true(t > w.clock.mono_ns + w.clock.tai_minus_mono_ns - 125000);
            assert_true(n == 0 || t >= ret_times[n - 1]);
            ret_times[n] = t;
            ret_marks[n++] = mark;
        }
    }
    world_done(&w);
    return n;
}

static void test_seeded(void **state)
{
    int64_t times[3][300];
    int marks[3][300];
    bool reordered = false;
    size_t n = seeded_run(1, times[0], marks[0], 300);

    (void)state;
    assert_in_range(n, 150, 250);
    assert_int_equal(seeded_run(1, times[1], marks[1], 300), n);
    assert_memory_equal(times[0], times[1], n * sizeof(times[0][0]));
    assert_memory_equal(marks[0], marks[1], n * sizeof(marks[0][0]));
    seeded_run(2, times[2], marks[2], 300);
    assert_memory_not_equal(times[0], times[2], 100 * sizeof(times[0][0]));
    for (size_t i = 1; i < n; i++) {
        reordered = reordered || marks[0][i] < marks[0][i - 1];
    }
    assert_true(reordered);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),   cmocka_unit_test(test_system_clock),
        cmocka_unit_test(test_arrival), cmocka_unit_test(test_launch),
        cmocka_unit_test(test_fates),   cmocka_unit_test(test_tai_step),
        cmocka_unit_test(test_full),    cmocka_unit_test(test_tag_and_size),
        cmocka_unit_test(test_seeded),  cmocka_unit_test(test_missed_and_bypass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
