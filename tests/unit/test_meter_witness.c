/*
 * The witness of throttling: it runs where it was sent, and says of no other processor or time that
 * it ran there.
 */
#include "test.h"

#include <string.h>

#include "base/ns.h"
#include "meter/cause.h"
#include "os/clock.h"
#include "run/meter_witness.h"

#define PATIENCE_NS (60 * TT_NS_PER_S)

static struct tt_meter_witness witness;

/* Until it has been seen on a processor since then; false: never. */
static bool seen(int cpu, int64_t from_ns)
{
    struct tt_clock *clock = tt_clock_system();
    int64_t end_ns = from_ns + PATIENCE_NS;
    int64_t now_ns = from_ns;

    while (now_ns < end_ns && tt_meter_witness_ns(&witness, cpu, from_ns, now_ns) == 0) {
        clock->ops->sleep_until(clock, now_ns + TT_NS_PER_MS);
        now_ns = tt_clock_mono_ns();
    }
    return now_ns < end_ns;
}

static void runs_where_it_is_sent(void **state)
{
    int64_t before_ns = tt_clock_mono_ns();
    int64_t start_ns;
    int64_t end_ns;
    int cpu = 0;

    (void)state;
    while (!tt_cpu_is_there(cpu))
        cpu++;
    memset(&witness, 0, sizeof(witness));
    assert_true(tt_meter_witness_ns(&witness, cpu, 0, before_ns) == TT_CAUSE_UNKNOWN);
    assert_int_equal(tt_meter_witness_start(&witness), 0);
    tt_meter_witness_move(&witness, cpu);
    tt_meter_witness_move(&witness, -1);
    start_ns = tt_clock_mono_ns();
    assert_true(seen(cpu, start_ns));
    end_ns = tt_clock_mono_ns();
    assert_true(tt_meter_witness_ns(&witness, cpu, start_ns, end_ns) <= end_ns - start_ns);
    assert_int_equal(tt_meter_witness_ns(&witness, cpu + 1, start_ns, end_ns), 0);
    assert_int_equal(tt_meter_witness_ns(&witness, cpu, 0, before_ns), 0);
    tt_meter_witness_stop(&witness);
    assert_true(tt_meter_witness_ns(&witness, cpu, start_ns, end_ns) == TT_CAUSE_UNKNOWN);
    tt_meter_witness_stop(&witness);
}

static void look_at(int64_t ms, int cpu)
{
    size_t at = witness.count % TT_METER_WITNESS_TIMES;

    witness.times[at].mono_ns = ms * TT_NS_PER_MS;
    witness.times[at].cpu = cpu;
    witness.count++;
}

static int64_t could_ms(int64_t from_ms, int64_t until_ms)
{
    return tt_meter_witness_ns(&witness, 1, from_ms * TT_NS_PER_MS, until_ms * TT_NS_PER_MS) /
           TT_NS_PER_MS;
}

static void what_its_times_say(void **state)
{
    (void)state;
    memset(&witness, 0, sizeof(witness));
    witness.thread.running = true; /* and nobody writes */
    assert_int_equal(could_ms(0, 1000), 0);
    look_at(100, 1);
    look_at(105, 0);
    look_at(200, 1);
    look_at(206, 1);
    look_at(230, 1); /* others of its kind had their share */
    look_at(900, 1);
    assert_int_equal(could_ms(101, 199), 0);
    assert_int_equal(could_ms(99, 103), 4);   /* all of a short stretch */
    assert_int_equal(could_ms(90, 150), 10);  /* one look stands for 5 ms on either side */
    assert_int_equal(could_ms(150, 400), 40); /* 195 … 235 */
    assert_int_equal(could_ms(198, 232), 34);
    assert_int_equal(could_ms(150, 1000), 50); /* and 895 … 905: not what is between */
    for (int ms = 1000; ms < 4000; ms += 5)
        look_at(ms, 1);
    assert_int_equal(could_ms(3000, 3500), 500);
    witness.thread.running = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_where_it_is_sent),
        cmocka_unit_test(what_its_times_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
