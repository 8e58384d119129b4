/*
 * See streams_metrics.h.
 */
#include "cli/streams_metrics.h"

#include <string.h>

#include "report/prometheus.h"

#define NAME_TEXT 96

static const char *prefix_of(const struct tt_streams_view *view)
{
    return view->streams[0].role == TT_ROLE_TALKER ? "tactus_talk" : "tactus_listen";
}

static size_t labels_of(const json_t *stream, struct tt_prom_label ret_labels[2])
{
    ret_labels[0] = (struct tt_prom_label){"interface",
                                           json_string_value(json_object_get(stream, "interface"))};
    ret_labels[1] = (struct tt_prom_label){"stream_id",
                                           json_string_value(json_object_get(stream, "stream_id"))};
    return 2;
}

/* One counter by its name, of all streams. */
static void write_counter(const struct tt_streams_view *view, const json_t *streams,
                          const char *key, FILE *out)
{
    struct tt_prom_label labels[2];
    char name[NAME_TEXT];
    char help[NAME_TEXT];
    const json_t *stream;
    size_t i;

    snprintf(name, sizeof(name), "%s_%s_total", prefix_of(view), key);
    snprintf(help, sizeof(help), "The counter %s of the stream.", key);
    tt_prom_family(out, name, "counter", help);
    json_array_foreach(streams, i, stream)
    {
        const json_t *counters = json_object_get(stream, "counters");
        size_t n = labels_of(stream, labels);

        tt_prom_count(out, name, labels, n,
                      (uint64_t)json_integer_value(json_object_get(counters, key)));
    }
}

static void write_counters(const struct tt_streams_view *view, const json_t *streams, FILE *out)
{
    json_t *counters = json_object_get(json_array_get(streams, 0), "counters");
    const char *key;
    json_t *value;

    json_object_foreach(counters, key, value)
    {
        if (json_is_integer(value) && strcmp(key, "drift_ppb") != 0) {
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
        const struct tt_hist *hist = tt_stream_engine_lateness(&view->streams[i].engine);

        if (hist) {
            size_t n = labels_of(json_array_get(streams, i), labels);

            tt_prom_histogram(out, name, labels, n, &bounds, hist);
        }
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
