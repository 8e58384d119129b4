/*
 * See card_show.h.
 */
#include "cli/card_show.h"

#include <inttypes.h>

#include "base/ns.h"
#include "report/json.h"
#include "report/table.h"

/* Before both clocks have been seen nothing is known of them. */
static bool is_known(const struct tt_bridge_counters *counters)
{
    return counters->state != TT_SERVO_WAITING;
}

void tt_card_print_line(const struct tt_bridge_counters *counters, FILE *out)
{
    fprintf(out, ", card %s", tt_servo_state_name(counters->state));
    if (is_known(counters)) {
        fprintf(out, ": level %.2f ms, ratio %+.3f ppm (card %+.3f, network %+.3f)",
                (double)counters->level_ns / 1e6, (double)counters->ratio_ppb / 1e3,
                (double)counters->card_ppb / 1e3, (double)counters->network_ppb / 1e3);
    }
    if (counters->slips + counters->holdovers > 0) {
        fprintf(out, ", slips %" PRIu64 ", holdovers %" PRIu64, counters->slips,
                counters->holdovers);
    }
}

static void add_cells(struct tt_table *table, const struct tt_bridge_counters *counters)
{
    const double figures[] = {
        (double)counters->level_ns / 1e6,    (double)counters->target_ns / 1e6,
        (double)counters->ratio_ppb / 1e3,   (double)counters->card_ppb / 1e3,
        (double)counters->network_ppb / 1e3,
    };

    tt_table_cell(table, "%s", tt_servo_state_name(counters->state));
    for (size_t i = 0; i < TT_COUNT_OF(figures); i++) {
        if (is_known(counters)) {
            tt_table_cell(table, "%.3f", figures[i]);
        } else {
            tt_table_cell(table, "-");
        }
    }
    tt_table_cell_number(table, (int64_t)counters->xruns);
    tt_table_cell_number(table, (int64_t)counters->slips);
    tt_table_cell_number(table, (int64_t)counters->holdovers);
    tt_table_cell(table, "%.1f", (double)counters->holdover_ns / 1e9);
}

void tt_card_print_table(const struct tt_streams_view *view, FILE *out)
{
    static const struct tt_column columns[] = {
        {"#", TT_ALIGN_RIGHT},          {"card", TT_ALIGN_LEFT},
        {"state", TT_ALIGN_LEFT},       {"level ms", TT_ALIGN_RIGHT},
        {"to hold ms", TT_ALIGN_RIGHT}, {"ratio ppm", TT_ALIGN_RIGHT},
        {"card ppm", TT_ALIGN_RIGHT},   {"network ppm", TT_ALIGN_RIGHT},
        {"xruns", TT_ALIGN_RIGHT},      {"slips", TT_ALIGN_RIGHT},
        {"holdovers", TT_ALIGN_RIGHT},  {"holdover s", TT_ALIGN_RIGHT},
    };
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < view->count; i++) {
        if (view->streams[i].bridge) {
            tt_table_cell(&table, "%zu", i + 1);
            tt_table_cell(&table, "%s", view->streams[i].job->end);
            add_cells(&table, &view->statuses[i].card);
        }
    }
    if (table.cell_count > 0) {
        fprintf(out, "\nBetween the card's clock and the stream's\n");
        tt_table_print(&table, out);
    }
    tt_table_done(&table);
}

static json_t *known(const struct tt_bridge_counters *counters, int64_t value)
{
    return is_known(counters) ? json_integer((json_int_t)value) : json_null();
}

json_t *tt_card_json(const struct tt_bridge_counters *counters)
{
    return json_pack(
        "{s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "state",
        tt_servo_state_name(counters->state), "level_ns", known(counters, counters->level_ns),
        "target_ns", (json_int_t)counters->target_ns, "buffer_frames",
        (json_int_t)counters->buffer_frames, "ratio_ppb", known(counters, counters->ratio_ppb),
        "card_ppb", known(counters, counters->card_ppb), "network_ppb",
        known(counters, counters->network_ppb), "frames_in", tt_json_u64(counters->frames_in),
        "xruns", tt_json_u64(counters->xruns), "slips", tt_json_u64(counters->slips), "holdovers",
        tt_json_u64(counters->holdovers), "holdover_ns", (json_int_t)counters->holdover_ns,
        "clock_steps", tt_json_u64(counters->clock_steps));
}
