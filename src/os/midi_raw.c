/*
 * Raw MIDI of ALSA, by its own ioctls: the kernel's frames of 32 bytes with the time at which the
 * driver received them. See midi_port.h.
 *
 * Source: include/uapi/sound/asound.h (rawmidi protocol 2.0.2), sound/core/rawmidi.c. alsa-lib's
 * own reader of these frames merges events with the next one and gives them its stamp, so it is not
 * used.
 */
#include "os/midi_port.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <sound/asound.h>

#include "base/ns.h"
#include "os/midi_hw.h"

#define FRAMES_BATCH 64
#define BUFFER_BYTES (1024 * 1024)
#define BUFFER_USUAL 4096

_Static_assert(sizeof(struct snd_rawmidi_framing_tstamp) == 32, "as the kernel has it");
_Static_assert(SNDRV_RAWMIDI_FRAMING_DATA_LENGTH == TT_MIDI_CHUNK_DATA, "a frame is a chunk");

struct raw {
    struct tt_midi_port port;
    bool output;
    size_t buffer_bytes;
    size_t promised; /* bytes to be read before the loss is told */
    uint64_t lost;   /* bytes, behind those */
    int64_t lost_until_ns;
    int64_t known_ns; /* the last stamp when nothing was lost yet */
    int64_t last_ns;  /* of what was read */
};

/* The kernel opens the first subdevice that is free, unless this process has said by the card's
 * control device which one it prefers. */
static int open_device(const struct tt_midi_hw *address, bool output)
{
    char path[TT_MIDI_PORT_NAME];
    int control = -1;
    int fd;
    int error = 0;

    if (address->subdevice >= 0) {
        snprintf(path, sizeof(path), "/dev/snd/controlC%d", address->card);
        control = open(path, O_RDONLY | O_CLOEXEC);
        if (control < 0 ||
            ioctl(control, SNDRV_CTL_IOCTL_RAWMIDI_PREFER_SUBDEVICE, &address->subdevice) != 0) {
            error = -errno;
        }
    }
    tt_midi_hw_path(address, path);
    fd = error ? -1 : open(path, (output ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && !error) {
        error = errno == EAGAIN ? -EBUSY : -errno;
    }
    if (error == -ENOENT) {
        error = tt_midi_hw_missing(address);
    }
    if (control >= 0) {
        close(control);
    }
    return error ? error : fd;
}

static int get_info(int fd, bool output, struct snd_rawmidi_info *ret_info)
{
    memset(ret_info, 0, sizeof(*ret_info));
    ret_info->stream = output ? SNDRV_RAWMIDI_STREAM_OUTPUT : SNDRV_RAWMIDI_STREAM_INPUT;
    return ioctl(fd, SNDRV_RAWMIDI_IOCTL_INFO, ret_info) == 0 ? 0 : -errno;
}

static int set_params(int fd, size_t buffer_bytes, unsigned mode)
{
    struct snd_rawmidi_params params = {
        .stream = SNDRV_RAWMIDI_STREAM_INPUT,
        .buffer_size = buffer_bytes,
        .avail_min = 1,
        .no_active_sensing = 1,
        .mode = mode,
    };

    return ioctl(fd, SNDRV_RAWMIDI_IOCTL_PARAMS, &params) == 0 ? 0 : -errno;
}

/* Whether the kernel has frames with stamps: it zeroes the mode silently for a program that did not
 * say that it knows of them. */
static bool has_frames(int fd)
{
    int version = 0;
    int ours = SNDRV_PROTOCOL_VERSION(2, 0, 2);

    return ioctl(fd, SNDRV_RAWMIDI_IOCTL_PVERSION, &version) == 0 && version >= ours &&
           ioctl(fd, SNDRV_RAWMIDI_IOCTL_USER_PVERSION, &ours) == 0;
}

/* Setting parameters succeeds where the kernel does not heed them; it says there what it does.
 * Where that cannot be read, the frames themselves have to show it. */
static bool kernel_says_frames(const struct tt_midi_hw *address, unsigned subdevice)
{
    char line[128];
    char section[32];
    bool ours = false;
    bool frames = false;
    FILE *file;

    snprintf(line, sizeof(line), "/proc/asound/card%d/midi%d", address->card, address->device);
    snprintf(section, sizeof(section), "Input %u\n", subdevice);
    file = fopen(line, "re");
    if (!file) {
        return true;
    }
    while (fgets(line, sizeof(line), file)) {
        if (line[0] != ' ') {
            ours = strcmp(line, section) == 0;
        }
        frames = frames || (ours && strstr(line, "Framing") && strstr(line, "tstamp"));
    }
    fclose(file);
    return frames;
}

static int set_up_input(struct raw *raw, const struct tt_midi_port_setup *setup,
                        const struct tt_midi_hw *address, unsigned subdevice)
{
    unsigned mode = SNDRV_RAWMIDI_MODE_FRAMING_TSTAMP | SNDRV_RAWMIDI_MODE_CLOCK_MONOTONIC;
    bool frames = !setup->no_kernel_stamps && has_frames(raw->port.fd);
    uint8_t nothing[32];
    int error;

    raw->buffer_bytes = setup->buffer_bytes ? setup->buffer_bytes : BUFFER_BYTES;
    raw->port.stamp = frames ? TT_MIDI_PORT_STAMP_KERNEL : TT_MIDI_PORT_STAMP_READ;
    error = set_params(raw->port.fd, raw->buffer_bytes, frames ? mode : 0);
    if (!error && frames && !kernel_says_frames(address, subdevice)) {
        raw->port.stamp = TT_MIDI_PORT_STAMP_READ;
        error = set_params(raw->port.fd, raw->buffer_bytes, 0);
    }
    if (error) {
        return error;
    }
    /* Input starts with the first read; nothing is there yet. */
    (void)!read(raw->port.fd, nothing, 0);
    raw->known_ns = tt_midi_port_now_ns();
    raw->last_ns = raw->known_ns;
    return 0;
}

static int get_status(const struct raw *raw, struct snd_rawmidi_status *ret_status)
{
    memset(ret_status, 0, sizeof(*ret_status));
    ret_status->stream = SNDRV_RAWMIDI_STREAM_INPUT;
    return ioctl(raw->port.fd, SNDRV_RAWMIDI_IOCTL_STATUS, ret_status) == 0 ? 0 : -errno;
}

/* What is in the buffer when a loss is seen was there before it: as long as nobody reads, only the
 * newest bytes find no room. */
static int look_for_loss(struct raw *raw)
{
    struct snd_rawmidi_status status;
    int error = get_status(raw, &status);

    if (error) {
        return error;
    }
    if (status.xruns == 0) {
        raw->known_ns = raw->last_ns;
        return 0;
    }
    raw->lost = status.xruns;
    raw->lost_until_ns = tt_midi_port_now_ns();
    raw->promised = status.avail;
    return 0;
}

static void tell_loss(struct raw *raw, struct tt_midi_port_loss *ret_loss)
{
    *ret_loss = (struct tt_midi_port_loss){
        .bytes = raw->lost,
        .since_mono_ns = raw->last_ns > raw->lost_until_ns ? raw->known_ns : raw->last_ns,
        .until_mono_ns = raw->lost_until_ns,
    };
    raw->lost = 0;
    raw->known_ns = raw->last_ns;
}

static int chunks_of_frames(struct raw *raw, const struct snd_rawmidi_framing_tstamp *frames, int n,
                            struct tt_midi_chunk *chunks)
{
    int count = 0;

    for (int i = 0; i < n; i++) {
        struct tt_midi_chunk *chunk = &chunks[count];

        if (frames[i].frame_type != 0) {
            continue;
        }
        if (frames[i].length > TT_MIDI_CHUNK_DATA || frames[i].tv_nsec >= TT_NS_PER_S) {
            return -EPROTO; /* these are no frames */
        }
        chunk->time_mono_ns = (int64_t)frames[i].tv_sec * TT_NS_PER_S + frames[i].tv_nsec;
        chunk->length = frames[i].length;
        memcpy(chunk->data, frames[i].data, TT_MIDI_CHUNK_DATA);
        raw->last_ns = chunk->time_mono_ns;
        count++;
    }
    return count;
}

static int chunks_of_bytes(struct raw *raw, const uint8_t *bytes, size_t n,
                           struct tt_midi_chunk *chunks)
{
    raw->last_ns = tt_midi_port_now_ns();
    return tt_midi_chunks_fill(bytes, n, raw->last_ns, chunks);
}

static int gone(int error)
{
    return error == ENODEV || error == EIO || error == ENXIO ? -ENODEV : -error;
}

static int raw_read(struct tt_midi_port *port, struct tt_midi_chunk *chunks, int n,
                    struct tt_midi_port_loss *ret_loss)
{
    struct raw *raw = (struct raw *)port;
    struct snd_rawmidi_framing_tstamp frames[FRAMES_BATCH];
    bool framed = port->stamp == TT_MIDI_PORT_STAMP_KERNEL;
    size_t unit = framed ? sizeof(frames[0]) : TT_MIDI_CHUNK_DATA;
    size_t most = unit * (size_t)(n < FRAMES_BATCH ? n : FRAMES_BATCH);
    ssize_t got;
    int count;

    ret_loss->until_mono_ns = 0;
    if (raw->lost == 0) {
        int error = look_for_loss(raw);

        if (error) {
            return gone(-error);
        }
    }
    if (raw->lost > 0 && raw->promised < most) {
        most = raw->promised / unit * unit;
        if (framed ? most == 0 : raw->promised == 0) {
            tell_loss(raw, ret_loss);
            return 0;
        }
        most = framed ? most : raw->promised;
    }
    got = read(port->fd, frames, most);
    if (got < 0 && errno == EAGAIN) {
        if (raw->lost > 0) {
            tell_loss(raw, ret_loss);
        }
        return 0;
    }
    if (got <= 0) {
        return got == 0 ? -ENODEV : errno == EINTR ? 0 : gone(errno);
    }
    if (raw->lost > 0) {
        raw->promised -= (size_t)got;
    }
    count = framed ? chunks_of_frames(raw, frames, (int)((size_t)got / unit), chunks)
                   : chunks_of_bytes(raw, (const uint8_t *)frames, (size_t)got, chunks);
    if (count >= 0 && raw->lost > 0 && raw->promised < (framed ? unit : 1)) {
        tell_loss(raw, ret_loss);
    }
    return count;
}

static int raw_write(struct tt_midi_port *port, const uint8_t *data, size_t n, int64_t due_mono_ns)
{
    ssize_t put = write(port->fd, data, n);

    (void)due_mono_ns;
    return put >= 0 ? (int)put : errno == EAGAIN || errno == EINTR ? 0 : gone(errno);
}

/* The mode stays in the device for whoever opens it next. */
static void raw_close(struct tt_midi_port *port)
{
    struct raw *raw = (struct raw *)port;

    if (!raw->output) {
        set_params(port->fd, BUFFER_USUAL, 0);
    }
    close(port->fd);
    free(raw);
}

static const struct tt_midi_port_ops raw_ops = {
    .read = raw_read,
    .write = raw_write,
    .close = raw_close,
};

int tt_midi_raw_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port)
{
    struct snd_rawmidi_info info;
    struct tt_midi_hw address;
    struct raw *raw = calloc(1, sizeof(*raw));
    int error;

    if (!raw) {
        return -ENOMEM;
    }
    error = tt_midi_hw_parse(setup->name, &address);
    raw->port.fd = error ? -1 : open_device(&address, setup->output);
    if (raw->port.fd < 0) {
        error = error ? error : raw->port.fd;
        free(raw);
        return error;
    }
    raw->port.ops = &raw_ops;
    raw->output = setup->output;
    error = get_info(raw->port.fd, setup->output, &info);
    if (!error && address.subdevice >= 0 && info.subdevice != (unsigned)address.subdevice) {
        error = -EBUSY;
    }
    if (!error && !setup->output) {
        error = set_up_input(raw, setup, &address, info.subdevice);
    }
    if (error) {
        close(raw->port.fd);
        free(raw);
        return error;
    }
    tt_midi_hw_name(&address, info.subdevice, raw->port.name);
    *ret_port = &raw->port;
    return 0;
}

/* False where the kernel says no; a device that somebody else has is taken to be as others are. */
static bool may_have_frames(int card, int device)
{
    struct tt_midi_hw address = {.card = card, .device = device, .subdevice = -1};
    int fd = open_device(&address, false);
    bool frames = fd < 0 || has_frames(fd);

    if (fd >= 0) {
        close(fd);
    }
    return frames;
}

static void list_device(int control, int card, int device,
                        void (*take)(void *context, const struct tt_midi_port_entry *entry),
                        void *context)
{
    struct tt_midi_port_entry entry = {.stamp = TT_MIDI_PORT_STAMP_KERNEL};
    struct snd_rawmidi_info info = {.device = (unsigned)device};

    info.stream = SNDRV_RAWMIDI_STREAM_INPUT;
    entry.input = ioctl(control, SNDRV_CTL_IOCTL_RAWMIDI_INFO, &info) == 0;
    if (!entry.input) {
        info.stream = SNDRV_RAWMIDI_STREAM_OUTPUT;
        if (ioctl(control, SNDRV_CTL_IOCTL_RAWMIDI_INFO, &info) != 0) {
            return;
        }
    }
    if (entry.input && !may_have_frames(card, device)) {
        entry.stamp = TT_MIDI_PORT_STAMP_READ;
    }
    entry.output = (info.flags & SNDRV_RAWMIDI_INFO_OUTPUT) != 0;
    snprintf(entry.name, sizeof(entry.name), "hw:%d,%d", card, device);
    snprintf(entry.text, sizeof(entry.text), "%s%s", (const char *)info.name,
             info.subdevices_count > 1 ? ", several subdevices" : "");
    take(context, &entry);
}

int tt_midi_raw_list(void (*take)(void *context, const struct tt_midi_port_entry *entry),
                     void *context)
{
    for (int card = 0; card < TT_MIDI_HW_CARDS; card++) {
        char path[64];
        int device = -1;
        int control;

        snprintf(path, sizeof(path), "/dev/snd/controlC%d", card);
        control = open(path, O_RDONLY | O_CLOEXEC);
        if (control < 0) {
            continue;
        }
        while (ioctl(control, SNDRV_CTL_IOCTL_RAWMIDI_NEXT_DEVICE, &device) == 0 && device >= 0) {
            list_device(control, card, device, take, context);
        }
        close(control);
    }
    return 0;
}
