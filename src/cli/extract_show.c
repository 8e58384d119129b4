/*
 * See extract_show.h.
 *
 * JSON: {"source", "output", "stream_id", "format", "rate_hz", "channels", "frames", "timescale",
 * "frames_missing", "missing": [{"kind", "frame", "frames"}], "events_unkept", "counters": {…},
 * "error"}.
 */
#include "cli/extract_show.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "audio/eth.h"
#include "report/json.h"
#include "report/line.h"
#include "report/plural.h"

#define LINES_MAX 20 /* missing runs that are listed; JSON has them all */

int64_t tt_extract_missing_frames(const struct tt_extract *extract)
{
    struct tt_event event;
    int64_t frames = 0;

    for (size_t i = 0; i < extract->log.n; i++) {
        frames += tt_extract_missing(extract, i, &event) ? event.frames : 0;
    }
    return frames;
}

static const char *scale_text(const struct tt_extract *extract)
{
    return extract->utc ? "UTC" : "TAI";
}

static const char *frames_word(int64_t frames)
{
    return tt_plural((uint64_t)frames, "frame", "frames");
}

void tt_extract_print(const struct tt_extract_view *view, FILE *out)
{
    const struct tt_extract *extract = view->extract;
    const struct tt_aaf *shape = view->shape;
    const struct tt_listener_counters *counters = &extract->listener->counters;
    int64_t frames = extract->end - extract->first;
    int64_t missing = tt_extract_missing_frames(extract);
    struct tt_event event;
    char id[TT_STREAM_ID_TEXT];
    int runs = 0;

    tt_line_print(out, "%s: %" PRId64 " %s (%.3f s) of %s, %s, %u Hz, %u %s", view->output, frames,
                  frames_word(frames), (double)frames / shape->rate_hz,
                  tt_stream_id_format(shape->stream_id, id), tt_aaf_format_name(shape->format),
                  shape->rate_hz, shape->channels,
                  tt_plural(shape->channels, "channel", "channels"));
    fprintf(out, "Stamps are taken as %s (the capture's clock as UTC, TAI = UTC + 37 s).\n",
            scale_text(extract));
    fprintf(out,
            "%" PRIu64 " %s, %" PRIu64 " placed, %" PRIu64 " duplicate, %" PRIu64
            " put back in order, %" PRIu64 " %s placed anew.\n",
            counters->pdus, tt_plural(counters->pdus, "PDU", "PDUs"), counters->pdus_placed,
            counters->pdus_duplicate, counters->pdus_reordered, counters->resyncs,
            tt_plural(counters->resyncs, "time", "times"));
    if (counters->resyncs > 0) {
        fputs("Where it was placed anew the frames do not continue: the talker restarted, or its "
              "stamps do not advance with its audio.\n",
              out);
    }
    fprintf(out, "%" PRId64 " %s missing%s\n", missing,
            tt_plural((uint64_t)missing, "frame is", "frames are"),
            missing > 0 ? ", silence in the output:" : ".");
    for (size_t i = 0; i < extract->log.n; i++) {
        if (tt_extract_missing(extract, i, &event) && ++runs <= LINES_MAX) {
            fprintf(out, "  frame %" PRId64 ": %" PRId64 " %s %s\n", event.frame, event.frames,
                    frames_word(event.frames), tt_event_kind_name(event.kind));
        }
    }
    if (runs > LINES_MAX || extract->log.unkept > 0) {
        fprintf(out, "  (not all are listed; --json lists the first %d)\n", TT_EXTRACT_EVENTS);
    }
}

int tt_extract_print_json(const struct tt_extract_view *view, FILE *out)
{
    const struct tt_extract *extract = view->extract;
    const struct tt_aaf *shape = view->shape;
    struct tt_listener_counters counters = tt_listener_counters(extract->listener);
    json_t *counted = tt_json_listener_counters(&counters);
    json_t *missing = json_array();
    struct tt_event event;
    json_t *json;
    int error;

    /* Those of the device, which ran before and after the stream; `missing` has the output's. */
    json_object_del(counted, "frames_lost");
    json_object_del(counted, "frames_late");
    json_object_del(counted, "frames_absent");
    for (size_t i = 0; i < extract->log.n; i++) {
        if (tt_extract_missing(extract, i, &event)) {
            json_array_append_new(missing, json_pack("{s:s, s:I, s:I}", "kind",
                                                     tt_event_kind_name(event.kind), "frame",
                                                     (json_int_t)event.frame, "frames",
                                                     (json_int_t)event.frames));
        }
    }
    json = json_pack("{s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:o}", "source",
                     tt_json_name(view->source), "output", tt_json_name(view->output), "stream_id",
                     tt_json_stream_id(shape->stream_id), "format",
                     tt_aaf_format_name(shape->format), "rate_hz", (json_int_t)shape->rate_hz,
                     "channels", (json_int_t)shape->channels, "frames",
                     (json_int_t)(extract->end - extract->first), "timescale", scale_text(extract),
                     "frames_missing", (json_int_t)tt_extract_missing_frames(extract), "missing",
                     missing, "events_unkept", tt_json_u64(extract->log.unkept), "counters",
                     counted, "error", tt_json_name(view->error));
    error = json ? tt_json_print_line(out, json) : -ENOMEM;
    json_decref(json);
    return error;
}
