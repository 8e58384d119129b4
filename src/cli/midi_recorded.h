/*
 * What `tactus midi record` says at its end, as a table and as JSON.
 */
#ifndef TT_CLI_MIDI_RECORDED_H
#define TT_CLI_MIDI_RECORDED_H

#include <stdbool.h>

#include "cli/midi_convert.h"
#include "midi/survey.h"

struct tt_midi_recorded {
    const char *output_path;
    const char *log_path;
    bool split;
    const char *const *names; /* of the ports */
    unsigned name_count;
    const uint64_t *left_out; /* of each port: bytes that waited from before the start */
    const struct tt_midi_survey *survey;
    struct tt_midi_converted converted;
};

/* To standard output. */
void tt_midi_recorded_show(const struct tt_midi_recorded *recorded);
/* One object. */
void tt_midi_recorded_show_json(const struct tt_midi_recorded *recorded);

#endif
