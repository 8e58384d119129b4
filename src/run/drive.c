/*
 * See drive.h.
 */
#include "run/drive.h"

#include <errno.h>

#include "base/ns.h"
#include "os/clock.h"

#define LEAD_NS    (20 * TT_NS_PER_MS) /* before the first */
#define NAP_NS     (50 * TT_NS_PER_MS) /* a stop is noticed after so long */
#define NO_ROOM_NS (100 * TT_NS_PER_US)

static void sleep_until(const struct tt_drive *drive, int64_t mono_ns)
{
    struct tt_clock *clock = tt_clock_system();

    while (!atomic_load_explicit(&drive->quit, memory_order_relaxed)) {
        int64_t nap_ns = tt_midi_port_now_ns() + NAP_NS;

        clock->ops->sleep_until(clock, mono_ns < nap_ns ? mono_ns : nap_ns);
        if (mono_ns <= nap_ns) {
            return;
        }
    }
}

/* 0, -errno, or -ECANCELED: it was to stop before all of it was out. */
static int send_message(struct tt_drive *drive, size_t number)
{
    uint8_t message[TT_PROBE_MESSAGE];
    bool sysex = drive->due[number].sysex;
    size_t bytes = tt_probe_message(number, sysex, message);
    size_t at = 0;

    drive->sent[number].sysex = sysex;
    drive->sent[number].before_ns = tt_midi_port_now_ns();
    while (at < bytes && !atomic_load_explicit(&drive->quit, memory_order_relaxed)) {
        int put = drive->port->ops->write(drive->port, message + at, bytes - at, 0);

        if (put < 0) {
            return put;
        }
        at += (size_t)put;
        if (put == 0) {
            sleep_until(drive, tt_midi_port_now_ns() + NO_ROOM_NS);
        }
    }
    drive->sent[number].after_ns = tt_midi_port_now_ns();
    return at < bytes ? -ECANCELED : 0;
}

static void run(void *context)
{
    struct tt_drive *drive = context;
    int error = 0;

    for (size_t i = 0;
         i < drive->count && !error && !atomic_load_explicit(&drive->quit, memory_order_acquire);
         i++) {
        sleep_until(drive, drive->start_mono_ns + drive->due[i].due_ns);
        if (drive->hold && i == drive->hold_at) {
            atomic_store_explicit(drive->hold, true, memory_order_relaxed);
        }
        error = send_message(drive, i);
        atomic_fetch_add_explicit(&drive->done, !error, memory_order_release);
    }
    drive->error = error == -ECANCELED ? 0 : error;
    atomic_store_explicit(&drive->ended, true, memory_order_release);
}

int tt_drive_start(struct tt_drive *drive)
{
    drive->start_mono_ns = tt_midi_port_now_ns() + LEAD_NS;
    return tt_thread_start(&drive->thread, run, drive);
}

void tt_drive_quit(struct tt_drive *drive)
{
    atomic_store_explicit(&drive->quit, true, memory_order_release);
}

void tt_drive_stop(struct tt_drive *drive)
{
    tt_drive_quit(drive);
    tt_thread_join(&drive->thread);
}
