/*
 * See cell.h.
 */
#include "meter/cell.h"

#include <string.h>

#include "base/min_max.h"

#define LOSS_PART   4  /* of a fragment */
#define GOOD_CYCLES 16 /* so many make what is usual */
#define INCIDENT_NS TT_CELL_WINDOW_NS

void tt_cell_init(struct tt_cell *cell, const struct tt_fragment_shape *shape, int64_t start_ns,
                  int64_t usual_compute_ns, const struct tt_reading *reading)
{
    memset(cell, 0, sizeof(*cell));
    cell->shape = *shape;
    cell->period_ns = tt_fragment_shape_period_ns(shape);
    cell->usual_compute_ns = usual_compute_ns;
    tt_hist_init(&cell->late);
    tt_hist_init(&cell->compute);
    tt_windows_init(&cell->windows, start_ns, TT_CELL_WINDOW_NS);
    cell->last = *reading;
    cell->last_done_ns = start_ns;
}

bool tt_cycle_is_loss(const struct tt_fragment_fate *fate, int64_t period_ns)
{
    return fate->late_ns > period_ns / LOSS_PART;
}

static void open_incident(struct tt_cell *cell, const struct tt_cycle *cycle)
{
    if (!cell->open) {
        cell->open = true;
        cell->incident = (struct tt_incident){.start_ns = cycle->fate.due_ns};
        cell->incident.loss.main = TT_CAUSE_UNEXPLAINED;
    }
    cell->incident.end_ns = cycle->done_ns;
    cell->incident.worst_late_ns = tt_max64(cell->incident.worst_late_ns, cycle->fate.late_ns);
    cell->incident.late += cycle->fate.late;
    cell->incident.skipped += cycle->fate.skipped;
    cell->incident.empty += cycle->fate.empty;
}

/* Where it computed in time, it slept until the fragment was due. */
static void note_time(struct tt_cell *cell, const struct tt_cycle *cycle)
{
    int64_t due_ns = cycle->fate.due_ns;
    int64_t from_ns = cycle->computed_ns > due_ns ? cycle->begin_ns : due_ns;

    if (!cell->bad) {
        cell->lost_from_mono_ns = from_ns - cycle->offset_ns;
    }
    cell->lost_until_mono_ns = cycle->done_ns - cycle->offset_ns;
    cell->bad = true;
}

static void count(struct tt_fragment_counters *so_far, const struct tt_fragment_fate *fate)
{
    so_far->expected += 1 + fate->skipped;
    so_far->on_time += !fate->late;
    so_far->late += fate->late;
    so_far->skipped += fate->skipped;
    so_far->empty += fate->empty;
}

void tt_cell_cycle(struct tt_cell *cell, const struct tt_cycle *cycle)
{
    int64_t period_ns = cycle->done_ns - cell->last_done_ns;
    int64_t compute_ns = cycle->computed_ns - cycle->begin_ns;
    struct tt_stretch *stretch = &cell->stretch;

    cell->closed = false;
    count(&cell->so_far, &cycle->fate);
    tt_hist_record(&cell->late, cycle->fate.late_ns);
    tt_hist_record(&cell->compute, compute_ns);
    tt_windows_add(&cell->windows, cycle->done_ns, &cycle->fate);
    tt_history_record(&cell->period_curve, cycle->done_ns, period_ns);
    tt_history_record(&cell->compute_curve, cycle->done_ns, compute_ns);
    cell->last_done_ns = cycle->done_ns;
    stretch->cycles++;
    stretch->sleeps += cycle->sleeps;
    stretch->waiting_ns += cycle->done_ns - tt_max64(cycle->computed_ns, cycle->fate.due_ns);
    stretch->compute_ns += compute_ns;
    stretch->gap_ns += cycle->gap_ns;
    if (tt_cycle_is_loss(&cycle->fate, cell->period_ns)) {
        note_time(cell, cycle);
        open_incident(cell, cycle);
    }
}

static bool delay_known(const struct tt_cell *cell, const struct tt_reading *reading)
{
    return reading->run_delay_ns != TT_CAUSE_UNKNOWN && cell->last.run_delay_ns != TT_CAUSE_UNKNOWN;
}

/* What so many cycles take when all is well. */
static int64_t usual(const struct tt_cell *cell, int64_t sum, int64_t before_it_is_known)
{
    return cell->good.cycles < GOOD_CYCLES ? cell->stretch.cycles * before_it_is_known
                                           : sum * cell->stretch.cycles / cell->good.cycles;
}

static void weigh(const struct tt_cell *cell, const struct tt_reading *reading,
                  struct tt_evidence *evidence)
{
    const struct tt_stretch *stretch = &cell->stretch;
    const struct tt_stretch *good = &cell->good;

    evidence->lost_waiting_ns = stretch->waiting_ns - usual(cell, good->waiting_ns, 0);
    evidence->lost_computing_ns =
        stretch->compute_ns - usual(cell, good->compute_ns, cell->usual_compute_ns);
    evidence->cpu_ns =
        reading->cpu_ns - cell->last.cpu_ns - usual(cell, good->cpu_ns, cell->usual_compute_ns);
    evidence->gap_ns = stretch->gap_ns - usual(cell, good->gap_ns, 0);
    evidence->run_delay_ns = TT_CAUSE_UNKNOWN;
    if (delay_known(cell, reading)) {
        evidence->run_delay_ns =
            reading->run_delay_ns - cell->last.run_delay_ns - usual(cell, good->run_delay_ns, 0);
    }
    evidence->major_faults = reading->major_faults - cell->last.major_faults;
    evidence->waits = reading->waits - cell->last.waits - stretch->sleeps;
    evidence->preemptions = reading->preemptions - cell->last.preemptions;
}

static void add_surroundings(const struct tt_surroundings *around, struct tt_evidence *evidence)
{
    evidence->steal_ns = TT_CAUSE_UNKNOWN;
    evidence->steal_around_ns = TT_CAUSE_UNKNOWN;
    evidence->irq_around_ns = TT_CAUSE_UNKNOWN;
    evidence->ordinary_ns = TT_CAUSE_UNKNOWN;
    if (around) {
        evidence->steal_ns = around->steal_ns;
        evidence->steal_around_ns = around->steal_around_ns;
        evidence->irq_around_ns = around->irq_around_ns;
        evidence->tick_ns = around->tick_ns;
        evidence->ordinary_ns = around->ordinary_ns;
        evidence->level = around->level;
        evidence->other_ns = around->other_ns;
        evidence->irq_ns = around->irq_ns;
        memcpy(evidence->culprit, around->culprit, sizeof(evidence->culprit));
    }
}

static void add_loss(struct tt_incident *incident, const struct tt_loss *loss,
                     const struct tt_evidence *evidence)
{
    struct tt_loss *sum = &incident->loss;

    if (sum->lost_ns == 0 ||
        loss->lost_ns > incident->evidence.lost_waiting_ns + incident->evidence.lost_computing_ns) {
        incident->evidence = *evidence;
    }
    sum->lost_ns += loss->lost_ns;
    for (int cause = 0; cause < TT_CAUSES; cause++) {
        sum->share_ns[cause] += loss->share_ns[cause];
        if (sum->share_ns[cause] > sum->share_ns[sum->main]) {
            sum->main = (enum tt_cause)cause;
        }
    }
}

static void add_good(struct tt_cell *cell, const struct tt_reading *reading)
{
    cell->good.cycles += cell->stretch.cycles;
    cell->good.waiting_ns += cell->stretch.waiting_ns;
    cell->good.compute_ns += cell->stretch.compute_ns;
    cell->good.gap_ns += cell->stretch.gap_ns;
    cell->good.cpu_ns += reading->cpu_ns - cell->last.cpu_ns;
    if (delay_known(cell, reading)) {
        cell->good.run_delay_ns += reading->run_delay_ns - cell->last.run_delay_ns;
    }
}

static void close_incident(struct tt_cell *cell)
{
    const struct tt_incident *incident = &cell->incident;
    struct tt_cause_total *total = &cell->causes[incident->loss.main];

    total->incidents++;
    total->empty += incident->empty;
    for (int cause = 0; cause < TT_CAUSES; cause++) {
        cell->causes[cause].lost_ns += incident->loss.share_ns[cause];
    }
    cell->incidents++;
    cell->bursts += (cell->shape.count > 0 ? incident->empty : incident->skipped) > 0;
    cell->open = false;
    cell->closed = true;
}

void tt_cell_reading(struct tt_cell *cell, const struct tt_reading *reading,
                     const struct tt_surroundings *surroundings)
{
    cell->closed = false;
    if (cell->bad) {
        struct tt_evidence evidence = {0};
        struct tt_loss loss;

        weigh(cell, reading, &evidence);
        add_surroundings(surroundings, &evidence);
        tt_cause_find(&evidence, &loss);
        add_loss(&cell->incident, &loss, &evidence);
        if (cell->incident.end_ns - cell->incident.start_ns >= INCIDENT_NS) {
            close_incident(cell);
        }
    } else {
        if (cell->open) {
            close_incident(cell);
        }
        add_good(cell, reading);
    }
    cell->bad = false;
    cell->stretch = (struct tt_stretch){0};
    cell->last = *reading;
}

void tt_cell_finish(struct tt_cell *cell)
{
    cell->closed = false;
    if (cell->open) {
        close_incident(cell);
    }
}

enum tt_cause tt_cell_main_cause(const struct tt_cell *cell, int64_t *ret_share_per_mille)
{
    enum tt_cause main = TT_CAUSES;
    int64_t most = 0;
    int64_t all = 0;
    bool empty = false;

    for (int cause = 0; cause < TT_CAUSES; cause++) {
        empty = empty || cell->causes[cause].empty > 0;
    }
    for (int cause = 0; cause < TT_CAUSES; cause++) {
        const struct tt_cause_total *total = &cell->causes[cause];
        int64_t weight = empty ? (int64_t)total->empty : total->lost_ns;

        all += weight;
        if (weight > most) {
            most = weight;
            main = (enum tt_cause)cause;
        }
    }
    *ret_share_per_mille = all > 0 ? most * 1000 / all : 0;
    return main;
}
