/*
 * A port of the ALSA sequencer: events with the real time of a queue, put on them when they are
 * delivered to us. See midi_port.h.
 *
 * A sequencer's ticks advance in timer callbacks only; its real time is interpolated, so it is what
 * is asked for, except for comparison. Queue time is brought to CLOCK_MONOTONIC by a reading
 * between two of the clock, anew when that has become old.
 */
#include "os/midi_port.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"

#define POOL_EVENTS  2000 /* the most that the kernel keeps for a client */
#define SYNC_NS      (20 * TT_NS_PER_MS)
#define MESSAGE_MAX  12
#define ENCODE_BYTES 65536 /* a longer SysEx is sent in pieces */
#define QUARTER_US   500000
#define TICK_NS      20000
#define PPQ          (QUARTER_US / (TICK_NS / 1000))

struct seq {
    struct tt_midi_port port;
    snd_seq_t *seq;
    snd_midi_event_t *codec;
    int own_port;
    int queue; /* -1: none */
    bool ticks;
    int64_t mono_minus_queue_ns;
    int64_t synced_ns;
    int64_t last_ns;
    /* What is left of an event that was taken. */
    const uint8_t *rest;
    size_t rest_bytes;
    int64_t rest_ns;
    uint8_t message[MESSAGE_MAX];
};

static int64_t ns_of(const snd_seq_real_time_t *time)
{
    return time->tv_sec * TT_NS_PER_S + time->tv_nsec;
}

/* The narrowest of some brackets: whoever is preempted in between reads a wide one. */
static void sync_queue(struct seq *seq)
{
    snd_seq_queue_status_t *status;
    int64_t best_ns = INT64_MAX;

    snd_seq_queue_status_alloca(&status);
    for (int i = 0; i < 5; i++) {
        int64_t before_ns = tt_midi_port_now_ns();
        int error = snd_seq_get_queue_status(seq->seq, seq->queue, status);
        int64_t after_ns = tt_midi_port_now_ns();

        if (!error && after_ns - before_ns < best_ns) {
            best_ns = after_ns - before_ns;
            seq->mono_minus_queue_ns =
                before_ns + best_ns / 2 - ns_of(snd_seq_queue_status_get_real_time(status));
        }
    }
    seq->synced_ns = tt_midi_port_now_ns();
}

static void keep_in_step(struct seq *seq)
{
    if (tt_midi_port_now_ns() - seq->synced_ns > SYNC_NS) {
        sync_queue(seq);
    }
}

static void take_event(struct seq *seq, const snd_seq_event_t *event)
{
    long bytes;

    seq->rest_ns = (seq->ticks ? (int64_t)event->time.tick * TICK_NS : ns_of(&event->time.time)) +
                   seq->mono_minus_queue_ns;
    if (event->type == SND_SEQ_EVENT_SYSEX) {
        seq->rest = event->data.ext.ptr;
        seq->rest_bytes = event->data.ext.len;
        seq->last_ns = seq->rest_ns;
        return;
    }
    bytes = snd_midi_event_decode(seq->codec, seq->message, sizeof(seq->message), event);
    seq->rest = seq->message;
    seq->rest_bytes = bytes > 0 ? (size_t)bytes : 0;
    if (bytes > 0) { /* what the sequencer itself has to say has no stamp of the queue */
        seq->last_ns = seq->rest_ns;
    }
}

/* The next event's bytes into `rest`. 1; 0: none is there; -errno. */
static int next_event(struct seq *seq, struct tt_midi_port_loss *ret_loss)
{
    snd_seq_event_t *event;
    int status = snd_seq_event_input(seq->seq, &event);

    if (status == -EAGAIN || status == -EINTR) {
        return 0;
    }
    if (status == -ENOSPC) {
        *ret_loss = (struct tt_midi_port_loss){.since_mono_ns = seq->last_ns,
                                               .until_mono_ns = tt_midi_port_now_ns()};
        return 0;
    }
    if (status < 0) {
        return status;
    }
    if (event->type == SND_SEQ_EVENT_PORT_UNSUBSCRIBED) {
        return -ENODEV;
    }
    take_event(seq, event);
    return 1;
}

static int seq_read(struct tt_midi_port *port, struct tt_midi_chunk *chunks, int n,
                    struct tt_midi_port_loss *ret_loss)
{
    struct seq *seq = (struct seq *)port;
    int count = 0;

    ret_loss->until_mono_ns = 0;
    keep_in_step(seq);
    while (count < n) {
        struct tt_midi_chunk *chunk = &chunks[count];

        if (seq->rest_bytes == 0) {
            int status = next_event(seq, ret_loss);

            if (status < 0 && count == 0) {
                return status;
            }
            if (status <= 0) {
                break;
            }
            continue;
        }
        chunk->time_mono_ns = seq->rest_ns;
        chunk->length =
            (uint8_t)(seq->rest_bytes < TT_MIDI_CHUNK_DATA ? seq->rest_bytes : TT_MIDI_CHUNK_DATA);
        memcpy(chunk->data, seq->rest, chunk->length);
        seq->rest += chunk->length;
        seq->rest_bytes -= chunk->length;
        count++;
    }
    return count;
}

static int send_event(struct seq *seq, snd_seq_event_t *event, int64_t due_mono_ns)
{
    int status;

    snd_seq_ev_set_source(event, (unsigned char)seq->own_port);
    snd_seq_ev_set_subs(event);
    if (seq->queue >= 0 && due_mono_ns > 0) {
        int64_t ns = due_mono_ns - seq->mono_minus_queue_ns;

        event->queue = (unsigned char)seq->queue;
        event->flags |= SND_SEQ_TIME_STAMP_REAL | SND_SEQ_TIME_MODE_ABS;
        event->time.time.tv_sec = (unsigned)(ns > 0 ? ns / TT_NS_PER_S : 0);
        event->time.time.tv_nsec = (unsigned)(ns > 0 ? ns % TT_NS_PER_S : 0);
    } else {
        snd_seq_ev_set_direct(event);
    }
    status = snd_seq_event_output_direct(seq->seq, event);
    return status >= 0 ? 1 : status == -EAGAIN || status == -ENOMEM ? 0 : status;
}

static int seq_write(struct tt_midi_port *port, const uint8_t *data, size_t n, int64_t due_mono_ns)
{
    struct seq *seq = (struct seq *)port;
    size_t at = 0;

    if (seq->queue >= 0) {
        keep_in_step(seq);
    }
    while (at < n) {
        snd_seq_event_t event;
        long used;
        int status;

        snd_seq_ev_clear(&event);
        used = snd_midi_event_encode(seq->codec, data + at, (long)(n - at), &event);
        if (used <= 0) {
            return used < 0 ? (int)used : (int)n;
        }
        if (event.type == SND_SEQ_EVENT_NONE) {
            return (int)n; /* no whole message */
        }
        status = send_event(seq, &event, due_mono_ns);
        if (status <= 0) {
            return status == 0 ? (int)at : status;
        }
        at += (size_t)used;
    }
    return (int)n;
}

static void seq_free(struct seq *seq)
{
    if (seq->codec) {
        snd_midi_event_free(seq->codec);
    }
    if (seq->seq) {
        snd_seq_close(seq->seq);
    }
    free(seq);
}

static void seq_close(struct tt_midi_port *port)
{
    seq_free((struct seq *)port);
}

static const struct tt_midi_port_ops seq_ops = {
    .read = seq_read,
    .write = seq_write,
    .close = seq_close,
};

static int start_queue(struct seq *seq)
{
    seq->queue = snd_seq_alloc_queue(seq->seq);
    if (seq->queue < 0) {
        return seq->queue;
    }
    if (seq->ticks) {
        snd_seq_queue_tempo_t *tempo;
        int error;

        snd_seq_queue_tempo_alloca(&tempo);
        snd_seq_queue_tempo_set_tempo(tempo, QUARTER_US);
        snd_seq_queue_tempo_set_ppq(tempo, PPQ);
        error = snd_seq_set_queue_tempo(seq->seq, seq->queue, tempo);
        if (error < 0) {
            return error;
        }
    }
    snd_seq_start_queue(seq->seq, seq->queue, NULL);
    snd_seq_drain_output(seq->seq);
    sync_queue(seq);
    return 0;
}

static int make_port(struct seq *seq, bool output)
{
    snd_seq_port_info_t *info;
    int error;

    snd_seq_port_info_alloca(&info);
    snd_seq_port_info_set_name(info, output ? "out" : "in");
    snd_seq_port_info_set_capability(info,
                                     output ? SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ
                                            : SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE);
    snd_seq_port_info_set_type(info,
                               SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION);
    if (!output) {
        snd_seq_port_info_set_timestamping(info, 1);
        snd_seq_port_info_set_timestamp_real(info, !seq->ticks);
        snd_seq_port_info_set_timestamp_queue(info, seq->queue);
    }
    error = snd_seq_create_port(seq->seq, info);
    seq->own_port = snd_seq_port_info_get_port(info);
    return error;
}

/* "seq:NAME:PORT", which finds the client again under another number. */
static void set_name(struct seq *seq, const snd_seq_addr_t *address, const char *asked)
{
    snd_seq_client_info_t *info;

    snd_seq_client_info_alloca(&info);
    if (snd_seq_get_any_client_info(seq->seq, address->client, info) == 0) {
        snprintf(seq->port.name, sizeof(seq->port.name), "seq:%s:%d",
                 snd_seq_client_info_get_name(info), address->port);
    } else {
        snprintf(seq->port.name, sizeof(seq->port.name), "%s", asked);
    }
}

static int connect_to(struct seq *seq, const struct tt_midi_port_setup *setup)
{
    snd_seq_addr_t address;
    int error = snd_seq_parse_address(seq->seq, &address, setup->name + strlen("seq:"));

    if (error < 0) {
        return error == -EINVAL ? -EINVAL : -ENODEV;
    }
    error = setup->output
                ? snd_seq_connect_to(seq->seq, seq->own_port, address.client, address.port)
                : snd_seq_connect_from(seq->seq, seq->own_port, address.client, address.port);
    if (error < 0) {
        return error == -EINVAL ? -ENODEV : error;
    }
    set_name(seq, &address, setup->name);
    return 0;
}

/* alsa-lib would print by itself what is said in better words elsewhere. */
static void say_nothing(const char *file, int line, const char *function, int error,
                        const char *format, ...)
{
    (void)file;
    (void)line;
    (void)function;
    (void)error;
    (void)format;
}

static int open_seq(struct seq *seq)
{
    int error;

    snd_lib_error_set_handler(say_nothing);
    error = snd_seq_open(&seq->seq, "hw", SND_SEQ_OPEN_DUPLEX, SND_SEQ_NONBLOCK);
    snd_lib_error_set_handler(NULL);
    return error;
}

int tt_midi_seq_find(const char *name, unsigned *ret_client, unsigned *ret_port)
{
    struct seq seq = {0};
    snd_seq_addr_t address;
    int error = open_seq(&seq);

    if (error < 0) {
        return error;
    }
    error = snd_seq_parse_address(seq.seq, &address, name + strlen("seq:"));
    snd_seq_close(seq.seq);
    if (error < 0) {
        return error;
    }
    *ret_client = address.client;
    *ret_port = address.port;
    return 0;
}

static int set_up(struct seq *seq, const struct tt_midi_port_setup *setup)
{
    struct pollfd poll = {.fd = -1};
    int error = open_seq(seq);

    if (error < 0) {
        return error;
    }
    /* Two names: input can be from our own output. */
    snd_seq_set_client_name(seq->seq, setup->output ? "tactus-out" : "tactus-in");
    snd_seq_set_client_pool_input(seq->seq, POOL_EVENTS);
    snd_seq_set_client_pool_output(seq->seq, POOL_EVENTS);
    error = snd_midi_event_new(ENCODE_BYTES, &seq->codec);
    if (error < 0) {
        return error;
    }
    snd_midi_event_no_status(seq->codec, 1);
    if (!setup->output || setup->schedule) {
        error = start_queue(seq);
    }
    if (error >= 0) {
        error = make_port(seq, setup->output);
    }
    if (error >= 0) {
        error = connect_to(seq, setup);
    }
    snd_seq_poll_descriptors(seq->seq, &poll, 1, setup->output ? POLLOUT : POLLIN);
    seq->port.fd = poll.fd;
    return error < 0 ? error : 0;
}

int tt_midi_seq_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port)
{
    struct seq *seq = calloc(1, sizeof(*seq));
    int error;

    if (!seq) {
        return -ENOMEM;
    }
    seq->port.ops = &seq_ops;
    seq->ticks = setup->ticks;
    seq->port.stamp = seq->ticks ? TT_MIDI_PORT_STAMP_TICKS : TT_MIDI_PORT_STAMP_SEQUENCER;
    seq->port.schedules = setup->output && setup->schedule;
    seq->queue = -1;
    error = set_up(seq, setup);
    if (error) {
        seq_free(seq);
        return error;
    }
    seq->last_ns = tt_midi_port_now_ns();
    *ret_port = &seq->port;
    return 0;
}

static void list_ports(snd_seq_t *seq, snd_seq_client_info_t *client,
                       void (*take)(void *context, const struct tt_midi_port_entry *entry),
                       void *context)
{
    snd_seq_port_info_t *port;

    snd_seq_port_info_alloca(&port);
    snd_seq_port_info_set_client(port, snd_seq_client_info_get_client(client));
    snd_seq_port_info_set_port(port, -1);
    while (snd_seq_query_next_port(seq, port) >= 0) {
        struct tt_midi_port_entry entry = {.stamp = TT_MIDI_PORT_STAMP_SEQUENCER};
        unsigned capability = snd_seq_port_info_get_capability(port);

        entry.input = (capability & SND_SEQ_PORT_CAP_SUBS_READ) != 0;
        entry.output = (capability & SND_SEQ_PORT_CAP_SUBS_WRITE) != 0;
        if ((!entry.input && !entry.output) || (capability & SND_SEQ_PORT_CAP_NO_EXPORT)) {
            continue;
        }
        snprintf(entry.name, sizeof(entry.name), "seq:%d:%d", snd_seq_port_info_get_client(port),
                 snd_seq_port_info_get_port(port));
        snprintf(entry.text, sizeof(entry.text), "%s, %s", snd_seq_client_info_get_name(client),
                 snd_seq_port_info_get_name(port));
        take(context, &entry);
    }
}

int tt_midi_seq_list(void (*take)(void *context, const struct tt_midi_port_entry *entry),
                     void *context)
{
    struct seq seq = {0};
    snd_seq_client_info_t *client;
    int error = open_seq(&seq);

    if (error < 0) {
        return error;
    }
    snd_seq_client_info_alloca(&client);
    snd_seq_client_info_set_client(client, -1);
    while (snd_seq_query_next_client(seq.seq, client) >= 0) {
        int number = snd_seq_client_info_get_client(client);

        if (number != SND_SEQ_CLIENT_SYSTEM && number != snd_seq_client_id(seq.seq)) {
            list_ports(seq.seq, client, take, context);
        }
    }
    snd_seq_close(seq.seq);
    return 0;
}
