/*
 * See midi_recorded.h.
 */
#include "cli/midi_recorded.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "report/json.h"
#include "report/plural.h"
#include "report/table.h"

void tt_midi_recorded_show(const struct tt_midi_recorded *recorded)
{
    static const struct tt_column columns[] = {
        {"port", TT_ALIGN_LEFT},  {"stamps", TT_ALIGN_LEFT},      {"bytes", TT_ALIGN_RIGHT},
        {"lost", TT_ALIGN_RIGHT}, {"times gone", TT_ALIGN_RIGHT},
    };
    uint64_t events = recorded->converted.events;
    struct tt_table table;

    printf("%" PRIu64 " %s in %s", events, tt_plural(events, "event", "events"),
           recorded->output_path);
    if (recorded->split) {
        printf(", split into %u %s", recorded->converted.files,
               tt_plural(recorded->converted.files, "file", "files"));
    }
    printf("; exact stamps in %s\n", recorded->log_path);
    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (unsigned i = 0; i < recorded->name_count; i++) {
        const struct tt_midi_port_survey *port = &recorded->survey->ports[i];

        tt_table_cell(&table, "%s", recorded->names[i]);
        tt_table_cell(&table, "%s", tt_midi_stamp_name(port->stamp));
        tt_table_cell_number(&table, (int64_t)port->bytes);
        if (port->losses > 0 && port->bytes_lost == 0) {
            tt_table_cell(&table, "some");
        } else {
            tt_table_cell_number(&table, (int64_t)port->bytes_lost);
        }
        tt_table_cell_number(&table, (int64_t)port->gone);
    }
    tt_table_print(&table, stdout);
    tt_table_done(&table);
}

void tt_midi_recorded_show_json(const struct tt_midi_recorded *recorded)
{
    json_t *ports = json_array();
    json_t *json;

    for (unsigned i = 0; i < recorded->name_count; i++) {
        const struct tt_midi_port_survey *port = &recorded->survey->ports[i];

        json_array_append_new(
            ports, json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "port",
                             tt_json_name(recorded->names[i]), "stamp",
                             tt_midi_stamp_name(port->stamp), "bytes", tt_json_u64(port->bytes),
                             "losses", tt_json_u64(port->losses), "bytes_lost_known",
                             tt_json_u64(port->bytes_lost), "times_gone", tt_json_u64(port->gone),
                             "bytes_left_out", tt_json_u64(recorded->left_out[i])));
    }
    json = json_pack("{s:b, s:o, s:o, s:I, s:o, s:o}", "final", 1, "output",
                     tt_json_name(recorded->output_path), "log", tt_json_name(recorded->log_path),
                     "files", (json_int_t)recorded->converted.files, "events",
                     tt_json_u64(recorded->converted.events), "ports", ports);
    tt_json_print_line(stdout, json);
    json_decref(json);
}
