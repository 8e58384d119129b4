/*
 * Which kind of port a name means. See midi_port.h.
 */
#include "os/midi_port.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/ns.h"

#define ALSA_MAJOR  116
#define DROP_CHUNKS 16
#define DROP_MOST   (1 << 20)

int64_t tt_midi_port_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * TT_NS_PER_S + now.tv_nsec;
}

int tt_midi_port_open(const struct tt_midi_port_setup *setup, struct tt_midi_port **ret_port)
{
    struct stat status;

    if (strlen(setup->name) >= TT_MIDI_PORT_NAME || strcmp(setup->name, "seq:") == 0) {
        return -EINVAL;
    }
    if (strncmp(setup->name, "hw:", 3) == 0) {
        return tt_midi_raw_open(setup, ret_port);
    }
    if (strncmp(setup->name, "seq:", 4) == 0) {
        return tt_midi_seq_open(setup, ret_port);
    }
    if (!strchr(setup->name, '/')) {
        return -EINVAL;
    }
    if (stat(setup->name, &status) != 0) {
        return -errno;
    }
    if (!S_ISCHR(status.st_mode)) {
        return -EINVAL;
    }
    return major(status.st_rdev) == ALSA_MAJOR ? tt_midi_raw_open(setup, ret_port)
                                               : tt_midi_serial_open(setup, ret_port);
}

uint64_t tt_midi_port_drop_waiting(struct tt_midi_port *port)
{
    struct tt_midi_chunk chunks[DROP_CHUNKS];
    struct tt_midi_port_loss loss;
    uint64_t bytes = 0;
    int n = 1;

    /* Not for ever, where more comes as fast as it is read. */
    while (port->stamp == TT_MIDI_PORT_STAMP_READ && n > 0 && bytes < DROP_MOST) {
        n = port->ops->read(port, chunks, DROP_CHUNKS, &loss);
        for (int i = 0; i < n; i++) {
            bytes += chunks[i].length;
        }
    }
    return bytes;
}

int tt_midi_chunks_fill(const uint8_t *bytes, size_t n, int64_t mono_ns,
                        struct tt_midi_chunk *ret_chunks)
{
    int count = 0;

    for (size_t at = 0; at < n; at += TT_MIDI_CHUNK_DATA) {
        struct tt_midi_chunk *chunk = &ret_chunks[count++];

        chunk->time_mono_ns = mono_ns;
        chunk->length = (uint8_t)(n - at < TT_MIDI_CHUNK_DATA ? n - at : TT_MIDI_CHUNK_DATA);
        memcpy(chunk->data, bytes + at, chunk->length);
    }
    return count;
}

int tt_midi_port_list(void (*take)(void *context, const struct tt_midi_port_entry *entry),
                      void *context)
{
    int raw = tt_midi_raw_list(take, context);
    int seq = tt_midi_seq_list(take, context);

    return raw ? raw : seq;
}
