/*
 * The MIDI port seam: bytes of one port in, each lot with the time at which it was received, and
 * bytes out.
 *
 * Implementations: raw MIDI of ALSA (with the kernel's stamps, or without), a serial port or pty,
 * the ALSA sequencer; and a scripted one for tests. Calls never block. A port is used by one thread
 * at a time. All times are CLOCK_MONOTONIC.
 */
#ifndef TT_OS_MIDI_PORT_H
#define TT_OS_MIDI_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TT_MIDI_CHUNK_DATA 16
#define TT_MIDI_PORT_NAME  128

/* Where the stamps come from, the best first. */
enum tt_midi_port_stamp {
    TT_MIDI_PORT_STAMP_KERNEL,
    TT_MIDI_PORT_STAMP_SEQUENCER,
    TT_MIDI_PORT_STAMP_READ,
    TT_MIDI_PORT_STAMP_TICKS,
};

/* Bytes that came at one time. */
struct tt_midi_chunk {
    int64_t time_mono_ns;
    uint8_t length;
    uint8_t data[TT_MIDI_CHUNK_DATA];
};

/* Bytes that were lost on the way in, between two times: behind all chunks read so far. */
struct tt_midi_port_loss {
    uint64_t bytes; /* 0: how many is not known */
    int64_t since_mono_ns;
    int64_t until_mono_ns;
};

struct tt_midi_port;

struct tt_midi_port_ops {
    /* Takes up to n >= 1 chunks that are there, in order; 0: none. *ret_loss.until_mono_ns is not 0
     * where bytes were lost behind these. -ENODEV: the port is gone. -errno. */
    int (*read)(struct tt_midi_port *port, struct tt_midi_chunk *chunks, int n,
                struct tt_midi_port_loss *ret_loss);
    /* Sends bytes of whole messages; returns how many were taken, 0 where there is no room now, or
     * -errno as above. due_mono_ns: a port that schedules sends at this time, others now; 0: now.
     */
    int (*write)(struct tt_midi_port *port, const uint8_t *data, size_t n, int64_t due_mono_ns);
    void (*close)(struct tt_midi_port *port);
};

struct tt_midi_port {
    const struct tt_midi_port_ops *ops;
    int fd; /* to poll for input, or for room where it was opened for output */
    enum tt_midi_port_stamp stamp;
    bool schedules; /* it keeps due times by itself */
    /* A name that finds the port again when it was unplugged and is back, whatever its number. */
    char name[TT_MIDI_PORT_NAME];
};

struct tt_midi_port_setup {
    const char *name;
    bool output;           /* else input */
    bool no_kernel_stamps; /* raw MIDI as a kernel gives it that has none */
    bool ticks;            /* the sequencer's stamps in ticks, as arecordmidi takes them */
    size_t buffer_bytes;   /* of raw MIDI in the kernel; 0: 1 MiB, the most there is */
    int baud;              /* of a serial port; 0: 31250 */
    bool schedule;         /* output to the sequencer goes through its queue */
};

/* Names: hw:CARD[,DEVICE[,SUBDEVICE]] raw MIDI; seq:CLIENT[:PORT] the sequencer; a path is a serial
 * port, a pty or a raw MIDI device. 0; -EINVAL no such kind of name; -ENXIO there is no such card;
 * -ENODEV, -ENOENT there is no such port; -EBUSY somebody has it (of a serial port: one reads, and
 * one writes); -errno. A kernel without stamps: `stamp` says so. */
int tt_midi_port_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port);

/* Output into a new pty. *ret_path (the caller frees it): what to open as input. 0 or -errno. */
int tt_midi_pty_open(struct tt_midi_port **ret_port, char **ret_path);

/* Reads away what waits in a port that is stamped by reading, and so came before now. Returns the
 * bytes; of other ports 0: they have their times. */
uint64_t tt_midi_port_drop_waiting(struct tt_midi_port *port);

/* Closes and frees; NULL is fine. */
static inline void tt_midi_port_close(struct tt_midi_port *port)
{
    if (port) {
        port->ops->close(port);
    }
}

/* A port of this machine, for people. */
struct tt_midi_port_entry {
    char name[TT_MIDI_PORT_NAME]; /* as tt_midi_port_open takes it */
    char text[TT_MIDI_PORT_NAME];
    bool input;
    bool output;
    enum tt_midi_port_stamp stamp; /* of input */
};

/* Calls `take` for each. 0, or -errno of the first kind of port that cannot be listed; the others
 * are. */
int tt_midi_port_list(void (*take)(void *context, const struct tt_midi_port_entry *entry),
                      void *context);

int64_t tt_midi_port_now_ns(void);

/* ---- for the implementations */

int tt_midi_raw_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port);
int tt_midi_serial_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port);
int tt_midi_seq_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port);
/* Bytes that came at one time, as chunks; returns how many. */
int tt_midi_chunks_fill(const uint8_t *bytes, size_t n, int64_t mono_ns,
                        struct tt_midi_chunk *ret_chunks);
/* What a name stands for. 0 or -errno. */
int tt_midi_seq_find(const char *name, unsigned *ret_client, unsigned *ret_port);
int tt_midi_raw_list(void (*take)(void *context, const struct tt_midi_port_entry *entry),
                     void *context);
int tt_midi_seq_list(void (*take)(void *context, const struct tt_midi_port_entry *entry),
                     void *context);

#endif
