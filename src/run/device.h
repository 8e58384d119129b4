/*
 * What a program and an engine's thread share: two positions, a state, a wake-up. Lock-free;
 * positions count frames since the device was opened and never wrap.
 */
#ifndef TT_RUN_DEVICE_H
#define TT_RUN_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

enum tt_device_state {
    TT_DEVICE_STOPPED,
    TT_DEVICE_RUNNING,
    TT_DEVICE_DRAINING, /* playback: runs until what was written is sent */
    TT_DEVICE_DRAINED,
    TT_DEVICE_XRUN, /* from here on the engine has stopped by itself */
    TT_DEVICE_GONE, /* the interface is gone: for good */
};

struct tt_device {
    int64_t buffer_frames;
    _Atomic int64_t program_frame; /* playback: written up to here. capture: read up to here */
    _Atomic int64_t engine_frame;  /* playback: sent up to here. capture: presented up to here */
    _Atomic int64_t wake_frames; /* kick when at least so many can be written or read (avail_min) */
    /* enum tt_device_state; the engine moves it only away from RUNNING and DRAINING */
    atomic_int state;
    atomic_bool endless; /* an xrun does not stop it (stop_threshold >= boundary) */
    int wake_fd;
};

/* Moves the state, unless somebody was quicker. */
void tt_device_leave(struct tt_device *device, enum tt_device_state from, enum tt_device_state to);

/* Wakes the program once it can write or read enough (`ready` frames), and when the engine has
 * stopped by itself. */
TT_RT void tt_device_wake(const struct tt_device *device, int64_t ready);

#endif
