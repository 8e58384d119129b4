/*
 * See meter_text.h.
 */
#include "report/meter_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/min_max.h"
#include "base/ns.h"
#include "report/plural.h"

const char *tt_duration_text(int64_t ns, char ret_text[TT_DURATION_TEXT])
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    size_t i = 0;
    double value;

    while (i + 1 < TT_COUNT_OF(units) && (double)ns < 0.9995 * units[i].ns) {
        i++;
    }
    value = (double)ns / units[i].ns;
    snprintf(ret_text, TT_DURATION_TEXT, value < 100 ? "%.3g %s" : "%.0f %s", value, units[i].unit);
    return ret_text;
}

const char *tt_meter_shape_text(const struct tt_fragment_shape *shape,
                                char ret_text[TT_DURATION_TEXT])
{
    if (shape->count == 0) {
        snprintf(ret_text, TT_DURATION_TEXT, "timer");
    } else {
        snprintf(ret_text, TT_DURATION_TEXT, "%ux%" PRId64, shape->count, shape->frames);
    }
    return ret_text;
}

int64_t tt_meter_buffer_ns(const struct tt_fragment_shape *shape)
{
    return tt_fragment_shape_period_ns(shape) * (shape->count > 0 ? shape->count : 1);
}

const char *tt_meter_load_text(const char *name)
{
    static const char *const files[][2] = {
        {"write", "disk write"}, {"copy", "disk copy"}, {"read", "disk read"}};

    for (size_t i = 0; i < TT_COUNT_OF(files); i++) {
        if (strcmp(name, files[i][0]) == 0) {
            return files[i][1];
        }
    }
    return name;
}

const char *tt_meter_cause_text(enum tt_cause cause)
{
    static const char *const texts[] = {
        [TT_CAUSE_OTHERS] = "other threads that had the CPU",
        [TT_CAUSE_THROTTLED] =
            "real-time throttling (kernel.sched_rt_runtime_us, or the fair server)",
        [TT_CAUSE_STOPPED] = "a stop of the whole program (SIGSTOP, a debugger, a freezer)",
        [TT_CAUSE_FAULT] = "pages that had to come from the disk",
        [TT_CAUSE_SLOWER] = "a computation that took more CPU time (a busy sibling of the core, a "
                            "lower clock, caches)",
        [TT_CAUSE_HYPERVISOR] =
            "time taken by the hypervisor, which no setting in this machine changes",
        [TT_CAUSE_INTERRUPT] = "interrupts within the computation",
        [TT_CAUSE_TIMER] =
            "wake-ups that came late with the CPU free (timer, interrupt, idle state, "
            "or a hypervisor that does not say so)",
        [TT_CAUSE_UNEXPLAINED] = "nothing that left evidence",
        [TT_CAUSES] = "",
    };

    return texts[cause];
}

uint64_t tt_meter_dropouts(const struct tt_fragment_shape *shape,
                           const struct tt_fragment_counters *counters)
{
    return shape->count > 0 ? counters->empty : counters->late + counters->skipped;
}

/* What it usually takes: of most of its runs and on average, so that neither one long stop nor a
 * few slow ones make it. */
static int64_t share_per_mille(const struct tt_cell *cell)
{
    struct tt_summary summary;

    if (cell->compute.n == 0) {
        return TT_CAUSE_UNKNOWN;
    }
    tt_hist_summarize(&cell->compute, &summary);
    return tt_min64(tt_hist_percentile(&cell->compute, 500), (int64_t)summary.mean) * 1000 /
           cell->period_ns;
}

/* Whether it was not at work all the while. */
static bool load_failed(const struct tt_meter_result *result)
{
    const struct tt_load_done *done = &result->load;

    return done->error != 0 || (strcmp(result->load_name, "idle") != 0 && done->elapsed_ns > 0 &&
                                done->rounds == 0 && done->bytes == 0);
}

static void find_input(const struct tt_meter_row *row, size_t load, struct tt_verdict_input *input)
{
    const struct tt_meter_result *result = &row->results[load];

    *input = (struct tt_verdict_input){
        .dropouts = tt_meter_dropouts(&row->shape, &result->counters),
        .bursts = result->cell->bursts,
        .measured_ns = result->measured_ns,
        .foreign_per_mille = result->foreign_per_mille,
        .share_per_mille = share_per_mille(result->cell),
        .load_failed = load_failed(result),
    };
    input->cause = tt_cell_main_cause(result->cell, &input->cause_per_mille);
}

#define LOADS_MAX 16

void tt_meter_verdict_find(const struct tt_meter_row *row, struct tt_verdict *ret_verdict)
{
    struct tt_verdict_input inputs[LOADS_MAX];
    size_t count = row->count < LOADS_MAX ? row->count : LOADS_MAX;

    for (size_t i = 0; i < count; i++) {
        find_input(row, i, &inputs[i]);
    }
    tt_verdict_find(inputs, count, ret_verdict);
}

void tt_meter_verdict_of_load(const struct tt_meter_row *row, size_t load,
                              struct tt_verdict *ret_verdict)
{
    struct tt_verdict_input input;

    find_input(row, load, &input);
    tt_verdict_find(&input, 1, ret_verdict);
}

/* Text at the end of a text. */
static void add(char *text, size_t size, const char *format, ...) TT_PRINTF(3, 4);
static void add(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static void add_buffer(const struct tt_meter_row *row, char text[TT_METER_TEXT])
{
    const struct tt_fragment_shape *shape = &row->shape;
    char period[TT_DURATION_TEXT];

    if (shape->count == 0) {
        add(text, TT_METER_TEXT,
            "a timer every %s: ", tt_duration_text(tt_fragment_shape_period_ns(shape), period));
    } else {
        add(text, TT_METER_TEXT, "%" PRId64 " x %u at %g kHz: ", shape->frames, shape->count,
            shape->rate_hz / 1000.0);
    }
    if (row->tuned) {
        add(text, TT_METER_TEXT, "tuned: ");
    }
}

static void add_dropouts(const struct tt_meter_row *row, const struct tt_verdict *verdict,
                         char text[TT_METER_TEXT])
{
    const struct tt_meter_result *worst = &row->results[verdict->worst];
    char time[TT_DURATION_TEXT];

    add(text, TT_METER_TEXT, "%" PRIu64 " %s in %s", verdict->dropouts,
        row->shape.count > 0 ? tt_plural(verdict->dropouts, "dropout", "dropouts")
                             : tt_plural(verdict->dropouts, "missed period", "missed periods"),
        tt_duration_text(verdict->measured_ns, time));
    if (verdict->bursts > 0 && verdict->bursts < verdict->dropouts) {
        add(text, TT_METER_TEXT, " (%" PRIu64 " %s)", verdict->bursts,
            tt_plural(verdict->bursts, "burst", "bursts"));
    }
    if (row->count > 1) {
        uint64_t there = tt_meter_dropouts(&row->shape, &worst->counters);

        if (there == verdict->dropouts) {
            add(text, TT_METER_TEXT, ", all");
        } else {
            add(text, TT_METER_TEXT, " under %zu of %zu loads, %" PRIu64,
                verdict->loads[TT_VERDICT_NOT_SAFE] + verdict->loads[TT_VERDICT_TOO_NOISY],
                row->count, there);
        }
        add(text, TT_METER_TEXT, " of them under %s in %s", tt_meter_load_text(worst->load_name),
            tt_duration_text(worst->measured_ns, time));
    }
    if (verdict->cause != TT_CAUSES) {
        add(text, TT_METER_TEXT, "; %s%s %s", row->count > 1 ? "there " : "",
            verdict->cause_per_mille > 500 ? "mostly" : "first of all",
            tt_meter_cause_text(verdict->cause));
    }
}

bool tt_meter_no_buffer_helps(const struct tt_meter_row *row, const struct tt_verdict *verdict)
{
    return row->shape.count > 0 && verdict->kind == TT_VERDICT_NOT_SAFE &&
           verdict->share_per_mille >= TT_VERDICT_SHARE_PER_MILLE;
}

/* Loads whose dropouts the verdict says nothing of. */
static void add_noisy_loads(const struct tt_meter_row *row, char text[TT_METER_TEXT])
{
    const char *before = "; too noisy to say under ";

    for (size_t i = 0; i < row->count; i++) {
        struct tt_verdict verdict;

        tt_meter_verdict_of_load(row, i, &verdict);
        if (verdict.kind == TT_VERDICT_TOO_NOISY) {
            add(text, TT_METER_TEXT, "%s%s", before, tt_meter_load_text(row->results[i].load_name));
            before = ", ";
        }
    }
}

static void add_not_safe(const struct tt_meter_row *row, const struct tt_verdict *verdict,
                         char text[TT_METER_TEXT])
{
    add(text, TT_METER_TEXT, "not safe: ");
    add_dropouts(row, verdict, text);
    if (tt_meter_no_buffer_helps(row, verdict)) {
        add(text, TT_METER_TEXT,
            "; no buffer is long enough: under %s a computation lasts %" PRId64
            " %% of its fragment's time",
            tt_meter_load_text(row->results[verdict->slowest].load_name),
            (verdict->share_per_mille + 5) / 10);
    }
    add_noisy_loads(row, text);
}

static void add_too_noisy(const struct tt_meter_row *row, const struct tt_verdict *verdict,
                          char text[TT_METER_TEXT])
{
    add(text, TT_METER_TEXT, "machine too noisy to say: ");
    add_dropouts(row, verdict, text);
    add(text, TT_METER_TEXT, "; other programs used %.0f %% of the CPUs meanwhile",
        (double)verdict->foreign_per_mille / 10);
}

/* "no dropout in 40 min: at most 1 in 13 min (95 %)"; of several loads, also of each. */
static void add_clean(const struct tt_meter_row *row, const struct tt_verdict *verdict,
                      char text[TT_METER_TEXT])
{
    char time[TT_DURATION_TEXT];
    char rate[TT_DURATION_TEXT];
    char worst[TT_DURATION_TEXT];

    add(text, TT_METER_TEXT, "no %s in %s: at most 1 in %s",
        row->shape.count > 0 ? "dropout" : "missed period",
        tt_duration_text(verdict->measured_ns, time), tt_duration_text(verdict->one_in_ns, rate));
    if (row->count > 1) {
        add(text, TT_METER_TEXT, " of all loads in turn, and 1 in %s under each",
            tt_duration_text(verdict->worst_one_in_ns, worst));
    }
    add(text, TT_METER_TEXT, " (95 %%)");
}

static void add_failed_loads(const struct tt_meter_row *row, char text[TT_METER_TEXT])
{
    for (size_t i = 0; i < row->count; i++) {
        const struct tt_meter_result *result = &row->results[i];

        if (load_failed(result)) {
            add(text, TT_METER_TEXT, "; the load %s %s%s%s: it shows nothing of that one",
                tt_meter_load_text(result->load_name),
                result->load.error != 0 ? "ended early (" : "did nothing",
                result->load.error != 0 ? strerror(-result->load.error) : "",
                result->load.error != 0 ? ")" : "");
        }
    }
}

const char *tt_meter_verdict_text(const struct tt_meter_row *row, const struct tt_verdict *verdict,
                                  char ret_text[TT_METER_TEXT])
{
    ret_text[0] = 0;
    add_buffer(row, ret_text);
    switch (verdict->kind) {
    case TT_VERDICT_SAFE:
        add(ret_text, TT_METER_TEXT, "safe: ");
        add_clean(row, verdict, ret_text);
        break;
    case TT_VERDICT_NOT_ENOUGH:
        add_clean(row, verdict, ret_text);
        add(ret_text, TT_METER_TEXT, "; not enough data to call it safe");
        break;
    case TT_VERDICT_TOO_NOISY:
        add_too_noisy(row, verdict, ret_text);
        break;
    default:
        add_not_safe(row, verdict, ret_text);
        break;
    }
    add_failed_loads(row, ret_text);
    return ret_text;
}

const char *tt_meter_verdict_short(const struct tt_verdict *verdict,
                                   char ret_text[TT_DURATION_TEXT])
{
    char rate[TT_DURATION_TEXT];

    switch (verdict->kind) {
    case TT_VERDICT_SAFE:
        return "safe";
    case TT_VERDICT_NOT_SAFE:
        return "not safe";
    case TT_VERDICT_TOO_NOISY:
        return "too noisy";
    default:
        if (verdict->failed > 0) {
            return "load failed";
        }
        snprintf(ret_text, TT_DURATION_TEXT, "< 1 in %.16s",
                 tt_duration_text(verdict->one_in_ns, rate));
        return ret_text;
    }
}

static void add_time(char *text, const char *name, int64_t ns)
{
    char time[TT_DURATION_TEXT];

    if (ns != TT_CAUSE_UNKNOWN && ns > 0) {
        add(text, TT_METER_TEXT, ", %s %s", name, tt_duration_text(ns, time));
    }
}

const char *tt_meter_incident_text(const struct tt_incident *incident, char ret_text[TT_METER_TEXT])
{
    const struct tt_evidence *e = &incident->evidence;
    char late[TT_DURATION_TEXT];

    snprintf(ret_text, TT_METER_TEXT, "%s late, empty %u, late %u, skipped %u: %s",
             tt_duration_text(incident->worst_late_ns, late), incident->empty, incident->late,
             incident->skipped, tt_meter_cause_text(incident->loss.main));
    add(ret_text, TT_METER_TEXT, " (level %d: lost %s", (int)e->level,
        tt_duration_text(incident->loss.lost_ns, late));
    add_time(ret_text, "run delay", e->run_delay_ns);
    add_time(ret_text, "CPU time over", e->cpu_ns);
    add_time(ret_text, "steal", e->steal_ns);
    add_time(ret_text, "gaps", e->gap_ns);
    if (e->major_faults > 0) {
        add(ret_text, TT_METER_TEXT, ", %" PRId64 " major %s", e->major_faults,
            tt_plural((uint64_t)e->major_faults, "fault", "faults"));
    }
    if (e->culprit[0]) {
        add(ret_text, TT_METER_TEXT, ", ran instead: %s", e->culprit);
    }
    add(ret_text, TT_METER_TEXT, ")");
    return ret_text;
}
