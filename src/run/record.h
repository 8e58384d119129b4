/*
 * Recording MIDI: a real-time thread reads all ports and stamps what its kernel does not, and hands
 * frames of the raw log to whoever writes them. Lock-free between the two.
 *
 * Invariants: frames of a port are in the order of its bytes, with its losses and gaps in their
 * places. When the writer is late the bytes wait in the kernel; what finds no room there is counted
 * there.
 */
#ifndef TT_RUN_RECORD_H
#define TT_RUN_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "midi/frame.h"
#include "midi/log.h"
#include "os/midi_port.h"
#include "os/thread.h"

#define TT_RECORD_PORTS  32
#define TT_RECORD_FRAMES (1 << 18) /* that may wait for the writer: 8 MB */

struct tt_record_port {
    struct tt_midi_port *port; /* owned; NULL while it is gone */
    struct tt_midi_port_setup setup;
    char name[TT_MIDI_PORT_NAME]; /* by which it is looked for when it is gone */
    int64_t retry_mono_ns;        /* not before */
};

struct tt_record {
    struct tt_record_port ports[TT_RECORD_PORTS];
    unsigned count;
    struct tt_midi_frame *frames; /* a ring of TT_RECORD_FRAMES */
    atomic_size_t written;        /* by the thread, counting on */
    atomic_size_t taken;          /* by the writer */
    int ready_fd;                 /* to poll: there are frames */
    int quit_fd;
    atomic_bool
        held; /* may be set at any time: the thread reads nothing, as if it were kept waiting */
    atomic_bool quit;
    struct tt_thread thread;
};

/* 0, or -errno. */
int tt_record_init(struct tt_record *record);
/* Before the start. Takes the port over, which was opened as `setup` says. The log gets its name
 * and stamp. Its number is that of the call. 0; -ENOSPC: too many. */
int tt_record_add(struct tt_record *record, struct tt_midi_port *port,
                  const struct tt_midi_port_setup *setup);
/* 0, or -errno. record->thread.realtime says whether it got real-time priority. */
int tt_record_start(struct tt_record *record);
/* The next frames, up to n; 0: none is there. */
size_t tt_record_take(struct tt_record *record, struct tt_midi_frame *frames, size_t n);
/* The thread ends; what it read before can be taken. */
void tt_record_stop(struct tt_record *record);
void tt_record_done(struct tt_record *record);

/* What the thread does over and over: takes all that is there. True: frames were written. Only
 * while a port is gone it allocates, for opening it anew. */
bool tt_record_step(struct tt_record *record, int64_t now_mono_ns);

#endif
