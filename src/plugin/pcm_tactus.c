/*
 * The ALSA device: a talker of every program that can play, a listener of every program that can
 * record.
 *
 * A guest in somebody's process: it prints only what must be said, has no signal handlers, locks no
 * memory, never exits, and leaves nothing behind.
 *
 * Invariants:
 * - ALSA's lock is held in most callbacks, so the engine's thread calls nothing of ALSA; they share
 * struct tt_device. It is not held in prepare, sw_params and poll_revents, while other threads of
 * the program may be in the rest: that is what the device's own lock is for, taken inside ALSA's.
 * - An xrun is a state that snd_pcm_prepare recovers: `pointer` fails only while the device runs.
 * - A forked child has a copy of the device and touches nothing that it shares with its parent.
 */
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "audio/eth.h"
#include "os/wake.h"
#include "plugin/engine.h"
#include "plugin/negotiate.h"
#include "plugin/position.h"
#include "plugin/say.h"
#include "plugin/settings.h"
#include "plugin/tactus.h"

static enum tt_device_state device_state(const struct tactus *tactus)
{
    return (enum tt_device_state)atomic_load(&tactus->engine.device->state);
}

/* Whether there is nothing to do here any more: the interface is gone, or this is a forked child,
 * which has a copy of the device without its thread, and what it took from the sockets would be
 * missing in its parent. ALSA's state says so from here on, and every call gets -ENODEV. */
static bool is_gone(struct tactus *tactus)
{
    bool has_device = !tactus->engine.device || device_state(tactus) != TT_DEVICE_GONE;

    if (has_device && tt_tactus_is_ours(tactus)) {
        return false;
    }
    snd_pcm_ioplug_set_state(&tactus->io, SND_PCM_STATE_DISCONNECTED);
    return true;
}

/* Takes the lock; false: nothing may be done here, and there is nothing to leave. The lock of a
 * forked child is as it was in its parent, and so is not asked for. */
static bool enter(struct tactus *tactus)
{
    if (is_gone(tactus)) {
        return false;
    }
    pthread_mutex_lock(&tactus->lock);
    return true;
}

static void leave(struct tactus *tactus)
{
    pthread_mutex_unlock(&tactus->lock);
}

/* Whether a running device has come to its end by itself: the engine's, or at a stop threshold that
 * is not the buffer's size, which the engine knows nothing of. */
static bool has_stopped(struct tactus *tactus)
{
    if (tt_position_available(tactus) >= tactus->stop_frames) {
        tt_device_leave(tactus->engine.device, TT_DEVICE_RUNNING, TT_DEVICE_XRUN);
    }
    return device_state(tactus) == TT_DEVICE_XRUN;
}

static snd_pcm_sframes_t find_pointer(struct tactus *tactus)
{
    enum tt_device_state state = device_state(tactus);

    tt_position_follow(tactus);
    switch (tactus->io.state) {
    case SND_PCM_STATE_RUNNING:
        if (has_stopped(tactus)) {
            return -EPIPE;
        }
        break;
    case SND_PCM_STATE_DRAINING:
        /* ALSA takes any error here as the end. A capture has nothing to drain. */
        if (!tactus->engine.talk || (state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING)) {
            return -EPIPE;
        }
        tt_talk_drain(tactus->engine.talk);
        break;
    default:
        return (snd_pcm_sframes_t)tactus->io.hw_ptr;
    }
    return (snd_pcm_sframes_t)tt_position_advance(tactus);
}

static snd_pcm_sframes_t tactus_pointer(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;
    snd_pcm_sframes_t pointer;

    if (!tactus->engine.device) {
        return 0;
    }
    if (!enter(tactus)) {
        return (snd_pcm_sframes_t)io->hw_ptr;
    }
    pointer = find_pointer(tactus);
    leave(tactus);
    return pointer;
}

static snd_pcm_sframes_t tactus_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                         snd_pcm_uframes_t offset, snd_pcm_uframes_t size)
{
    struct tactus *tactus = io->private_data;
    int error;

    if (!enter(tactus)) {
        return -ENODEV;
    }
    error = tt_position_transfer(tactus, areas, offset, size);
    leave(tactus);
    return error < 0 ? error : (snd_pcm_sframes_t)size;
}

static int tactus_start(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;
    int error = -EBADFD;

    if (!enter(tactus)) {
        return -ENODEV;
    }
    if (tactus->engine.device) {
        error = tt_plugin_engine_start(&tactus->engine);
    }
    if (error == 0) {
        tt_plugin_say_notes(&tactus->voice,
                            tt_plugin_engine_notes(&tactus->engine, &tactus->attachment));
    }
    leave(tactus);
    return error;
}

static int tactus_stop(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;

    if (enter(tactus)) {
        tt_plugin_engine_stop(&tactus->engine);
        leave(tactus);
    }
    return 0;
}

static int tactus_pause(snd_pcm_ioplug_t *io, int enable)
{
    return enable ? tactus_stop(io) : tactus_start(io);
}

static int tactus_prepare(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;

    if (!tactus->engine.device) {
        return -EBADFD;
    }
    if (!enter(tactus)) {
        return -ENODEV;
    }
    tt_plugin_engine_prepare(&tactus->engine);
    tt_position_prepare(tactus);
    tt_wake_kick(tactus->engine.device->wake_fd); /* a poll before the start looks for itself */
    leave(tactus);
    return 0;
}

static int tactus_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *ret_delay)
{
    struct tactus *tactus = io->private_data;
    int error = 0;

    if (!tactus->engine.device) {
        return -EBADFD;
    }
    if (!enter(tactus)) {
        return -ENODEV;
    }
    if (io->state == SND_PCM_STATE_XRUN ||
        (io->state == SND_PCM_STATE_RUNNING && device_state(tactus) == TT_DEVICE_XRUN)) {
        error = -EPIPE;
    } else {
        tt_position_follow(tactus);
        *ret_delay = (snd_pcm_sframes_t)tt_plugin_engine_delay(&tactus->engine);
    }
    leave(tactus);
    return error;
}

/* ALSA counts what is available, under its lock, and finds an xrun: POLLERR in state RUNNING would
 * be -EIO to it, which programs take for the end. */
static bool is_ready(struct tactus *tactus)
{
    enum tt_device_state state = device_state(tactus);
    snd_pcm_sframes_t avail;

    if (tactus->io.state == SND_PCM_STATE_DRAINING) {
        return state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING;
    }
    avail = snd_pcm_avail_update(tactus->io.pcm);
    return avail < 0 || avail >= atomic_load(&tactus->engine.device->wake_frames);
}

static int tactus_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned count,
                               unsigned short *ret_events)
{
    struct tactus *tactus = io->private_data;
    unsigned short ready = tactus->engine.talk ? POLLOUT : POLLIN;

    if (count != 1) {
        return -EINVAL;
    }
    *ret_events = fds[0].revents & (POLLERR | POLLNVAL);
    if (!tactus->engine.device) {
        return 0;
    }
    if (is_gone(tactus)) {
        *ret_events |= ready | POLLERR;
        return 0;
    }
    if (!is_ready(tactus)) {
        /* It may become ready between the look and the clearing: then nobody kicks again. */
        tt_wake_clear(tactus->engine.device->wake_fd);
        if (!is_ready(tactus)) {
            return 0;
        }
        tt_wake_kick(tactus->engine.device->wake_fd);
    }
    *ret_events |= ready;
    if (is_gone(tactus) || io->state == SND_PCM_STATE_XRUN) {
        *ret_events |= POLLERR;
    }
    return 0;
}

static int tactus_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
    struct tactus *tactus = io->private_data;
    struct tt_plugin_engine shape = {
        .config = tactus->settings.stream,
        .buffer_frames = (int64_t)io->buffer_size,
        .period_frames = (int64_t)io->period_size,
    };
    int error = is_gone(tactus) ? -ENODEV : tt_plugin_pcm_format(io->format, &tactus->format);

    (void)params;
    if (error < 0) {
        return error;
    }
    shape.config.format = tt_pcm_wire_format(tactus->format);
    shape.config.rate_hz = io->rate;
    shape.config.channels = io->channels;
    error = tt_plugin_fits(tactus->voice.name, &shape.config, io->buffer_size,
                           tactus->attachment.link->mtu_bytes);
    return error < 0 ? error : tt_tactus_make_engine(tactus, &shape);
}

static int tactus_hw_free(snd_pcm_ioplug_t *io)
{
    return tactus_stop(io);
}

static int tactus_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params)
{
    struct tactus *tactus = io->private_data;
    struct tt_device *device = tactus->engine.device;
    snd_pcm_uframes_t avail_min;
    snd_pcm_uframes_t stop_threshold;
    snd_pcm_uframes_t boundary;

    if (!enter(tactus)) {
        return -ENODEV;
    }
    snd_pcm_sw_params_get_avail_min(params, &avail_min);
    snd_pcm_sw_params_get_stop_threshold(params, &stop_threshold);
    snd_pcm_sw_params_get_boundary(params, &boundary);
    tactus->boundary = (int64_t)boundary;
    atomic_store(&device->wake_frames, (int64_t)avail_min);
    tactus->stop_frames = stop_threshold == io->buffer_size || stop_threshold >= boundary
                              ? INT64_MAX
                              : (int64_t)stop_threshold;
    atomic_store(&device->endless, stop_threshold > io->buffer_size);
    tt_wake_kick(device->wake_fd);
    leave(tactus);
    return 0;
}

static void tactus_dump(snd_pcm_ioplug_t *io, snd_output_t *out)
{
    struct tactus *tactus = io->private_data;
    const struct tt_stream_config *config = &tactus->settings.stream;
    char stream_id[TT_STREAM_ID_TEXT];
    char dest[TT_MAC_TEXT];

    snd_output_printf(out, "Tactus %s: stream %s to %s on %s, frames per packet: %u\n",
                      tt_tactus_role(io) == TT_ROLE_TALKER ? "talker" : "listener",
                      tt_stream_id_format(config->stream_id, stream_id),
                      tt_mac_format(config->dest, dest), config->ifname, config->frames_per_pdu);
    if (tactus->engine.device) {
        snd_pcm_dump_setup(io->pcm, out);
    }
}

static int tactus_close(snd_pcm_ioplug_t *io)
{
    tt_tactus_put_away(io->private_data);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = tactus_start,
    .stop = tactus_stop,
    .pointer = tactus_pointer,
    .transfer = tactus_transfer,
    .close = tactus_close,
    .hw_params = tactus_hw_params,
    .hw_free = tactus_hw_free,
    .sw_params = tactus_sw_params,
    .prepare = tactus_prepare,
    .pause = tactus_pause,
    .poll_revents = tactus_poll_revents,
    .dump = tactus_dump,
    .delay = tactus_delay,
};

static int create(struct tactus *tactus, snd_pcm_stream_t stream, int mode)
{
    struct tt_message message;
    int error;

    tactus->io.version = SND_PCM_IOPLUG_VERSION;
    tactus->io.name = "Tactus: audio over Ethernet (AVTP)";
    tactus->io.flags = SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    tactus->io.callback = &callbacks;
    tactus->io.private_data = tactus;
    tactus->io.poll_fd = -1;
    tactus->io.poll_events = POLLIN;
    error = snd_pcm_ioplug_create(&tactus->io, tactus->voice.name, stream, mode);
    if (error < 0) {
        tt_tactus_put_away(tactus);
        return error;
    }
    error = tt_plugin_offer(&tactus->io, &tactus->settings.stream,
                            tactus->attachment.link->mtu_bytes, &message);
    if (error < 0) {
        SNDERR("%s: %s", tactus->voice.name, message.text);
        snd_pcm_ioplug_delete(&tactus->io); /* calls close */
    }
    return error;
}

static int open_device(snd_pcm_t **ret_pcm, const char *name, snd_config_t *section,
                       snd_pcm_stream_t stream, int mode)
{
    enum tt_role role = stream == SND_PCM_STREAM_PLAYBACK ? TT_ROLE_TALKER : TT_ROLE_LISTENER;
    struct tactus *tactus = calloc(1, sizeof(*tactus));
    struct tt_message message;
    int error;

    if (!tactus) {
        return -ENOMEM;
    }
    tactus->pid = getpid();
    pthread_mutex_init(&tactus->lock, NULL);
    error = tt_plugin_voice_init(&tactus->voice, name);
    if (error == 0) {
        error = tt_plugin_settings_read(tactus->voice.name, section, role, &tactus->settings);
    }
    if (error == 0) {
        error = tt_attach(&tactus->settings.stream, role, 1, &tactus->attachment, &message);
        if (error < 0) {
            SNDERR("%s: %s", tactus->voice.name, message.text);
        }
    }
    if (error < 0) {
        tt_tactus_put_away(tactus);
        return error;
    }
    error = create(tactus, stream, mode);
    if (error == 0) {
        *ret_pcm = tactus->io.pcm;
    }
    return error;
}

/* What alsa-lib looks up by name; everything else in this library is hidden. */
#pragma GCC visibility push(default)
SND_PCM_PLUGIN_DEFINE_FUNC(tactus);
SND_PCM_PLUGIN_DEFINE_FUNC(aaf);

SND_PCM_PLUGIN_DEFINE_FUNC(tactus)
{
    (void)root;
    return open_device(pcmp, name, conf, stream, mode);
}

SND_PCM_PLUGIN_DEFINE_FUNC(aaf)
{
    (void)root;
    return open_device(pcmp, name, conf, stream, mode);
}

SND_PCM_PLUGIN_SYMBOL(tactus);
SND_PCM_PLUGIN_SYMBOL(aaf);
#pragma GCC visibility pop
