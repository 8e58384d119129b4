/*
 * See listen_inside.h: what a step does for one listener.
 */
#include "run/listen_inside.h"

#include <string.h>

#include "audio/eth.h"
#include "base/min_max.h"
#include "base/ns.h"

#define TAI_MINUS_UTC_S 37 /* since 2017; where the kernel does not know */

void tt_listen_read_tai_offset(struct tt_listen *listen)
{
    int offset_s = tt_engine_tai_offset(listen->engine);

    listen->listener.other_scale_ns = (offset_s != 0 ? offset_s : TAI_MINUS_UTC_S) * TT_NS_PER_S;
    if (listen->config.timescale == TT_TIMESCALE_UTC) {
        listen->listener.stamp_offset_ns = offset_s * TT_NS_PER_S;
        listen->listener.other_scale_ns = -listen->listener.other_scale_ns;
    } else if (offset_s == 0) {
        atomic_fetch_or(&listen->notes, TT_NOTE_TAI_UNSET);
    }
}

void tt_listen_clock_step(struct tt_listen *listen, int64_t step_ns, int64_t now_tai_ns)
{
    tt_listener_clock_step(&listen->listener, step_ns);
    listen->start_tai_ns += step_ns;
    listen->next_tai_ns += step_ns;
    tt_listen_read_tai_offset(listen);
    listen->live.clock_steps++;
    atomic_fetch_or(&listen->notes, TT_NOTE_CLOCK_STEP);
    tt_event_log_add(&listen->log, (struct tt_event){.kind = TT_EVENT_CLOCK,
                                                     .frame = listen->listener.timeline.device,
                                                     .time_tai_ns = now_tai_ns});
}

bool tt_listen_runs(const struct tt_listen *listen)
{
    return atomic_load(&listen->device.state) == TT_DEVICE_RUNNING;
}

static void publish(struct tt_listen *listen)
{
    listen->live.stream = tt_listener_counters(&listen->listener);
    listen->live.lateness_max_ns =
        listen->listener.lateness.n > 0 ? listen->listener.lateness.max : 0;
    listen->live.drift_ppb = tt_media_clock_drift_ppb(&listen->listener.clock);
    listen->live.clock = listen->listener.clock;
    listen->live.talker_present = listen->listener.locked;
    tt_counters_begin(&listen->lock);
    listen->shared = listen->live;
    tt_counters_end(&listen->lock);
}

void tt_listen_begin(struct tt_listen *listen, int64_t now_tai_ns)
{
    listen->start_tai_ns = now_tai_ns;
    listen->next_tai_ns = now_tai_ns;
    tt_listener_start(&listen->listener, atomic_load(&listen->device.engine_frame), now_tai_ns);
    publish(listen);
    atomic_store(&listen->device.state, TT_DEVICE_RUNNING);
}

void tt_listen_end(struct tt_listen *listen, int64_t done_tai_ns)
{
    if (!tt_listen_runs(listen)) {
        return;
    }
    tt_listener_stop(&listen->listener, done_tai_ns);
    atomic_store(&listen->device.engine_frame, listen->listener.timeline.device);
    publish(listen);
    tt_device_leave(&listen->device, TT_DEVICE_RUNNING, TT_DEVICE_STOPPED);
}

void tt_listen_take(struct tt_listen *listen, const struct tt_link_packet *packet,
                    int64_t now_tai_ns)
{
    int64_t arrival_ns = tt_min64(packet->time_tai_ns, now_tai_ns);
    struct tt_eth eth;

    if (tt_eth_parse(packet->data, packet->bytes, &eth) < 0 || eth.ethertype != TT_ETHERTYPE_AVTP ||
        memcmp(eth.dest, listen->config.dest, sizeof eth.dest) != 0 ||
        arrival_ns < listen->start_tai_ns) {
        return;
    }
    listen->live.packets++;
    tt_listener_receive(&listen->listener, packet->data + eth.header_bytes,
                        packet->bytes - eth.header_bytes, eth.src, arrival_ns);
}

static void stop_by_itself(struct tt_listen *listen, int64_t now_tai_ns)
{
    int64_t unread = listen->listener.timeline.device - atomic_load(&listen->device.program_frame);

    listen->live.xruns++;
    tt_event_log_add(&listen->log, (struct tt_event){.kind = TT_EVENT_XRUN,
                                                     .frame = listen->device.program_frame,
                                                     .frames = unread,
                                                     .time_tai_ns = now_tai_ns});
    tt_device_leave(&listen->device, TT_DEVICE_RUNNING, TT_DEVICE_XRUN);
}

/* When to step again: the program waits for so many frames, and not longer than until they are
 * there. */
static int64_t next_step(const struct tt_listen *listen, int64_t now_tai_ns, int64_t ready)
{
    const struct tt_device *device = &listen->device;
    int64_t missing = atomic_load_explicit(&device->wake_frames, memory_order_relaxed) - ready;
    int64_t latest_ns = now_tai_ns + listen->wake_interval_ns;
    int64_t there_ns;

    if (missing <= 0) {
        return latest_ns;
    }
    there_ns =
        tt_listener_presentation(&listen->listener, atomic_load(&device->engine_frame) + missing);
    return there_ns > now_tai_ns && there_ns < latest_ns ? there_ns : latest_ns;
}

void tt_listen_conclude(struct tt_listen *listen, int64_t now_tai_ns, int64_t done_tai_ns,
                        uint64_t drops)
{
    struct tt_device *device = &listen->device;
    int64_t position;
    int64_t ready;

    listen->live.receive_drops += drops;
    position = tt_listener_advance(&listen->listener, done_tai_ns);
    atomic_store_explicit(&device->engine_frame, position, memory_order_release);
    ready = position - atomic_load_explicit(&device->program_frame, memory_order_acquire);
    if ((ready > device->buffer_frames && !atomic_load(&device->endless)) ||
        (listen->live.stream.absences != listen->listener.counters.absences &&
         listen->config.on_absence == TT_ABSENCE_XRUN)) {
        stop_by_itself(listen, now_tai_ns);
    }
    publish(listen);
    tt_device_wake(device, ready);
    listen->next_tai_ns =
        done_tai_ns < now_tai_ns ? now_tai_ns : next_step(listen, now_tai_ns, ready);
}

void tt_listen_lose_link(struct tt_listen *listen)
{
    atomic_fetch_or(&listen->notes, TT_NOTE_LINK_GONE);
    tt_device_leave(&listen->device, TT_DEVICE_RUNNING, TT_DEVICE_GONE);
    tt_device_wake(&listen->device, 0);
}
