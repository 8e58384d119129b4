/*
 * MIDI over a serial port, or a pty: bytes are stamped when read() returns. See midi_port.h.
 */
#include "os/midi_port.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define MIDI_BAUD   31250
#define READ_CHUNKS 16
#define DRAIN_MS    2000

struct serial {
    struct tt_midi_port port;
    struct termios2 before; /* these two are put back */
    struct serial_struct driver_before;
    bool has_driver; /* that knows of the latter */
    bool output;
    int64_t last_ns;
    int lost; /* the driver's count so far; -1: it has none */
};

static int lost_count(int fd)
{
    struct serial_icounter_struct count = {0};

    return ioctl(fd, TIOCGICOUNT, &count) == 0 ? count.overrun + count.buf_overrun : -1;
}

static void look_for_loss(struct serial *serial, int64_t now_ns, struct tt_midi_port_loss *ret_loss)
{
    int lost = serial->lost < 0 ? -1 : lost_count(serial->port.fd);

    if (lost > serial->lost) {
        *ret_loss = (struct tt_midi_port_loss){.bytes = (uint64_t)(lost - serial->lost),
                                               .since_mono_ns = serial->last_ns,
                                               .until_mono_ns = now_ns};
        serial->lost = lost;
    }
}

static int serial_read(struct tt_midi_port *port, struct tt_midi_chunk *chunks, int n,
                       struct tt_midi_port_loss *ret_loss)
{
    struct serial *serial = (struct serial *)port;
    uint8_t bytes[READ_CHUNKS * TT_MIDI_CHUNK_DATA];
    size_t most = (size_t)(n < READ_CHUNKS ? n : READ_CHUNKS) * TT_MIDI_CHUNK_DATA;
    ssize_t got = read(port->fd, bytes, most);
    int64_t now_ns = tt_midi_port_now_ns();

    ret_loss->until_mono_ns = 0;
    if (got <= 0) {
        /* A pty without its other end gives EIO, a serial adapter that was pulled out 0 bytes. */
        return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -ENODEV;
    }
    look_for_loss(serial, now_ns, ret_loss);
    serial->last_ns = now_ns;
    return tt_midi_chunks_fill(bytes, (size_t)got, now_ns, chunks);
}

static int serial_write(struct tt_midi_port *port, const uint8_t *data, size_t n,
                        int64_t due_mono_ns)
{
    ssize_t put = write(port->fd, data, n);

    (void)due_mono_ns;
    return put >= 0                            ? (int)put
           : errno == EAGAIN || errno == EINTR ? 0
           : errno == EIO                      ? -ENODEV
                                               : -errno;
}

/* One reads and one writes: the two ways are locked by two kinds of lock, which do not see each
 * other. Not by TIOCEXCL: that would keep the other way from being opened. 0; -EBUSY: another has
 * it. */
static int lock(int fd, bool output)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status = output ? fcntl(fd, F_OFD_SETLK, &whole) : flock(fd, LOCK_EX | LOCK_NB);

    return status != 0 && (errno == EWOULDBLOCK || errno == EACCES) ? -EBUSY : 0;
}

/* Whoever has the other way still needs the port as it is. */
static bool is_other_way_used(const struct serial *serial)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (serial->output) {
        return flock(serial->port.fd, LOCK_EX | LOCK_NB) != 0;
    }
    return fcntl(serial->port.fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/* What is still on its way out needs the speed as it is. Not for ever, where nothing leaves. */
static bool drain(int fd)
{
    static const struct timespec step = {.tv_nsec = 1000000};
    int left = 0;

    for (int i = 0; i < DRAIN_MS && ioctl(fd, TIOCOUTQ, &left) == 0 && left > 0; i++) {
        nanosleep(&step, NULL);
    }
    return left == 0;
}

static void serial_close(struct tt_midi_port *port)
{
    struct serial *serial = (struct serial *)port;
    bool drained = drain(port->fd);

    if (!is_other_way_used(serial)) {
        ioctl(port->fd, drained ? TCSETSW2 : TCSETS2, &serial->before);
        if (serial->has_driver) {
            (void)ioctl(port->fd, TIOCSSERIAL, &serial->driver_before);
        }
    }
    close(port->fd);
    free(serial);
}

static const struct tt_midi_port_ops serial_ops = {
    .read = serial_read,
    .write = serial_write,
    .close = serial_close,
};

/* Eight bits as they come, one stop bit, no flow control. */
static int set_raw(struct serial *serial, int baud)
{
    struct termios2 mode;

    if (ioctl(serial->port.fd, TCGETS2, &serial->before) != 0) {
        return errno == ENOTTY ? -EINVAL : -errno;
    }
    mode = serial->before;
    mode.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON |
                                IXOFF | INPCK);
    mode.c_oflag &= ~(tcflag_t)OPOST;
    mode.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    mode.c_cflag &= ~(tcflag_t)(CSIZE | PARENB | CSTOPB | CRTSCTS | CBAUD | (CBAUD << IBSHIFT));
    mode.c_cflag |= CS8 | CLOCAL | CREAD | BOTHER | (BOTHER << IBSHIFT);
    mode.c_ispeed = (speed_t)baud;
    mode.c_ospeed = (speed_t)baud;
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    return ioctl(serial->port.fd, TCSETS2, &mode) == 0 ? 0 : -errno;
}

/* Bytes go to the reader at once, where the driver knows such a thing. */
static void set_low_latency(struct serial *serial)
{
    struct serial_struct settings;

    serial->has_driver = ioctl(serial->port.fd, TIOCGSERIAL, &serial->driver_before) == 0;
    if (serial->has_driver) {
        settings = serial->driver_before;
        settings.flags |= (int)ASYNC_LOW_LATENCY;
        (void)ioctl(serial->port.fd, TIOCSSERIAL, &settings);
    }
}

int tt_midi_pty_open(struct tt_midi_port **ret_port, char **ret_path)
{
    struct serial *serial = calloc(1, sizeof(*serial));
    char path[TT_MIDI_PORT_NAME];
    int error = 0;

    if (!serial) {
        return -ENOMEM;
    }
    serial->port.ops = &serial_ops;
    serial->port.fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (serial->port.fd < 0 || unlockpt(serial->port.fd) != 0 ||
        ptsname_r(serial->port.fd, path, sizeof(path)) != 0) {
        error = -errno;
    } else {
        error = set_raw(serial, MIDI_BAUD);
    }
    *ret_path = error ? NULL : strdup(path);
    if (!*ret_path) {
        if (serial->port.fd >= 0) {
            close(serial->port.fd);
        }
        free(serial);
        return error ? error : -ENOMEM;
    }
    snprintf(serial->port.name, sizeof(serial->port.name), "%s", path);
    *ret_port = &serial->port;
    return 0;
}

int tt_midi_serial_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port)
{
    struct serial *serial = calloc(1, sizeof(*serial));
    int error = 0;

    if (!serial) {
        return -ENOMEM;
    }
    serial->port.ops = &serial_ops;
    serial->port.stamp = TT_MIDI_PORT_STAMP_READ;
    snprintf(serial->port.name, sizeof(serial->port.name), "%s", setup->name);
    serial->port.fd = open(setup->name, (setup->output ? O_WRONLY : O_RDONLY) | O_NOCTTY |
                                            O_NONBLOCK | O_CLOEXEC);
    serial->output = setup->output;
    if (serial->port.fd < 0) {
        error = errno == EIO ? -ENODEV : -errno;
    } else {
        error = lock(serial->port.fd, setup->output);
    }
    if (!error) {
        error = set_raw(serial, setup->baud > 0 ? setup->baud : MIDI_BAUD);
    }
    if (error) {
        if (serial->port.fd >= 0) {
            close(serial->port.fd);
        }
        free(serial);
        return error;
    }
    set_low_latency(serial);
    serial->lost = lost_count(serial->port.fd);
    serial->last_ns = tt_midi_port_now_ns();
    *ret_port = &serial->port;
    return 0;
}
