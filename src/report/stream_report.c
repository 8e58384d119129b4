/*
 * See stream_report.h.
 */
#include "report/stream_report.h"

#include <errno.h>
#include <stddef.h>

#include "report/json.h"
#include "report/note.h"

/* A uint64_t field of a counters struct. */
struct counter_field {
    const char *name;
    size_t offset;
};

#define TALK(field)                                                                                \
    {                                                                                              \
#field, offsetof(struct tt_talk_counters, field)                                           \
    }
#define STREAM(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct tt_listen_counters, stream.field)                                  \
    }
#define LISTEN(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct tt_listen_counters, field)                                         \
    }

static const struct counter_field talk_fields[] = {
    TALK(pdus_sent),     TALK(pdus_late),      TALK(pdus_dropped), TALK(pdus_refused),
    TALK(frames_sent),   TALK(frames_padded),  TALK(xruns),        TALK(clock_steps),
    TALK(launch_missed), TALK(launch_invalid),
};

static const struct counter_field listen_fields[] = {
    STREAM(pdus),
    STREAM(pdus_placed),
    STREAM(frames_lost),
    STREAM(frames_late),
    STREAM(frames_absent),
    STREAM(pdus_late),
    STREAM(pdus_duplicate),
    STREAM(pdus_reordered),
    STREAM(pdus_unplaced),
    STREAM(pdus_early),
    STREAM(pdus_unstamped),
    STREAM(pdus_uncertain),
    STREAM(stamps_off),
    STREAM(resyncs),
    STREAM(restarts),
    STREAM(pdus_other_talker),
    STREAM(pdus_other_format),
    LISTEN(packets),
    LISTEN(receive_drops),
    LISTEN(xruns),
    LISTEN(clock_steps),
};

static json_t *report_counters(const void *counters, const struct counter_field *fields, size_t n)
{
    json_t *object = json_object();

    for (size_t i = 0; i < n; i++) {
        const uint64_t *value = (const void *)((const char *)counters + fields[i].offset);

        json_object_set_new(object, fields[i].name, tt_json_u64(*value));
    }
    return object;
}

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
static int report_write(const char *path, const char *role, const struct tt_stream_config *config,
                        json_t *counters, json_t *rest)
{
    json_t *report =
        json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "role", role, "stream_id",
                  tt_json_stream_id(config->stream_id), "interface", config->ifname, "format",
                  report_format(config->format), "rate_hz", tt_json_known(config->rate_hz, 1),
                  "channels", tt_json_known(config->channels, 1), "frames_per_pdu",
                  tt_json_known(config->frames_per_pdu, 1), "counters", counters);
    int error = -ENOMEM;

    if (report && rest && json_object_update(report, rest) == 0) {
        error = tt_json_write_file(path, report);
    }
    json_decref(report);
    json_decref(rest);
    return error;
}

static json_t *report_rest(const struct tt_hist *lateness, const struct tt_event_log *log,
                           unsigned notes)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "lateness_ns", tt_json_summary(lateness), "events",
                     report_events(log), "events_unkept", tt_json_u64(log ? log->unkept : 0),
                     "notes", report_notes(notes));
}

int tt_stream_report_talk(const char *path, const struct tt_stream_config *config,
                          const struct tt_talk_counters *counters, const struct tt_hist *lateness,
                          const struct tt_event_log *log, unsigned notes)
{
    return report_write(path, "talker", config,
                        report_counters(counters, talk_fields, TT_COUNT_OF(talk_fields)),
                        report_rest(lateness, log, notes));
}

int tt_stream_report_listen(const char *path, const struct tt_stream_config *config,
                            const struct tt_listen_counters *counters,
                            const struct tt_hist *lateness, const struct tt_event_log *log,
                            unsigned notes)
{
    json_t *object = report_counters(counters, listen_fields, TT_COUNT_OF(listen_fields));

    json_object_set_new(object, "pdus_refused", tt_json_refused(counters->stream.pdus_refused));
    json_object_set_new(object, "drift_ppb", json_integer((json_int_t)counters->drift_ppb));
    json_object_set_new(object, "talker_present", json_boolean(counters->talker_present));
    return report_write(path, "listener", config, object, report_rest(lateness, log, notes));
}
