/*
 * See streams_metrics.h.
 */
#include "cli/streams_metrics.h"

#include <string.h>

#include "base/attr.h"
#include "report/prometheus.h"

#define NAME_TEXT 96

static const char *prefix_of(const struct tt_streams_view *view)
{
    return view->streams[0].role == TT_ROLE_TALKER ? "tactus_talk" : "tactus_listen";
}

static size_t labels_of(const json_t *stream, struct tt_prom_label *ret_labels)
{
    ret_labels[0] = (struct tt_prom_label){"interface",
                                           json_string_value(json_object_get(stream, "interface"))};
    ret_labels[1] = (struct tt_prom_label){"stream_id",
                                           json_string_value(json_object_get(stream, "stream_id"))};
    return 2;
}

static const struct {
    const char *key;
    const char *help;
} helps[] = {
    {"pdus_sent", "PDUs handed to the kernel."},
    {"pdus_late", "PDUs that were sent more than a PDU interval after they were due, or arrived "
                  "after their presentation time."},
    {"pdus_dropped", "PDUs that could not meet their presentation time any more, and were not "
                     "sent."},
    {"pdus_refused", "PDUs that the kernel refused or dropped (talk), or that cannot be read "
                     "(listen, by reason)."},
    {"frames_sent", "Frames in the PDUs that were sent."},
    {"frames_padded", "Frames of silence that filled the last PDU or stood in for missing ones."},
    {"xruns", "Times that the buffer ran empty (talk) or full (listen)."},
    {"clock_steps", "Steps of this machine's TAI of more than a millisecond."},
    {"launch_missed", "PDUs that the kernel dropped because their launch time had passed."},
    {"launch_invalid", "PDUs whose launch time the kernel would not take."},
    {"launch_unkept", "PDUs that left the kernel before their launch time."},
    {"underruns", "Times that the program was too slow and silence was sent instead."},
    {"frames_inserted", "Frames that the program's are later for those underruns."},
    {"packets", "Packets taken from the link."},
    {"receive_drops", "Packets that this machine lost before they could be read."},
    {"pdus", "Valid PDUs of the stream and its talker."},
    {"pdus_placed", "PDUs whose frames were in time and in place."},
    {"frames_lost", "Frames presented as silence: missing in the sequence."},
    {"frames_late", "Frames presented as silence: their PDU came after their presentation time."},
    {"frames_absent", "Frames presented as silence: there was no talker."},
    {"pdus_duplicate", "PDUs that came twice."},
    {"pdus_reordered", "PDUs that came behind a later one and were put in place."},
    {"pdus_unplaced", "PDUs whose sequence and stamp disagreed."},
    {"pdus_early", "PDUs too far ahead of their presentation time to be kept."},
    {"pdus_unstamped", "PDUs without a valid stamp where one was due."},
    {"pdus_uncertain", "PDUs whose stamp is uncertain (tu)."},
    {"stamps_off", "Stamps off the timeline by more than ptime_tolerance."},
    {"resyncs", "Times that the timeline was placed anew."},
    {"restarts", "Times that the talker's media clock restarted (mr)."},
    {"absences", "Times that the talker went away."},
    {"pdus_other_timescale", "PDUs stamped in another time scale, such as UTC."},
    {"pdus_other_talker", "PDUs with this stream ID from another address."},
    {"pdus_other_format", "PDUs whose format, rate or channels do not match."},
};

static const char *help_of(const char *key)
{
    for (size_t i = 0; i < TT_COUNT_OF(helps); i++) {
        if (strcmp(key, helps[i].key) == 0) {
            return helps[i].help;
        }
    }
    return key;
}

/* A counter of one stream: a number, or numbers by reason. */
static void write_samples(const char *name, const json_t *stream, json_t *value, FILE *out)
{
    struct tt_prom_label labels[3];
    size_t n = labels_of(stream, labels);
    const char *reason;
    json_t *count;

    if (json_is_integer(value)) {
        tt_prom_count(out, name, labels, n, (uint64_t)json_integer_value(value));
    }
    json_object_foreach(value, reason, count)
    {
        labels[n] = (struct tt_prom_label){"reason", reason};
        tt_prom_count(out, name, labels, n + 1, (uint64_t)json_integer_value(count));
    }
}

/* One counter by its name, of all streams. */
static void write_counter(const struct tt_streams_view *view, const json_t *streams,
                          const char *key, FILE *out)
{
    char name[NAME_TEXT];
    const json_t *stream;
    size_t i;

    snprintf(name, sizeof(name), "%s_%s_total", prefix_of(view), key);
    tt_prom_family(out, name, "counter", help_of(key));
    json_array_foreach(streams, i, stream)
    {
        write_samples(name, stream, json_object_get(json_object_get(stream, "counters"), key), out);
    }
}

static void write_counters(const struct tt_streams_view *view, const json_t *streams, FILE *out)
{
    json_t *counters = json_object_get(json_array_get(streams, 0), "counters");
    const char *key;
    json_t *value;

    json_object_foreach(counters, key, value)
    {
        if (!json_is_boolean(value) && strcmp(key, "drift_ppb") != 0) {
            write_counter(view, streams, key, out);
        }
    }
}

static void write_clocks(const json_t *streams, FILE *out)
{
    static const char name[] = "tactus_listen_talker_clock_ratio";
    struct tt_prom_label labels[2];
    const json_t *stream;
    size_t i;

    tt_prom_family(out, name, "gauge",
                   "How fast the talker's clock runs by this machine's; 1: as "
                   "fast.");
    json_array_foreach(streams, i, stream)
    {
        const json_t *counters = json_object_get(stream, "counters");
        json_int_t ppb = json_integer_value(json_object_get(counters, "drift_ppb"));
        size_t n = labels_of(stream, labels);

        tt_prom_value(out, name, labels, n, 1 + (double)ppb / 1e9);
    }
}

static void write_lateness(const struct tt_streams_view *view, const json_t *streams, FILE *out)
{
    const struct tt_prom_bounds bounds = {tt_prom_signed_ns, tt_prom_signed_count};
    struct tt_prom_label labels[2];
    char name[NAME_TEXT];

    snprintf(name, sizeof(name), "%s_lateness_seconds", prefix_of(view));
    tt_prom_family(out, name, "histogram",
                   view->streams[0].role == TT_ROLE_TALKER
                       ? "Departure after the launch time that was due."
                       : "Arrival after the presentation time; negative is in time.");
    for (size_t i = 0; i < view->count; i++) {
        const struct tt_hist *hist = tt_stream_lateness_hold(&view->streams[i]);

        if (hist) {
            size_t n = labels_of(json_array_get(streams, i), labels);

            tt_prom_histogram(out, name, labels, n, &bounds, hist);
        }
        tt_stream_lateness_release(&view->streams[i]);
    }
}

void tt_streams_metrics(const struct tt_streams_view *view, struct tt_metrics *metrics)
{
    FILE *out = tt_metrics_begin(metrics);
    json_t *json = out ? tt_streams_json(view) : NULL;
    const json_t *streams = json_object_get(json, "streams");

    if (!out) {
        return;
    }
    if (json_array_size(streams) == view->count && view->count > 0) {
        write_counters(view, streams, out);
        if (view->streams[0].role == TT_ROLE_LISTENER) {
            write_clocks(streams, out);
        }
        write_lateness(view, streams, out);
    }
    json_decref(json);
    tt_metrics_end(metrics);
}
