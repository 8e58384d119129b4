/*
 * The recorder's step over scripted ports: order, losses and gaps in their places, a writer that is
 * late.
 */
#include "test.h"

#include <string.h>

#include "malloc_trap.h"
#include "os/midi_script.h"
#include "run/record.h"

static const struct tt_midi_port_setup setup = {.name = "script"};

static void skip_heads(struct tt_record *record, size_t n)
{
    struct tt_midi_frame frames[8];

    assert_int_equal(tt_record_take(record, frames, n), n);
}

static void test_order(void **state)
{
    struct tt_midi_script scripts[2];
    struct tt_record record;
    struct tt_midi_frame frames[16];

    (void)state;
    assert_int_equal(tt_record_init(&record), 0);
    for (int i = 0; i < 2; i++) {
        tt_midi_script_init(&scripts[i], TT_MIDI_PORT_STAMP_KERNEL);
        assert_int_equal(tt_record_add(&record, &scripts[i].port, &setup), 0);
    }
    assert_int_equal(tt_record_take(&record, frames, 16), 4);
    assert_int_equal(frames[0].type, TT_MIDI_LOG_NAME);
    assert_memory_equal(frames[0].data, "script", 6);
    assert_int_equal(frames[3].type, TT_MIDI_LOG_STAMP);
    assert_int_equal(frames[3].port, 1);

    tt_midi_script_add(&scripts[1], 10, (const uint8_t *)"\x90\x3C\x40", 3);
    tt_midi_script_add(&scripts[1], 20, (const uint8_t *)"\xF8", 1);
    scripts[1].loss = (struct tt_midi_port_loss){37, 20, 30};
    tt_trap_arm();
    assert_true(tt_record_step(&record, 100));
    tt_trap_disarm();
    tt_midi_script_add(&scripts[1], 40, (const uint8_t *)"\xFE", 1);
    tt_midi_script_add(&scripts[0], 35, (const uint8_t *)"\xFE", 1);
    scripts[1].gone = true;
    assert_true(tt_record_step(&record, 200));
    assert_int_equal(tt_record_take(&record, frames, 16), 6);
    assert_memory_equal(frames[0].data, "\x90\x3C\x40", 3);
    assert_int_equal(frames[2].type, TT_MIDI_LOG_LOSS);
    assert_true(frames[2].time_mono_ns == 30);
    assert_int_equal(frames[3].port, 0);
    assert_int_equal(frames[4].data[0], 0xFE);
    assert_int_equal(frames[5].type, TT_MIDI_LOG_GONE);
    assert_int_equal(frames[5].port, 1);
    assert_null(record.ports[1].port);
    assert_false(tt_record_step(&record, 300));
    tt_record_done(&record);
}

/* Nothing is taken from a port that cannot be handed on. */
static void test_late_writer(void **state)
{
    struct tt_midi_script script;
    struct tt_record record;
    struct tt_midi_frame frame;
    size_t put = 0;
    int64_t next_ns = 0;

    (void)state;
    assert_int_equal(tt_record_init(&record), 0);
    tt_midi_script_init(&script, TT_MIDI_PORT_STAMP_KERNEL);
    assert_int_equal(tt_record_add(&record, &script.port, &setup), 0);
    skip_heads(&record, 2);
    do {
        while (script.count < 128)
            tt_midi_script_add(&script, (int64_t)put++, (const uint8_t *)"\xF8", 1);
    } while (tt_record_step(&record, 0));
    assert_true(put > TT_RECORD_FRAMES - 256);
    for (size_t taken = 0; taken < put; taken++) {
        if (tt_record_take(&record, &frame, 1) == 0) {
            assert_true(tt_record_step(&record, 0));
            assert_int_equal(tt_record_take(&record, &frame, 1), 1);
        }
        assert_true(frame.time_mono_ns == next_ns++);
    }
    tt_record_done(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_late_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
