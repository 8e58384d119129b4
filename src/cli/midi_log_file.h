/*
 * A raw log as it is written: append only, and confirmed once a second.
 *
 * Invariants: the file always ends with a whole frame, or is cut back to one; what is confirmed has
 * been taken by the disk and stays readable after a power cut. An anchor to the wall clock is put
 * in every ten seconds.
 */
#ifndef TT_CLI_MIDI_LOG_FILE_H
#define TT_CLI_MIDI_LOG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "midi/frame.h"

#define TT_MIDI_LOG_BATCH 1024 /* frames that are written at once */

struct tt_midi_log_file {
    int fd;
    uint64_t bytes;           /* written */
    uint64_t confirmed_bytes; /* and taken by the disk */
    int64_t confirm_mono_ns;  /* next */
    int64_t anchor_mono_ns;   /* next */
};

/* Makes a new file; -EEXIST: there is one. 0 or -errno. */
int tt_midi_log_file_open(struct tt_midi_log_file *file, const char *path);
/* Up to TT_MIDI_LOG_BATCH frames. -errno: the file holds what came before, and no more can be
 * written. */
int tt_midi_log_file_append(struct tt_midi_log_file *file, const struct tt_midi_frame *frames,
                            size_t n);
/* Confirms and anchors where it is time for it. 0 or -errno. */
int tt_midi_log_file_tend(struct tt_midi_log_file *file, int64_t now_mono_ns);
/* Marks the end, confirms, and closes. 0 or -errno. */
int tt_midi_log_file_close(struct tt_midi_log_file *file);

#endif
