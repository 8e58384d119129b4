/*
 * Numbered messages found again: what is lost, twice, out of order, late; and the line that fits.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "midi/probe.h"

enum { COUNT = 1000 };

struct run {
    struct tt_probe_sent sent[COUNT];
    int64_t got_ns[COUNT];
    int64_t scratch_ns[COUNT];
    struct tt_probe_due due[COUNT];
    struct tt_probe probe;
    struct tt_hist errors;
};

static int make_run(void **state)
{
    static const struct tt_probe_plan plan = {.count = COUNT, .gap_ns = 10000000, .seed = 3};
    struct run *run = (struct run *)malloc(sizeof(*run));

    assert_non_null(run);
    tt_probe_plan(&plan, run->due);
    for (int i = 0; i < COUNT; i++)
        run->sent[i] = (struct tt_probe_sent){run->due[i].due_ns + 1000, run->due[i].due_ns + 3000,
                                              run->due[i].sysex};
    tt_probe_init(&run->probe, run->sent, run->got_ns, COUNT);
    tt_hist_init(&run->errors);
    *state = run;
    return 0;
}

static int free_run(void **state)
{
    free(*state);
    return 0;
}

/* Bytes as they come off a wire, by way of the parser. */
static void hear_bytes(struct run *run, const uint8_t *data, size_t n, int64_t time_ns)
{
    struct tt_midi_parser parser;
    struct tt_midi_event event;
    uint8_t sysex[64];
    size_t used;

    tt_midi_parser_init(&parser, sysex, sizeof(sysex));
    for (size_t at = 0; tt_midi_parser_step(&parser, data + at, n - at, time_ns, &used, &event);
         at += used)
        tt_probe_event(&run->probe, &event);
}

static void hear(struct run *run, size_t number, int64_t time_ns)
{
    uint8_t message[TT_PROBE_MESSAGE];
    bool sysex = number < COUNT && run->due[number].sysex;

    hear_bytes(run, message, tt_probe_message(number, sysex, message), time_ns);
}

static void test_plan(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_due even[5];
    unsigned chords = 0;
    unsigned bursts = 0;
    unsigned sysexes = 0;

    for (int i = 1; i < COUNT; i++) {
        int64_t gap_ns = run->due[i].due_ns - run->due[i - 1].due_ns;

        assert_true(gap_ns >= 0);
        chords += gap_ns == 0 && !run->due[i].sysex;
        bursts += gap_ns == 1000000;
        sysexes += gap_ns == 0 && run->due[i].sysex;
    }
    assert_true(chords > 50 && bursts > 50 && sysexes > 50);
    tt_probe_plan(&(struct tt_probe_plan){.count = 5, .gap_ns = 100, .even = true}, even);
    assert_true(even[4].due_ns == 400 && !even[4].sysex);
}

/* On a wire that has a speed nothing is due before what is sent earlier is out. */
static void test_plan_for_a_wire(void **state)
{
    struct run *run = (struct run *)*state;
    const int64_t byte_ns = 320000;
    struct tt_probe_plan plan = {.count = COUNT, .gap_ns = 10000000, .byte_ns = byte_ns, .seed = 3};
    unsigned waited = 0;

    tt_probe_plan(&plan, run->due);
    for (int i = 1; i < COUNT; i++) {
        int64_t gap_ns = run->due[i].due_ns - run->due[i - 1].due_ns;
        int64_t wire_ns = byte_ns * (run->due[i - 1].sysex ? TT_PROBE_SYSEX : TT_PROBE_NOTE);

        assert_true(gap_ns >= wire_ns);
        waited += gap_ns == wire_ns;
    }
    assert_true(waited > 100);
}

static void test_exact(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++)
        hear(run, (size_t)i, run->sent[i].before_ns + 2000);
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_int_equal(result.lost, 0);
    assert_int_equal(result.clocks_lost, 0);
    assert_int_equal(result.inside, COUNT);
    assert_true(result.offset_ns == 2000);
    assert_true(run->errors.min >= -1 && run->errors.max <= 1);
    assert_true(result.worst_interval_ns == 0);
}

/* Of few events each may come sooner behind the one before than it was sent: none is longer. */
static void test_few_events(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < 3; i++)
        hear(run, (size_t)i, run->sent[i].before_ns + 9000 - 3000 * i);
    run->probe.count = 3;
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_true(result.worst_interval_ns == 0);
    run->probe.count = 1; /* there is no interval */
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_true(result.worst_interval_ns == INT64_MIN);
}

static void test_a_clock_that_is_lost(void **state)
{
    struct run *run = (struct run *)*state;
    uint8_t message[TT_PROBE_MESSAGE];
    struct tt_probe_result result;

    for (size_t i = 0; i < COUNT; i++) {
        size_t bytes = tt_probe_message(i, run->due[i].sysex, message);
        uint8_t *clock = run->due[i].sysex ? memchr(message, TT_MIDI_CLOCK, bytes) : NULL;

        if (clock)
            memmove(clock, clock + 1, (size_t)(message + bytes - 1 - clock));
        hear_bytes(run, message, clock ? bytes - 1 : bytes, run->sent[i].before_ns);
    }
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_int_equal(result.lost, 0);
    assert_true(result.clocks_lost > 50);
}

/* Another clock: 1 s off and 100 ppm fast. A third, in the middle, is 5 ms late and more. */
static void test_line(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++) {
        int64_t late_ns = i >= 333 && i < 666 ? 5000000 + (i * 7919 % 1000) * 1000 : 0;

        hear(run, (size_t)i,
             run->sent[i].before_ns + 1000000000 + run->due[i].due_ns / 10000 + late_ns);
    }
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_true(fabs(result.drift_ppm - 100) < 0.001);
    assert_int_equal(result.inside, 0);
    assert_true(llabs(run->errors.max - 5999000) < 10000);
    assert_true(llabs(run->errors.min) < 2);
    assert_true(result.worst_interval_ns > 5000000);
}

/* What differs no more than one message does from the next is no clock's doing. */
static void test_noise(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++)
        hear(run, (size_t)i,
             run->sent[i].before_ns + i * 7919 % 1000 * (i < COUNT / 2 ? 100 : 120));
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_true(fabs(result.drift_ppm) <= 0);
}

/* All at once, at the end, is no clock's doing. */
static void test_all_at_the_end(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++)
        hear(run, (size_t)i, run->sent[COUNT - 1].after_ns);
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_true(fabs(result.drift_ppm) <= 0);
    assert_true(run->errors.max - run->errors.min == run->due[COUNT - 1].due_ns);
}

static void test_what_befalls(void **state)
{
    static const uint8_t other[] = {0x80, 1, 2};
    uint8_t damaged[TT_PROBE_MESSAGE];
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;
    size_t first_sysex = 0;

    while (!run->due[first_sysex].sysex)
        first_sysex++;
    hear_bytes(run, other, sizeof(other), 0);
    hear(run, COUNT, 0);
    hear_bytes(run, damaged, tt_probe_message(first_sysex, true, damaged) - 9, 0);
    damaged[9] ^= 1;
    hear_bytes(run, damaged, sizeof(damaged), 0);
    for (int i = 0; i < COUNT; i++) {
        if (i == 10 || i == 20 || i == (int)first_sysex)
            continue;
        hear(run, (size_t)i, run->sent[i].before_ns);
        if (i == 21)
            hear(run, 20, run->sent[i].before_ns);
        if (i == 30)
            hear(run, 30, run->sent[i].before_ns);
    }
    tt_probe_finish(&run->probe, run->scratch_ns, &run->errors, &result);
    assert_int_equal(result.lost, 2);
    assert_int_equal(result.clocks_lost, 0);
    assert_int_equal(run->probe.duplicated, 1);
    assert_int_equal(run->probe.reordered, 1);
    assert_int_equal(run->probe.foreign, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_plan_for_a_wire, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_exact, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_few_events, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_a_clock_that_is_lost, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_line, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_noise, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_all_at_the_end, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_what_befalls, make_run, free_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
