/*
 * Numbered messages found again: what is lost, twice, out of order, late; and the line that fits.
 */
#include "test.h"

#include <math.h>

#include "midi/probe.h"

enum { COUNT = 1000 };

struct run {
    struct tt_probe_sent sent[COUNT];
    int64_t got_ns[COUNT];
    int64_t due_ns[COUNT];
    struct tt_probe probe;
    struct tt_hist errors;
};

static int make_run(void **state)
{
    struct run *run = (struct run *)malloc(sizeof(*run));

    assert_non_null(run);
    tt_probe_plan(COUNT, 10000000, false, 3, run->due_ns);
    for (int i = 0; i < COUNT; i++)
        run->sent[i] = (struct tt_probe_sent){run->due_ns[i] + 1000, run->due_ns[i] + 3000};
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

static void hear(struct run *run, size_t number, int64_t time_ns)
{
    uint8_t message[TT_PROBE_MESSAGE];
    struct tt_midi_event event = {.kind = TT_MIDI_EVENT_MESSAGE,
                                  .data = message,
                                  .bytes = sizeof(message),
                                  .first_ns = time_ns,
                                  .last_ns = time_ns};

    tt_probe_message(number, message);
    tt_probe_event(&run->probe, &event);
}

static void test_plan(void **state)
{
    struct run *run = (struct run *)*state;
    int64_t even_ns[5];
    unsigned chords = 0;
    unsigned bursts = 0;

    for (int i = 1; i < COUNT; i++) {
        assert_true(run->due_ns[i] >= run->due_ns[i - 1]);
        chords += run->due_ns[i] == run->due_ns[i - 1];
        bursts += run->due_ns[i] == run->due_ns[i - 1] + 1000000;
    }
    assert_true(chords > 50 && bursts > 50);
    tt_probe_plan(5, 100, true, 0, even_ns);
    assert_true(even_ns[4] == 400);
}

static void test_exact(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++)
        hear(run, (size_t)i, run->sent[i].before_ns + 2000);
    tt_probe_finish(&run->probe, &run->errors, &result);
    assert_int_equal(result.lost, 0);
    assert_int_equal(result.inside, COUNT);
    assert_true(result.offset_ns == 2000);
    assert_true(run->errors.min >= -1 && run->errors.max <= 1);
    assert_true(result.worst_interval_ns == 0);
}

/* Another clock: 1 s off and 100 ppm fast. One is 5 ms late. */
static void test_line(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++) {
        int64_t late_ns = i == 500 ? 5000000 : 0;

        hear(run, (size_t)i,
             run->sent[i].before_ns + 1000000000 + run->due_ns[i] / 10000 + late_ns);
    }
    tt_probe_finish(&run->probe, &run->errors, &result);
    assert_true(fabs(result.drift_ppm - 100) < 1);
    assert_int_equal(result.inside, 0);
    assert_true(llabs(run->errors.max - 5000000) < 10000);
    assert_true(llabs(run->errors.min) < 10000);
    assert_true(llabs(result.worst_interval_ns - 5000000) < 2000);
}

/* All at once, at the end, is no clock's doing. */
static void test_all_at_the_end(void **state)
{
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    for (int i = 0; i < COUNT; i++)
        hear(run, (size_t)i, run->sent[COUNT - 1].after_ns);
    tt_probe_finish(&run->probe, &run->errors, &result);
    assert_true(fabs(result.drift_ppm) <= 0);
    assert_true(run->errors.max - run->errors.min == run->due_ns[COUNT - 1]);
}

static void test_what_befalls(void **state)
{
    static const uint8_t other[] = {0x80, 1, 2};
    struct run *run = (struct run *)*state;
    struct tt_probe_result result;

    tt_probe_event(&run->probe, &(struct tt_midi_event){.data = other, .bytes = 3});
    hear(run, COUNT, 0);
    for (int i = 0; i < COUNT; i++) {
        if (i == 10 || i == 20)
            continue;
        hear(run, (size_t)i, run->sent[i].before_ns);
        if (i == 21)
            hear(run, 20, run->sent[i].before_ns);
        if (i == 30)
            hear(run, 30, run->sent[i].before_ns);
    }
    tt_probe_finish(&run->probe, &run->errors, &result);
    assert_int_equal(result.lost, 1);
    assert_int_equal(run->probe.duplicated, 1);
    assert_int_equal(run->probe.reordered, 1);
    assert_int_equal(run->probe.foreign, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_exact, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_line, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_all_at_the_end, make_run, free_run),
        cmocka_unit_test_setup_teardown(test_what_befalls, make_run, free_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
