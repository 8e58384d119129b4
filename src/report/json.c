/*
 * See json.h.
 */
#include "report/json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audio/eth.h"
#include "report/whole_file.h"

static json_t *json_rounded(double ns)
{
    return json_real(round(ns * 1000) / 1000);
}

json_t *tt_json_summary(const struct tt_hist *hist)
{
    struct tt_summary s;

    if (!hist || hist->n == 0) {
        return json_pack("{s:i, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "n", 0, "mean_ns",
                         "stdev_ns", "min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns",
                         "range_ns");
    }
    tt_hist_summarize(hist, &s);
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "n", tt_json_u64(s.n),
                     "mean_ns", json_rounded(s.mean), "stdev_ns", json_rounded(s.stdev), "min_ns",
                     (json_int_t)s.min, "p50_ns", (json_int_t)s.p50, "p99_ns", (json_int_t)s.p99,
                     "p99_9_ns", (json_int_t)s.p999, "max_ns", (json_int_t)s.max, "range_ns",
                     (json_int_t)(s.max - s.min));
}

json_t *tt_json_u64(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *tt_json_known(int64_t value, int64_t least)
{
    return value < least ? json_null() : json_integer((json_int_t)value);
}

json_t *tt_json_name(const char *name)
{
    json_t *json = name ? json_string(name) : json_null();
    size_t bytes = json ? 0 : 4 * strlen(name) + 1;
    char *text = json ? NULL : malloc(bytes);

    if (!text) {
        return json;
    }
    for (size_t at = 0; *name; name++) {
        at += (size_t)snprintf(text + at, bytes - at, (*name & 0x80) ? "\\x%02X" : "%c",
                               (unsigned char)*name);
    }
    json = json_string(text);
    free(text);
    return json;
}

json_t *tt_json_stream_id(uint64_t stream_id)
{
    char text[TT_STREAM_ID_TEXT];

    return json_string(tt_stream_id_format(stream_id, text));
}

json_t *tt_json_refused(const uint64_t refused[TT_AAF_REASONS])
{
    static const char *const names[TT_AAF_REASONS] = {
        [TT_AAF_OK] = "ok",
        [TT_AAF_SHORT] = "short",
        [TT_AAF_SUBTYPE] = "subtype",
        [TT_AAF_VERSION] = "version",
        [TT_AAF_NO_STREAM] = "no_stream",
        [TT_AAF_FORMAT] = "format",
        [TT_AAF_RATE] = "rate",
        [TT_AAF_CHANNELS] = "channels",
        [TT_AAF_BIT_DEPTH] = "bit_depth",
        [TT_AAF_TRUNCATED] = "truncated",
        [TT_AAF_EMPTY] = "empty",
        [TT_AAF_RAGGED] = "ragged",
    };
    json_t *object = json_object();

    for (int i = TT_AAF_OK + 1; i < TT_AAF_REASONS; i++) {
        json_object_set_new(object, names[i], tt_json_u64(refused[i]));
    }
    return object;
}

json_t *tt_json_fields(const void *counters, const struct tt_json_field *fields, size_t n)
{
    json_t *object = json_object();

    for (size_t i = 0; i < n; i++) {
        const uint64_t *value = (const void *)((const char *)counters + fields[i].offset);

        json_object_set_new(object, fields[i].name, tt_json_u64(*value));
    }
    return object;
}

#define LISTENER_FIELD(field) TT_JSON_FIELD(tt_listener_counters, field)

json_t *tt_json_listener_counters(const struct tt_listener_counters *counters)
{
    static const struct tt_json_field fields[] = {
        LISTENER_FIELD(pdus),
        LISTENER_FIELD(pdus_placed),
        LISTENER_FIELD(frames_lost),
        LISTENER_FIELD(frames_late),
        LISTENER_FIELD(frames_absent),
        LISTENER_FIELD(pdus_late),
        LISTENER_FIELD(pdus_duplicate),
        LISTENER_FIELD(pdus_reordered),
        LISTENER_FIELD(pdus_unplaced),
        LISTENER_FIELD(pdus_early),
        LISTENER_FIELD(pdus_unstamped),
        LISTENER_FIELD(pdus_uncertain),
        LISTENER_FIELD(stamps_off),
        LISTENER_FIELD(resyncs),
        LISTENER_FIELD(restarts),
        LISTENER_FIELD(absences),
        LISTENER_FIELD(pdus_other_timescale),
        LISTENER_FIELD(pdus_other_talker),
        LISTENER_FIELD(pdus_other_format),
    };
    json_t *object = tt_json_fields(counters, fields, TT_COUNT_OF(fields));

    static_assert(TT_COUNT_OF(fields) + TT_AAF_REASONS == sizeof(*counters) / sizeof(uint64_t),
                  "a counter is missing");
    json_object_set_new(object, "pdus_refused", tt_json_refused(counters->pdus_refused));
    return object;
}

int tt_json_print_line(FILE *out, const json_t *value)
{
    if (json_dumpf(value, out, TT_JSON_LINE) != 0 || fputc('\n', out) == EOF || fflush(out) != 0) {
        return errno ? -errno : -EIO;
    }
    return 0;
}

int tt_json_write_file(const char *path, const json_t *value)
{
    struct tt_whole_file file;
    int error = value ? tt_whole_file_open(&file, path) : -ENOMEM;

    if (error) {
        return error;
    }
    if (json_dumpf(value, file.out, TT_JSON_FILE) != 0 || fputc('\n', file.out) == EOF) {
        tt_whole_file_drop(&file);
        return -EIO;
    }
    return tt_whole_file_close(&file);
}
