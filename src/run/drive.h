/*
 * Sending numbered MIDI messages at planned times from a real-time thread, with the times around
 * each sending.
 */
#ifndef TT_RUN_DRIVE_H
#define TT_RUN_DRIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "midi/probe.h"
#include "os/midi_port.h"
#include "os/thread.h"

struct tt_drive {
    struct tt_midi_port *port;      /* the caller's */
    const struct tt_probe_due *due; /* `count` of them */
    struct tt_probe_sent *sent;     /* filled in */
    size_t count;
    atomic_bool *hold; /* NULL, or what is set when `hold_at` are out */
    size_t hold_at;
    int64_t start_mono_ns;
    atomic_size_t done; /* messages that are out */
    atomic_bool ended;  /* all are, or the port failed: */
    int error;
    atomic_bool quit;
    struct tt_thread thread;
};

/* All fields up to `hold_at` are set; the rest is zero. 0 or -errno. */
int tt_drive_start(struct tt_drive *drive);
/* No more messages from here on; `ended` comes. */
void tt_drive_quit(struct tt_drive *drive);
void tt_drive_stop(struct tt_drive *drive);

#endif
