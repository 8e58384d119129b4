/*
 * The meter's judgement, piece by piece: causes from evidence, verdicts from counts, windows that
 * merge, and the kernel's record of who ran.
 */
#include "test.h"

#include <string.h>

#include "base/ns.h"
#include "meter/cause.h"
#include "meter/cell.h"
#include "meter/gaps.h"
#include "meter/switches.h"
#include "meter/verdict.h"
#include "meter/window.h"

#define MS TT_NS_PER_MS

static struct tt_loss find(struct tt_evidence evidence)
{
    struct tt_loss loss;
    int64_t sum = 0;

    tt_cause_find(&evidence, &loss);
    for (int cause = 0; cause < TT_CAUSES; cause++) {
        assert_true(loss.share_ns[cause] >= 0);
        sum += loss.share_ns[cause];
    }
    assert_int_equal(sum, loss.lost_ns);
    return loss;
}

static const struct tt_evidence nothing_known = {.run_delay_ns = TT_CAUSE_UNKNOWN,
                                                 .steal_ns = TT_CAUSE_UNKNOWN,
                                                 .steal_around_ns = TT_CAUSE_UNKNOWN,
                                                 .irq_around_ns = TT_CAUSE_UNKNOWN,
                                                 .ordinary_ns = TT_CAUSE_UNKNOWN};

static void shares_of_causes(void **state)
{
    struct tt_evidence evidence = nothing_known;
    struct tt_loss loss;

    (void)state;
    /* 10 ms, 4 of them runnable, 3 of CPU time in one go, 3 asleep. */
    evidence.run_delay_ns = 4 * MS;
    evidence.lost_computing_ns = 7 * MS;
    evidence.lost_waiting_ns = 3 * MS;
    evidence.cpu_ns = 3 * MS;
    evidence.gap_ns = 7 * MS;
    evidence.irq_around_ns = MS;
    loss = find(evidence);
    assert_int_equal(loss.lost_ns, 10 * MS);
    assert_int_equal(loss.share_ns[TT_CAUSE_OTHERS], 4 * MS);
    assert_int_equal(loss.share_ns[TT_CAUSE_INTERRUPT], 3 * MS);
    assert_int_equal(loss.share_ns[TT_CAUSE_TIMER], 3 * MS);
    assert_int_equal(loss.main, TT_CAUSE_OTHERS);
    /* Nothing was lost: nothing is the cause. */
    evidence = nothing_known;
    evidence.lost_waiting_ns = -5;
    evidence.cpu_ns = MS;
    loss = find(evidence);
    assert_int_equal(loss.lost_ns, 0);
    assert_int_equal(loss.main, TT_CAUSE_UNEXPLAINED);
    /* Evidence of more than was lost explains no more than that. */
    evidence = nothing_known;
    evidence.lost_waiting_ns = MS;
    evidence.run_delay_ns = 9 * MS;
    assert_int_equal(find(evidence).share_ns[TT_CAUSE_OTHERS], MS);
}

static void without_evidence(void **state)
{
    struct tt_evidence evidence = nothing_known;

    (void)state;
    /* 30 ms within a computation, no switch, and the kernel counted no steal in them. */
    evidence.run_delay_ns = 0;
    evidence.steal_ns = 0;
    evidence.steal_around_ns = 0;
    evidence.irq_around_ns = 0;
    evidence.tick_ns = 10 * MS;
    evidence.lost_computing_ns = 30 * MS;
    evidence.gap_ns = 30 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_UNEXPLAINED);
    evidence.steal_ns = 30 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_HYPERVISOR);
    /* … or in one go, counted as the thread's own: interrupts only where there were some. */
    evidence.steal_ns = 0;
    evidence.cpu_ns = 30 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_UNEXPLAINED);
    evidence.irq_around_ns = TT_CAUSE_UNKNOWN;
    assert_int_equal(find(evidence).main, TT_CAUSE_UNEXPLAINED);
    evidence.irq_around_ns = 10 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_INTERRUPT);
    evidence.level = TT_CAUSE_LEVEL_TRACE; /* which has seen none */
    assert_int_equal(find(evidence).main, TT_CAUSE_UNEXPLAINED);
    /* A kernel that counts no run delay: a preemption is all that is known. */
    evidence = nothing_known;
    evidence.preemptions = 1;
    evidence.lost_computing_ns = 30 * MS;
    evidence.gap_ns = 30 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_OTHERS);
}

static int64_t gaps_of(const int64_t *chunks_ns, size_t n)
{
    struct tt_gaps gaps = TT_GAPS_INIT;

    for (size_t i = 0; i < n; i++)
        tt_gaps_add(&gaps, chunks_ns[i]);
    return tt_gaps_end(&gaps);
}

/* What one chunk of a computation takes longer than those beside it; a slower processor is no gap.
 */
static void gaps(void **state)
{
    static const int64_t factors[] = {1, 2, 3, 5, 20};

    (void)state;
    for (size_t f = 0; f < TT_COUNT_OF(factors); f++) {
        int64_t usual_ns = 10000 * factors[f];
        int64_t even[] = {usual_ns, usual_ns + 900, usual_ns, usual_ns - 700, usual_ns};

        assert_int_equal(gaps_of(even, TT_COUNT_OF(even)), 0);
        for (size_t i = 0; i < TT_COUNT_OF(even); i++) { /* at the ends too */
            int64_t hit[] = {usual_ns, usual_ns, usual_ns, usual_ns, usual_ns};

            hit[i] += 2 * usual_ns + 1;
            assert_int_equal(gaps_of(hit, TT_COUNT_OF(hit)), 2 * usual_ns + 1);
        }
    }
    /* Two in a row; slower from the midst on; too short; too few to tell. */
    assert_int_equal(gaps_of((int64_t[]){10000, 50000, 40000, 10000}, 4), 70000);
    assert_int_equal(gaps_of((int64_t[]){10000, 10000, 50000, 50000, 50000}, 5), 40000);
    assert_int_equal(gaps_of((int64_t[]){2000, 12000, 2000}, 3), 0);
    assert_int_equal(gaps_of((int64_t[]){90000}, 1), 0);
    assert_int_equal(gaps_of(NULL, 0), 0);
}

static void throttling(void **state)
{
    struct tt_evidence evidence = nothing_known;

    (void)state;
    /* Of whatever length: who ran meanwhile tells. */
    evidence.run_delay_ns = evidence.lost_waiting_ns = 49 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_OTHERS); /* nobody looked */
    evidence.ordinary_ns = 0;
    assert_int_equal(find(evidence).main, TT_CAUSE_OTHERS);
    evidence.ordinary_ns = 45 * MS;
    assert_int_equal(find(evidence).main, TT_CAUSE_THROTTLED);
    evidence.run_delay_ns = evidence.lost_waiting_ns = 7 * MS;
    assert_int_equal(find(evidence).share_ns[TT_CAUSE_THROTTLED], 7 * MS);
    /* A thread of higher priority had all of a second, and both were throttled at its end. */
    evidence.run_delay_ns = evidence.lost_waiting_ns = 1000 * MS;
    evidence.ordinary_ns = 48 * MS;
    assert_int_equal(find(evidence).share_ns[TT_CAUSE_OTHERS], 952 * MS);
    assert_int_equal(find(evidence).share_ns[TT_CAUSE_THROTTLED], 48 * MS);
    /* The loop slept, and they ran: nothing was kept from it. */
    evidence.run_delay_ns = 0;
    assert_int_equal(find(evidence).main, TT_CAUSE_TIMER);
}

/* The time in which a loop had no reason to sleep, on the clock of those who looked meanwhile. */
static void time_of_a_loss(void **state)
{
    static const struct tt_fragment_shape shape = {.rate_hz = 48000, .frames = 48, .count = 3};
    struct tt_cell *cell = (struct tt_cell *)calloc(1, sizeof(*cell));
    struct tt_reading reading = {0};
    struct tt_cycle slept = {.begin_ns = 9 * MS,
                             .computed_ns = 10 * MS - 1,
                             .done_ns = 12 * MS,
                             .offset_ns = -5 * MS,
                             .fate = {.due_ns = 10 * MS, .late_ns = 2 * MS, .late = true}};
    struct tt_cycle computed = slept;

    (void)state;
    assert_non_null(cell);
    tt_cell_init(cell, &shape, 0, MS, &reading);
    tt_cell_cycle(cell, &slept);
    assert_true(cell->bad);
    assert_int_equal(cell->lost_from_mono_ns, 15 * MS);
    assert_int_equal(cell->lost_until_mono_ns, 17 * MS);
    tt_cell_reading(cell, &reading, NULL);
    assert_false(cell->bad);
    computed.computed_ns = 11 * MS;
    tt_cell_cycle(cell, &computed);
    assert_int_equal(cell->lost_from_mono_ns, 14 * MS);
    free(cell);
}

static struct tt_verdict judge(const struct tt_verdict_input *inputs, size_t count)
{
    struct tt_verdict verdict;

    tt_verdict_find(inputs, count, &verdict);
    return verdict;
}

static void verdicts(void **state)
{
    struct tt_verdict_input inputs[2] = {
        {.measured_ns = 20 * TT_NS_PER_S, .cause = TT_CAUSES},
        {.measured_ns = 20 * TT_NS_PER_S, .cause = TT_CAUSES},
    };
    struct tt_verdict verdict = judge(inputs, 2);

    (void)state;
    assert_int_equal(verdict.kind, TT_VERDICT_NOT_ENOUGH);
    assert_in_range(verdict.one_in_ns, 13 * TT_NS_PER_S, 14 * TT_NS_PER_S);
    /* Half an hour of both together is not half an hour of each. */
    inputs[0].measured_ns = inputs[1].measured_ns = 900 * TT_NS_PER_S;
    verdict = judge(inputs, 2);
    assert_int_equal(verdict.kind, TT_VERDICT_NOT_ENOUGH);
    assert_in_range(verdict.one_in_ns, 600 * TT_NS_PER_S, 601 * TT_NS_PER_S);
    assert_in_range(verdict.worst_one_in_ns, 300 * TT_NS_PER_S, 301 * TT_NS_PER_S);
    inputs[0].measured_ns = inputs[1].measured_ns = 1800 * TT_NS_PER_S;
    verdict = judge(inputs, 2);
    assert_int_equal(verdict.kind, TT_VERDICT_SAFE);
    assert_in_range(verdict.worst_one_in_ns, 600 * TT_NS_PER_S, 601 * TT_NS_PER_S);
    assert_true(tt_verdict_shows_held(&verdict, 4 * TT_NS_PER_MS));
    inputs[1].load_failed = true; /* of a load that was not there the time shows nothing */
    verdict = judge(inputs, 2);
    assert_int_equal(verdict.kind, TT_VERDICT_NOT_ENOUGH);
    assert_int_equal(verdict.failed, 1);
    assert_int_equal(verdict.first_failed, 1);
    assert_false(tt_verdict_shows_held(&verdict, 4 * TT_NS_PER_MS));
    inputs[1].load_failed = false;
    inputs[0].measured_ns -= 5 * TT_NS_PER_S;
    verdict = judge(inputs, 2);
    assert_int_equal(verdict.kind, TT_VERDICT_NOT_ENOUGH);
    assert_int_equal(verdict.worst, 0);
    assert_int_equal(verdict.loads[TT_VERDICT_SAFE], 1);
    inputs[1].dropouts = 3;
    inputs[1].bursts = 1;
    inputs[1].cause = TT_CAUSE_SLOWER;
    verdict = judge(inputs, 2);
    assert_int_equal(verdict.kind, TT_VERDICT_NOT_SAFE);
    assert_int_equal(verdict.worst, 1);
    assert_int_equal(verdict.dropouts, 3);
    assert_int_equal(verdict.cause, TT_CAUSE_SLOWER);
    /* Others were at work; what the hypervisor took is not theirs. */
    inputs[1].foreign_per_mille = TT_VERDICT_FOREIGN_PER_MILLE;
    assert_int_equal(judge(inputs, 2).kind, TT_VERDICT_TOO_NOISY);
    inputs[1].cause = TT_CAUSE_HYPERVISOR;
    assert_int_equal(judge(inputs, 2).kind, TT_VERDICT_NOT_SAFE);
    inputs[1].cause = TT_CAUSE_SLOWER;
    inputs[0].dropouts = 1; /* one without others is enough */
    assert_int_equal(judge(inputs, 2).kind, TT_VERDICT_NOT_SAFE);
}

/* What others disturbed is counted, and is not what the verdict stands on. */
static void noisy_beside_others(void **state)
{
    struct tt_verdict_input inputs[3] = {
        {.measured_ns = 20 * TT_NS_PER_S, .cause = TT_CAUSES},
        {.measured_ns = 20 * TT_NS_PER_S,
         .dropouts = 100,
         .foreign_per_mille = 2 * TT_VERDICT_FOREIGN_PER_MILLE,
         .cause = TT_CAUSE_OTHERS},
        {.measured_ns = 20 * TT_NS_PER_S, .cause = TT_CAUSES, .share_per_mille = 820},
    };
    struct tt_verdict verdict = judge(inputs, 3);

    (void)state;
    assert_int_equal(verdict.kind, TT_VERDICT_TOO_NOISY); /* however clean the others are */
    assert_int_equal(verdict.worst, 1);
    assert_int_equal(verdict.loads[TT_VERDICT_TOO_NOISY], 1);
    assert_int_equal(verdict.loads[TT_VERDICT_NOT_ENOUGH], 2);
    inputs[2].dropouts = 2;
    inputs[2].cause = TT_CAUSE_SLOWER;
    verdict = judge(inputs, 3);
    assert_int_equal(verdict.kind, TT_VERDICT_NOT_SAFE);
    assert_int_equal(verdict.worst, 2); /* and not the one with more, of which nothing is known */
    assert_int_equal(verdict.cause, TT_CAUSE_SLOWER);
    assert_int_equal(verdict.worst_one_in_ns, 10 * TT_NS_PER_S);
    assert_int_equal(verdict.dropouts, 102);
    assert_int_equal(verdict.loads[TT_VERDICT_TOO_NOISY], 1);
    assert_int_equal(verdict.slowest, 2);
    assert_int_equal(verdict.share_per_mille, 820);
}

/* A clean run passes for held from half a minute on, and when the buffer was used up ten times. */
static void what_is_held(void **state)
{
    struct tt_verdict_input inputs[2] = {
        {.measured_ns = 24 * TT_NS_PER_S, .cause = TT_CAUSES},
        {.measured_ns = 6 * TT_NS_PER_S, .cause = TT_CAUSES},
    };
    struct tt_verdict verdict = judge(inputs, 2);

    (void)state;
    assert_true(tt_verdict_shows_held(&verdict, 600 * MS));
    assert_false(tt_verdict_shows_held(&verdict, 601 * MS));
    inputs[0].dropouts = 1;
    verdict = judge(inputs, 2);
    assert_false(tt_verdict_shows_held(&verdict, MS));
    inputs[0].dropouts = 0;
    inputs[0].measured_ns -= 100 * MS;
    verdict = judge(inputs, 2);
    assert_false(tt_verdict_shows_held(&verdict, MS));
}

static void windows_of_any_length(void **state)
{
    struct tt_windows *windows = (struct tt_windows *)calloc(1, sizeof(*windows));
    int64_t misses = 0;

    (void)state;
    assert_non_null(windows);
    tt_windows_init(windows, 0, TT_NS_PER_S);
    for (int64_t second = 0; second < 3000; second++) {
        struct tt_fragment_fate fate = {.late_ns = 1000, .late = second % 10 == 0, .skipped = 0};

        tt_windows_add(windows, second * TT_NS_PER_S, &fate);
    }
    /* 1024 became 512 of 2 s, twice. */
    assert_int_equal(windows->length_ns, 4 * TT_NS_PER_S);
    assert_in_range(windows->count, 512, 1023);
    for (size_t i = 0; i < windows->count; i++) {
        misses += windows->misses[i];
        assert_in_range(windows->median_late_ns[i], 999, 1001);
    }
    assert_in_range(misses, 299, 300); /* the last window is open */
    free(windows);
}

#define BEGINNING                                                                                  \
    "# tracer: nop\n"                                                                              \
    "  tactus-77  [001] d..2.  10.000100: sched_switch: prev_comm=tactus prev_pid=77 "             \
    "prev_prio=29 "                                                                                \
    "prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"                              \
    "  <idle>-0   [001] d..2.  10.001000: sched_switch: prev_comm=swapper/1 prev_pid=0 "           \
    "prev_prio=120 prev_state=R ==> next_comm=chrt next_pid=99 next_prio=9\n"

static const char beginning[] = BEGINNING;
static const char record[] = BEGINNING
    "  hog-99     [001] d.h..  10.002000: irq_handler_entry: irq=26 name=virtio1-input\n"
    "  hog-99     [001] d.h..  10.002500: irq_handler_exit: irq=26 ret=handled\n"
    "  hog-99     [001] d.s..  10.002500: softirq_entry: vec=1 [action=TIMER]\n"
    "  hog-99     [001] d.s..  10.002600: softirq_exit: vec=1 [action=TIMER]\n"
    "  hog-99     [001] d..2.  10.005000: sched_switch: prev_comm=my hog prev_pid=99 prev_prio=9 "
    "prev_state=R ==> next_comm=tactus next_pid=77 next_prio=29\n";

static void who_ran(void **state)
{
    struct tt_switches switches;

    (void)state;
    tt_switches_find(record, 77, 10 * TT_NS_PER_S, 11 * TT_NS_PER_S, &switches);
    assert_int_equal(switches.other_ns, 4 * MS);
    assert_int_equal(switches.irq_ns, 600000);
    assert_string_equal(switches.culprit, "my hog"); /* and not what it was before exec */
    assert_int_equal(switches.lines, 5);
    /* Only what lies within. */
    tt_switches_find(record, 77, 10003 * MS, 10004 * MS, &switches);
    assert_int_equal(switches.other_ns, MS);
    assert_int_equal(switches.irq_ns, 0);
    /* Of who still runs when the record ends, the name is the one that it began with. */
    tt_switches_find(beginning, 77, 10 * TT_NS_PER_S, 10003 * MS, &switches);
    assert_int_equal(switches.other_ns, 2 * MS);
    assert_string_equal(switches.culprit, "chrt");
    tt_switches_find("", 77, 0, MS, &switches);
    assert_int_equal(switches.lines, 0);
}

/* The formats of include/trace/events/osnoise.h, with the tracer's own line of a period. */
static void osnoise_record(void **state)
{
    static const char noise[] =
        "# tracer: osnoise\n"
        "  tactus-77  [000] d.h..  1.000500: irq_noise: local_timer:236 start 1.000400000 duration "
        "100000 ns\n"
        "  tactus-77  [000] d.s..  1.000900: softirq_noise:    TIMER:1 start 1.000510000 duration "
        "300000 ns\n"
        "  tactus-77  [000] d.Z..  1.001000: nmi_noise: start 1.000950000 duration 50000 ns\n"
        "  tactus-77  [000] d....  1.002000: thread_noise:     kworker/0:1:31 start 1.001000000 "
        "duration 900000 ns\n"
        "  tactus-77  [000] .....  1.003000: sample_threshold: start 1.002 duration 9 ns "
        "interference 1\n"
        "  osnoise/0-9 [000] ..... 1.004000: 1000000 2 99.99 1 0 1 1 0 0\n";
    struct tt_switches switches;

    (void)state;
    tt_switches_find(noise, 77, 0, 2 * TT_NS_PER_S, &switches);
    assert_int_equal(switches.irq_ns, 450000); /* threads are in the switches */
    assert_int_equal(switches.other_ns, 0);
    assert_int_equal(switches.lines, 3);
    assert_string_equal(switches.culprit, "TIMER");
    tt_switches_find(noise, 77, 1000 * MS + 975 * TT_NS_PER_US, 2 * TT_NS_PER_S, &switches);
    assert_int_equal(switches.irq_ns, 25000);
    assert_string_equal(switches.culprit, "nmi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_causes),
        cmocka_unit_test(without_evidence),
        cmocka_unit_test(gaps),
        cmocka_unit_test(throttling),
        cmocka_unit_test(time_of_a_loss),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(noisy_beside_others),
        cmocka_unit_test(what_is_held),
        cmocka_unit_test(windows_of_any_length),
        cmocka_unit_test(who_ran),
        cmocka_unit_test(osnoise_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
