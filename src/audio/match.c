/*
 * See match.h.
 *
 * An alignment is a diagonal: recording position - source position. Candidates are the two at which
 * the sound begins and ends in both, and those that anchors vote for: short blocks of the source,
 * looked up at every position of the recording by a rolling hash. On each candidate the best
 * stretch is found (Kadane's maximum sum over +1 for a frame that is equal, 0 where the recording
 * is silent, -1 where it has another sound); the best of all becomes a segment, and what is left
 * and right of it is matched in the same way.
 */
#include <string.h>

#include "audio/match.h"

#define BLOCK_FRAMES     16
#define VOTED            8
#define DEPTH_MAX        64
#define NESTED_SCORE_MIN 32 /* less than this inside a gap is chance */
#define HASH_FACTOR      UINT64_C(0x9E3779B97F4A7C15)
#define NO_SLOT          UINT16_MAX

struct span {
    int64_t source, source_end;
    int64_t recording, recording_end;
};

struct core {
    int64_t diagonal;
    int64_t source, source_end;
    int64_t score;
};

static const uint8_t *source_frame(const struct tt_match_pair *pair, int64_t frame)
{
    return pair->source + (size_t)frame * pair->frame_bytes;
}

static const uint8_t *recording_frame(const struct tt_match_pair *pair, int64_t frame)
{
    return pair->recording + (size_t)frame * pair->frame_bytes;
}

static bool frame_silent(const uint8_t *frame, size_t bytes)
{
    return frame[0] == 0 && memcmp(frame, frame + 1, bytes - 1) == 0;
}

static bool equal_at(const struct tt_match_pair *pair, int64_t source, int64_t recording)
{
    return memcmp(source_frame(pair, source), recording_frame(pair, recording),
                  pair->frame_bytes) == 0;
}

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* The first frame of [begin, end) that is not silent, or end. */
static int64_t sound_begin(const uint8_t *frames, size_t frame_bytes, int64_t begin, int64_t end)
{
    while (begin < end && frame_silent(frames + (size_t)begin * frame_bytes, frame_bytes)) {
        begin++;
    }
    return begin;
}

/* The end of the sound in [begin, end), or begin. */
static int64_t sound_end(const uint8_t *frames, size_t frame_bytes, int64_t begin, int64_t end)
{
    while (end > begin && frame_silent(frames + (size_t)(end - 1) * frame_bytes, frame_bytes)) {
        end--;
    }
    return end;
}

static uint64_t frame_hash(const uint8_t *frame, size_t bytes)
{
    uint64_t hash = bytes;
    uint64_t word;

    for (; bytes >= sizeof word; bytes -= sizeof word, frame += sizeof word) {
        memcpy(&word, frame, sizeof word);
        hash = (hash ^ word) * HASH_FACTOR;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, frame, bytes);
    hash = (hash ^ word) * HASH_FACTOR;
    return hash ^ hash >> 32;
}

/* HASH_FACTOR to the power of BLOCK_FRAMES: what a frame weighs when it leaves the block. */
static uint64_t leaving_factor(void)
{
    uint64_t factor = 1;

    for (int i = 0; i < BLOCK_FRAMES; i++) {
        factor *= HASH_FACTOR;
    }
    return factor;
}

/* False where all frames of the block are the same: it would be found everywhere. */
static bool block_hash(const struct tt_match_pair *pair, int64_t source, uint64_t *ret_hash)
{
    const uint8_t *frames = source_frame(pair, source);
    uint64_t hash = 0;

    if (memcmp(frames, frames + pair->frame_bytes, pair->frame_bytes * (BLOCK_FRAMES - 1)) == 0) {
        return false;
    }
    for (size_t i = 0; i < BLOCK_FRAMES; i++) {
        hash = hash * HASH_FACTOR + frame_hash(frames + i * pair->frame_bytes, pair->frame_bytes);
    }
    *ret_hash = hash;
    return true;
}

static size_t slot_of(uint64_t hash)
{
    return (size_t)(hash >> 40) % TT_MATCH_SLOTS;
}

/* The anchor with this hash, or NULL; *ret_slot is its slot or the free one. */
static struct tt_match_anchor *anchor_find(struct tt_match *match, uint64_t hash, size_t *ret_slot)
{
    size_t slot = slot_of(hash);

    while (match->slots[slot] != NO_SLOT) {
        struct tt_match_anchor *anchor = &match->anchors[match->slots[slot]];

        if (anchor->hash == hash) {
            return anchor;
        }
        slot = (slot + 1) % TT_MATCH_SLOTS;
    }
    *ret_slot = slot;
    return NULL;
}

static void anchors_take(const struct tt_match_pair *pair, struct tt_match *match,
                         const struct span *span)
{
    int64_t last = span->source_end - BLOCK_FRAMES;
    int64_t stride = (span->source_end - span->source) / TT_MATCH_ANCHORS + 1;

    memset(match->slots, 0xFF, sizeof match->slots);
    match->anchor_count = 0;
    for (int64_t at = span->source; at <= last && match->anchor_count < TT_MATCH_ANCHORS;
         at += stride) {
        int64_t begin =
            sound_begin(pair->source, pair->frame_bytes, at, min_i64(at + stride, last + 1));
        uint64_t hash;
        size_t slot;

        if (begin > last || !block_hash(pair, begin, &hash) || anchor_find(match, hash, &slot)) {
            continue;
        }
        match->slots[slot] = (uint16_t)match->anchor_count;
        match->anchors[match->anchor_count++] =
            (struct tt_match_anchor){.hash = hash, .source = begin};
    }
}

static void anchor_hit(struct tt_match_anchor *anchor, int64_t diagonal, int64_t begin_diagonal,
                       int64_t end_diagonal)
{
    if (!anchor->hit ||
        distance(diagonal, begin_diagonal) < distance(anchor->near_begin, begin_diagonal)) {
        anchor->near_begin = diagonal;
    }
    if (!anchor->hit ||
        distance(diagonal, end_diagonal) < distance(anchor->near_end, end_diagonal)) {
        anchor->near_end = diagonal;
    }
    anchor->hit = true;
}

static void anchors_look_up(const struct tt_match_pair *pair, struct tt_match *match,
                            const struct span *span, int64_t begin_diagonal, int64_t end_diagonal)
{
    uint64_t recent[BLOCK_FRAMES] = {0};
    uint64_t factor = leaving_factor();
    uint64_t hash = 0;

    for (int64_t at = span->recording; at < span->recording_end; at++) {
        size_t turn = (size_t)at % BLOCK_FRAMES;
        uint64_t entering = frame_hash(recording_frame(pair, at), pair->frame_bytes);
        struct tt_match_anchor *anchor;
        size_t slot;

        hash = hash * HASH_FACTOR + entering - recent[turn] * factor;
        recent[turn] = entering;
        if (at - span->recording + 1 < BLOCK_FRAMES) {
            continue;
        }
        anchor = anchor_find(match, hash, &slot);
        if (anchor) {
            anchor_hit(anchor, at - (BLOCK_FRAMES - 1) - anchor->source, begin_diagonal,
                       end_diagonal);
        }
    }
}

static void vote(struct tt_match *match, int64_t diagonal)
{
    size_t slot = slot_of((uint64_t)diagonal * HASH_FACTOR);

    while (match->votes[slot].count > 0 && match->votes[slot].diagonal != diagonal) {
        slot = (slot + 1) % TT_MATCH_SLOTS;
    }
    match->votes[slot].diagonal = diagonal;
    match->votes[slot].count++;
}

/* Takes the diagonal with the most votes out; false where none is left. */
static bool vote_take(struct tt_match *match, int64_t *ret_diagonal)
{
    struct tt_match_vote *best = &match->votes[0];

    for (size_t i = 1; i < TT_MATCH_SLOTS; i++) {
        if (match->votes[i].count > best->count) {
            best = &match->votes[i];
        }
    }
    if (best->count == 0) {
        return false;
    }
    *ret_diagonal = best->diagonal;
    best->count = 0;
    return true;
}

/* The best stretch on one diagonal; score 0: none. */
static struct core core_on(const struct tt_match_pair *pair, const struct span *span,
                           int64_t diagonal)
{
    int64_t source = max_i64(span->source, span->recording - diagonal);
    int64_t end = min_i64(span->source_end, span->recording_end - diagonal);
    struct core best = {.diagonal = diagonal};
    int64_t sum = 0;
    int64_t begin = source;

    for (; source < end; source++) {
        const uint8_t *recorded = recording_frame(pair, source + diagonal);

        if (frame_silent(recorded, pair->frame_bytes)) {
            continue;
        }
        if (memcmp(source_frame(pair, source), recorded, pair->frame_bytes) != 0) {
            sum = max_i64(sum - 1, 0);
            continue;
        }
        if (sum == 0) {
            begin = source;
        }
        sum++;
        if (sum > best.score) {
            best.score = sum;
            best.source = begin;
            best.source_end = source + 1;
        }
    }
    return best;
}

static void core_better(const struct tt_match_pair *pair, const struct span *span, int64_t diagonal,
                        struct core *best)
{
    struct core core = core_on(pair, span, diagonal);

    if (core.score > best->score) {
        *best = core;
    }
}

static struct core core_find(const struct tt_match_pair *pair, struct tt_match *match,
                             const struct span *span)
{
    int64_t source_begin =
        sound_begin(pair->source, pair->frame_bytes, span->source, span->source_end);
    int64_t source_end = sound_end(pair->source, pair->frame_bytes, source_begin, span->source_end);
    int64_t recording_begin =
        sound_begin(pair->recording, pair->frame_bytes, span->recording, span->recording_end);
    int64_t recording_end =
        sound_end(pair->recording, pair->frame_bytes, recording_begin, span->recording_end);
    int64_t begin_diagonal = recording_begin - source_begin;
    int64_t end_diagonal = recording_end - source_end;
    struct core best = {0};
    int64_t diagonal;

    if (source_begin == source_end || recording_begin == recording_end) {
        return best;
    }
    core_better(pair, span, begin_diagonal, &best);
    if (end_diagonal == begin_diagonal && best.source == source_begin &&
        best.source_end == source_end) {
        return best;
    }
    core_better(pair, span, end_diagonal, &best);
    anchors_take(pair, match, span);
    anchors_look_up(pair, match, span, begin_diagonal, end_diagonal);
    memset(match->votes, 0, sizeof match->votes);
    for (size_t i = 0; i < match->anchor_count; i++) {
        if (match->anchors[i].hit) {
            vote(match, match->anchors[i].near_begin);
            vote(match, match->anchors[i].near_end);
        }
    }
    for (int i = 0; i < VOTED && vote_take(match, &diagonal); i++) {
        core_better(pair, span, diagonal, &best);
    }
    return best;
}

/* Appends; what continues the last segment's alignment joins it. */
static void segment_add(struct tt_match *match, const struct core *core)
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
                       const struct span *span, unsigned depth)
{
    struct core core;

    if (depth == DEPTH_MAX) {
        return;
    }
    core = core_find(pair, match, span);
    if (core.score < (depth == 0 ? 1 : NESTED_SCORE_MIN)) {
        return;
    }
    span_match(pair, match,
               &(struct span){.source = span->source,
                              .source_end = core.source,
                              .recording = span->recording,
                              .recording_end = core.source + core.diagonal},
               depth + 1);
    segment_add(match, &core);
    span_match(pair, match,
               &(struct span){.source = core.source_end,
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
    int64_t before = min_i64(first->source, first->recording);

    first->source -= before;
    first->recording -= before;
    first->frames += before;
    last->frames =
        min_i64(pair->source_frames - last->source, pair->recording_frames - last->recording);
    for (struct tt_match_segment *a = first, *b = a + 1; a < last; a++, b++) {
        while (a->source + a->frames < b->source && a->recording + a->frames < b->recording &&
               equal_at(pair, a->source + a->frames, a->recording + a->frames)) {
            a->frames++;
        }
        while (b->source > a->source + a->frames && b->recording > a->recording + a->frames &&
               equal_at(pair, b->source - 1, b->recording - 1)) {
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

    while (slide < min_i64(a->frames, b->recording) && slide < b->source &&
           equal_at(pair, b->source - slide - 1, b->recording - slide - 1)) {
        slide++;
    }
    return slide;
}

/* A run of unequal frames inside a segment, from the cursor on; false where there is none. */
static bool unequal_next(const struct tt_match_pair *pair, const struct tt_match_segment *segment,
                         struct tt_match_cursor *cursor, struct tt_match_range *ret_range)
{
    int64_t diagonal = segment->recording - segment->source;
    int64_t end = segment->source + segment->frames;
    int64_t source = cursor->source;
    int64_t begin;

    while (source < end && equal_at(pair, source, source + diagonal)) {
        source++;
    }
    begin = source;
    while (source < end && !equal_at(pair, source, source + diagonal)) {
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
        if (unequal_next(pair, segment, cursor, ret_range)) {
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
    if (sound_begin(pair->source, pair->frame_bytes, 0, pair->source_frames) ==
        pair->source_frames) {
        return TT_MATCH_SOURCE_SILENT;
    }
    if (sound_begin(pair->recording, pair->frame_bytes, 0, pair->recording_frames) ==
        pair->recording_frames) {
        return TT_MATCH_RECORDING_SILENT;
    }
    return TT_MATCH_NOWHERE;
}

void tt_match_find(const struct tt_match_pair *pair, struct tt_match *ret_match)
{
    struct span all = {.source_end = pair->source_frames, .recording_end = pair->recording_frames};
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
