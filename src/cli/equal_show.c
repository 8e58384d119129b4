/*
 * See equal_show.h.
 *
 * JSON: {"verdict": "exact" | "explained" | "different" | "inconclusive", "source_frames",
 * "recording_frames", "equal_frames", "unexplained_frames", "ranges": n, "segments": [{"source",
 * "recording", "frames"}], "explained_frames": {kind: n}, "differences": [{"source",
 * "source_frames", "recording", "recording_frames", "shift", "explained", "events": [kinds]}]: the
 * first 1000}.
 */
#include "cli/equal_show.h"

#include <inttypes.h>
#include <jansson.h>

#include "cli/cmd.h"
#include "report/json.h"
#include "report/line.h"
#include "report/plural.h"

#define TEXT_RANGES 12
#define JSON_RANGES 1000

struct finding {
    int64_t ranges;
    int64_t ranges_unexplained;
    int64_t frames_unexplained;
    int64_t explained[TT_EVENT_KINDS];
    unsigned shifted; /* kinds that explain a shift */
};

static const char *frames_word(int64_t frames)
{
    return tt_plural((uint64_t)frames, "frame", "frames");
}

static const char *places_word(int64_t places)
{
    return tt_plural((uint64_t)places, "place", "places");
}

static const char *are(int64_t n)
{
    return tt_plural((uint64_t)n, "is", "are");
}

static struct finding find_all(const struct tt_equal_view *view)
{
    struct finding finding = {0};
    struct tt_match_cursor cursor = {0};
    struct tt_match_range range;

    while (tt_match_next(view->pair, view->match, &cursor, &range)) {
        struct tt_explanation explanation;

        tt_reports_explain(view->reports, &range, &explanation);
        finding.ranges++;
        finding.shifted |= explanation.shifted;
        finding.frames_unexplained += range.source_frames;
        for (int kind = 0; kind < TT_EVENT_KINDS; kind++) {
            finding.explained[kind] += explanation.frames[kind];
            finding.frames_unexplained -= explanation.frames[kind];
        }
        finding.ranges_unexplained += !explanation.explained;
    }
    return finding;
}

/* No alignment at all: then only what the talker says about the source itself can explain it. */
static bool nowhere_explained(const struct tt_equal_view *view)
{
    struct tt_match_range all = {.source_frames = view->pair->source_frames};
    struct tt_explanation explanation;

    tt_reports_explain(view->reports, &all, &explanation);
    return explanation.explained;
}

static int finding_code(const struct tt_equal_view *view, const struct finding *finding)
{
    switch (view->match->verdict) {
    case TT_MATCH_EXACT:
        return TT_EXIT_GOOD;
    case TT_MATCH_DIFFERENT:
        return finding->ranges_unexplained == 0 ? TT_EXIT_INCONCLUSIVE : TT_EXIT_NEGATIVE;
    case TT_MATCH_SOURCE_SILENT:
        return TT_EXIT_INCONCLUSIVE;
    default:
        return nowhere_explained(view) ? TT_EXIT_INCONCLUSIVE : TT_EXIT_NEGATIVE;
    }
}

static void print_kinds(FILE *out, unsigned seen)
{
    const char *comma = "";

    for (int kind = 0; kind < TT_EVENT_KINDS; kind++) {
        if (seen & 1u << kind && kind != TT_EVENT_START) {
            fprintf(out, "%s%s", comma, tt_event_kind_name((enum tt_event_kind)kind));
            comma = ", ";
        }
    }
    fputs(*comma ? "" : "nothing", out);
}

static void print_range(const struct tt_equal_view *view, const struct tt_match_range *range,
                        FILE *out)
{
    struct tt_explanation explanation;
    int64_t source_last = range->source + range->source_frames - 1;

    if (range->shift && range->source_frames == 0) {
        fprintf(out,
                "  before source frame %" PRId64 ": %" PRId64
                " %s more in the recording (from %" PRId64 ")",
                range->source, range->recording_frames, frames_word(range->recording_frames),
                range->recording);
    } else if (range->recording_frames == 0) {
        fprintf(out, "  source frames %" PRId64 "-%" PRId64 " (%" PRId64 "): not in the recording",
                range->source, source_last, range->source_frames);
    } else {
        fprintf(out,
                "  source frames %" PRId64 "-%" PRId64 " (%" PRId64 "): recording %" PRId64
                "-%" PRId64 " differs",
                range->source, source_last, range->source_frames, range->recording,
                range->recording + range->recording_frames - 1);
    }
    if (view->reports->files > 0) {
        tt_reports_explain(view->reports, range, &explanation);
        fputs("; reported here: ", out);
        print_kinds(out, explanation.seen);
        fputs(explanation.explained ? "" : " - NOT EXPLAINED", out);
    }
    fputc('\n', out);
}

static void print_ranges(const struct tt_equal_view *view, const struct finding *finding, FILE *out)
{
    struct tt_match_cursor cursor = {0};
    struct tt_match_range range;

    for (int i = 0; i < TEXT_RANGES && tt_match_next(view->pair, view->match, &cursor, &range);
         i++) {
        print_range(view, &range, out);
    }
    if (finding->ranges > TEXT_RANGES) {
        int64_t more = finding->ranges - TEXT_RANGES;

        fprintf(out, "  and %" PRId64 " %s more (--json lists the first %d)\n", more,
                places_word(more), JSON_RANGES);
    }
}

/* What an event says of the frames that it explains, and no more than that. */
static const char *kind_text(int kind)
{
    switch (kind) {
    case TT_EVENT_LATE:
        return "packets came after their presentation time";
    case TT_EVENT_LOST:
        return "packets of the sequence did not arrive";
    case TT_EVENT_DROPPED:
        return "packets could not be sent in time any more, and were not";
    case TT_EVENT_REFUSED:
        return "the talker's interface did not take these packets";
    case TT_EVENT_SILENCE:
        return "a program was too slow to write, and its device sent silence until it did";
    default:
        return "a program was too slow to write or to read, and its device stopped";
    }
}

static bool is_named(const struct finding *finding, int kind)
{
    return finding->explained[kind] > 0 || finding->shifted & 1u << kind;
}

static void print_explained(const struct finding *finding, FILE *out)
{
    const char *comma = "";

    fputs("the reports account for every place:", out);
    for (int kind = 0; kind < TT_EVENT_KINDS; kind++) {
        if (is_named(finding, kind)) {
            fprintf(out, "%s %s", comma, tt_event_kind_name((enum tt_event_kind)kind));
            if (finding->explained[kind] > 0) {
                fprintf(out, " (%" PRId64 " %s)", finding->explained[kind],
                        frames_word(finding->explained[kind]));
            }
            comma = ",";
        }
    }
    fputc('\n', out);
    for (int kind = 0; kind < TT_EVENT_KINDS; kind++) {
        if (is_named(finding, kind)) {
            fprintf(out, "  %s: %s\n", tt_event_kind_name((enum tt_event_kind)kind),
                    kind_text(kind));
        }
    }
}

static void print_different(const struct tt_equal_view *view, const struct finding *finding,
                            FILE *out)
{
    int64_t equal = view->match->equal_frames;
    int64_t frames = view->pair->source_frames;

    fprintf(out,
            "not bit-exact: %" PRId64 " of %" PRId64 " %s %s equal, %" PRId64 " %s not, in %" PRId64
            " %s\n",
            equal, frames, frames_word(frames), are(equal), frames - equal, are(frames - equal),
            finding->ranges, places_word(finding->ranges));
    print_ranges(view, finding, out);
    if (view->reports->files == 0) {
        return;
    }
    if (finding->ranges_unexplained == 0) {
        print_explained(finding, out);
        return;
    }
    fprintf(out, "%" PRId64 " of %" PRId64 " %s (%" PRId64 " %s) %s not explained by the reports\n",
            finding->ranges_unexplained, finding->ranges, places_word(finding->ranges),
            finding->frames_unexplained, frames_word(finding->frames_unexplained),
            are(finding->ranges_unexplained));
    if (view->reports->unkept > 0) {
        fprintf(out, "%" PRIu64 " %s not kept by the reports, which may be why\n",
                view->reports->unkept,
                tt_plural(view->reports->unkept, "event was", "events were"));
    }
}

static void print_text(const struct tt_equal_view *view, const struct finding *finding, FILE *out)
{
    switch (view->match->verdict) {
    case TT_MATCH_EXACT:
        fprintf(out, "bit-exact: %" PRId64 " of %" PRId64 " %s\n", view->match->equal_frames,
                view->pair->source_frames, frames_word(view->pair->source_frames));
        return;
    case TT_MATCH_DIFFERENT:
        print_different(view, finding, out);
        return;
    case TT_MATCH_SOURCE_SILENT:
        tt_line_print(out, "cannot tell: %s is silent, and silence can be found anywhere",
                      view->source);
        return;
    case TT_MATCH_RECORDING_SILENT:
        tt_line_print(out, "not bit-exact: %s is silent: 0 of %" PRId64 " %s can be found in it",
                      view->recording, view->pair->source_frames,
                      frames_word(view->pair->source_frames));
        break;
    default:
        tt_line_print(out, "not bit-exact: no part of %s is in %s", view->source, view->recording);
        break;
    }
    if (nowhere_explained(view)) {
        fputs("the talker reports every one of its frames as dropped or refused\n", out);
    }
}

static json_t *kinds_json(unsigned seen)
{
    json_t *kinds = json_array();

    for (int kind = 0; kind < TT_EVENT_KINDS; kind++) {
        if (seen & 1u << kind) {
            json_array_append_new(kinds, json_string(tt_event_kind_name((enum tt_event_kind)kind)));
        }
    }
    return kinds;
}

static json_t *ranges_json(const struct tt_equal_view *view)
{
    json_t *ranges = json_array();
    struct tt_match_cursor cursor = {0};
    struct tt_match_range range;

    for (int i = 0; i < JSON_RANGES && tt_match_next(view->pair, view->match, &cursor, &range);
         i++) {
        struct tt_explanation explanation;

        tt_reports_explain(view->reports, &range, &explanation);
        json_array_append_new(ranges, json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:o}", "source",
                                                (json_int_t)range.source, "source_frames",
                                                (json_int_t)range.source_frames, "recording",
                                                (json_int_t)range.recording, "recording_frames",
                                                (json_int_t)range.recording_frames, "shift",
                                                range.shift, "explained", explanation.explained,
                                                "events", kinds_json(explanation.seen)));
    }
    return ranges;
}

static json_t *segments_json(const struct tt_match *match)
{
    json_t *segments = json_array();

    for (size_t i = 0; i < match->segment_count; i++) {
        const struct tt_match_segment *segment = &match->segments[i];

        json_array_append_new(segments,
                              json_pack("{s:I, s:I, s:I}", "source", (json_int_t)segment->source,
                                        "recording", (json_int_t)segment->recording, "frames",
                                        (json_int_t)segment->frames));
    }
    return segments;
}

static json_t *explained_json(const struct finding *finding)
{
    json_t *explained = json_object();

    for (int kind = 0; kind < TT_EVENT_KINDS; kind++) {
        if (finding->explained[kind] > 0) {
            json_object_set_new(explained, tt_event_kind_name((enum tt_event_kind)kind),
                                json_integer((json_int_t)finding->explained[kind]));
        }
    }
    return explained;
}

static int print_json(const struct tt_equal_view *view, const struct finding *finding, int code,
                      FILE *out)
{
    bool silent = view->match->verdict == TT_MATCH_SOURCE_SILENT;
    const char *verdict = code == TT_EXIT_GOOD           ? "exact"
                          : silent                       ? "inconclusive"
                          : code == TT_EXIT_INCONCLUSIVE ? "explained"
                                                         : "different";
    json_t *root =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "verdict", verdict,
                  "source_frames", (json_int_t)view->pair->source_frames, "recording_frames",
                  (json_int_t)view->pair->recording_frames, "equal_frames",
                  (json_int_t)view->match->equal_frames, "unexplained_frames",
                  (json_int_t)finding->frames_unexplained, "ranges", (json_int_t)finding->ranges,
                  "segments", segments_json(view->match), "explained_frames",
                  explained_json(finding), "differences", ranges_json(view));
    int error = root ? tt_json_print_line(out, root) : -1;

    json_decref(root);
    return error ? TT_EXIT_ENVIRONMENT : code;
}

int tt_equal_show(const struct tt_equal_view *view, bool json, FILE *out)
{
    struct finding finding = {0};
    int code;

    if (view->match->segment_count > 0) {
        finding = find_all(view);
    } else {
        finding.frames_unexplained = view->pair->source_frames;
    }
    code = finding_code(view, &finding);
    if (json) {
        return print_json(view, &finding, code, out);
    }
    print_text(view, &finding, out);
    return code;
}
