/*
 * See made_machine.h.
 */
#include "made_machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "base/random.h"
#include "meter/gaps.h"

#define TICK_NS    (10 * TT_NS_PER_MS)
#define WITNESS_NS (5 * TT_NS_PER_MS)
#define CHUNK_NS   (10 * TT_NS_PER_US)

static struct made_machine *made_of(struct tt_meter_host *host)
{
    return (struct made_machine *)host; /* its first member */
}

static int64_t below(struct made_machine *machine, int64_t limit)
{
    return limit > 0 ? (int64_t)(tt_random_next(&machine->random) % (uint64_t)limit) : 0;
}

static int64_t made_now_ns(struct tt_meter_host *host)
{
    return made_of(host)->now_ns;
}

static struct made_happening *due_before(struct made_machine *machine, int64_t until_ns)
{
    struct made_happening *happening = &machine->happenings[machine->next];

    return machine->next < machine->count && happening->at_ns < until_ns ? happening : NULL;
}

/* While the loop is throttled, a thread without priority runs, when it comes to look at the clock.
 */
static void witness(struct made_machine *machine, const struct made_happening *happening,
                    int64_t from_ns)
{
    int64_t end_ns = happening->at_ns + happening->length_ns;
    int64_t first_ns = (from_ns / WITNESS_NS + 1) * WITNESS_NS;

    if (happening->kind == TT_CAUSE_THROTTLED && first_ns < end_ns) {
        machine->ordinary_ns += end_ns - from_ns;
    }
}

/* In the midst of a computation. */
static void strike(struct made_machine *machine, const struct made_happening *happening)
{
    struct tt_reading *counters = &machine->counters;
    int64_t ns = happening->length_ns;

    switch (happening->kind) {
    case TT_CAUSE_OTHERS:
    case TT_CAUSE_THROTTLED:
        witness(machine, happening, happening->at_ns);
        counters->run_delay_ns += ns;
        counters->preemptions++;
        break;
    case TT_CAUSE_STOPPED:
        counters->waits++;
        break;
    case TT_CAUSE_FAULT:
        counters->waits++;
        counters->major_faults++;
        break;
    case TT_CAUSE_HYPERVISOR:
        machine->steal_ns += ns;
        counters->cpu_ns += machine->steal_counted ? 0 : ns;
        break;
    case TT_CAUSE_INTERRUPT:
        machine->irq_ns += ns;
        counters->cpu_ns += ns;
        break;
    case TT_CAUSE_SLOWER:
        machine->slower_factor = 2 + below(machine, 4);
        machine->slower_until_ns = machine->now_ns + ns;
        return;
    default:
        return;
    }
    machine->now_ns += ns;
}

/* As long as it takes, with what happens meanwhile. */
static void go_on(struct made_machine *machine, int64_t left_ns)
{
    while (left_ns > 0) {
        struct made_happening *happening = due_before(machine, machine->now_ns + left_ns);
        int64_t part_ns = happening ? tt_max64(0, happening->at_ns - machine->now_ns) : left_ns;

        machine->now_ns += part_ns;
        machine->counters.cpu_ns += part_ns;
        left_ns -= part_ns;
        if (happening) {
            strike(machine, happening);
            machine->next++;
        }
    }
}

static void made_compute(struct tt_meter_host *host, int64_t units, int64_t *ret_gap_ns)
{
    struct made_machine *machine = made_of(host);
    struct tt_gaps gaps = TT_GAPS_INIT;
    int64_t left_ns = units * host->unit_ps / 1000;

    left_ns += below(machine, left_ns / 100 + 1);
    for (int64_t chunks = tt_max64(TT_GAPS_CHUNKS_MIN, left_ns / CHUNK_NS); chunks > 0; chunks--) {
        int64_t factor = machine->now_ns < machine->slower_until_ns ? machine->slower_factor : 1;
        int64_t chunk_ns = left_ns / chunks;
        int64_t before_ns = machine->now_ns;

        go_on(machine, factor * chunk_ns);
        tt_gaps_add(&gaps, machine->now_ns - before_ns);
        left_ns -= chunk_ns;
    }
    *ret_gap_ns = tt_gaps_end(&gaps);
}

/* While it sleeps, or as it is to wake. */
static void disturb_sleep(struct made_machine *machine, const struct made_happening *happening,
                          int64_t wake_ns)
{
    int64_t end_ns = happening->at_ns + happening->length_ns;
    struct tt_reading *counters = &machine->counters;

    switch (happening->kind) {
    case TT_CAUSE_OTHERS:
    case TT_CAUSE_THROTTLED:
        witness(machine, happening, wake_ns);
        counters->run_delay_ns += tt_max64(0, end_ns - wake_ns);
        break;
    case TT_CAUSE_STOPPED:
        counters->waits++;
        break;
    case TT_CAUSE_HYPERVISOR:
        machine->steal_ns += tt_max64(0, end_ns - wake_ns);
        break;
    case TT_CAUSE_TIMER:
        break;
    default:
        return; /* it meets who computes */
    }
    machine->now_ns = tt_max64(machine->now_ns, end_ns);
}

static bool waits_for_computation(enum tt_cause kind)
{
    return kind == TT_CAUSE_FAULT || kind == TT_CAUSE_SLOWER || kind == TT_CAUSE_INTERRUPT;
}

static void made_sleep_until(struct tt_meter_host *host, int64_t mono_ns)
{
    struct made_machine *machine = made_of(host);
    int64_t late_ns =
        machine->wake_ns - machine->jitter_ns + below(machine, 2 * machine->jitter_ns);
    struct made_happening *happening;

    if (machine->now_ns >= mono_ns) {
        return;
    }
    machine->counters.waits++;
    machine->now_ns = mono_ns + late_ns;
    machine->counters.run_delay_ns += late_ns / 2;
    while ((happening = due_before(machine, mono_ns)) && !waits_for_computation(happening->kind)) {
        disturb_sleep(machine, happening, mono_ns);
        machine->next++;
    }
    machine->counters.cpu_ns += 3 * TT_NS_PER_US;
}

static void made_read(struct tt_meter_host *host, struct tt_reading *ret_reading)
{
    *ret_reading = made_of(host)->counters;
    made_of(host)->now_ns += TT_NS_PER_US;
}

static const struct tt_meter_host_ops made_ops = {
    .now_ns = made_now_ns,
    .sleep_until = made_sleep_until,
    .compute = made_compute,
    .read = made_read,
};

void made_machine_init(struct made_machine *machine, uint64_t seed)
{
    memset(machine, 0, sizeof(*machine));
    machine->host = (struct tt_meter_host){.ops = &made_ops, .unit_ps = 1000};
    machine->random = seed;
    machine->now_ns = TT_NS_PER_S;
    machine->wake_ns = 20 * TT_NS_PER_US;
    machine->jitter_ns = 15 * TT_NS_PER_US;
    machine->steal_counted = true;
}

void made_machine_add(struct made_machine *machine, enum tt_cause kind, int64_t at_ns,
                      int64_t length_ns)
{
    assert(machine->count < MADE_HAPPENINGS);
    machine->happenings[machine->count++] = (struct made_happening){kind, at_ns, length_ns};
}

void made_run_init(struct made_run *run, const struct tt_fragment_shape *shape, uint64_t seed,
                   unsigned share_percent, int64_t plan_ns, int64_t window_ns)
{
    struct tt_meter_entry *entries = calloc(TT_METER_RING_ENTRIES, sizeof(*entries));
    int64_t compute_ns = tt_fragment_shape_period_ns(shape) * share_percent / 100;

    memset(run, 0, sizeof(*run));
    run->cell = calloc(1, sizeof(*run->cell));
    assert(entries && run->cell);
    made_machine_init(&run->machine, seed);
    tt_meter_ring_init(&run->ring, entries);
    run->loop.host = &run->machine.host;
    run->loop.ring = &run->ring;
    run->loop.units = compute_ns;
    tt_meter_loop_start(&run->loop, shape, run->machine.now_ns, plan_ns);
    tt_cell_init(run->cell, shape, run->machine.now_ns, compute_ns, &run->machine.counters);
    run->cell->windows.length_ns = window_ns;
}

static void note_incident(struct made_run *run)
{
    if (run->cell->closed) {
        run->incidents++;
        if (run->cell->incident.loss.lost_ns > run->worst.loss.lost_ns) {
            run->worst = run->cell->incident;
        }
    }
}

/* What a program could know of the machine. */
static void take_reading(struct made_run *run, const struct tt_reading *reading,
                         int64_t *steal_seen_ns)
{
    int64_t steal_ns = run->machine.steal_ns / TICK_NS * TICK_NS;
    struct tt_surroundings around = {
        .steal_ns = steal_ns - *steal_seen_ns,
        .steal_around_ns = steal_ns,
        .irq_around_ns = run->machine.irq_ns / TICK_NS * TICK_NS,
        .tick_ns = TICK_NS,
        .ordinary_ns = run->machine.ordinary_ns,
    };

    run->machine.ordinary_ns = 0;
    *steal_seen_ns = steal_ns;
    tt_cell_reading(run->cell, reading, &around);
    note_incident(run);
}

void made_run_go(struct made_run *run)
{
    int64_t steal_seen_ns = 0;
    bool more = true;

    while (more) {
        struct tt_meter_entry entry;

        more = tt_meter_loop_cycle(&run->loop);
        while (tt_meter_ring_take(&run->ring, &entry)) {
            if (entry.kind == TT_METER_CYCLE) {
                tt_cell_cycle(run->cell, &entry.cycle);
            } else {
                take_reading(run, &entry.reading, &steal_seen_ns);
            }
        }
    }
    tt_cell_finish(run->cell);
    note_incident(run);
}

void made_run_done(struct made_run *run)
{
    free(run->ring.entries);
    free(run->cell);
}
