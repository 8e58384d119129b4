/*
 * Playing MIDI from a real-time thread: each event at its time, and silence at every end.
 */
#ifndef TT_RUN_PLAY_H
#define TT_RUN_PLAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hist.h"
#include "midi/player.h"
#include "midi/sounding.h"
#include "os/midi_port.h"
#include "os/thread.h"

struct tt_play {
    struct tt_player *player;  /* the caller's */
    struct tt_midi_port *port; /* the caller's */
    struct tt_hist *lateness;  /* the caller's: handed over - due */
    int64_t start_mono_ns;     /* of time 0 */
    atomic_bool ended;         /* what is below is for reading behind tt_play_stop */
    int error;                 /* of the port */
    uint64_t sent;             /* events, wholly */
    /* Times that the port took nothing: it is slower than the wire is said to be. */
    uint64_t no_room;
    struct tt_sounding sounding; /* by what the port took: at the end, what could not be ended */
    atomic_bool quit;
    struct tt_thread thread;
};

/* player, port and lateness are set, the rest is zero. 0 or -errno. */
int tt_play_start(struct tt_play *play);
/* Ends at once; what sounds is ended first. */
void tt_play_stop(struct tt_play *play);

#endif
