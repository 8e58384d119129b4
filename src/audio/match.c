/*
 * See match.h. The best stretch of all alignments becomes a segment, and what is left and right of
 * it is matched in the same way.
 */
#include "audio/match.h"

#include "audio/match_core.h"
#include "base/min_max.h"

#define DEPTH_MAX        64
#define NESTED_SCORE_MIN 32 /* less than this inside a gap is chance */

/* Appends; what continues the last segment's alignment joins it. */
static void segment_add(struct tt_match *match, const struct tt_match_core *core)
{
    struct tt_match_segment *last =
        match->segment_count > 0 ? &match->segments[match->segment_count - 1] : NULL;

    if (last && last->recording - last->source == core->diagonal) {
        last->frames = core->source_end - last->source;
    } else if (match->segment_count < TT_MATCH_SEGMENTS) {
        match->segments[match->segment_count++] =
            (struct tt_match_segment){.source = core->source,
                                      .recording = core->source + core->diagonal,
                                      .frames = core->source_end - core->source};
    }
}

static void span_match(const struct tt_match_pair *pair, struct tt_match *match,
                       const struct tt_match_span *span, unsigned depth)
{
    struct tt_match_core core;

    if (depth == DEPTH_MAX) {
        return;
    }
    core = tt_match_core_find(pair, match, span);
    if (core.score < (depth == 0 ? 1 : NESTED_SCORE_MIN)) {
        return;
    }
    span_match(pair, match,
               &(struct tt_match_span){.source = span->source,
                                       .source_end = core.source,
                                       .recording = span->recording,
                                       .recording_end = core.source + core.diagonal},
               depth + 1);
    segment_add(match, &core);
    span_match(pair, match,
               &(struct tt_match_span){.source = core.source_end,
                                       .source_end = span->source_end,
                                       .recording = core.source_end + core.diagonal,
                                       .recording_end = span->recording_end},
               depth + 1);
}

/* The outer segments reach to the ends of both files; inner ones meet as far as frames are equal.
 */
static void segments_extend(const struct tt_match_pair *pair, struct tt_match *match)
{
    struct tt_match_segment *first = &match->segments[0];
    struct tt_match_segment *last = &match->segments[match->segment_count - 1];
    int64_t before = tt_min64(first->source, first->recording);

    match->sound_begin = first->recording;
    match->sound_end = last->recording + last->frames;
    first->source -= before;
    first->recording -= before;
    first->frames += before;
    last->frames =
        tt_min64(pair->source_frames - last->source, pair->recording_frames - last->recording);
    for (struct tt_match_segment *a = first, *b = a + 1; a < last; a++, b++) {
        while (a->source + a->frames < b->source && a->recording + a->frames < b->recording &&
               tt_match_equal(pair, a->source + a->frames, a->recording + a->frames)) {
            a->frames++;
        }
        while (b->source > a->source + a->frames && b->recording > a->recording + a->frames &&
               tt_match_equal(pair, b->source - 1, b->recording - 1)) {
            b->source--;
            b->recording--;
            b->frames++;
        }
    }
}

/* How far the shift before segment b may move back: as far as its frames are found on both
 * alignments. */
static int64_t shift_slide(const struct tt_match_pair *pair, const struct tt_match_segment *a,
                           const struct tt_match_segment *b)
{
    int64_t slide = 0;

    while (slide < tt_min64(a->frames, b->recording) && slide < b->source &&
           tt_match_equal(pair, b->source - slide - 1, b->recording - slide - 1)) {
        slide++;
    }
    return slide;
}

static void set_cut(const struct tt_match *match, struct tt_match_range *range)
{
    int64_t end = range->recording + range->recording_frames;

    if (end <= match->sound_begin) {
        range->cut_from = range->recording;
        range->cut_to = match->sound_begin + 1;
    } else if (range->recording >= match->sound_end) {
        range->cut_from = match->sound_end;
        range->cut_to = end + 1;
    }
}

/* A run of unequal frames inside a segment, from the cursor on; false where there is none. */
static bool unequal_next(const struct tt_match_pair *pair, const struct tt_match *match,
                         struct tt_match_cursor *cursor, struct tt_match_range *ret_range)
{
    const struct tt_match_segment *segment = &match->segments[cursor->segment];
    int64_t diagonal = segment->recording - segment->source;
    int64_t end = segment->source + segment->frames;
    int64_t source = cursor->source;
    int64_t begin;

    while (source < end && tt_match_equal(pair, source, source + diagonal)) {
        source++;
    }
    begin = source;
    while (source < end && !tt_match_equal(pair, source, source + diagonal)) {
        source++;
    }
    cursor->source = source;
    cursor->recording = source + diagonal;
    if (begin == source) {
        return false;
    }
    *ret_range = (struct tt_match_range){.source = begin,
                                         .source_frames = source - begin,
                                         .recording = begin + diagonal,
                                         .recording_frames = source - begin};
    set_cut(match, ret_range);
    return true;
}

bool tt_match_next(const struct tt_match_pair *pair, const struct tt_match *match,
                   struct tt_match_cursor *cursor, struct tt_match_range *ret_range)
{
    while (cursor->segment < match->segment_count) {
        const struct tt_match_segment *segment = &match->segments[cursor->segment];
        int64_t source = cursor->source;
        int64_t recording = cursor->recording;

        if (source < segment->source || (cursor->segment > 0 && recording < segment->recording)) {
            bool inner = cursor->segment > 0;

            cursor->source = segment->source;
            cursor->recording = segment->recording;
            *ret_range = (struct tt_match_range){
                .source = source,
                .source_frames = segment->source - source,
                .recording = inner ? recording : segment->recording,
                .recording_frames = inner ? segment->recording - recording : 0,
                .shift = inner,
                .slide_frames = inner ? shift_slide(pair, segment - 1, segment) : 0};
            return true;
        }
        if (unequal_next(pair, match, cursor, ret_range)) {
            return true;
        }
        cursor->segment++;
    }
    if (cursor->source < pair->source_frames) {
        *ret_range = (struct tt_match_range){.source = cursor->source,
                                             .source_frames = pair->source_frames - cursor->source,
                                             .recording = cursor->recording};
        cursor->source = pair->source_frames;
        return true;
    }
    return false;
}

static enum tt_match_verdict nothing_found(const struct tt_match_pair *pair)
{
    if (pair->source_frames == 0) {
        return TT_MATCH_SOURCE_EMPTY;
    }
    if (tt_match_sound_begin(pair->source, pair->frame_bytes, 0, pair->source_frames) ==
        pair->source_frames) {
        return TT_MATCH_SOURCE_SILENT;
    }
    if (tt_match_sound_begin(pair->recording, pair->frame_bytes, 0, pair->recording_frames) ==
        pair->recording_frames) {
        return TT_MATCH_RECORDING_SILENT;
    }
    return TT_MATCH_NOWHERE;
}

void tt_match_find(const struct tt_match_pair *pair, struct tt_match *ret_match)
{
    struct tt_match_span all = {.source_end = pair->source_frames,
                                .recording_end = pair->recording_frames};
    struct tt_match_cursor cursor = {0};
    struct tt_match_range range;

    ret_match->segment_count = 0;
    ret_match->equal_frames = 0;
    span_match(pair, ret_match, &all, 0);
    if (ret_match->segment_count == 0) {
        ret_match->verdict = nothing_found(pair);
        return;
    }
    segments_extend(pair, ret_match);
    ret_match->equal_frames = pair->source_frames;
    while (tt_match_next(pair, ret_match, &cursor, &range)) {
        ret_match->equal_frames -= range.source_frames;
    }
    ret_match->verdict =
        ret_match->equal_frames == pair->source_frames && ret_match->segment_count == 1
            ? TT_MATCH_EXACT
            : TT_MATCH_DIFFERENT;
}
