/*
 * See scene.h: judging and telling. What ought to be in the recording follows from the script: a
 * frame is due at its PDU's time, stands at the position that the device reaches then, and is there
 * if its PDU arrived before that. Everything else is silence, which the events name frame by frame.
 */
#include "scene.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "base/ns.h"

#define UNKNOWN INT64_MIN

struct judge {
    struct scene *s;
    const struct scene_result *r;
    struct scene_run *by_source; /* the runs that hold frames of the source */
    size_t source_count;
    int64_t offset[SCENE_SEGMENTS]; /* position - frame */
};

TT_PRINTF(2, 3) static bool wrong(struct judge *j, const char *format, ...)
{
    va_list args;

    if (j->s->failure[0] == 0) {
        va_start(args, format);
        vsnprintf(j->s->failure, sizeof j->s->failure, format, args);
        va_end(args);
    }
    return false;
}

static unsigned segment_of(const struct scene *s, int64_t frame)
{
    unsigned segment = s->segment_count - 1;

    while (segment > 0 && s->segments[segment].first_frame > frame) {
        segment--;
    }
    return segment;
}

static int64_t segment_end(const struct scene *s, unsigned segment)
{
    return segment + 1 < s->segment_count ? s->segments[segment + 1].first_frame : s->next_frame;
}

/* From where on everything is in its place. */
static int64_t settled_frame(const struct scene *s, unsigned segment)
{
    return s->segments[segment].first_frame + s->segments[segment].settle_frames;
}

static int by_source(const void *a, const void *b)
{
    int64_t p = ((const struct scene_run *)a)->source;
    int64_t q = ((const struct scene_run *)b)->source;

    return (p > q) - (p < q);
}

/* A frame of a fade may happen to look like one of the source. */
static bool is_by_chance(const struct judge *j, const struct scene_run *run)
{
    return j->s->config.on_loss == TT_LOSS_FADE && run->frames == 1;
}

/* The runs of the source in its order; no frame twice. */
static bool sort_runs(struct judge *j)
{
    j->by_source = malloc((j->r->run_count + 1) * sizeof *j->by_source);
    for (size_t i = 0; i < j->r->run_count; i++) {
        if (j->r->runs[i].source >= 0 && !is_by_chance(j, &j->r->runs[i])) {
            j->by_source[j->source_count++] = j->r->runs[i];
        }
    }
    qsort(j->by_source, j->source_count, sizeof *j->by_source, by_source);
    for (size_t i = 1; i < j->source_count; i++) {
        if (j->by_source[i].source < j->by_source[i - 1].source + j->by_source[i - 1].frames) {
            return wrong(j, "source frame %" PRId64 " stands twice", j->by_source[i].source);
        }
    }
    return true;
}

/* The run that holds a frame, or NULL. */
static const struct scene_run *run_of(const struct judge *j, int64_t frame)
{
    size_t low = 0;
    size_t high = j->source_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (j->by_source[middle].source + j->by_source[middle].frames <= frame) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < j->source_count && j->by_source[low].source <= frame ? &j->by_source[low] : NULL;
}

/* The position that the device reaches at a time, counted from its latest start before that. */
static int64_t position_at(const struct judge *j, int64_t tai_ns)
{
    const struct tt_event *start = NULL;
    int64_t ns;

    for (size_t i = 0; i < j->r->event_count; i++) {
        const struct tt_event *event = &j->r->events[i];

        if (event->kind == TT_EVENT_START && (!start || event->time_tai_ns <= tai_ns)) {
            start = event;
        }
    }
    ns = tai_ns - start->time_tai_ns;
    ns += ns / 1000 * j->s->drift_ppm / 1000;
    return start->frame + tt_ns_to_frames(ns + 10000, j->s->config.rate_hz);
}

static const struct scene_pdu *first_settled(const struct judge *j, unsigned segment)
{
    for (size_t i = 0; i < j->s->pdu_count; i++) {
        const struct scene_pdu *pdu = &j->s->pdus[i];

        if (pdu->segment == segment && pdu->kind < SCENE_REPEAT &&
            pdu->frame >= settled_frame(j->s, segment)) {
            return pdu;
        }
    }
    return NULL;
}

/* By the first run that is settled; where nothing of that was recorded, by any that stands where
 * the time says. */
static int64_t offset_of(const struct judge *j, unsigned segment, int64_t by_time)
{
    int64_t offset = by_time;

    for (size_t i = 0; i < j->source_count; i++) {
        const struct scene_run *run = &j->by_source[i];
        int64_t end = run->source + run->frames;

        if (end <= j->s->segments[segment].first_frame ||
            run->source >= segment_end(j->s, segment)) {
            continue;
        }
        if (end > settled_frame(j->s, segment)) {
            return run->position - run->source;
        }
        if (llabs(run->position - run->source - by_time) <= j->s->place_tolerance_frames) {
            offset = run->position - run->source;
        }
    }
    return offset;
}

/* Where each segment stands, and that is where its time says. */
static bool find_offsets(struct judge *j)
{
    for (unsigned g = 0; g < j->s->segment_count; g++) {
        const struct scene_pdu *pdu = first_settled(j, g);
        int64_t by_time;

        j->offset[g] = UNKNOWN;
        if (!pdu) {
            continue;
        }
        by_time =
            position_at(j, j->s->start_tai_ns + pdu->due_ns + j->s->config.playout_latency_ns) -
            pdu->frame;
        j->offset[g] = offset_of(j, g, by_time);
        if (llabs(j->offset[g] - by_time) > j->s->place_tolerance_frames) {
            return wrong(j,
                         "segment %u (source frame %" PRId64 ") stands %" PRId64
                         " frames from where its stamps say",
                         g, pdu->frame, j->offset[g] - by_time);
        }
    }
    return true;
}

/* Every frame that stands in the recording stands at its segment's place. */
static bool check_places(struct judge *j)
{
    for (size_t i = 0; i < j->source_count; i++) {
        const struct scene_run *run = &j->by_source[i];
        int64_t offset = run->position - run->source;
        int64_t end = run->source + run->frames;

        for (int64_t frame = run->source; frame < end;) {
            unsigned g = segment_of(j->s, frame);
            bool settled = frame >= settled_frame(j->s, g);
            /* Before a stamp comes, a sparse stream stands where arrival and sequence say, and
             * so does one with a new sequence that happens to go on from the old. */
            bool excused = !settled && g > 0 &&
                           (offset == j->offset[g - 1] || j->s->config.sparse || j->s->mixed);

            if (offset != j->offset[g] && !excused && j->offset[g] != UNKNOWN) {
                return wrong(j,
                             "source frame %" PRId64 " stands at %" PRId64 " instead of %" PRId64,
                             frame, frame + offset, frame + j->offset[g]);
            }
            frame = settled ? segment_end(j->s, g)
                            : tt_min64(settled_frame(j->s, g), segment_end(j->s, g));
        }
    }
    return true;
}

/* A jump back presents the new before what was still to come of the old. */
static bool is_cut(const struct judge *j, unsigned segment, int64_t position)
{
    unsigned next = segment + 1;

    return next < j->s->segment_count && j->offset[next] != UNKNOWN &&
           position >= j->offset[next] + j->s->segments[next].first_frame;
}

/* What was overtaken by a new segment has stamps that fit no more. */
static bool is_tail(const struct scene *s, unsigned segment, int64_t frame)
{
    return segment + 1 < s->segment_count && frame >= segment_end(s, segment) - s->tail_frames;
}

static bool check_pdu(struct judge *j, const struct scene_pdu *pdu)
{
    const struct scene *s = j->s;
    int64_t arrival_ns = pdu->departure_ns + pdu->delay_ns;
    bool came = (pdu->kind == SCENE_GOOD || pdu->kind == SCENE_PADDED) && !pdu->lost;
    unsigned g = segment_of(s, pdu->frame);

    for (int64_t k = 0; k < (int64_t)s->config.frames_per_pdu; k++) {
        int64_t frame = pdu->frame + k;
        int64_t passed_ns = pdu->due_ns + scene_frames_ns(s, k + 1) + s->config.playout_latency_ns;
        bool stands = run_of(j, frame) != NULL;

        if (stands && (!came || arrival_ns >= passed_ns + s->slack_ns)) {
            return wrong(j, "source frame %" PRId64 " stands although it %s", frame,
                         came ? "came too late" : "never came");
        }
        if (!stands && came && arrival_ns < passed_ns - s->slack_ns &&
            frame >= settled_frame(s, g) && !is_tail(s, g, frame) &&
            !is_cut(j, g, frame + j->offset[g])) {
            return wrong(
                j, "source frame %" PRId64 " came %" PRId64 " us in time and is not at %" PRId64,
                frame, (passed_ns - arrival_ns) / 1000, frame + j->offset[g]);
        }
    }
    return true;
}

static bool check_presence(struct judge *j)
{
    int64_t since_gap = INT32_MAX;

    for (size_t i = 0; i < j->s->pdu_count && !j->s->unplaced; i++) {
        const struct scene_pdu *pdu = &j->s->pdus[i];

        if (pdu->kind >= SCENE_REPEAT) {
            continue;
        }
        since_gap = pdu->lost ? 0 : since_gap + 1;
        if (since_gap > j->s->gap_settle_pdus && !check_pdu(j, pdu)) {
            return false;
        }
    }
    return !j->s->unplaced || j->source_count == 0 || wrong(j, "something was placed");
}

static int by_frame(const void *a, const void *b)
{
    int64_t p = ((const struct tt_event *)a)->frame;
    int64_t q = ((const struct tt_event *)b)->frame;

    return (p > q) - (p < q);
}

/* The holes that the events name, in order of position; what an xrun dropped is not among them. */
static struct tt_event *holes_of(const struct judge *j, size_t *ret_count, uint64_t *ret_frames)
{
    struct tt_event *holes = malloc((j->r->event_count + 1) * sizeof *holes);
    size_t n = 0;

    *ret_frames = 0;
    for (size_t i = 0; i < j->r->event_count; i++) {
        const struct tt_event *event = &j->r->events[i];

        if (event->kind == TT_EVENT_START) {
            while (n > 0 && holes[n - 1].frame >= event->frame) {
                n--;
            }
            if (n > 0) {
                holes[n - 1].frames =
                    tt_min64(holes[n - 1].frames, event->frame - holes[n - 1].frame);
            }
        } else if (event->kind == TT_EVENT_LOST || event->kind == TT_EVENT_LATE ||
                   event->kind == TT_EVENT_ABSENT) {
            *ret_frames += (uint64_t)event->frames;
            holes[n++] = *event;
        }
    }
    qsort(holes, n, sizeof *holes, by_frame);
    *ret_count = n;
    return holes;
}

/* What is no frame of the source is a hole, and the other way about. */
static bool check_holes(struct judge *j)
{
    const struct tt_listener_counters *c = &j->r->counters.stream;
    uint64_t booked;
    size_t count;
    struct tt_event *holes = holes_of(j, &count, &booked);
    size_t at = 0;
    bool good = true;
    bool silent = j->s->config.on_loss == TT_LOSS_SILENCE;

    for (size_t i = 0; good && i < j->r->run_count; i++) {
        const struct scene_run *run = &j->r->runs[i];
        int64_t end = run->position + run->frames;

        if (run->source >= 0 && !is_by_chance(j, run)) {
            good = at >= count || holes[at].frame >= end ||
                   wrong(j, "%" PRId64 " is booked as %s and is not silent", holes[at].frame,
                         tt_event_kind_name(holes[at].kind));
            continue;
        }
        if (run->source == SCENE_OTHER && silent) {
            good = wrong(j, "what stands at %" PRId64 " is nothing of the source", run->position);
        }
        for (int64_t p = run->position; good && p < end; at++) {
            if (at >= count || holes[at].frame != p) {
                good = wrong(j, "silence at %" PRId64 " is not booked", p);
                break;
            }
            if (holes[at].frame + holes[at].frames > end) { /* two runs: a fade and silence */
                holes[at].frames -= end - p;
                holes[at].frame = end;
                break;
            }
            p += holes[at].frames;
        }
    }
    free(holes);
    return good && (c->frames_lost + c->frames_late + c->frames_absent == booked ||
                    wrong(j, "the counters and the events tell different sums"));
}

/* An event is noticed when the device has got there, and not before. */
static bool check_times(struct judge *j)
{
    for (size_t i = 0; i < j->r->event_count; i++) {
        const struct tt_event *event = &j->r->events[i];

        if (event->time_tai_ns < j->s->start_tai_ns || event->time_tai_ns > j->r->end_tai_ns) {
            return wrong(j, "an event is of no time in the run");
        }
        if ((event->kind == TT_EVENT_LOST || event->kind == TT_EVENT_LATE) &&
            event->frame > position_at(j, event->time_tai_ns) + j->s->place_tolerance_frames) {
            return wrong(j, "%s at %" PRId64 " was noticed before its time",
                         tt_event_kind_name(event->kind), event->frame);
        }
    }
    return true;
}

/* As many frames as media time passed while the device ran. */
static bool check_length(struct judge *j)
{
    int64_t expected = 0;
    int64_t start_tai_ns = 0;
    int64_t ns;

    for (size_t i = 0; i <= j->r->event_count; i++) {
        bool end = i == j->r->event_count;
        const struct tt_event *event = &j->r->events[i];

        if (!end && event->kind == TT_EVENT_START) {
            start_tai_ns = event->time_tai_ns;
        } else if (end || event->kind == TT_EVENT_XRUN) {
            ns = (end ? j->r->end_tai_ns : event->time_tai_ns) - start_tai_ns;
            ns += ns / 1000 * j->s->drift_ppm / 1000;
            expected += tt_ns_to_frames(ns, j->s->config.rate_hz) - (end ? 0 : event->frames);
        }
    }
    return llabs(j->r->recorded - expected) <= j->s->place_tolerance_frames ||
           wrong(j, "%" PRId64 " frames were read and the media time is %" PRId64, j->r->recorded,
                 expected);
}

/* What waits between the wire and the program does not become more. */
static bool check_lag(struct judge *j)
{
    int64_t frame_ns = TT_NS_PER_S / j->s->config.rate_hz;

    return j->s->segment_count > 1 || j->s->pdu_count < 100000 ||
           j->r->lag_last_ns <= j->r->lag_first_ns + frame_ns ||
           wrong(j, "the device was %" PRId64 " ns behind at first and %" PRId64 " ns at last",
                 j->r->lag_first_ns, j->r->lag_last_ns);
}

struct counter {
    const char *name;
    size_t offset;
};

#define COUNTER(name)                                                                              \
    {                                                                                              \
#name, offsetof(struct tt_listener_counters, name)                                         \
    }

static const struct counter counters[] = {
    COUNTER(pdus),
    COUNTER(pdus_placed),
    COUNTER(frames_absent),
    /* from here on: 0 where a scene expects nothing */
    COUNTER(frames_lost),
    COUNTER(frames_late),
    COUNTER(pdus_late),
    COUNTER(pdus_duplicate),
    COUNTER(pdus_reordered),
    COUNTER(pdus_unplaced),
    COUNTER(pdus_early),
    COUNTER(pdus_unstamped),
    COUNTER(pdus_uncertain),
    COUNTER(stamps_off),
    COUNTER(resyncs),
    COUNTER(restarts),
    COUNTER(absences),
    COUNTER(pdus_other_timescale),
    COUNTER(pdus_other_talker),
    COUNTER(pdus_other_format),
    COUNTER(pdus_refused[TT_AAF_SHORT]),
    COUNTER(pdus_refused[TT_AAF_TRUNCATED]),
};

#define ALWAYS_COUNTED 3

static uint64_t value_of(const struct scene_result *r, size_t offset)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)&r->counters.stream + offset, sizeof value);
    return value;
}

static bool check_counters(struct judge *j)
{
    if (j->r->counters.xruns != j->s->xruns) {
        return wrong(j, "xruns are %" PRIu64 ", not %" PRIu64, j->r->counters.xruns, j->s->xruns);
    }
    for (size_t i = 0; i < TT_COUNT_OF(counters); i++) {
        uint64_t value = value_of(j->r, counters[i].offset);
        uint64_t least = 0;
        uint64_t most = i < ALWAYS_COUNTED || j->s->mixed ? UINT64_MAX : 0;

        for (size_t e = 0; e < j->s->expect_count; e++) {
            if (j->s->expect[e].offset == counters[i].offset) {
                least = j->s->expect[e].least;
                most = j->s->expect[e].most;
            }
        }
        if (value < least || value > most) {
            return wrong(j, "%s is %" PRIu64 ", not %" PRIu64 " to %" PRIu64, counters[i].name,
                         value, least, most);
        }
    }
    return true;
}

void scene_judge(struct scene *s, const struct scene_result *r)
{
    struct judge j = {.s = s, .r = r};

    if (sort_runs(&j) && find_offsets(&j) && check_places(&j) && check_presence(&j) &&
        check_holes(&j) && check_times(&j) && check_length(&j) && check_lag(&j)) {
        check_counters(&j);
    }
    free(j.by_source);
}

/* ---- telling */

static void show_event(const struct scene *s, const struct tt_event *event, FILE *out)
{
    fprintf(out, "  %12.3f ms  %-7s at %" PRId64,
            (double)(event->time_tai_ns - s->start_tai_ns) / 1e6, tt_event_kind_name(event->kind),
            event->frame);
    if (event->frames > 0) {
        fprintf(out, ", frames: %" PRId64, event->frames);
    }
    fputc('\n', out);
}

static void show_run(const struct scene_run *run, FILE *out)
{
    fprintf(out, "  %10" PRId64 " … %-10" PRId64 " ", run->position,
            run->position + run->frames - 1);
    if (run->source >= 0) {
        fprintf(out, "source frames %" PRId64 " … %" PRId64 "\n", run->source,
                run->source + run->frames - 1);
    } else {
        fprintf(out,
                run->source == SCENE_SILENCE ? "silence (%" PRId64 ")\n"
                                             : "nothing of the source (%" PRId64 ")\n",
                run->frames);
    }
}

#define SHOWN 300

void scene_show(const struct scene *s, const struct scene_result *r, FILE *out)
{
    fprintf(out, "seed %" PRIu64 ": %s\n", s->seed, s->story);
    fprintf(out,
            "%u Hz, frames per PDU: %u%s; mtt %" PRId64 " us, playout latency %" PRId64
            " us; PDUs sent: %zu, segments: %u\n",
            s->config.rate_hz, s->config.frames_per_pdu, s->config.sparse ? ", sparse" : "",
            s->config.mtt_ns / 1000, s->config.playout_latency_ns / 1000, s->pdu_count,
            s->segment_count);
    for (unsigned g = 0; s->segment_count > 1 && g < s->segment_count; g++) {
        fprintf(out,
                "segment %u begins with source frame %" PRId64 ", is settled from %" PRId64 " on\n",
                g, s->segments[g].first_frame, settled_frame(s, g));
    }
    fprintf(out, "what the listener noted:\n");
    for (size_t i = 0; i < r->event_count && i < SHOWN; i++) {
        show_event(s, &r->events[i], out);
    }
    fprintf(out, "%s", r->event_count > SHOWN ? "  …\n" : "");
    fprintf(out, "what was recorded:\n");
    for (size_t i = 0; i < r->run_count && i < SHOWN; i++) {
        show_run(&r->runs[i], out);
    }
    fprintf(out, "%s", r->run_count > SHOWN ? "  …\n" : "");
    fprintf(out, "what was counted:\n");
    for (size_t i = 0; i < TT_COUNT_OF(counters); i++) {
        if (value_of(r, counters[i].offset) > 0) {
            fprintf(out, "  %s %" PRIu64 "\n", counters[i].name, value_of(r, counters[i].offset));
        }
    }
    fprintf(out,
            "the device behind its media time, at first and at last: %" PRId64 " ns, %" PRId64
            " ns\n",
            r->lag_first_ns, r->lag_last_ns);
    fprintf(out, "xruns %" PRIu64 ", frames read %" PRId64 "\n", r->counters.xruns, r->recorded);
    fprintf(out, "%s%s\n", s->failure[0] ? "wrong: " : "all as it should be", s->failure);
}
