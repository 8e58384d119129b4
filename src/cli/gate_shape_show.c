/*
 * See gate_shape.h.
 */
#include <inttypes.h>

#include "base/min_max.h"
#include "base/ns.h"
#include "cli/gate_shape.h"
#include "report/json.h"
#include "report/table.h"

const char *tt_gate_shape_mode(const struct tt_gate_shape *job, char ret_text[80])
{
    if (job->setup.shaper.strict) {
        snprintf(ret_text, 80, "strict");
    } else if (job->setup.lead_ns > 0) {
        snprintf(ret_text, 80, "computed departures, kept by %s%s", job->ifname,
                 job->offload ? "" : " (etf in software)");
    } else {
        snprintf(ret_text, 80, "computed departures");
    }
    return ret_text;
}

uint64_t tt_gate_shape_malformed(const struct tt_shaper_counters *counters)
{
    uint64_t n = 0;

    for (int i = TT_SEGMENT_OK + 1; i < TT_SEGMENT_FAULTS; i++) {
        n += counters->refused[i];
    }
    return n;
}

static uint64_t count_dropped(const struct tt_shaper_counters *counters)
{
    return counters->dropped_full + counters->dropped_delay + counters->dropped_never +
           counters->dropped_refused + tt_gate_shape_malformed(counters);
}

int64_t tt_gate_shape_open_ns(const struct tt_gate_shape *job, unsigned class, int64_t elapsed_ns)
{
    const struct tt_gate_shape_windows *windows = &job->windows;
    const struct tt_gate_list *list = windows->list;

    return windows->open_ns[class] +
           (int64_t)((double)(elapsed_ns - windows->since_ns) *
                     (double)list->classes[class].open_ns / (double)list->cycle_ns);
}

void tt_gate_shape_next_list(struct tt_gate_shape *job, const struct tt_gate_list *list,
                             int64_t since_ns)
{
    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        job->windows.open_ns[c] = tt_gate_shape_open_ns(job, c, since_ns);
    }
    job->windows.list = list;
    job->windows.since_ns = since_ns;
}

static int64_t window_use(int64_t wire_ns, int64_t open_ns)
{
    return open_ns > 0 ? (int64_t)(100 * (double)wire_ns / (double)open_ns + 0.5) : -1;
}

void tt_gate_shape_table(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                         const struct tt_shape_counters *before, FILE *out)
{
    static const struct tt_shape_counters none;
    static const struct tt_column columns[] = {
        {"class", TT_ALIGN_RIGHT},     {"Mbit/s", TT_ALIGN_RIGHT},    {"frames", TT_ALIGN_RIGHT},
        {"window %", TT_ALIGN_RIGHT},  {"waiting B", TT_ALIGN_RIGHT}, {"wait us", TT_ALIGN_RIGHT},
        {"segmented", TT_ALIGN_RIGHT}, {"cut", TT_ALIGN_RIGHT},       {"marked", TT_ALIGN_RIGHT},
        {"dropped", TT_ALIGN_RIGHT},   {"overruns", TT_ALIGN_RIGHT},
    };
    struct tt_table table;
    int64_t elapsed_ns;

    before = before ? before : &none;
    elapsed_ns = tt_max64(1, now->elapsed_ns - before->elapsed_ns);
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        const struct tt_shaper_counters *a = &before->classes[c].shaper;
        const struct tt_shaper_counters *b = &now->classes[c].shaper;

        tt_table_cell(&table, "%u", c);
        tt_table_cell(&table, "%.2f", (double)(b->bytes - a->bytes) * 8000 / (double)elapsed_ns);
        tt_table_cell_number(&table, (int64_t)(b->frames - a->frames));
        tt_table_cell_known(&table,
                            window_use(b->wire_ns - a->wire_ns,
                                       tt_gate_shape_open_ns(job, c, now->elapsed_ns) -
                                           tt_gate_shape_open_ns(job, c, before->elapsed_ns)),
                            0);
        tt_table_cell_number(&table, (int64_t)now->classes[c].waiting_bytes);
        tt_table_cell_number(&table, b->wait_last_ns / TT_NS_PER_US);
        tt_table_cell_number(&table, (int64_t)(b->segmented - a->segmented));
        tt_table_cell_number(&table, (int64_t)(b->cut - a->cut));
        tt_table_cell_number(&table, (int64_t)(b->marked - a->marked));
        tt_table_cell_number(&table, (int64_t)(count_dropped(b) - count_dropped(a)));
        tt_table_cell_number(&table,
                             (int64_t)(now->classes[c].overruns - before->classes[c].overruns));
    }
    tt_table_print(&table, out);
    tt_table_done(&table);
}

static json_t *class_json(const struct tt_gate_shape *job, unsigned class,
                          const struct tt_shape_counters *now, const struct tt_shape *shape)
{
    static const struct tt_json_field fields[] = {
        TT_JSON_FIELD(tt_shaper_counters, packets),
        TT_JSON_FIELD(tt_shaper_counters, frames),
        TT_JSON_FIELD(tt_shaper_counters, bytes),
        TT_JSON_FIELD(tt_shaper_counters, payload_bytes),
        TT_JSON_FIELD(tt_shaper_counters, segmented),
        TT_JSON_FIELD(tt_shaper_counters, cut),
        TT_JSON_FIELD(tt_shaper_counters, marked),
        TT_JSON_FIELD(tt_shaper_counters, dropped_full),
        TT_JSON_FIELD(tt_shaper_counters, dropped_delay),
        TT_JSON_FIELD(tt_shaper_counters, dropped_never),
        TT_JSON_FIELD(tt_shaper_counters, dropped_refused),
    };
    const struct tt_shape_class *of = &now->classes[class];
    json_t *json = tt_json_fields(&of->shaper, fields, TT_COUNT_OF(fields));
    json_t *more = json_pack(
        "{s:i, s:I, s:I, s:I, s:I, s:I, s:o}", "class", (int)class, "malformed",
        (json_int_t)tt_gate_shape_malformed(&of->shaper), "wire_ns", (json_int_t)of->shaper.wire_ns,
        "open_ns", (json_int_t)tt_gate_shape_open_ns(job, class, now->elapsed_ns), "overruns",
        (json_int_t)of->overruns, "waiting_bytes", (json_int_t)of->waiting_bytes, "wait",
        shape ? tt_json_summary(tt_shape_wait(shape, class)) : json_null());

    json_object_update(json, more);
    json_decref(more);
    return json;
}

json_t *tt_gate_shape_json(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                           const struct tt_shape *shape)
{
    char mode[80];
    json_t *classes = json_array();

    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        json_array_append_new(classes, class_json(job, c, now, shape));
    }
    return json_pack(
        "{s:b, s:s, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:o}",
        "final", shape != NULL, "mode", tt_gate_shape_mode(job, mode), "realtime", job->realtime,
        "rate_bps", (json_int_t)job->setup.shaper.rate_bps, "margin_ns",
        (json_int_t)job->setup.shaper.margin_ns, "elapsed_ns", (json_int_t)now->elapsed_ns,
        "cpu_ns", (json_int_t)now->cpu_ns, "classes", classes, "actual_minus_computed",
        shape ? tt_json_summary(tt_shape_lateness(shape)) : json_null(), "tap_dropped",
        (json_int_t)now->tap_dropped, "returned", (json_int_t)now->returned, "return_lost",
        (json_int_t)now->return_lost, "send_refused", (json_int_t)now->send_refused,
        "launch_refused", (json_int_t)now->launch_refused, "unknown_packets",
        (json_int_t)now->unknown, "clock_steps", (json_int_t)now->clock_steps, "log_lost",
        (json_int_t)now->log_lost, "schedules_replaced", (json_int_t)now->lists,
        "schedule_start_tai_ns",
        now->lists > 0 ? json_integer(now->list_start_tai_ns) : json_null());
}

/* What should not have been; nothing where it was not. */
static void print_faults(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                         FILE *out)
{
    const struct {
        uint64_t n;
        const char *what;
    } faults[] = {
        {now->send_refused, "frames were not taken by the interface"},
        {now->launch_refused, "frames were dropped by the kernel for their launch time"},
        {now->unknown, "packets came of a kind that cannot be cut"},
        {now->tap_dropped,
         "packets were lost before they could be read: more came than it can read"},
        {now->return_lost, "packets on the way back were lost: not taken by the device, or more "
                           "came than were read"},
        {now->clock_steps, "steps of TAI"},
        {now->log_lost, "departures are missing in the log"},
    };

    for (size_t i = 0; i < TT_COUNT_OF(faults); i++) {
        if (faults[i].n > 0) {
            fprintf(out, "%s to %s: %" PRIu64 " %s\n", job->tap, job->ifname, faults[i].n,
                    faults[i].what);
        }
    }
}

void tt_gate_shape_print_end(const struct tt_gate_shape *job, const struct tt_shape_counters *now,
                             const struct tt_shape *shape, FILE *out)
{
    static const struct tt_column columns[] = {{"ns", TT_ALIGN_LEFT}, TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;
    uint64_t payload_bytes = 0;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    tt_table_cell(&table, "%s",
                  job->setup.shaper.strict ? "handed over - decided" : "handed over - computed");
    tt_table_cells_summary(&table, tt_shape_lateness(shape));
    for (unsigned c = 0; c < job->setup.shaper.classes; c++) {
        tt_table_cell(&table, "waited, class %u", c);
        tt_table_cells_summary(&table, tt_shape_wait(shape, c));
        payload_bytes += now->classes[c].shaper.bytes;
    }
    fputc('\n', out);
    tt_table_print(&table, out);
    tt_table_done(&table);
    fprintf(out, "\n%.1f s; CPU of the real-time thread %.1f %%", (double)now->elapsed_ns / 1e9,
            100 * (double)now->cpu_ns / (double)tt_max64(1, now->elapsed_ns));
    if (payload_bytes * 8000 > (uint64_t)now->elapsed_ns) { /* 1 Mbit/s */
        fprintf(out, ", %.2f %% for each Mbit/s",
                100 * (double)now->cpu_ns / ((double)payload_bytes * 8000));
    }
    fprintf(out, "; %" PRIu64 " packets on the way back\n", now->returned);
    print_faults(job, now, out);
}
