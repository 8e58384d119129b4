/*
 * Inside of match: the best stretch of one alignment.
 */
#ifndef TT_AUDIO_MATCH_CORE_H
#define TT_AUDIO_MATCH_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "audio/match.h"

/* What is matched: these frames of the source with those of the recording. */
struct tt_match_span {
    int64_t source, source_end;
    int64_t recording, recording_end;
};

/* An alignment is a diagonal: recording position - source position. */
struct tt_match_core {
    int64_t diagonal;
    int64_t source, source_end;
    int64_t score; /* 0: nothing was found */
};

static inline const uint8_t *tt_match_source(const struct tt_match_pair *pair, int64_t frame)
{
    return pair->source + (size_t)frame * pair->frame_bytes;
}

static inline const uint8_t *tt_match_recording(const struct tt_match_pair *pair, int64_t frame)
{
    return pair->recording + (size_t)frame * pair->frame_bytes;
}

static inline bool tt_match_equal(const struct tt_match_pair *pair, int64_t source,
                                  int64_t recording)
{
    return memcmp(tt_match_source(pair, source), tt_match_recording(pair, recording),
                  pair->frame_bytes) == 0;
}

/* The first frame of [begin, end) that is not silent, or end. */
int64_t tt_match_sound_begin(const uint8_t *frames, size_t frame_bytes, int64_t begin, int64_t end);

/* Anchors and votes of `match` are used. */
struct tt_match_core tt_match_core_find(const struct tt_match_pair *pair, struct tt_match *match,
                                        const struct tt_match_span *span);

#endif
