/*
 * The ALSA device: a talker of every program that can play, a listener of every program that can
 * record.
 *
 * A guest in somebody's process: it prints only what must be said, has no signal handlers, locks no
 * memory, never exits, and leaves nothing behind. ALSA's lock is held in most callbacks, so the
 * engine's thread calls nothing of ALSA; they share struct tt_device.
 *
 * Invariants:
 * - Device positions are 64-bit and never wrap; ALSA's wrap at the boundary and start from 0 at
 * every prepare. `hw_frame` is the device position of io->hw_ptr; the program's position follows
 * from io->appl_ptr by its distance, so rewinding and forwarding need no callback.
 * - An xrun is a state that snd_pcm_prepare recovers: `pointer` fails only while the device runs.
 */
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "audio/eth.h"
#include "os/wake.h"
#include "plugin/engine.h"
#include "plugin/negotiate.h"
#include "plugin/settings.h"
#include "plugin/say.h"

struct tactus {
    snd_pcm_ioplug_t io;
    struct tt_plugin_settings settings;
    struct tt_attachment attachment;
    struct tt_plugin_engine engine; /* from hw_params on; engine.device is NULL before */
    struct tt_plugin_voice voice;
    enum tt_pcm_format format;
    struct tt_pcm_area *areas; /* of the transfer at hand, one a channel */
    int64_t boundary;
    int64_t hw_frame;
    int64_t avail_min;
    unsigned reports; /* written so far */
    int pid;          /* a forked child must not write the parent's report */
};

static enum tt_role role_of(const snd_pcm_ioplug_t *io)
{
    return io->stream == SND_PCM_STREAM_PLAYBACK ? TT_ROLE_TALKER : TT_ROLE_LISTENER;
}

static enum tt_device_state device_state(const struct tactus *tactus)
{
    return (enum tt_device_state)atomic_load(&tactus->engine.device->state);
}

/* From ALSA's pointer b to a, the shorter way around the boundary. */
static int64_t distance(const struct tactus *tactus, snd_pcm_uframes_t a, snd_pcm_uframes_t b)
{
    int64_t frames = (int64_t)a - (int64_t)b;

    if (frames > tactus->boundary / 2) {
        return frames - tactus->boundary;
    }
    return frames < -(tactus->boundary / 2) ? frames + tactus->boundary : frames;
}

static int64_t program_frame(const struct tactus *tactus)
{
    return tactus->hw_frame + distance(tactus, tactus->io.appl_ptr, tactus->io.hw_ptr);
}

/* Rewinding, forwarding and committing tell nobody; the engine learns of them here. */
static void follow_program(struct tactus *tactus)
{
    int64_t frame = program_frame(tactus);

    if (frame != atomic_load(&tactus->engine.device->program_frame)) {
        atomic_store_explicit(&tactus->engine.device->program_frame, frame, memory_order_release);
    }
}

static snd_pcm_sframes_t tactus_pointer(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;
    enum tt_device_state state;
    int64_t frame;
    int64_t pointer;

    if (!tactus->engine.device) {
        return 0;
    }
    follow_program(tactus);
    state = device_state(tactus);
    switch (io->state) {
    case SND_PCM_STATE_RUNNING:
        if (state == TT_DEVICE_XRUN) {
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
        return (snd_pcm_sframes_t)io->hw_ptr;
    }
    frame = atomic_load_explicit(&tactus->engine.device->engine_frame, memory_order_acquire);
    pointer = ((int64_t)io->hw_ptr + frame - tactus->hw_frame) % tactus->boundary;
    tactus->hw_frame = frame;
    return (snd_pcm_sframes_t)pointer;
}

static void set_areas(struct tactus *tactus, const snd_pcm_channel_area_t *areas,
                      snd_pcm_uframes_t offset)
{
    for (unsigned c = 0; c < tactus->io.channels; c++) {
        tactus->areas[c] = (struct tt_pcm_area){
            .first = (uint8_t *)areas[c].addr + (areas[c].first + areas[c].step * offset) / 8,
            .step_bytes = areas[c].step / 8,
        };
    }
}

static snd_pcm_sframes_t tactus_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                         snd_pcm_uframes_t offset, snd_pcm_uframes_t size)
{
    struct tactus *tactus = io->private_data;
    int64_t frame = program_frame(tactus);

    set_areas(tactus, areas, offset);
    if (tactus->engine.talk) {
        tt_talk_write(tactus->engine.talk, frame, tactus->format, tactus->areas, size);
    } else {
        tt_listen_read(tactus->engine.listen, frame, tactus->format, tactus->areas, size);
    }
    return (snd_pcm_sframes_t)size;
}

static int tactus_start(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;
    int error = tactus->engine.device ? tt_plugin_engine_start(&tactus->engine) : -EBADFD;

    if (error == 0) {
        tt_plugin_say_notes(&tactus->voice,
                            tt_plugin_engine_notes(&tactus->engine, &tactus->attachment));
    }
    return error;
}

static int tactus_stop(snd_pcm_ioplug_t *io)
{
    struct tactus *tactus = io->private_data;

    tt_plugin_engine_stop(&tactus->engine);
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
    tt_plugin_engine_prepare(&tactus->engine);
    tactus->hw_frame = atomic_load(&tactus->engine.device->engine_frame);
    tt_wake_kick(tactus->engine.device->wake_fd); /* a poll before the start looks for itself */
    return 0;
}

static int tactus_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *ret_delay)
{
    struct tactus *tactus = io->private_data;

    if (!tactus->engine.device) {
        return -EBADFD;
    }
    if (io->state == SND_PCM_STATE_XRUN ||
        (io->state == SND_PCM_STATE_RUNNING && device_state(tactus) == TT_DEVICE_XRUN)) {
        return -EPIPE;
    }
    follow_program(tactus);
    *ret_delay = (snd_pcm_sframes_t)tt_plugin_engine_delay(&tactus->engine);
    return 0;
}

/* Frames that the program may write or read now. */
static int64_t available(const struct tactus *tactus)
{
    int64_t engine =
        atomic_load_explicit(&tactus->engine.device->engine_frame, memory_order_acquire);
    int64_t lead = engine - program_frame(tactus);

    return tactus->engine.talk ? lead + tactus->engine.buffer_frames : lead;
}

static bool is_ready(const struct tactus *tactus)
{
    enum tt_device_state state = device_state(tactus);

    if (tactus->io.state == SND_PCM_STATE_DRAINING) {
        return state != TT_DEVICE_RUNNING && state != TT_DEVICE_DRAINING;
    }
    return state == TT_DEVICE_XRUN || available(tactus) >= tactus->avail_min;
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
    if (!is_ready(tactus)) {
        /* It may become ready between the look and the clearing: then nobody kicks again. */
        tt_wake_clear(tactus->engine.device->wake_fd);
        if (!is_ready(tactus)) {
            return 0;
        }
        tt_wake_kick(tactus->engine.device->wake_fd);
    }
    *ret_events |= ready;
    if (io->state == SND_PCM_STATE_RUNNING && device_state(tactus) == TT_DEVICE_XRUN) {
        /* POLLERR in RUNNING would be -EIO to alsa-lib, which programs take for the end. */
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_XRUN);
    }
    if (io->state == SND_PCM_STATE_XRUN) {
        *ret_events |= POLLERR;
    }
    return 0;
}

/* Writes the report of an engine that is put away. Where a program changes its parameters there are
 * several, and the later ones get a number behind the name. */
static void report(struct tactus *tactus)
{
    char path[PATH_MAX];
    unsigned notes;
    int error;

    if (!tactus->engine.device || tactus->pid != getpid()) {
        return;
    }
    tt_plugin_engine_stop(&tactus->engine);
    notes = tt_plugin_engine_notes(&tactus->engine, &tactus->attachment);
    tt_plugin_say_notes(&tactus->voice, notes);
    if (tactus->engine.started) {
        struct tt_loss_line line;

        tt_plugin_engine_loss(&tactus->engine, notes, &line);
        tt_plugin_say_line(&tactus->voice, line.text);
    }
    if (!tactus->settings.report) {
        return;
    }
    snprintf(path, sizeof(path), tactus->reports > 0 ? "%s.%u" : "%s", tactus->settings.report,
             tactus->reports + 1);
    tactus->reports++;
    error = tt_plugin_engine_report(&tactus->engine, path, notes);
    if (error < 0) {
        SNDERR("%s: report \"%s\" cannot be written: %s; give a path in a folder that may be "
               "written to",
               tactus->voice.name, path, snd_strerror(error));
    }
}

/* The engine stays where programs set the same parameters again (aplay with many files), and so do
 * its counters. */
static int make_engine(struct tactus *tactus, const struct tt_plugin_engine *shape)
{
    int error;

    if (tt_plugin_engine_is(&tactus->engine, shape)) {
        return 0;
    }
    if (tactus->engine.started) {
        report(tactus);
    }
    tt_plugin_engine_done(&tactus->engine);
    free(tactus->areas);
    tactus->areas = calloc(shape->config.channels, sizeof(*tactus->areas));
    if (!tactus->areas) {
        return -ENOMEM;
    }
    error = tt_plugin_engine_new(shape, role_of(&tactus->io), &tactus->attachment, &tactus->engine);
    if (error < 0) {
        return error;
    }
    tactus->io.poll_fd = tactus->engine.device->wake_fd;
    return snd_pcm_ioplug_reinit_status(&tactus->io);
}

static int tactus_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
    struct tactus *tactus = io->private_data;
    struct tt_plugin_engine shape = {
        .config = tactus->settings.stream,
        .buffer_frames = (int64_t)io->buffer_size,
        .period_frames = (int64_t)io->period_size,
    };
    struct tt_message message;
    int error = tt_plugin_pcm_format(io->format, &tactus->format);

    (void)params;
    if (error < 0) {
        return error;
    }
    shape.config.format = tt_pcm_wire_format(tactus->format);
    shape.config.rate_hz = io->rate;
    shape.config.channels = io->channels;
    error = tt_stream_config_fits(&shape.config, shape.config.format, io->channels,
                                  tactus->attachment.link->mtu_bytes, &message);
    if (error < 0) {
        SNDERR("%s: %s", tactus->voice.name, message.text);
        return error;
    }
    if (shape.buffer_frames < 2 * (int64_t)shape.config.frames_per_pdu) {
        SNDERR("%s: frames_per_pdu %u: a buffer of %lu frames holds less than two packets; take a "
               "larger buffer, or give frames_per_pdu %lu",
               tactus->voice.name, shape.config.frames_per_pdu, io->buffer_size,
               io->buffer_size / 2);
        return -EINVAL;
    }
    return make_engine(tactus, &shape);
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

    snd_pcm_sw_params_get_avail_min(params, &avail_min);
    snd_pcm_sw_params_get_stop_threshold(params, &stop_threshold);
    snd_pcm_sw_params_get_boundary(params, &boundary);
    tactus->avail_min = (int64_t)avail_min;
    tactus->boundary = (int64_t)boundary;
    atomic_store(&device->wake_frames, tactus->avail_min);
    atomic_store(&device->endless, stop_threshold >= boundary);
    tt_wake_kick(device->wake_fd);
    return 0;
}

static void tactus_dump(snd_pcm_ioplug_t *io, snd_output_t *out)
{
    struct tactus *tactus = io->private_data;
    const struct tt_stream_config *config = &tactus->settings.stream;
    char stream_id[TT_STREAM_ID_TEXT];
    char dest[TT_MAC_TEXT];

    snd_output_printf(out, "Tactus %s: stream %s to %s on %s, frames per packet: %u\n",
                      role_of(io) == TT_ROLE_TALKER ? "talker" : "listener",
                      tt_stream_id_format(config->stream_id, stream_id),
                      tt_mac_format(config->dest, dest), config->ifname, config->frames_per_pdu);
    if (tactus->engine.device) {
        snd_pcm_dump_setup(io->pcm, out);
    }
}

static void put_away(struct tactus *tactus)
{
    report(tactus);
    tt_plugin_engine_done(&tactus->engine);
    tt_link_close(tactus->attachment.link);
    tt_plugin_settings_done(&tactus->settings);
    tt_plugin_voice_done(&tactus->voice);
    free(tactus->areas);
    free(tactus);
}

static int tactus_close(snd_pcm_ioplug_t *io)
{
    put_away(io->private_data);
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
        put_away(tactus);
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
        put_away(tactus);
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
