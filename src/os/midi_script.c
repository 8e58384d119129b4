/*
 * See midi_script.h.
 */
#include "os/midi_script.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct tt_midi_script *script_of(struct tt_midi_port *port)
{
    return (struct tt_midi_script *)port; /* its first member */
}

static int script_read(struct tt_midi_port *port, struct tt_midi_chunk *chunks, int n,
                       struct tt_midi_port_loss *ret_loss)
{
    struct tt_midi_script *script = script_of(port);
    int count = script->count < n ? script->count : n;

    ret_loss->until_mono_ns = 0;
    if (script->gone && count == 0) {
        return -ENODEV;
    }
    memcpy(chunks, script->chunks, (size_t)count * sizeof(chunks[0]));
    memmove(script->chunks, script->chunks + count,
            (size_t)(script->count - count) * sizeof(chunks[0]));
    script->count -= count;
    if (script->count == 0) {
        *ret_loss = script->loss;
        script->loss.until_mono_ns = 0;
    }
    return count;
}

static int script_write(struct tt_midi_port *port, const uint8_t *data, size_t n,
                        int64_t due_mono_ns)
{
    struct tt_midi_script *script = script_of(port);

    (void)due_mono_ns;
    if (script->gone) {
        return -ENODEV;
    }
    if (script->room >= 0 && n > (size_t)script->room) {
        n = (size_t)script->room;
    }
    assert(script->written_bytes + n <= sizeof(script->written));
    memcpy(script->written + script->written_bytes, data, n);
    script->written_bytes += n;
    return (int)n;
}

static void script_close(struct tt_midi_port *port)
{
    (void)port;
}

static const struct tt_midi_port_ops script_ops = {
    .read = script_read,
    .write = script_write,
    .close = script_close,
};

void tt_midi_script_init(struct tt_midi_script *script, enum tt_midi_port_stamp stamp)
{
    *script =
        (struct tt_midi_script){.port = {.ops = &script_ops, .fd = -1, .stamp = stamp}, .room = -1};
    snprintf(script->port.name, sizeof(script->port.name), "script");
}

void tt_midi_script_add(struct tt_midi_script *script, int64_t time_mono_ns, const uint8_t *data,
                        uint8_t length)
{
    struct tt_midi_chunk *chunk = &script->chunks[script->count++];

    assert(script->count <= TT_MIDI_SCRIPT_CHUNKS && length <= TT_MIDI_CHUNK_DATA);
    chunk->time_mono_ns = time_mono_ns;
    chunk->length = length;
    memcpy(chunk->data, data, length);
}
