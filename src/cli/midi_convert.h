/*
 * A raw log made into Standard MIDI Files: format 1, a first track that says what was recorded and
 * when, then a track for each port.
 */
#ifndef TT_CLI_MIDI_CONVERT_H
#define TT_CLI_MIDI_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cmd.h"
#include "midi/log.h"
#include "midi/survey.h"

struct tt_midi_convert {
    const char *command; /* as which it speaks */
    struct tt_midi_log *log;
    const struct tt_midi_survey *survey; /* of it */
    const char *path;                    /* OUT.mid; split: OUT-01.mid, OUT-02.mid … */
    bool stoppable;   /* an interrupt ends it: TT_EXIT_INCONCLUSIVE, and no half file */
    int64_t split_ns; /* silence of so long ends a file; 0: one file, that begins with the log */
};

struct tt_midi_converted {
    unsigned files;
    uint64_t events;
};

/* Whether such files can be made, by making the first and removing it. TT_EXIT_GOOD, or an exit
 * code after saying why not. */
enum tt_exit tt_midi_convert_try(const char *command, const char *path, bool split);

/* A file is written beside its place and renamed: there is never half of one. None is ever written
 * over another. TT_EXIT_GOOD, or an exit code after saying why. */
enum tt_exit tt_midi_convert_run(const struct tt_midi_convert *convert,
                                 struct tt_midi_converted *ret_converted);

#endif
