/*
 * See frame.h.
 */
#include "midi/frame.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ns.h"

enum { AT_TYPE = 0, AT_LENGTH = 1, AT_PORT = 2, AT_NSEC = 4, AT_SEC = 8, AT_DATA = 16 };

static bool is_blank(const uint8_t *bytes)
{
    for (unsigned i = 0; i < TT_MIDI_FRAME_BYTES; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

enum tt_midi_frame_reason tt_midi_frame_read(const uint8_t bytes[TT_MIDI_FRAME_BYTES],
                                             struct tt_midi_frame *ret_frame)
{
    uint32_t nsec = tt_get_le32(bytes + AT_NSEC);
    uint64_t sec = tt_get_le64(bytes + AT_SEC);

    if (is_blank(bytes))
        return TT_MIDI_FRAME_BLANK;
    if (bytes[AT_LENGTH] > TT_MIDI_FRAME_DATA)
        return TT_MIDI_FRAME_LENGTH;
    if (nsec >= TT_NS_PER_S)
        return TT_MIDI_FRAME_NSEC;
    if (sec >= INT64_MAX / TT_NS_PER_S)
        return TT_MIDI_FRAME_SECONDS;
    ret_frame->type = bytes[AT_TYPE];
    ret_frame->port = bytes[AT_PORT];
    ret_frame->length = bytes[AT_LENGTH];
    ret_frame->time_mono_ns = (int64_t)sec * TT_NS_PER_S + nsec;
    memcpy(ret_frame->data, bytes + AT_DATA, TT_MIDI_FRAME_DATA);
    return TT_MIDI_FRAME_OK;
}

const char *tt_midi_frame_reason_text(enum tt_midi_frame_reason reason)
{
    static const char *const texts[TT_MIDI_FRAME_REASONS] = {
        [TT_MIDI_FRAME_OK] = "good",
        [TT_MIDI_FRAME_LENGTH] = "a frame of more than 16 bytes",
        [TT_MIDI_FRAME_NSEC] = "a stamp with a second or more of nanoseconds",
        [TT_MIDI_FRAME_SECONDS] = "a stamp beyond 292 years",
        [TT_MIDI_FRAME_BLANK] = "a blank frame: its content was never written",
        [TT_MIDI_FRAME_TYPE] = "a frame of an unknown type, or without what its type holds",
        [TT_MIDI_FRAME_PORT] = "a frame of a port that the log does not have",
        [TT_MIDI_FRAME_STAMP] = "a stamp that the frames around it contradict",
    };

    return texts[reason];
}

void tt_midi_frame_write(const struct tt_midi_frame *frame, uint8_t ret_bytes[TT_MIDI_FRAME_BYTES])
{
    assert(frame->length <= TT_MIDI_FRAME_DATA && frame->time_mono_ns >= 0);
    memset(ret_bytes, 0, TT_MIDI_FRAME_BYTES);
    ret_bytes[AT_TYPE] = frame->type;
    ret_bytes[AT_LENGTH] = frame->length;
    ret_bytes[AT_PORT] = frame->port;
    tt_put_le32(ret_bytes + AT_NSEC, (uint32_t)(frame->time_mono_ns % TT_NS_PER_S));
    tt_put_le64(ret_bytes + AT_SEC, (uint64_t)(frame->time_mono_ns / TT_NS_PER_S));
    memcpy(ret_bytes + AT_DATA, frame->data, frame->length);
}
