/*
 * Where a source's frames are in a recording, found from their content alone: which alignments
 * hold, and which frames differ.
 *
 * Pure; the caller supplies all memory (struct tt_match is large: put it on the heap or make it
 * static). Frames are compared byte for byte; a frame of zero bytes is silence.
 *
 * Invariants: segments are in order and do not overlap, neither in the source nor in the recording;
 * inside a segment recording = source + a constant. A stretch of silence in the recording that
 * stands in for frames of the same length keeps the alignment; frames that are added or left out
 * begin another segment. Where several alignments explain the recording (periodic content), the one
 * with the most equal frames that are not silence is taken; then the one at which both begin, then
 * the one at which both end.
 */
#ifndef TT_AUDIO_MATCH_H
#define TT_AUDIO_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_MATCH_SEGMENTS 256
#define TT_MATCH_ANCHORS  1024
#define TT_MATCH_SLOTS    8192 /* a power of two, well above the number of votes */

struct tt_match_pair {
    const uint8_t *source;
    int64_t source_frames;
    const uint8_t *recording;
    int64_t recording_frames;
    size_t frame_bytes;
};

enum tt_match_verdict {
    TT_MATCH_EXACT,     /* every source frame, at one alignment */
    TT_MATCH_DIFFERENT, /* aligned, but frames differ, are missing, or the alignment changes */
    TT_MATCH_NOWHERE,   /* no part of the source is in the recording */
    TT_MATCH_SOURCE_EMPTY,
    TT_MATCH_SOURCE_SILENT,    /* nothing to align by */
    TT_MATCH_RECORDING_SILENT, /* or empty */
};

struct tt_match_segment {
    int64_t source;
    int64_t recording;
    int64_t frames;
};

/* Frames that differ. Inside a segment both lengths are the same; where the alignment changes
 * (`shift`) they are not, and one may be 0. Where frames next to a shift repeat (silence), it may
 * as well lie up to slide_frames earlier. Before the first and behind the last sound that is found,
 * a shift cannot be seen: one at a position of the recording in [cut_from, cut_to) would account
 * for the range. */
struct tt_match_range {
    int64_t source;
    int64_t source_frames;
    int64_t recording;
    int64_t recording_frames;
    bool shift;
    int64_t slide_frames;
    int64_t cut_from;
    int64_t cut_to;
};

struct tt_match_anchor {
    uint64_t hash;
    int64_t source;
    int64_t near_begin; /* diagonals of its hits: nearest to where both begin, nearest to where both
                           end */
    int64_t near_end;
    bool hit;
};

struct tt_match_vote {
    int64_t diagonal;
    unsigned count;
};

struct tt_match {
    enum tt_match_verdict verdict;
    int64_t equal_frames; /* source frames that are in the recording, silent ones too */
    size_t segment_count;
    struct tt_match_segment segments[TT_MATCH_SEGMENTS];
    int64_t sound_begin; /* of what was found, in the recording */
    int64_t sound_end;

    /* scratch */
    size_t anchor_count;
    struct tt_match_anchor anchors[TT_MATCH_ANCHORS];
    uint16_t slots[TT_MATCH_SLOTS];
    struct tt_match_vote votes[TT_MATCH_SLOTS];
};

/* Time is linear in the frames of both, times the number of segments. */
void tt_match_find(const struct tt_match_pair *pair, struct tt_match *ret_match);

struct tt_match_cursor {
    size_t segment;
    int64_t source;
    int64_t recording;
};

/* The differing ranges in order: start with a zeroed cursor; false after the last. Only after a
 * verdict of TT_MATCH_EXACT or TT_MATCH_DIFFERENT. */
bool tt_match_next(const struct tt_match_pair *pair, const struct tt_match *match,
                   struct tt_match_cursor *cursor, struct tt_match_range *ret_range);

#endif
