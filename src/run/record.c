/*
 * See record.h.
 */
#include "run/record.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "os/memory.h"
#include "os/wake.h"

#define CHUNKS       64
#define RETRY_NS     (250 * TT_NS_PER_MS) /* a port that is gone is looked for so often */
#define WAIT_MS      50
#define WAIT_ROOM_MS 2 /* the writer is late */

_Static_assert((int)TT_MIDI_PORT_STAMP_KERNEL == (int)TT_MIDI_STAMP_KERNEL, "one order");
_Static_assert((int)TT_MIDI_PORT_STAMP_SEQUENCER == (int)TT_MIDI_STAMP_SEQUENCER, "one order");
_Static_assert((int)TT_MIDI_PORT_STAMP_READ == (int)TT_MIDI_STAMP_READ, "one order");
_Static_assert((int)TT_MIDI_PORT_STAMP_TICKS == (int)TT_MIDI_STAMP_TICKS, "one order");
_Static_assert(TT_MIDI_CHUNK_DATA == TT_MIDI_FRAME_DATA, "a chunk is a frame");

int tt_record_init(struct tt_record *record)
{
    memset(record, 0, sizeof(*record));
    record->frames = tt_memory_new(TT_RECORD_FRAMES, sizeof(record->frames[0]));
    record->ready_fd = tt_wake_open();
    record->quit_fd = tt_wake_open();
    if (!record->frames || record->ready_fd < 0 || record->quit_fd < 0) {
        int error = !record->frames        ? -ENOMEM
                    : record->ready_fd < 0 ? record->ready_fd
                                           : record->quit_fd;

        tt_record_done(record);
        return error;
    }
    return 0;
}

static size_t room(const struct tt_record *record)
{
    return TT_RECORD_FRAMES - (atomic_load_explicit(&record->written, memory_order_relaxed) -
                               atomic_load_explicit(&record->taken, memory_order_acquire));
}

/* Only where there is room. */
static void put(struct tt_record *record, const struct tt_midi_frame *frame)
{
    size_t at = atomic_load_explicit(&record->written, memory_order_relaxed);

    record->frames[at % TT_RECORD_FRAMES] = *frame;
    atomic_store_explicit(&record->written, at + 1, memory_order_release);
}

static void put_stamp(struct tt_record *record, unsigned number, int64_t now_mono_ns)
{
    struct tt_midi_frame frame = tt_midi_log_stamp_frame(
        (uint8_t)number, now_mono_ns, (enum tt_midi_stamp)record->ports[number].port->stamp);

    put(record, &frame);
}

static void put_mark(struct tt_record *record, unsigned number, enum tt_midi_log_type type,
                     int64_t now_mono_ns)
{
    put(record, &(struct tt_midi_frame){
                    .type = (uint8_t)type, .port = (uint8_t)number, .time_mono_ns = now_mono_ns});
}

int tt_record_add(struct tt_record *record, struct tt_midi_port *port,
                  const struct tt_midi_port_setup *setup)
{
    unsigned number = record->count;
    int64_t now_mono_ns = tt_midi_port_now_ns();
    struct tt_record_port *added = &record->ports[number];

    if (number == TT_RECORD_PORTS) {
        return -ENOSPC;
    }
    record->count++;
    added->port = port;
    added->setup = *setup;
    memcpy(added->name, port->name, sizeof(added->name));
    added->setup.name = added->name;
    for (size_t at = 0; at < strlen(setup->name); at += TT_MIDI_FRAME_DATA) {
        struct tt_midi_frame frame =
            tt_midi_log_name_frame((uint8_t)number, now_mono_ns, setup->name, at);

        put(record, &frame);
    }
    put_stamp(record, number, now_mono_ns);
    return 0;
}

/* A port that is gone is opened anew when it is there again. */
static bool look_for_port(struct tt_record *record, unsigned number, int64_t now_mono_ns)
{
    struct tt_record_port *port = &record->ports[number];

    if (now_mono_ns < port->retry_mono_ns || room(record) < 2) {
        return false;
    }
    port->retry_mono_ns = now_mono_ns + RETRY_NS;
    if (tt_midi_port_open(&port->setup, &port->port) != 0) {
        return false;
    }
    put_mark(record, number, TT_MIDI_LOG_BACK, now_mono_ns);
    put_stamp(record, number, now_mono_ns);
    return true;
}

static void put_chunks(struct tt_record *record, unsigned number,
                       const struct tt_midi_chunk *chunks, int n)
{
    for (int i = 0; i < n; i++) {
        struct tt_midi_frame frame = {.type = TT_MIDI_LOG_BYTES,
                                      .port = (uint8_t)number,
                                      .length = chunks[i].length,
                                      .time_mono_ns = chunks[i].time_mono_ns};

        memcpy(frame.data, chunks[i].data, sizeof(frame.data));
        put(record, &frame);
    }
}

static bool read_port(struct tt_record *record, unsigned number, int64_t now_mono_ns)
{
    struct tt_record_port *port = &record->ports[number];
    struct tt_midi_chunk chunks[CHUNKS];
    bool any = false;

    while (room(record) > CHUNKS + 1) {
        struct tt_midi_port_loss loss = {0};
        int n = port->port->ops->read(port->port, chunks, CHUNKS, &loss);

        if (n < 0) {
            put_mark(record, number, TT_MIDI_LOG_GONE, now_mono_ns);
            tt_midi_port_close(port->port);
            port->port = NULL;
            port->retry_mono_ns = now_mono_ns + RETRY_NS;
            return true;
        }
        put_chunks(record, number, chunks, n);
        if (loss.until_mono_ns != 0) {
            struct tt_midi_frame frame =
                tt_midi_log_loss_frame((uint8_t)number, loss.until_mono_ns,
                                       (struct tt_midi_log_loss){loss.since_mono_ns, loss.bytes});

            put(record, &frame);
        }
        any = any || n > 0 || loss.until_mono_ns != 0;
        if (n == 0) {
            break;
        }
    }
    return any;
}

bool tt_record_step(struct tt_record *record, int64_t now_mono_ns)
{
    bool any = false;

    for (unsigned i = 0; i < record->count; i++) {
        bool here = record->ports[i].port != NULL || look_for_port(record, i, now_mono_ns);

        any = (here && read_port(record, i, now_mono_ns)) || any;
    }
    if (any) {
        tt_wake_kick(record->ready_fd);
    }
    return any;
}

static void wait_for_ports(const struct tt_record *record, bool held)
{
    struct pollfd polls[TT_RECORD_PORTS + 1] = {{.fd = record->quit_fd, .events = POLLIN}};
    bool late = held || room(record) <= CHUNKS + 1;
    nfds_t n = 1;

    for (unsigned i = 0; i < record->count && !late; i++) {
        if (record->ports[i].port) {
            polls[n++] = (struct pollfd){.fd = record->ports[i].port->fd, .events = POLLIN};
        }
    }
    poll(polls, n, late ? WAIT_ROOM_MS : WAIT_MS);
}

static void run(void *context)
{
    struct tt_record *record = context;

    while (!atomic_load_explicit(&record->quit, memory_order_acquire)) {
        bool held = atomic_load_explicit(&record->held, memory_order_relaxed);

        wait_for_ports(record, held);
        if (!held) {
            tt_record_step(record, tt_midi_port_now_ns());
        }
    }
}

int tt_record_start(struct tt_record *record)
{
    return tt_thread_start(&record->thread, run, record);
}

size_t tt_record_take(struct tt_record *record, struct tt_midi_frame *frames, size_t n)
{
    size_t at = atomic_load_explicit(&record->taken, memory_order_relaxed);
    size_t there = atomic_load_explicit(&record->written, memory_order_acquire) - at;

    if (there < n) {
        n = there;
    }
    for (size_t i = 0; i < n; i++) {
        frames[i] = record->frames[(at + i) % TT_RECORD_FRAMES];
    }
    atomic_store_explicit(&record->taken, at + n, memory_order_release);
    return n;
}

void tt_record_stop(struct tt_record *record)
{
    atomic_store_explicit(&record->quit, true, memory_order_release);
    tt_wake_kick(record->quit_fd);
    tt_thread_join(&record->thread);
}

void tt_record_done(struct tt_record *record)
{
    for (unsigned i = 0; i < record->count; i++) {
        tt_midi_port_close(record->ports[i].port);
    }
    tt_wake_close(record->ready_fd);
    tt_wake_close(record->quit_fd);
    free(record->frames);
    record->frames = NULL;
}
