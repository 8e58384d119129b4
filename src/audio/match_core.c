/*
 * See match_core.h.
 *
 * Candidate diagonals are the two at which the sound begins and ends in both, and those that
 * anchors vote for: short blocks of the source, looked up at every position of the recording by a
 * rolling hash. On each the best stretch is found: Kadane's maximum sum over +1 for a frame that is
 * equal, 0 where the recording is silent, -1 where it has another sound.
 */
#include "audio/match_core.h"

#include "base/min_max.h"

#define BLOCK_FRAMES 16
#define VOTED        8
#define HASH_FACTOR  UINT64_C(0x9E3779B97F4A7C15)
#define NO_SLOT      UINT16_MAX

static bool frame_silent(const uint8_t *frame, size_t bytes)
{
    return frame[0] == 0 && memcmp(frame, frame + 1, bytes - 1) == 0;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* The first frame of [begin, end) that is not silent, or end. */
int64_t tt_match_sound_begin(const uint8_t *frames, size_t frame_bytes, int64_t begin, int64_t end)
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
    const uint8_t *frames = tt_match_source(pair, source);
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
                         const struct tt_match_span *span)
{
    int64_t last = span->source_end - BLOCK_FRAMES;
    int64_t stride = (span->source_end - span->source) / TT_MATCH_ANCHORS + 1;

    memset(match->slots, 0xFF, sizeof match->slots);
    match->anchor_count = 0;
    for (int64_t at = span->source; at <= last && match->anchor_count < TT_MATCH_ANCHORS;
         at += stride) {
        int64_t begin = tt_match_sound_begin(pair->source, pair->frame_bytes, at,
                                             tt_min64(at + stride, last + 1));
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
                            const struct tt_match_span *span, int64_t begin_diagonal,
                            int64_t end_diagonal)
{
    uint64_t recent[BLOCK_FRAMES] = {0};
    uint64_t factor = leaving_factor();
    uint64_t hash = 0;

    for (int64_t at = span->recording; at < span->recording_end; at++) {
        size_t turn = (size_t)at % BLOCK_FRAMES;
        uint64_t entering = frame_hash(tt_match_recording(pair, at), pair->frame_bytes);
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
static struct tt_match_core core_on(const struct tt_match_pair *pair,
                                    const struct tt_match_span *span, int64_t diagonal)
{
    int64_t source = tt_max64(span->source, span->recording - diagonal);
    int64_t end = tt_min64(span->source_end, span->recording_end - diagonal);
    struct tt_match_core best = {.diagonal = diagonal};
    int64_t sum = 0;
    int64_t begin = source;

    for (; source < end; source++) {
        const uint8_t *recorded = tt_match_recording(pair, source + diagonal);

        if (frame_silent(recorded, pair->frame_bytes)) {
            continue;
        }
        if (memcmp(tt_match_source(pair, source), recorded, pair->frame_bytes) != 0) {
            sum = tt_max64(sum - 1, 0);
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

static void core_better(const struct tt_match_pair *pair, const struct tt_match_span *span,
                        int64_t diagonal, struct tt_match_core *best)
{
    struct tt_match_core core = core_on(pair, span, diagonal);

    if (core.score > best->score) {
        *best = core;
    }
}

struct tt_match_core tt_match_core_find(const struct tt_match_pair *pair, struct tt_match *match,
                                        const struct tt_match_span *span)
{
    int64_t source_begin =
        tt_match_sound_begin(pair->source, pair->frame_bytes, span->source, span->source_end);
    int64_t source_end = sound_end(pair->source, pair->frame_bytes, source_begin, span->source_end);
    int64_t recording_begin = tt_match_sound_begin(pair->recording, pair->frame_bytes,
                                                   span->recording, span->recording_end);
    int64_t recording_end =
        sound_end(pair->recording, pair->frame_bytes, recording_begin, span->recording_end);
    int64_t begin_diagonal = recording_begin - source_begin;
    int64_t end_diagonal = recording_end - source_end;
    struct tt_match_core best = {0};
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
