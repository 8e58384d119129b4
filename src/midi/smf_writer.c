/*
 * Writing a Standard MIDI File. See smf.h.
 */
#include "midi/smf.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

void tt_smf_header_write(unsigned format, unsigned tracks, unsigned ppq,
                         uint8_t ret_bytes[TT_SMF_HEADER_BYTES])
{
    memcpy(ret_bytes, "MThd", 4);
    tt_put_be32(ret_bytes + 4, 6);
    tt_put_be16(ret_bytes + 8, (uint16_t)format);
    tt_put_be16(ret_bytes + 10, (uint16_t)tracks);
    tt_put_be16(ret_bytes + 12, (uint16_t)ppq);
}

int tt_smf_chunk_write(uint64_t track_bytes, uint8_t ret_bytes[TT_SMF_CHUNK_BYTES])
{
    if (track_bytes > UINT32_MAX)
        return -EFBIG;
    memcpy(ret_bytes, "MTrk", 4);
    tt_put_be32(ret_bytes + 4, (uint32_t)track_bytes);
    return 0;
}

static size_t put_number(uint32_t value, uint8_t *at)
{
    size_t bytes = 1;

    for (uint32_t rest = value >> 7; rest > 0; rest >>= 7)
        bytes++;
    for (size_t i = bytes; i > 0; i--) {
        at[i - 1] = (uint8_t)((value & 0x7F) | (i < bytes ? 0x80 : 0));
        value >>= 7;
    }
    return bytes;
}

static bool message_is_good(const struct tt_smf_event *event)
{
    uint8_t status = event->bytes > 0 ? event->data[0] : 0;

    if (status >= TT_MIDI_SYSTEM || tt_midi_message_bytes(status) != event->bytes)
        return false;
    for (size_t i = 1; i < event->bytes; i++) {
        if (event->data[i] >= TT_MIDI_STATUS)
            return false;
    }
    return event->bytes > 0;
}

static bool event_is_good(const struct tt_smf_event *event)
{
    switch (event->kind) {
    case TT_SMF_MESSAGE:
        return message_is_good(event);
    case TT_SMF_META:
        return event->type < 0x80 && event->bytes <= TT_SMF_DELTA_MAX;
    case TT_SMF_SYSEX:
    case TT_SMF_ESCAPE:
        break;
    }
    return event->bytes <= TT_SMF_DELTA_MAX;
}

int tt_smf_event_write(struct tt_smf_track *track, const struct tt_smf_event *event,
                       uint8_t ret_head[TT_SMF_HEAD_BYTES], size_t *ret_head_bytes)
{
    bool whole = event->kind == TT_SMF_MESSAGE;
    uint64_t delta = event->tick - track->tick;
    size_t n;

    if (event->tick < track->tick || !event_is_good(event))
        return -EINVAL;
    if (delta > TT_SMF_DELTA_MAX) {
        n = put_number(TT_SMF_DELTA_MAX, ret_head);
        memcpy(ret_head + n, (const uint8_t[]){0xFF, TT_SMF_META_TEXT, 0}, 3);
        track->tick += TT_SMF_DELTA_MAX;
        track->bytes += n + 3;
        *ret_head_bytes = n + 3;
        return 1;
    }
    n = put_number((uint32_t)delta, ret_head);
    if (event->kind == TT_SMF_META) {
        ret_head[n++] = 0xFF;
        ret_head[n++] = event->type;
    } else if (!whole) {
        bool begins = event->kind == TT_SMF_SYSEX && event->begins;

        ret_head[n++] = begins ? TT_MIDI_SYSEX : TT_MIDI_SYSEX_END;
    }
    if (!whole)
        n += put_number((uint32_t)event->bytes, ret_head + n);
    track->tick = event->tick;
    track->bytes += n + event->bytes;
    *ret_head_bytes = n;
    return 0;
}

struct tt_smf_event tt_smf_event_of(const struct tt_midi_event *event, uint64_t tick)
{
    struct tt_smf_event written = {
        .kind = TT_SMF_ESCAPE, .tick = tick, .data = event->data, .bytes = event->bytes};

    if (event->kind == TT_MIDI_EVENT_SYSEX) {
        written.kind = TT_SMF_SYSEX;
        written.begins = event->begins;
        written.more = event->more || event->data[event->bytes - 1] != TT_MIDI_SYSEX_END;
        written.data += event->begins;
        written.bytes -= event->begins;
    } else if (event->kind == TT_MIDI_EVENT_MESSAGE && event->data[0] < TT_MIDI_SYSTEM) {
        written.kind = TT_SMF_MESSAGE;
    }
    return written;
}

uint64_t tt_smf_tick_of(int64_t ns)
{
    return (uint64_t)(ns / TT_SMF_TICK_NS) + (ns % TT_SMF_TICK_NS >= TT_SMF_TICK_NS / 2);
}
