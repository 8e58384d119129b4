/*
 * See meter_json.h.
 */
#include "report/meter_json.h"

#include <string.h>

#include "report/json.h"

#define BEYOND 10 /* no percentile without so many values beyond it */

static void set(json_t *object, const char *name, json_t *value)
{
    json_object_set_new(object, name, value);
}

static json_t *integer(int64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *known(int64_t value)
{
    return tt_json_known(value, INT64_MIN + 1);
}

static json_t *distribution_json(const struct tt_hist *hist)
{
    static const struct {
        const char *name;
        unsigned per_mille;
    } percentiles[] = {{"p50_ns", 500}, {"p90_ns", 900}, {"p99_ns", 990}, {"p99_9_ns", 999}};
    json_t *object = json_object();

    set(object, "n", tt_json_u64(hist->n));
    set(object, "min_ns", hist->n > 0 ? integer(hist->min) : json_null());
    for (size_t i = 0; i < TT_COUNT_OF(percentiles); i++) {
        unsigned per_mille = percentiles[i].per_mille;
        bool enough = hist->n * (1000 - per_mille) >= BEYOND * 1000;

        set(object, percentiles[i].name,
            enough ? integer(tt_hist_percentile(hist, per_mille)) : json_null());
    }
    set(object, "max_ns", hist->n > 0 ? integer(hist->max) : json_null());
    return object;
}

static json_t *array_json(const int64_t *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(array, integer(values[i]));
    }
    return array;
}

static json_t *windows_json(const struct tt_windows *windows)
{
    return json_pack("{s:o, s:o, s:o}", "length_ns", integer(windows->length_ns), "median_late_ns",
                     array_json(windows->median_late_ns, windows->count), "misses",
                     array_json(windows->misses, windows->count));
}

static json_t *causes_json(const struct tt_cause_total causes[TT_CAUSES])
{
    json_t *object = json_object();

    for (int cause = 0; cause < TT_CAUSES; cause++) {
        set(object, tt_cause_name((enum tt_cause)cause),
            json_pack("{s:o, s:o, s:o}", "losses", tt_json_u64(causes[cause].incidents), "empty",
                      tt_json_u64(causes[cause].empty), "lost_ns", integer(causes[cause].lost_ns)));
    }
    return object;
}

static void set_counters(json_t *object, const struct tt_fragment_counters *counters)
{
    set(object, "expected", tt_json_u64(counters->expected));
    set(object, "on_time", tt_json_u64(counters->on_time));
    set(object, "late", tt_json_u64(counters->late));
    set(object, "skipped", tt_json_u64(counters->skipped));
    set(object, "empty", tt_json_u64(counters->empty));
    set(object, "empty_ns", integer(counters->empty_ns));
}

static json_t *result_json(const struct tt_meter_row *row, size_t load)
{
    const struct tt_meter_result *result = &row->results[load];
    const struct tt_cell *cell = result->cell;
    json_t *object = json_object();
    struct tt_verdict verdict;

    tt_meter_verdict_of_load(row, load, &verdict);

    set(object, "load", json_string(result->load_name));
    set(object, "load_bytes", integer(result->load.bytes));
    set(object, "load_rounds", integer(result->load.rounds));
    set(object, "load_ns", integer(result->load.elapsed_ns));
    set(object, "load_error",
        result->load.error ? json_string(strerror(-result->load.error)) : json_null());
    set(object, "start_mono_ns", integer(result->start_mono_ns));
    set(object, "measured_ns", integer(result->measured_ns));
    set_counters(object, &result->counters);
    set(object, "bursts", tt_json_u64(cell->bursts));
    set(object, "losses", tt_json_u64(cell->incidents));
    set(object, "lateness", distribution_json(&cell->late));
    set(object, "computation", distribution_json(&cell->compute));
    set(object, "midi_to_audio", result->midi ? distribution_json(result->midi) : json_null());
    set(object, "round_trip",
        result->round_trip ? distribution_json(result->round_trip) : json_null());
    set(object, "windows", windows_json(&cell->windows));
    set(object, "causes", causes_json(cell->causes));
    set(object, "own_cost_ns", integer(result->own_ns));
    set(object, "cycles_left_out", tt_json_u64(result->left_out));
    set(object, "foreign_per_mille", known(result->foreign_per_mille));
    set(object, "pressure_cpu_us", known(result->pressure.cpu_us));
    set(object, "pressure_io_us", known(result->pressure.io_us));
    set(object, "pressure_memory_us", known(result->pressure.memory_us));
    set(object, "verdict", json_string(tt_verdict_name(verdict.kind)));
    set(object, "one_in_ns", integer(verdict.one_in_ns));
    set(object, "share_per_mille", known(verdict.share_per_mille));
    return object;
}

static json_t *verdict_json(const struct tt_meter_row *row)
{
    struct tt_verdict verdict;
    char text[TT_METER_TEXT];

    tt_meter_verdict_find(row, &verdict);
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:b, s:s?}", "kind",
        tt_verdict_name(verdict.kind), "text", tt_meter_verdict_text(row, &verdict, text),
        "dropouts", tt_json_u64(verdict.dropouts), "bursts", tt_json_u64(verdict.bursts),
        "measured_ns", integer(verdict.measured_ns), "one_in_ns", integer(verdict.one_in_ns),
        "worst_load", row->results[verdict.worst].load_name, "worst_load_one_in_ns",
        integer(verdict.worst_one_in_ns), "no_buffer_helps",
        tt_meter_no_buffer_helps(row, &verdict), "cause",
        verdict.cause == TT_CAUSES ? NULL : tt_cause_name(verdict.cause));
}

json_t *tt_meter_row_json(const struct tt_meter_row *row)
{
    char shape[TT_DURATION_TEXT];
    json_t *loads = json_array();

    for (size_t i = 0; i < row->count; i++) {
        json_array_append_new(loads, result_json(row, i));
    }
    return json_pack("{s:s, s:b, s:o, s:i, s:i, s:o, s:o, s:o}", "buffer",
                     tt_meter_shape_text(&row->shape, shape), "tuned", row->tuned, "frames",
                     integer(row->shape.frames), "count", (int)row->shape.count, "rate_hz",
                     (int)row->shape.rate_hz, "period_ns",
                     integer(tt_fragment_shape_period_ns(&row->shape)), "loads", loads, "verdict",
                     verdict_json(row));
}

static json_t *evidence_json(const struct tt_evidence *e)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?}", "level",
                     (int)e->level, "lost_waiting_ns", integer(e->lost_waiting_ns),
                     "lost_computing_ns", integer(e->lost_computing_ns), "cpu_ns",
                     integer(e->cpu_ns), "run_delay_ns", known(e->run_delay_ns), "gap_ns",
                     integer(e->gap_ns), "steal_ns", known(e->steal_ns), "ordinary_ns",
                     known(e->ordinary_ns), "major_faults", integer(e->major_faults), "waits",
                     integer(e->waits), "preemptions", integer(e->preemptions), "ran_instead",
                     e->culprit[0] ? e->culprit : NULL);
}

json_t *tt_meter_incident_json(const struct tt_incident *incident)
{
    json_t *shares = json_object();

    for (int cause = 0; cause < TT_CAUSES; cause++) {
        if (incident->loss.share_ns[cause] > 0) {
            set(shares, tt_cause_name((enum tt_cause)cause),
                integer(incident->loss.share_ns[cause]));
        }
    }
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:s, s:o, s:o, s:o}", "start_mono_ns",
                     integer(incident->start_ns), "late_ns", integer(incident->worst_late_ns),
                     "empty", (int)incident->empty, "late", (int)incident->late, "skipped",
                     (int)incident->skipped, "cause", tt_cause_name(incident->loss.main), "lost_ns",
                     integer(incident->loss.lost_ns), "causes_ns", shares, "evidence",
                     evidence_json(&incident->evidence));
}

/* False: one is no count and no time. */
static bool read_array(const json_t *array, int64_t *ret_values)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);

        ret_values[i] = json_integer_value(value);
        if (!json_is_integer(value) || ret_values[i] < 0 || ret_values[i] > TT_COMPARE_VALUE_MAX) {
            return false;
        }
    }
    return json_is_array(array);
}

static const char *read_windows(const json_t *windows, struct tt_meter_saved *saved)
{
    const json_t *medians = json_object_get(windows, "median_late_ns");
    const json_t *misses = json_object_get(windows, "misses");

    saved->window_ns = json_integer_value(json_object_get(windows, "length_ns"));
    saved->count = json_array_size(medians);
    if (saved->window_ns <= 0 || saved->window_ns > TT_COMPARE_VALUE_MAX) {
        return "its windows have no length_ns";
    }
    if (saved->count > TT_COMPARE_WINDOWS_MAX) {
        return "it has more windows than `tactus meter` makes";
    }
    if (json_array_size(misses) != saved->count) {
        return "it has not as many misses as median_late_ns";
    }
    if (!read_array(medians, saved->median_late_ns)) {
        return "something in its median_late_ns is no time in ns";
    }
    if (!read_array(misses, saved->misses)) {
        return "something in its misses is no count";
    }
    return NULL;
}

static void read_saved(const json_t *row, const json_t *load, struct tt_meter_saved *saved)
{
    saved->buffer = json_string_value(json_object_get(row, "buffer"));
    saved->load = json_string_value(json_object_get(load, "load"));
    saved->rate_hz = json_integer_value(json_object_get(row, "rate_hz"));
    saved->tuned = json_is_true(json_object_get(row, "tuned"));
    saved->damage = read_windows(json_object_get(load, "windows"), saved);
    if (!saved->buffer || !saved->load) {
        saved->damage = "it does not say its buffer and load";
    }
}

bool tt_meter_saved_get(const json_t *file, size_t index, struct tt_meter_saved *ret_saved)
{
    const json_t *rows = json_object_get(file, "rows");

    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        const json_t *loads = json_object_get(row, "loads");

        if (index < json_array_size(loads)) {
            read_saved(row, json_array_get(loads, index), ret_saved);
            return true;
        }
        index -= json_array_size(loads);
    }
    return false;
}
