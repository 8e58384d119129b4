/*
 * See stream_report.h.
 */
#include "report/stream_report.h"

#include <assert.h>
#include <errno.h>

#include "report/json.h"
#include "report/note.h"

static const struct tt_json_field talk_fields[] = {
    TT_JSON_FIELD(tt_talk_counters, pdus_sent),
    TT_JSON_FIELD(tt_talk_counters, pdus_late),
    TT_JSON_FIELD(tt_talk_counters, pdus_dropped),
    TT_JSON_FIELD(tt_talk_counters, pdus_refused),
    TT_JSON_FIELD(tt_talk_counters, frames_sent),
    TT_JSON_FIELD(tt_talk_counters, frames_padded),
    TT_JSON_FIELD(tt_talk_counters, xruns),
    TT_JSON_FIELD(tt_talk_counters, clock_steps),
    TT_JSON_FIELD(tt_talk_counters, launch_missed),
    TT_JSON_FIELD(tt_talk_counters, launch_invalid),
    TT_JSON_FIELD(tt_talk_counters, launch_unkept),
    TT_JSON_FIELD(tt_talk_counters, underruns),
    TT_JSON_FIELD(tt_talk_counters, frames_inserted),
};

/* The worst lateness is in the summary. */
static_assert(TT_COUNT_OF(talk_fields) + 1 == sizeof(struct tt_talk_counters) / sizeof(uint64_t),
              "a counter is missing");

static const struct tt_json_field listen_fields[] = {
    TT_JSON_FIELD(tt_listen_counters, packets),
    TT_JSON_FIELD(tt_listen_counters, receive_drops),
    TT_JSON_FIELD(tt_listen_counters, xruns),
    TT_JSON_FIELD(tt_listen_counters, clock_steps),
};

static json_t *report_format(enum tt_aaf_format format)
{
    return format ? json_string(tt_aaf_format_name(format)) : json_null();
}

static json_t *report_events(const struct tt_event_log *log)
{
    json_t *events = json_array();

    for (size_t i = 0; log && i < log->n; i++) {
        const struct tt_event *e = &log->events[i];

        json_array_append_new(
            events, json_pack("{s:s, s:I, s:I, s:I}", "kind", tt_event_kind_name(e->kind), "frame",
                              (json_int_t)e->frame, "frames", (json_int_t)e->frames, "time_tai_ns",
                              (json_int_t)e->time_tai_ns));
    }
    return events;
}

static json_t *report_notes(unsigned notes)
{
    json_t *lines = json_array();
    const char *text;

    while ((text = tt_note_next(&notes))) {
        json_array_append_new(lines, json_string(text));
    }
    return lines;
}

/* Takes over `counters`. */
static json_t *stream_json(const char *role, const struct tt_stream_config *config,
                           json_t *counters, const struct tt_hist *lateness, unsigned notes)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "role", role,
                     "stream_id", tt_json_stream_id(config->stream_id), "interface",
                     tt_json_name(config->ifname), "format", report_format(config->format),
                     "rate_hz", tt_json_known(config->rate_hz, 1), "channels",
                     tt_json_known(config->channels, 1), "frames_per_pdu",
                     tt_json_known(config->frames_per_pdu, 1), "counters", counters, "lateness_ns",
                     tt_json_summary(lateness), "notes", report_notes(notes));
}

json_t *tt_stream_json_talk(const struct tt_stream_config *config,
                            const struct tt_talk_counters *counters, const struct tt_hist *lateness,
                            unsigned notes)
{
    return stream_json("talker", config,
                       tt_json_fields(counters, talk_fields, TT_COUNT_OF(talk_fields)), lateness,
                       notes);
}

json_t *tt_stream_json_listen(const struct tt_stream_config *config,
                              const struct tt_listen_counters *counters,
                              const struct tt_hist *lateness, unsigned notes)
{
    json_t *object = tt_json_listener_counters(&counters->stream);
    json_t *engine = tt_json_fields(counters, listen_fields, TT_COUNT_OF(listen_fields));

    json_object_update(object, engine);
    json_decref(engine);
    json_object_set_new(object, "drift_ppb", json_integer((json_int_t)counters->drift_ppb));
    json_object_set_new(object, "talker_present", json_boolean(counters->talker_present));
    return stream_json("listener", config, object, lateness, notes);
}

/* Takes over `report`. */
static int report_write(const char *path, json_t *report, const struct tt_event_log *log)
{
    int error = -ENOMEM;

    if (report && json_object_set_new(report, "events", report_events(log)) == 0 &&
        json_object_set_new(report, "events_unkept", tt_json_u64(log ? log->unkept : 0)) == 0) {
        error = tt_json_write_file(path, report);
    }
    json_decref(report);
    return error;
}

int tt_stream_report_talk(const char *path, const struct tt_stream_config *config,
                          const struct tt_talk_counters *counters, const struct tt_hist *lateness,
                          const struct tt_event_log *log, unsigned notes)
{
    return report_write(path, tt_stream_json_talk(config, counters, lateness, notes), log);
}

int tt_stream_report_listen(const char *path, const struct tt_stream_config *config,
                            const struct tt_listen_counters *counters,
                            const struct tt_hist *lateness, const struct tt_event_log *log,
                            unsigned notes)
{
    return report_write(path, tt_stream_json_listen(config, counters, lateness, notes), log);
}
