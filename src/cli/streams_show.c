/*
 * See streams_show.h.
 */
#include "cli/streams_show.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "audio/eth.h"
#include "base/ns.h"
#include "cli/card_show.h"
#include "report/json.h"
#include "report/line.h"
#include "report/loss_line.h"
#include "report/note.h"
#include "report/plural.h"
#include "report/stream_report.h"
#include "report/table.h"

#define LEVELS_SHOWN 8
#define TIME_TEXT    32
#define LEVELS_TEXT  128

static bool is_talker(const struct tt_stream *stream)
{
    return stream->role == TT_ROLE_TALKER;
}

/* "0:01:07.3" */
static const char *time_text(int64_t ns, char ret_text[TIME_TEXT])
{
    int64_t tenths = ns / (TT_NS_PER_S / 10);

    snprintf(ret_text, TIME_TEXT, "%" PRId64 ":%02d:%02d.%d", tenths / 36000,
             (int)(tenths / 600 % 60), (int)(tenths / 10 % 60), (int)(tenths % 10));
    return ret_text;
}

static const char *levels_text(const float *peaks, unsigned channels, char ret_text[LEVELS_TEXT])
{
    size_t at = 0;

    ret_text[0] = 0;

    for (unsigned c = 0; c < channels && c < LEVELS_SHOWN; c++) {
        float peak = peaks[c];

        at += (size_t)(peak > 0 ? snprintf(ret_text + at, LEVELS_TEXT - at, " %.1f",
                                           20 * log10((double)peak))
                                : snprintf(ret_text + at, LEVELS_TEXT - at, " -inf"));
    }
    snprintf(ret_text + at, LEVELS_TEXT - at, "%s", channels > LEVELS_SHOWN ? " ..." : "");
    return ret_text;
}

/* The least time that a PDU had left before its presentation; INT64_MIN: not known. */
static int64_t margin_ns(const struct tt_stream *stream, const struct tt_stream_status *status)
{
    if (is_talker(stream)) {
        return status->talk.pdus_sent > 0 ? status->config.mtt_ns - status->talk.lateness_max_ns
                                          : INT64_MIN;
    }
    return status->listen.stream.pdus > 0 ? -status->listen.lateness_max_ns : INT64_MIN;
}

static uint64_t lost(const struct tt_stream *stream, const struct tt_stream_status *status)
{
    return is_talker(stream)
               ? status->talk.pdus_dropped + status->talk.pdus_refused
               : status->listen.stream.frames_lost + status->listen.stream.frames_late;
}

/* Of the source or sink, whether that is a card or not. */
static uint64_t xruns_of(const struct tt_stream_status *status)
{
    return status->xruns + status->card.xruns;
}

static bool has_sent(const struct tt_stream_status *status)
{
    return status->talk.pdus_sent + status->talk.pdus_dropped + status->talk.pdus_refused > 0;
}

static const char *state_text(const struct tt_stream *stream, const struct tt_stream_status *status)
{
    switch (status->state) {
    case TT_STREAM_WAITING:
        return "waiting for its first packet";
    case TT_STREAM_FILLING:
        return is_talker(stream) ? "waiting for its source" : "starting";
    case TT_STREAM_DRAINING:
        return "ending";
    case TT_STREAM_ENDED:
        return "ended";
    case TT_STREAM_RUNNING:
        break;
    }
    if (status->without_clock) {
        return "waiting for its clock";
    }
    if (is_talker(stream)) {
        return status->starved ? "silent: its source gives nothing" : "on air";
    }
    return status->listen.talker_present ? "on air" : "no talker";
}

static void print_line(const struct tt_stream *stream, const struct tt_stream_status *status,
                       FILE *out)
{
    char id[TT_STREAM_ID_TEXT];
    char time[TIME_TEXT];
    char levels[LEVELS_TEXT];
    uint32_t rate_hz = status->config.rate_hz;
    int64_t margin = margin_ns(stream, status);

    fprintf(out, "%s %s %s", tt_stream_id_format(status->config.stream_id, id),
            time_text(rate_hz ? tt_frames_to_ns(status->frames, rate_hz) : 0, time),
            state_text(stream, status));
    if (status->state != TT_STREAM_WAITING) {
        fprintf(out, ", peak%s dBFS, lost %" PRIu64 " %s, xruns %" PRIu64,
                levels_text(status->peaks, status->config.channels, levels), lost(stream, status),
                is_talker(stream) ? "PDUs" : "frames", xruns_of(status));
    }
    if (margin > INT64_MIN) {
        fprintf(out, ", margin %.3f ms", (double)margin / 1e6);
    }
    if (stream->bridge) {
        tt_card_print_line(&status->card, out);
    }
    fputc('\n', out);
}

static void print_sum(const struct tt_streams_view *view, size_t from, FILE *out)
{
    int64_t margin = INT64_MAX;
    uint64_t lost_sum = 0;
    uint64_t xruns = 0;

    for (size_t i = from; i < view->count; i++) {
        int64_t ns = margin_ns(&view->streams[i], &view->statuses[i]);

        margin = ns > INT64_MIN && ns < margin ? ns : margin;
        lost_sum += lost(&view->streams[i], &view->statuses[i]);
        xruns += xruns_of(&view->statuses[i]);
    }
    fprintf(out, "and %zu more: lost %" PRIu64 " %s, xruns %" PRIu64, view->count - from, lost_sum,
            is_talker(view->streams) ? "PDUs" : "frames", xruns);
    if (margin < INT64_MAX) {
        fprintf(out, ", margin %.3f ms", (double)margin / 1e6);
    }
    fputc('\n', out);
}

int tt_streams_print_lines(const struct tt_streams_view *view, FILE *out)
{
    size_t lines = view->count < TT_STREAMS_LINES ? view->count : TT_STREAMS_LINES;

    for (size_t i = 0; i < lines; i++) {
        print_line(&view->streams[i], &view->statuses[i], out);
    }
    if (lines < view->count) {
        print_sum(view, lines, out);
        lines++;
    }
    lines += (size_t)tt_stream_clock_print(view->clock, out);
    fflush(out);
    return (int)lines;
}

static void talk_cells(struct tt_table *table, const struct tt_stream_status *status)
{
    tt_table_cell_number(table, (int64_t)status->talk.pdus_sent);
    tt_table_cell_number(table, (int64_t)status->talk.pdus_late);
    tt_table_cell_number(table, (int64_t)status->talk.pdus_dropped);
    tt_table_cell_number(table, (int64_t)status->talk.pdus_refused);
}

static void listen_cells(struct tt_table *table, const struct tt_stream_status *status)
{
    tt_table_cell_number(table, (int64_t)status->listen.stream.pdus);
    tt_table_cell_number(table, (int64_t)status->listen.stream.frames_lost);
    tt_table_cell_number(table, (int64_t)status->listen.stream.frames_late);
    tt_table_cell_number(table, (int64_t)status->listen.stream.frames_absent);
}

static void print_counts(const struct tt_streams_view *view, FILE *out)
{
    static const struct tt_column talk_columns[] = {
        {"#", TT_ALIGN_RIGHT},       {"stream ID", TT_ALIGN_LEFT}, {"source", TT_ALIGN_LEFT},
        {"wire", TT_ALIGN_LEFT},     {"rate Hz", TT_ALIGN_RIGHT},  {"ch", TT_ALIGN_RIGHT},
        {"frames", TT_ALIGN_RIGHT},  {"PDUs", TT_ALIGN_RIGHT},     {"late", TT_ALIGN_RIGHT},
        {"dropped", TT_ALIGN_RIGHT}, {"refused", TT_ALIGN_RIGHT},  {"xruns", TT_ALIGN_RIGHT},
        {"silence", TT_ALIGN_RIGHT}, {"clipped", TT_ALIGN_RIGHT},  {"peak dBFS", TT_ALIGN_LEFT},
    };
    static const struct tt_column listen_columns[] = {
        {"#", TT_ALIGN_RIGHT},       {"stream ID", TT_ALIGN_LEFT}, {"sink", TT_ALIGN_LEFT},
        {"wire", TT_ALIGN_LEFT},     {"rate Hz", TT_ALIGN_RIGHT},  {"ch", TT_ALIGN_RIGHT},
        {"frames", TT_ALIGN_RIGHT},  {"PDUs", TT_ALIGN_RIGHT},     {"lost", TT_ALIGN_RIGHT},
        {"late", TT_ALIGN_RIGHT},    {"absent", TT_ALIGN_RIGHT},   {"xruns", TT_ALIGN_RIGHT},
        {"skipped", TT_ALIGN_RIGHT}, {"clipped", TT_ALIGN_RIGHT},  {"peak dBFS", TT_ALIGN_LEFT},
    };
    static_assert(sizeof(talk_columns) == sizeof(listen_columns), "one row for both");
    bool talker = is_talker(view->streams);
    struct tt_table table;
    char id[TT_STREAM_ID_TEXT];
    char levels[LEVELS_TEXT];

    tt_table_init(&table, talker ? talk_columns : listen_columns, TT_COUNT_OF(talk_columns));
    for (size_t i = 0; i < view->count; i++) {
        const struct tt_stream_status *status = &view->statuses[i];
        const struct tt_stream_config *config = &status->config;

        tt_table_cell(&table, "%zu", i + 1);
        tt_table_cell(&table, "%s", tt_stream_id_format(config->stream_id, id));
        tt_table_cell(&table, "%s", view->streams[i].job->end);
        tt_table_cell(&table, "%s", config->format ? tt_aaf_format_name(config->format) : "-");
        tt_table_cell_known(&table, config->rate_hz, 1);
        tt_table_cell_known(&table, config->channels, 1);
        tt_table_cell_number(&table, status->frames);
        (talker ? talk_cells : listen_cells)(&table, status);
        tt_table_cell_number(&table, (int64_t)xruns_of(status));
        tt_table_cell_number(&table, status->frames_skipped);
        tt_table_cell_number(&table, (int64_t)status->clipped);
        levels_text(status->peaks_ever, config->channels, levels);
        tt_table_cell(&table, "%s", levels[0] == ' ' ? levels + 1 : "-");
    }
    tt_table_print(&table, out);
    tt_table_done(&table);
}

static void print_lateness(const struct tt_streams_view *view, FILE *out)
{
    static const struct tt_column columns[] = {{"#", TT_ALIGN_RIGHT}, TT_TABLE_SUMMARY_COLUMNS};
    struct tt_table table;

    tt_table_init(&table, columns, TT_COUNT_OF(columns));
    for (size_t i = 0; i < view->count; i++) {
        const struct tt_hist *hist = tt_stream_engine_lateness(&view->streams[i].engine);

        if (hist) {
            tt_table_cell(&table, "%zu", i + 1);
            tt_table_cells_summary(&table, hist);
        }
    }
    if (table.cell_count > 0) {
        fprintf(out, "\n%s, ns\n",
                is_talker(view->streams) ? "Departure - due" : "Arrival - presentation");
        tt_table_print(&table, out);
    }
    tt_table_done(&table);
}

/* What neither the engine's counters nor xruns tell. */
static void print_unsaid(const struct tt_stream *stream, const struct tt_stream_status *status,
                         size_t number, FILE *out)
{
    uint64_t slips = status->card.slips;

    if (slips > 0) {
        tt_line_print(out,
                      "%zu: %s slipped %" PRIu64
                      " %s: silence was put in, or frames were left out, to "
                      "set the level",
                      number, stream->job->end, slips, tt_plural(slips, "time", "times"));
    }
    if (!is_talker(stream) || status->error < 0 || has_sent(status)) {
        return;
    }
    if (status->frames == 0 && (!stream->source || stream->source->is_pipe)) {
        tt_line_print(out, "%zu: nothing came in from %s", number, stream->job->end);
    } else {
        fprintf(out, "%zu: nothing was sent\n", number);
    }
}

static void print_losses(const struct tt_streams_view *view, FILE *out)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct tt_stream *stream = &view->streams[i];
        const struct tt_stream_status *status = &view->statuses[i];
        uint64_t xruns = xruns_of(status);
        struct tt_loss_line line = {.text = ""};

        if (is_talker(stream)) {
            tt_loss_line_talk(&status->talk, status->notes, &line);
        } else if (status->error == 0 || status->listen.packets > 0) {
            struct tt_listen_counters counters = status->listen;

            counters.xruns = 0; /* the engine's one is that the talker went, where that ends it */
            tt_loss_line_listen(&status->config, &counters, &line);
        }
        if (line.text[0] != 0) {
            fprintf(out, "%zu: %s\n", i + 1, line.text);
        }
        if (xruns > 0) {
            tt_line_print(out, "%zu: %s was too slow %" PRIu64 " %s", i + 1, stream->job->end,
                          xruns, tt_plural(xruns, "time", "times"));
        }
        print_unsaid(stream, status, i + 1, out);
    }
}

void tt_streams_print_summary(const struct tt_streams_view *view, FILE *out)
{
    char time[TIME_TEXT];

    fprintf(out, "%zu %s, %s\n", view->count, tt_plural(view->count, "stream", "streams"),
            time_text(view->elapsed_ns, time));
    print_counts(view, out);
    tt_card_print_table(view, out);
    tt_stream_clock_print(view->clock, out);
    print_lateness(view, out);
    print_losses(view, out);
    fflush(out);
}

bool tt_stream_status_is_negative(const struct tt_stream *stream,
                                  const struct tt_stream_status *status)
{
    return lost(stream, status) > 0 || xruns_of(status) > 0 || status->card.slips > 0 ||
           (is_talker(stream) ? (status->notes & TT_NOTE_LINK_DOWN) != 0 || status->frames == 0
                              : status->listen.stream.pdus_placed == 0);
}

static const char *state_name(const struct tt_stream_status *status)
{
    static const char *const names[] = {
        [TT_STREAM_WAITING] = "waiting", [TT_STREAM_FILLING] = "starting",
        [TT_STREAM_RUNNING] = "running", [TT_STREAM_DRAINING] = "draining",
        [TT_STREAM_ENDED] = "ended",
    };

    return names[status->state];
}

static json_t *peaks_json(const float *peaks, unsigned channels)
{
    json_t *list = json_array();

    for (unsigned c = 0; c < channels; c++) {
        double dbfs = 20 * log10((double)peaks[c]);

        json_array_append_new(list,
                              peaks[c] > 0 ? json_real(round(dbfs * 100) / 100) : json_null());
    }
    return list;
}

static json_t *stream_json(const struct tt_stream *stream, const struct tt_stream_status *status,
                           bool final)
{
    const struct tt_hist *lateness = final ? tt_stream_engine_lateness(&stream->engine) : NULL;
    json_t *object =
        is_talker(stream)
            ? tt_stream_json_talk(&status->config, &status->talk, lateness, status->notes)
            : tt_stream_json_listen(&status->config, &status->listen, lateness, status->notes);
    int64_t margin = margin_ns(stream, status);
    json_t *more = json_pack(
        "{s:o, s:s, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", is_talker(stream) ? "source" : "sink",
        tt_json_name(stream->job->end), "state", state_name(status), "frames",
        (json_int_t)status->frames, "xruns", tt_json_u64(status->xruns),
        is_talker(stream) ? "frames_silence" : "frames_skipped", (json_int_t)status->frames_skipped,
        "card", stream->bridge ? tt_card_json(&status->card) : json_null(), "samples_clipped",
        tt_json_u64(status->clipped), "peak_dbfs",
        peaks_json(final ? status->peaks_ever : status->peaks, status->config.channels),
        "margin_min_ns", margin > INT64_MIN ? json_integer((json_int_t)margin) : json_null(),
        "error", tt_json_name(status->error < 0 ? status->message.text : NULL));

    if (object && more) {
        json_object_update(object, more);
    }
    json_decref(more);
    return object;
}

json_t *tt_streams_json(const struct tt_streams_view *view)
{
    json_t *streams = json_array();

    for (size_t i = 0; i < view->count; i++) {
        json_array_append_new(streams,
                              stream_json(&view->streams[i], &view->statuses[i], view->final));
    }
    return json_pack("{s:b, s:I, s:o, s:o}", "final", view->final, "elapsed_ns",
                     (json_int_t)view->elapsed_ns, "clock", tt_stream_clock_json(view->clock),
                     "streams", streams);
}
