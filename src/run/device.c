/*
 * See device.h.
 */
#include "run/device.h"

#include "os/wake.h"

void tt_device_leave(struct tt_device *device, enum tt_device_state from, enum tt_device_state to)
{
    int expected = (int)from;

    atomic_compare_exchange_strong(&device->state, &expected, (int)to);
}

void tt_device_wake(const struct tt_device *device, int64_t ready)
{
    int state = atomic_load(&device->state);

    if ((state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING) ||
        ready >= atomic_load_explicit(&device->wake_frames, memory_order_relaxed)) {
        tt_wake_kick(device->wake_fd);
    }
}
