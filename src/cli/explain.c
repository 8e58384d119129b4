/*
 * See explain.h.
 */
#include "cli/explain.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kind_parse(const char *name, enum tt_event_kind *ret_kind)
{
    for (enum tt_event_kind kind = 0; kind < TT_EVENT_KINDS; kind++) {
        if (strcmp(name, tt_event_kind_name(kind)) == 0) {
            *ret_kind = kind;
            return 0;
        }
    }
    return -EINVAL;
}

static int event_add(struct tt_reports *reports, const struct tt_reported *reported)
{
    if (reports->count == reports->capacity) {
        size_t capacity = reports->capacity ? reports->capacity * 2 : 64;
        struct tt_reported *events = realloc(reports->events, capacity * sizeof *reports->events);

        if (!events) {
            return -ENOMEM;
        }
        reports->events = events;
        reports->capacity = capacity;
    }
    reports->events[reports->count++] = *reported;
    return 0;
}

static int events_add(struct tt_reports *reports, json_t *events, bool talker)
{
    size_t i;
    json_t *item;

    json_array_foreach(events, i, item)
    {
        struct tt_reported reported = {.talker = talker};
        const char *kind;
        json_int_t frame;
        json_int_t frames;
        int error;

        if (json_unpack(item, "{s:s, s:I, s:I}", "kind", &kind, "frame", &frame, "frames",
                        &frames) != 0 ||
            kind_parse(kind, &reported.event.kind) != 0) {
            return -EINVAL;
        }
        reported.event.frame = frame;
        reported.event.frames = frames;
        error = event_add(reports, &reported);
        if (error) {
            return error;
        }
    }
    return 0;
}

/* A device's report, or what `tactus extract` says is missing in its output. */
static int report_parse(json_t *root, json_t **ret_events, bool *ret_talker)
{
    const char *role = json_string_value(json_object_get(root, "role"));
    json_t *missing = json_object_get(root, "missing");

    if (json_is_array(missing)) {
        *ret_events = missing;
        *ret_talker = false;
        return 0;
    }
    if (!role || (strcmp(role, "talker") != 0 && strcmp(role, "listener") != 0)) {
        return -EINVAL;
    }
    *ret_events = json_object_get(root, "events");
    *ret_talker = strcmp(role, "talker") == 0;
    return json_is_array(*ret_events) ? 0 : -EINVAL;
}

int tt_reports_add(struct tt_reports *reports, const char *path, char *text, size_t text_bytes,
                   const char **ret_why)
{
    json_error_t where;
    json_t *root = json_load_file(path, 0, &where);
    json_t *events;
    bool talker;
    int error;

    if (!root) {
        snprintf(text, text_bytes, "%s", where.text);
        *ret_why = text;
        return -EINVAL;
    }
    *ret_why = "it is not the report of a tactus device";
    error = report_parse(root, &events, &talker);
    if (error == 0) {
        error = events_add(reports, events, talker);
        reports->unkept += (uint64_t)json_integer_value(json_object_get(root, "events_unkept"));
        reports->files++;
    }
    json_decref(root);
    return error;
}

void tt_reports_done(struct tt_reports *reports)
{
    free(reports->events);
    *reports = (struct tt_reports){0};
}

static bool explains_itself(enum tt_event_kind kind)
{
    return kind == TT_EVENT_LATE || kind == TT_EVENT_LOST || kind == TT_EVENT_DROPPED ||
           kind == TT_EVENT_REFUSED;
}

/* Position of the event's start counted from the start of the range. */
static int64_t event_offset(const struct tt_reported *reported, const struct tt_match_range *range)
{
    return reported->event.frame - (reported->talker ? range->source : range->recording);
}

/* Whether the range has positions on the axis that this event's are on. */
static bool same_axis(const struct tt_reported *reported, const struct tt_match_range *range)
{
    return reported->talker || range->recording_frames > 0;
}

/* How many frames of the range from `at` on one event explains: the farthest-reaching. */
static int64_t covered_from(const struct tt_reports *reports, const struct tt_match_range *range,
                            int64_t at, enum tt_event_kind *ret_kind)
{
    int64_t most = 0;

    for (size_t i = 0; i < reports->count; i++) {
        const struct tt_reported *reported = &reports->events[i];
        int64_t begin = event_offset(reported, range);
        int64_t reach = begin + reported->event.frames - at;

        if (explains_itself(reported->event.kind) && same_axis(reported, range) && begin <= at &&
            reach > most) {
            most = reach;
            *ret_kind = reported->event.kind;
        }
    }
    return most;
}

/* Frames of an event that lie in the range, which may slide. */
static int64_t overlap(const struct tt_reported *reported, const struct tt_match_range *range)
{
    int64_t length = reported->talker ? range->source_frames : range->recording_frames;
    int64_t begin = event_offset(reported, range);
    int64_t end = begin + reported->event.frames;

    if (begin < -range->slide_frames) {
        begin = -range->slide_frames;
    }
    if (end > length) {
        end = length;
    }
    return end > begin ? end - begin : 0;
}

static bool is_at(const struct tt_reported *reported, const struct tt_match_range *range)
{
    int64_t length = reported->talker ? range->source_frames : range->recording_frames;
    int64_t at = event_offset(reported, range);
    /* Silence takes no frames of the source. */
    int64_t frames = reported->event.kind == TT_EVENT_SILENCE ? 0 : reported->event.frames;

    return at <= length && at + frames >= -range->slide_frames;
}

/* A program that read too slowly missed an unknown number of frames; one that wrote too slowly lost
 * those that did not fill a PDU, or had silence sent in front of them, and all others that are
 * missing must be accounted for. Returns the kind that explains the shift; TT_EVENT_KINDS: none. */
static enum tt_event_kind shift_explained(const struct tt_reports *reports,
                                          const struct tt_match_range *range)
{
    int64_t accounted = 0;
    int64_t inserted = 0;
    bool wrote_late = false;

    for (size_t i = 0; i < reports->count; i++) {
        const struct tt_reported *reported = &reports->events[i];

        if (reported->event.kind == TT_EVENT_XRUN && is_at(reported, range)) {
            if (!reported->talker) {
                return TT_EVENT_XRUN;
            }
            wrote_late = true;
            accounted += overlap(reported, range);
        }
        if (reported->event.kind == TT_EVENT_SILENCE && is_at(reported, range)) {
            inserted += reported->event.frames;
        }
        if (explains_itself(reported->event.kind)) {
            accounted += overlap(reported, range);
        }
    }
    if (accounted < range->source_frames) {
        return TT_EVENT_KINDS;
    }
    if (wrote_late) {
        return TT_EVENT_XRUN;
    }
    return inserted > 0 && inserted == range->recording_frames - range->source_frames
               ? TT_EVENT_SILENCE
               : TT_EVENT_KINDS;
}

static unsigned kinds_seen(const struct tt_reports *reports, const struct tt_match_range *range)
{
    unsigned seen = 0;

    for (size_t i = 0; i < reports->count; i++) {
        const struct tt_reported *reported = &reports->events[i];
        if (overlap(reported, range) > 0) {
            seen |= 1u << reported->event.kind;
        }
    }
    return seen;
}

/* Whether the recorder was interrupted so that the frames from `at` on cannot be found. */
static bool cut_explained(const struct tt_reports *reports, const struct tt_match_range *range,
                          int64_t at)
{
    int64_t end = range->recording + range->recording_frames;

    for (size_t i = 0; i < reports->count; i++) {
        const struct tt_reported *reported = &reports->events[i];
        int64_t frame = reported->event.frame;

        if (reported->event.kind == TT_EVENT_XRUN && !reported->talker &&
            frame >= range->cut_from && frame < range->cut_to &&
            (frame <= range->recording + at || frame >= end)) {
            return true;
        }
    }
    return false;
}

static void explain_in_place(const struct tt_reports *reports, const struct tt_match_range *range,
                             struct tt_explanation *explanation)
{
    int64_t at = 0;

    while (at < range->source_frames) {
        enum tt_event_kind kind = TT_EVENT_XRUN;
        int64_t left = range->source_frames - at;
        int64_t covered = covered_from(reports, range, at, &kind);

        if (covered == 0 && cut_explained(reports, range, at)) {
            covered = left;
        }
        if (covered == 0) {
            return;
        }
        covered = covered < left ? covered : left;
        explanation->frames[kind] += covered;
        explanation->seen |= 1u << kind;
        at += covered;
    }
    explanation->explained = true;
}

/* What other events do not account for went with the xrun. */
static void explain_shift(const struct tt_reports *reports, const struct tt_match_range *range,
                          struct tt_explanation *explanation)
{
    int64_t left = range->source_frames;
    enum tt_event_kind shifting = shift_explained(reports, range);

    if (shifting == TT_EVENT_KINDS) {
        return;
    }
    for (size_t i = 0; i < reports->count; i++) {
        enum tt_event_kind kind = reports->events[i].event.kind;
        int64_t frames = explains_itself(kind) ? overlap(&reports->events[i], range) : 0;

        frames = frames < left ? frames : left;
        explanation->frames[kind] += frames;
        left -= frames;
    }
    explanation->frames[shifting] += left;
    explanation->seen |= 1u << shifting;
    explanation->shifted |= 1u << shifting;
    explanation->explained = true;
}

void tt_reports_explain(const struct tt_reports *reports, const struct tt_match_range *range,
                        struct tt_explanation *ret_explanation)
{
    struct tt_explanation explanation = {.seen = kinds_seen(reports, range)};

    if (range->shift) {
        explain_shift(reports, range, &explanation);
    } else {
        explain_in_place(reports, range, &explanation);
    }
    *ret_explanation = explanation;
}
