/*
 * See meter_host.h. The computation is that of a small synthesizer: sines by recurrence, one voice
 * after the other; the clock is looked at between chunks of some 10 us.
 */
#include "run/meter_host.h"

#include <stdlib.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "meter/gaps.h"
#include "os/clock.h"

#define UNIT_FRAMES     16
#define CHUNK_NS        (10 * TT_NS_PER_US)
#define TRIAL_UNITS     2000
#define TRIALS          200
#define TRIALS_MAX_NS   (100 * TT_NS_PER_MS)
#define READING_TRIALS  64
#define TWO_COS_OF_STEP 1.9992f

static struct tt_meter_machine *machine_of(struct tt_meter_host *host)
{
    return (struct tt_meter_machine *)host; /* its first member */
}

static int64_t machine_now_ns(struct tt_meter_host *host)
{
    (void)host;
    return tt_clock_mono_ns();
}

static void machine_sleep_until(struct tt_meter_host *host, int64_t mono_ns)
{
    struct tt_clock *clock = tt_clock_system();

    (void)host;
    clock->ops->sleep_until(clock, mono_ns);
}

static void render(struct tt_meter_machine *machine, int64_t units)
{
    for (int64_t unit = 0; unit < units; unit++) {
        float *voice = machine->state[unit % TT_METER_SYNTH_VOICES];
        float y1 = voice[0];
        float y2 = voice[1];

        for (int i = 0; i < UNIT_FRAMES; i++) {
            float y = TWO_COS_OF_STEP * y1 - y2;

            y2 = y1;
            y1 = y;
        }
        voice[0] = y1;
        voice[1] = y2;
    }
}

/* Rounding lets a recurrence grow or fade; it starts anew with every fragment. */
static void restart_voices(struct tt_meter_machine *machine)
{
    for (int voice = 0; voice < TT_METER_SYNTH_VOICES; voice++) {
        machine->state[voice][0] = 0.25f;
        machine->state[voice][1] = 0.25f;
    }
}

static void machine_compute(struct tt_meter_host *host, int64_t units, int64_t *ret_gap_ns)
{
    struct tt_meter_machine *machine = machine_of(host);
    struct tt_gaps gaps = TT_GAPS_INIT;
    int64_t chunks = tt_max64(TT_GAPS_CHUNKS_MIN, units / machine->chunk_units);
    int64_t before_ns = tt_clock_mono_ns();

    restart_voices(machine);
    for (; chunks > 0; chunks--) {
        int64_t chunk_units = units / chunks;
        int64_t now_ns;

        render(machine, chunk_units);
        now_ns = tt_clock_mono_ns();
        tt_gaps_add(&gaps, now_ns - before_ns);
        before_ns = now_ns;
        units -= chunk_units;
    }
    *ret_gap_ns = tt_gaps_end(&gaps);
}

static void machine_read(struct tt_meter_host *host, struct tt_reading *ret_reading)
{
    struct tt_thread_figures figures;

    tt_thread_stat_read(&machine_of(host)->stat, &figures);
    *ret_reading = (struct tt_reading){
        .cpu_ns = figures.cpu_ns,
        .run_delay_ns = figures.run_delay_ns < 0 ? TT_CAUSE_UNKNOWN : figures.run_delay_ns,
        .major_faults = figures.major_faults,
        .waits = figures.voluntary_switches,
        .preemptions = figures.involuntary_switches,
        .cpu = figures.cpu,
    };
}

static const struct tt_meter_host_ops machine_ops = {
    .now_ns = machine_now_ns,
    .sleep_until = machine_sleep_until,
    .compute = machine_compute,
    .read = machine_read,
};

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;

    return (*x > *y) - (*x < *y);
}

/* The median of many short trials: what interrupts one does not interrupt most of them, and the
 * fastest one is of a moment. */
static int64_t estimate_unit_ps(struct tt_meter_machine *machine)
{
    int64_t end_ns = tt_clock_mono_ns() + TRIALS_MAX_NS;
    int64_t times_ns[TRIALS];
    size_t n = 0;

    do {
        int64_t start_ns;

        restart_voices(machine);
        start_ns = tt_clock_mono_ns();
        render(machine, TRIAL_UNITS);
        times_ns[n++] = tt_clock_mono_ns() - start_ns;
    } while (n < TRIALS && tt_clock_mono_ns() < end_ns);
    qsort(times_ns, n, sizeof(times_ns[0]), compare_times);
    return times_ns[n / 2] * 1000 / TRIAL_UNITS;
}

static void set_unit(struct tt_meter_machine *machine, int64_t unit_ps)
{
    machine->host.unit_ps = tt_max64(1, unit_ps);
    machine->chunk_units = tt_max64(1, CHUNK_NS * 1000 / machine->host.unit_ps);
}

void tt_meter_machine_init(struct tt_meter_machine *machine)
{
    *machine = (struct tt_meter_machine){.host.ops = &machine_ops};
    tt_thread_stat_init(&machine->stat);
    set_unit(machine, estimate_unit_ps(machine));
}

void tt_meter_machine_correct(struct tt_meter_machine *machine, int64_t planned_ns, int64_t took_ns)
{
    set_unit(machine, machine->host.unit_ps * took_ns / planned_ns);
}

void tt_meter_machine_enter(struct tt_meter_machine *machine)
{
    tt_thread_stat_open(&machine->stat);
}

void tt_meter_machine_leave(struct tt_meter_machine *machine)
{
    tt_thread_stat_close(&machine->stat);
}

int64_t tt_meter_host_reading_cost_ns(struct tt_meter_host *host)
{
    int64_t best_ns = INT64_MAX;

    for (int trial = 0; trial < READING_TRIALS; trial++) {
        struct tt_reading reading;
        int64_t start_ns = host->ops->now_ns(host);

        host->ops->read(host, &reading);
        best_ns = tt_min64(best_ns, host->ops->now_ns(host) - start_ns);
    }
    return best_ns;
}
