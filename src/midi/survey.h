/*
 * What a raw log holds, before its events are looked at: its ports, losses, how it ends.
 */
#ifndef TT_MIDI_SURVEY_H
#define TT_MIDI_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "midi/log.h"

struct tt_midi_port_survey {
    bool seen; /* there is a frame of it */
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
    uint64_t frames_bad;
    uint64_t losses;      /* of all ports */
    bool cut;             /* within a frame */
    bool ended;           /* as it should, and not cut off */
    int64_t last_mono_ns; /* the latest stamp; 0: none */
};

/* All frames from the first; the log is left rewound. */
void tt_midi_survey_log(struct tt_midi_log *log, struct tt_midi_survey *ret_survey);

#endif
