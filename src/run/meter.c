/*
 * See meter.h.
 */
#include "run/meter.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "os/clock.h"
#include "os/thread.h"
#include "run/meter_around.h"
#include "run/meter_loop.h"

#define NAP_NS       (20 * TT_NS_PER_MS)
#define TICK_NAPS    5
#define LEAD_PERIODS 2 /* before the device starts */
#define OWN_CYCLES   64
#define OWN_TRIALS   16
#define LOAD_LIMIT_S 300 /* that a load outlives its measurement by, when nobody stops it */

struct measurement {
    const struct tt_meter_setup *setup;
    struct tt_meter_result *result;
    struct tt_meter_loop loop;
    struct tt_meter_around around;
    struct tt_reading first;
    int policy_error;
    int64_t own_ns;
    int64_t start_ns;
    int64_t tid;
    atomic_int state; /* 0: not yet at work, 1: at work, 2: ended, below 0: -errno */
};

/* A cycle that waits for nothing and computes nothing, against a due time that is just over: late
 * by so little that it is no loss, however short its period. The look at the clock that this takes
 * is in. */
static int64_t measure_own_cost(struct measurement *m)
{
    struct tt_meter_loop dry = {.host = &m->setup->machine->host, .ring = m->setup->ring};
    int64_t best_ns = INT64_MAX;

    tt_meter_loop_start(&dry, &m->setup->shape, tt_clock_mono_ns(), TT_NS_PER_S);
    for (int trial = 0; trial < OWN_TRIALS; trial++) {
        int64_t begin_ns = tt_clock_mono_ns();

        for (int i = 0; i < OWN_CYCLES; i++) {
            dry.fragments.start_ns = tt_clock_mono_ns() - dry.period_ns;
            dry.fragments.next = 1;
            tt_meter_loop_cycle(&dry);
        }
        best_ns = tt_min64(best_ns, (tt_clock_mono_ns() - begin_ns) / OWN_CYCLES);
    }
    tt_meter_ring_init(m->setup->ring, m->setup->ring->entries);
    return best_ns;
}

static int start_loop(struct measurement *m)
{
    const struct tt_meter_setup *setup = m->setup;
    struct tt_meter_loop *loop = &m->loop;
    struct tt_meter_host *host = &setup->machine->host;
    int64_t lead_ns = LEAD_PERIODS * tt_fragment_shape_period_ns(&setup->shape);
    int error = 0;

    loop->host = host;
    loop->ring = setup->ring;
    loop->card = setup->card;
    loop->midi = setup->midi;
    loop->interrupted = setup->interrupted;
    loop->units = tt_max64(0, setup->compute_ns * 1000 / host->unit_ps);
    m->start_ns = tt_clock_mono_ns() + lead_ns;
    if (setup->card) {
        error = tt_meter_card_start(setup->card, host, &m->start_ns);
    }
    tt_meter_loop_start(loop, &setup->shape, m->start_ns, setup->plan_ns);
    host->ops->read(host, &m->first);
    return error;
}

static void run(void *context)
{
    struct measurement *m = context;
    int error;

    m->tid = gettid();
    m->policy_error = tt_policy_apply(&m->setup->policy);
    tt_meter_machine_enter(m->setup->machine);
    m->own_ns = measure_own_cost(m);
    error = start_loop(m);
    atomic_store(&m->state, error < 0 ? error : 1);
    while (error == 0 && tt_meter_loop_cycle(&m->loop)) {
    }
    tt_meter_machine_leave(m->setup->machine);
    if (error == 0) {
        atomic_store(&m->state, m->loop.error < 0 ? m->loop.error : 2);
    }
}

static void nap(void)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static bool is_interrupted(const struct tt_meter_setup *setup)
{
    return setup->interrupted && setup->interrupted();
}

static void take_reading(struct measurement *m, const struct tt_reading *reading)
{
    struct tt_cell *cell = m->result->cell;
    struct tt_surroundings surroundings;

    tt_meter_around_move(&m->around, reading->cpu);
    if (is_interrupted(m->setup)) {
        tt_meter_around_forgo_trace(&m->around); /* it takes time, and somebody waits */
    }
    if (cell->bad) {
        tt_meter_around_find(&m->around, cell->lost_from_mono_ns, cell->lost_until_mono_ns,
                             &surroundings);
    }
    tt_cell_reading(cell, reading, cell->bad ? &surroundings : NULL);
    if (cell->closed && m->setup->incident) {
        m->setup->incident(m->setup->context, cell);
    }
}

static void record(struct tt_hist *hist, int64_t value)
{
    if (hist) {
        tt_hist_record(hist, value);
    }
}

/* What is there by now, and no more: they may come faster than they can be taken. */
static void take_entries(struct measurement *m)
{
    size_t n = tt_meter_ring_waiting(m->setup->ring);
    struct tt_meter_entry entry;

    while (n-- > 0 && tt_meter_ring_take(m->setup->ring, &entry)) {
        switch (entry.kind) {
        case TT_METER_CYCLE:
            tt_cell_cycle(m->result->cell, &entry.cycle);
            break;
        case TT_METER_READING:
            take_reading(m, &entry.reading);
            break;
        case TT_METER_MIDI:
            record(m->result->midi, entry.latency_ns);
            break;
        case TT_METER_ROUND_TRIP:
            record(m->result->round_trip, entry.latency_ns);
            break;
        }
    }
}

static void begin_cell(struct measurement *m)
{
    tt_cell_init(m->result->cell, &m->setup->shape, m->start_ns, m->setup->compute_ns, &m->first);
}

/* 0 or -errno: of the loop. */
static int follow(struct measurement *m)
{
    const struct tt_meter_setup *setup = m->setup;
    int state = atomic_load(&m->state);

    while (state == 0) {
        nap();
        state = atomic_load(&m->state);
    }
    if (state < 0) {
        return state;
    }
    tt_meter_around_begin(&m->around, m->tid, m->first.cpu,
                          setup->policy.kind != TT_POLICY_OTHER && m->policy_error == 0);
    begin_cell(m);
    for (unsigned naps = 1; state == 1; naps++) {
        nap();
        state = atomic_load(&m->state);
        tt_meter_around_sample(&m->around);
        take_entries(m);
        if (setup->tick && naps % TICK_NAPS == 0) {
            setup->tick(setup->context, m->result->cell);
        }
    }
    m->result->interrupted = is_interrupted(setup);
    take_entries(m);
    tt_cell_finish(m->result->cell);
    if (m->result->cell->closed && setup->incident) {
        setup->incident(setup->context, m->result->cell);
    }
    return state < 0 ? state : 0;
}

static void conclude(struct measurement *m)
{
    struct tt_meter_result *result = m->result;

    result->counters = m->loop.fragments.counters;
    result->start_mono_ns = m->start_ns;
    result->measured_ns = (int64_t)result->counters.expected * m->loop.period_ns;
    result->policy_error = m->policy_error;
    result->own_ns = m->own_ns;
    result->left_out = m->setup->ring->dropped;
    assert(result->counters.expected ==
           result->counters.on_time + result->counters.late + result->counters.skipped);
}

static int measure(struct measurement *m)
{
    struct tt_thread thread;
    int error;

    tt_meter_around_init(&m->around, m->setup->trace);
    error = tt_thread_start_plain(&thread, run, m);
    if (error == 0) {
        error = follow(m);
        tt_thread_join(&thread);
    }
    if (error == 0) {
        conclude(m);
    }
    tt_meter_around_done(&m->around);
    return error;
}

static void find_pressure(const struct tt_machine_pressure *before,
                          struct tt_machine_pressure *ret_during)
{
    struct tt_machine_pressure now;

    tt_machine_pressure(&now);
    ret_during->cpu_us = before->cpu_us < 0 ? TT_MACHINE_UNKNOWN : now.cpu_us - before->cpu_us;
    ret_during->io_us = before->io_us < 0 ? TT_MACHINE_UNKNOWN : now.io_us - before->io_us;
    ret_during->memory_us =
        before->memory_us < 0 ? TT_MACHINE_UNKNOWN : now.memory_us - before->memory_us;
}

/* What neither this process nor its loads used, which have ended by now. */
static int64_t find_foreign(const struct tt_machine_time *before, int64_t own_before_ns)
{
    struct tt_machine_time now;
    int64_t user_ns;

    if (before->total_ns == 0 || tt_machine_time(-1, &now) != 0 ||
        now.total_ns <= before->total_ns) {
        return TT_CAUSE_UNKNOWN;
    }
    user_ns = now.user_ns - before->user_ns - (tt_machine_own_user_ns() - own_before_ns);
    return tt_max64(0, user_ns) * 1000 / (now.total_ns - before->total_ns);
}

int tt_meter_run(const struct tt_meter_setup *setup, struct tt_meter_result *ret_result,
                 const char **ret_what)
{
    struct tt_load_setup load_setup = setup->load;
    struct measurement *m = calloc(1, sizeof(*m));
    struct tt_machine_pressure pressure;
    struct tt_machine_time time = {0};
    struct tt_load load = {0};
    int64_t own_ns = tt_machine_own_user_ns();
    int error;

    *ret_what = "get memory";
    if (!m) {
        return -ENOMEM;
    }
    *m = (struct measurement){.setup = setup, .result = ret_result};
    ret_result->load_name = tt_load_name(setup->load.kind);
    ret_result->interrupted = false;
    load_setup.hurried = setup->interrupted;
    load_setup.seconds = (unsigned)(setup->plan_ns / TT_NS_PER_S) + LOAD_LIMIT_S;
    *ret_what = TT_METER_WHAT_LOAD;
    error = tt_load_start(&load, &load_setup);
    if (error == 0) {
        tt_machine_time(-1, &time);
        tt_machine_pressure(&pressure);
        *ret_what = "run the loop";
        error = measure(m);
        if (error == -ENODEV && setup->midi && !setup->card) {
            *ret_what = "read the MIDI port any more, it is gone";
        }
        find_pressure(&pressure, &ret_result->pressure);
    } else if (error == -EINTR) {
        begin_cell(m); /* it came to nothing */
        ret_result->interrupted = true;
        error = 0;
    }
    tt_load_stop(&load, &ret_result->load);
    /* What those used that are left is not known. */
    ret_result->foreign_per_mille =
        ret_result->load.left > 0 ? TT_CAUSE_UNKNOWN : find_foreign(&time, own_ns);
    free(m);
    return error;
}
