/*
 * What a raw log holds, before its events are looked at: its ports, losses, how it ends.
 *
 * A port is one that a name or stamp speaks of, in two frames at least: its recorder wrote both
 * before any of its bytes, so a lone frame of a number is a damaged one of another port. Only where
 * the whole log names no port, because its beginning is damaged, each number is one.
 *
 * A monotonic clock makes no steps: a stamp ahead of most of those that follow, or well behind most
 * of those before, is a damaged one, and so is one that nothing follows a month after all else.
 */
#ifndef TT_MIDI_SURVEY_H
#define TT_MIDI_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "midi/log.h"

struct tt_midi_port_survey {
    bool seen;  /* it is one */
    bool named; /* by a name or a stamp */
    uint64_t frames;
    char name[TT_MIDI_LOG_NAME_BYTES];
    bool stamp_known;
    enum tt_midi_stamp stamp; /* the weakest that it had */
    uint64_t bytes;
    uint64_t losses;
    uint64_t bytes_lost; /* as far as it is known */
    uint64_t gone;       /* times */
};

struct tt_midi_survey {
    struct tt_midi_port_survey ports[TT_MIDI_LOG_PORTS];
    unsigned port_count; /* that were seen */
    uint64_t frames;
    uint64_t bad[TT_MIDI_FRAME_REASONS]; /* frames, by what is wrong with them */
    uint64_t frames_bad;                 /* all of them */
    uint64_t losses;                     /* of all ports */
    bool cut;                            /* within a frame */
    bool ended;                          /* as it should, and not cut off */
    int64_t last_mono_ns;                /* the latest stamp; 0: none */
};

/* All frames from the first; the log is left rewound. */
void tt_midi_survey_log(struct tt_midi_log *log, struct tt_midi_survey *ret_survey);
/* What is wrong with the good frame at `offset` of this log: TT_MIDI_FRAME_OK, _TYPE, _PORT or
 * _STAMP. */
enum tt_midi_frame_reason tt_midi_survey_judge(const struct tt_midi_survey *survey,
                                               const struct tt_midi_log *log, size_t offset,
                                               const struct tt_midi_frame *frame);

#endif
