/*
 * What the meter says of made results: of each load and of all together, and of a computation that
 * no buffer is long enough for.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/ns.h"
#include "report/meter_advice.h"
#include "report/meter_table.h"
#include "report/meter_text.h"

#define LOADS     3
#define PERIOD_NS (4 * TT_NS_PER_MS / 3)

static struct tt_meter_result results[LOADS];
static struct tt_meter_row row = {.shape = {.rate_hz = 48000, .frames = 64, .count = 3},
                                  .results = results};

static void make_load(size_t load, const char *name, int64_t seconds, uint64_t dropouts)
{
    struct tt_meter_result *result = &results[load];

    result->load_name = name;
    result->measured_ns = seconds * TT_NS_PER_S;
    result->counters = (struct tt_fragment_counters){.empty = dropouts};
    result->foreign_per_mille = 0;
    result->cell->period_ns = PERIOD_NS;
    result->cell->bursts = dropouts / 2;
    result->cell->causes[TT_CAUSE_OTHERS] = (struct tt_cause_total){
        .incidents = dropouts, .empty = dropouts, .lost_ns = (int64_t)dropouts * TT_NS_PER_MS};
    tt_hist_init(&result->cell->compute);
}

static void make_computation(size_t load, int64_t percent, int times)
{
    for (int i = 0; i < times; i++)
        tt_hist_record(&results[load].cell->compute, PERIOD_NS * percent / 100);
}

static int make_row(void **state)
{
    (void)state;
    row.count = LOADS;
    make_load(0, "idle", 6, 0);
    make_load(1, "proc", 6, 0);
    make_load(2, "write", 6, 0);
    return 0;
}

static void expect(const char *text)
{
    struct tt_verdict verdict;
    char found[TT_METER_TEXT];

    tt_meter_verdict_find(&row, &verdict);
    assert_string_equal(tt_meter_verdict_text(&row, &verdict, found), text);
}

static void clean(void **state)
{
    (void)state;
    expect(
        "64 x 3 at 48 kHz: no dropout in 18 s: at most 1 in 6.01 s of all loads in turn, and 1 in "
        "2 s under each (95 %); not enough data to call it safe");
    /* Half an hour in all, and of two of them. */
    results[0].measured_ns = results[1].measured_ns = 1800 * TT_NS_PER_S;
    expect("64 x 3 at 48 kHz: no dropout in 1 h: at most 1 in 20.1 min of all loads in turn, and 1 "
           "in 2 s under each (95 %); not enough data to call it safe");
    results[2].measured_ns = 1800 * TT_NS_PER_S;
    expect("64 x 3 at 48 kHz: safe: no dropout in 1.5 h: at most 1 in 30 min of all loads in turn, "
           "and 1 in 10 min under each (95 %)");
    results[2].load = (struct tt_load_done){.elapsed_ns = 1, .bytes = 1, .error = -ENOSPC};
    expect(
        "64 x 3 at 48 kHz: no dropout in 1.5 h: at most 1 in 30 min of all loads in turn, and 1 "
        "in 10 min under each (95 %); not enough data to call it safe; the load disk write ended "
        "early (No space left on device): it shows nothing of that one");
    results[2].load = (struct tt_load_done){.elapsed_ns = 1};
    expect("64 x 3 at 48 kHz: no dropout in 1.5 h: at most 1 in 30 min of all loads in turn, and 1 "
           "in 10 min under each (95 %); not enough data to call it safe; the load disk write did "
           "nothing: it shows nothing of that one");
    results[2].load = (struct tt_load_done){0};
    row.count = 1;
    expect("64 x 3 at 48 kHz: safe: no dropout in 30 min: at most 1 in 10 min (95 %)");
}

static void one_load_misses(void **state)
{
    (void)state;
    make_load(2, "write", 6, 2);
    results[0].measured_ns = results[1].measured_ns = 7197 * TT_NS_PER_S;
    expect("64 x 3 at 48 kHz: not safe: 2 dropouts in 4 h (1 burst), all of them "
           "under disk write in 6 s; there mostly other threads that had the CPU");
}

static void noisy_loads_are_told(void **state)
{
    (void)state;
    make_load(1, "proc", 6, 9);
    results[1].foreign_per_mille = 300;
    expect("64 x 3 at 48 kHz: machine too noisy to say: 9 dropouts in 18 s (4 bursts), all of them "
           "under proc in 6 s; there mostly other threads that had the CPU; other "
           "programs used 30 % of the CPUs meanwhile");
    make_load(2, "write", 6, 1);
    expect(
        "64 x 3 at 48 kHz: not safe: 10 dropouts in 18 s (4 bursts) under 2 of 3 loads, 1 of them "
        "under disk write in 6 s; there mostly other threads that had the CPU; too noisy to say "
        "under proc");
}

/* What takes longer than a fragment, most of the time and on average. */
static void no_buffer_is_long_enough(void **state)
{
    (void)state;
    make_load(1, "proc", 6, 1);
    make_computation(1, 80, 90);
    make_computation(1, 900, 10); /* long stops, and few */
    expect("64 x 3 at 48 kHz: not safe: 1 dropout in 18 s, all of them under proc "
           "in 6 s; there mostly other threads that had the CPU");
    make_load(1, "proc", 6, 1);
    make_computation(1, 107, 90);
    make_computation(1, 20, 60); /* slow ones are made good for */
    expect("64 x 3 at 48 kHz: not safe: 1 dropout in 18 s, all of them under proc "
           "in 6 s; there mostly other threads that had the CPU");
    make_load(1, "proc", 6, 1);
    make_computation(1, 107, 90);
    make_computation(1, 180, 10);
    expect("64 x 3 at 48 kHz: not safe: 1 dropout in 18 s, all of them under proc "
           "in 6 s; there mostly other threads that had the CPU; no buffer is long enough: under "
           "proc a computation lasts 107 % of its fragment's time");
}

static void verdict_of_each_load(void **state)
{
    struct tt_verdict verdict;
    char text[TT_DURATION_TEXT];
    static const char *const expected[LOADS] = {"< 1 in 2 s", "too noisy", "not safe"};

    (void)state;
    make_load(1, "proc", 6, 9);
    results[1].foreign_per_mille = 300;
    make_load(2, "write", 6, 1);
    for (size_t i = 0; i < LOADS; i++) {
        tt_meter_verdict_of_load(&row, i, &verdict);
        assert_string_equal(tt_meter_verdict_short(&verdict, text), expected[i]);
    }
}

static const char *advice_on(const struct tt_machine_facts *facts, bool throttled, const char *name)
{
    static struct tt_advice lines[TT_ADVICE_LINES];
    size_t n = tt_meter_advice(facts, throttled, lines);

    for (size_t i = 0; i < n; i++)
        if (strcmp(lines[i].name, name) == 0)
            return lines[i].advice;
    return NULL;
}

/* What is said of a setting is what can be done about it here. */
static void advice(void **state)
{
    struct tt_machine_facts facts = {
        .preemption = "PREEMPT_DYNAMIC (full)",
        .throttle = {.runtime_ns = 950 * TT_NS_PER_MS, .period_ns = TT_NS_PER_S},
    };

    (void)state;
    assert_string_equal(advice_on(&facts, false, "kernel"), "");
    assert_string_equal(advice_on(&facts, false, "real-time throttling"), "");
    assert_non_null(strstr(advice_on(&facts, true, "real-time throttling"),
                           "sudo sysctl kernel.sched_rt_runtime_us=-1"));
    facts.throttle.fair_server = true;
    assert_string_equal(advice_on(&facts, false, "real-time throttling"), "");
    assert_non_null(strstr(advice_on(&facts, true, "real-time throttling"), "fair_server/cpu"));
    assert_string_equal(advice_on(&facts, false, "who ran instead"), "");
    assert_non_null(strstr(advice_on(&facts, false, "osnoise tracer"), "CONFIG_OSNOISE_TRACER"));
    facts.trace_error = -ENOENT;
    assert_non_null(strstr(advice_on(&facts, false, "who ran instead"), "mount -t tracefs"));
    facts.trace_error = -EACCES;
    assert_non_null(strstr(advice_on(&facts, false, "who ran instead"), "run it as root"));
    assert_null(advice_on(&facts, false, "osnoise tracer")); /* nobody could look */
    strcpy(facts.preemption, "PREEMPT_DYNAMIC (voluntary)");
    assert_non_null(strstr(advice_on(&facts, false, "kernel"), "preempt=full"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(clean, make_row),
        cmocka_unit_test_setup(one_load_misses, make_row),
        cmocka_unit_test_setup(noisy_loads_are_told, make_row),
        cmocka_unit_test_setup(no_buffer_is_long_enough, make_row),
        cmocka_unit_test_setup(verdict_of_each_load, make_row),
        cmocka_unit_test(advice),
    };
    int failed = 1;

    for (size_t i = 0; i < LOADS; i++)
        results[i].cell = (struct tt_cell *)calloc(1, sizeof(*results[i].cell));
    if (results[0].cell && results[1].cell && results[2].cell)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < LOADS; i++)
        free(results[i].cell);
    return failed;
}
