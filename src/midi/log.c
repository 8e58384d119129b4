/*
 * See log.h.
 */
#include "midi/log.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

#define VERSION 1

enum {
    AT_VERSION = 8,
    AT_HEADER_BYTES = 10,
    AT_FRAME_BYTES = 12,
    AT_MONO = TT_MIDI_LOG_START_AT,
    AT_UTC = 24,
    AT_BRACKET = 32,
    AT_AGAIN = 40
};

#define TIMES_BYTES (AT_AGAIN - AT_MONO)

/* As of PNG: a transfer that changes line ends or strips a bit is seen at once. */
static const uint8_t magic[8] = {0x89, 'T', 'T', 'M', 'I', 'D', '\r', '\n'};

const char *tt_midi_stamp_name(unsigned stamp)
{
    static const char *const names[TT_MIDI_STAMPS] = {
        [TT_MIDI_STAMP_KERNEL] = "kernel framing",
        [TT_MIDI_STAMP_SEQUENCER] = "sequencer, real time",
        [TT_MIDI_STAMP_READ] = "time of reading",
        [TT_MIDI_STAMP_TICKS] = "sequencer, ticks",
    };

    return stamp < TT_MIDI_STAMPS ? names[stamp] : NULL;
}

void tt_midi_log_header_write(const struct tt_midi_log_header *header,
                              uint8_t ret_bytes[TT_MIDI_LOG_HEADER_BYTES])
{
    memset(ret_bytes, 0, TT_MIDI_LOG_HEADER_BYTES);
    memcpy(ret_bytes, magic, sizeof(magic));
    tt_put_le16(ret_bytes + AT_VERSION, VERSION);
    tt_put_le16(ret_bytes + AT_HEADER_BYTES, TT_MIDI_LOG_HEADER_BYTES);
    tt_put_le16(ret_bytes + AT_FRAME_BYTES, TT_MIDI_FRAME_BYTES);
    tt_put_le64(ret_bytes + AT_MONO, (uint64_t)header->mono_ns);
    tt_put_le64(ret_bytes + AT_UTC, (uint64_t)header->clock.utc_ns);
    tt_put_le64(ret_bytes + AT_BRACKET, (uint64_t)header->clock.bracket_ns);
    memcpy(ret_bytes + AT_AGAIN, ret_bytes + AT_MONO, TIMES_BYTES);
}

static struct tt_midi_frame two_numbers(struct tt_midi_frame frame, uint64_t first, uint64_t second)
{
    frame.length = 16;
    tt_put_le64(frame.data, first);
    tt_put_le64(frame.data + 8, second);
    return frame;
}

struct tt_midi_frame tt_midi_log_clock_frame(int64_t mono_ns, struct tt_midi_log_clock clock)
{
    struct tt_midi_frame frame = {.type = TT_MIDI_LOG_CLOCK, .time_mono_ns = mono_ns};

    return two_numbers(frame, (uint64_t)clock.utc_ns, (uint64_t)clock.bracket_ns);
}

struct tt_midi_frame tt_midi_log_loss_frame(uint8_t port, int64_t until_mono_ns,
                                            struct tt_midi_log_loss loss)
{
    struct tt_midi_frame frame = {
        .type = TT_MIDI_LOG_LOSS, .port = port, .time_mono_ns = until_mono_ns};

    return two_numbers(frame, (uint64_t)loss.since_mono_ns, loss.bytes);
}

struct tt_midi_frame tt_midi_log_name_frame(uint8_t port, int64_t mono_ns, const char *name,
                                            size_t at)
{
    struct tt_midi_frame frame = {.type = TT_MIDI_LOG_NAME, .port = port, .time_mono_ns = mono_ns};

    frame.length = (uint8_t)strnlen(name + at, TT_MIDI_FRAME_DATA);
    memcpy(frame.data, name + at, frame.length);
    return frame;
}

struct tt_midi_frame tt_midi_log_stamp_frame(uint8_t port, int64_t mono_ns,
                                             enum tt_midi_stamp stamp)
{
    return (struct tt_midi_frame){.type = TT_MIDI_LOG_STAMP,
                                  .port = port,
                                  .length = 1,
                                  .time_mono_ns = mono_ns,
                                  .data = {(uint8_t)stamp}};
}

int tt_midi_log_clock_of(const struct tt_midi_frame *frame, struct tt_midi_log_clock *ret_clock)
{
    if (frame->type != TT_MIDI_LOG_CLOCK || frame->length < 16)
        return -EINVAL;
    ret_clock->utc_ns = (int64_t)tt_get_le64(frame->data);
    ret_clock->bracket_ns = (int64_t)tt_get_le64(frame->data + 8);
    return 0;
}

int tt_midi_log_loss_of(const struct tt_midi_frame *frame, struct tt_midi_log_loss *ret_loss)
{
    if (frame->type != TT_MIDI_LOG_LOSS || frame->length < 16)
        return -EINVAL;
    ret_loss->since_mono_ns = (int64_t)tt_get_le64(frame->data);
    ret_loss->bytes = tt_get_le64(frame->data + 8);
    return 0;
}

int tt_midi_log_stamp_of(const struct tt_midi_frame *frame, enum tt_midi_stamp *ret_stamp)
{
    if (frame->type != TT_MIDI_LOG_STAMP || frame->length < 1 || frame->data[0] >= TT_MIDI_STAMPS)
        return -EINVAL;
    *ret_stamp = (enum tt_midi_stamp)frame->data[0];
    return 0;
}

/* They stand there twice, but in logs of before: those have zeros in the second place. */
static bool are_times_damaged(const uint8_t *data)
{
    static const uint8_t none[TIMES_BYTES];

    return memcmp(data + AT_AGAIN, none, TIMES_BYTES) != 0 &&
           memcmp(data + AT_AGAIN, data + AT_MONO, TIMES_BYTES) != 0;
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Of two that differ the one that is nearer to the first frame. */
static int64_t start_of(const uint8_t *data, size_t bytes, size_t header_bytes)
{
    int64_t mono_ns = (int64_t)tt_get_le64(data + AT_MONO);
    int64_t again_ns = (int64_t)tt_get_le64(data + AT_AGAIN);
    struct tt_midi_frame frame;

    if (!are_times_damaged(data) || bytes - header_bytes < TT_MIDI_FRAME_BYTES ||
        tt_midi_frame_read(data + header_bytes, &frame) != TT_MIDI_FRAME_OK)
        return mono_ns;
    return distance(again_ns, frame.time_mono_ns) < distance(mono_ns, frame.time_mono_ns) ? again_ns
                                                                                          : mono_ns;
}

enum tt_midi_log_refusal tt_midi_log_open(struct tt_midi_log *log, const uint8_t *data,
                                          size_t bytes)
{
    size_t header_bytes;

    if (bytes == 0 || memcmp(data, magic, bytes < sizeof(magic) ? bytes : sizeof(magic)) != 0)
        return TT_MIDI_LOG_MAGIC;
    if (bytes < TT_MIDI_LOG_HEADER_BYTES)
        return TT_MIDI_LOG_SHORT;
    if (tt_get_le16(data + AT_VERSION) != VERSION)
        return TT_MIDI_LOG_VERSION;
    header_bytes = tt_get_le16(data + AT_HEADER_BYTES);
    if (header_bytes < TT_MIDI_LOG_HEADER_BYTES || header_bytes > bytes ||
        tt_get_le16(data + AT_FRAME_BYTES) != TT_MIDI_FRAME_BYTES)
        return TT_MIDI_LOG_LAYOUT;
    *log = (struct tt_midi_log){
        .data = data,
        .bytes = bytes,
        .at = header_bytes,
        .header = {start_of(data, bytes, header_bytes),
                   {(int64_t)tt_get_le64(data + AT_UTC), (int64_t)tt_get_le64(data + AT_BRACKET)}},
        .start_damaged = are_times_damaged(data),
    };
    return TT_MIDI_LOG_OK;
}

const char *tt_midi_log_refusal_text(enum tt_midi_log_refusal refusal)
{
    static const char *const texts[TT_MIDI_LOG_REFUSALS] = {
        [TT_MIDI_LOG_OK] = "good",
        [TT_MIDI_LOG_MAGIC] = "it does not begin as a raw MIDI log",
        [TT_MIDI_LOG_SHORT] = "it ends within its header",
        [TT_MIDI_LOG_VERSION] = "it is of a later version of Tactus",
        [TT_MIDI_LOG_LAYOUT] = "its header gives sizes that cannot be",
    };

    return texts[refusal];
}

enum tt_midi_log_item tt_midi_log_next(struct tt_midi_log *log, size_t *ret_offset,
                                       struct tt_midi_frame *ret_frame,
                                       enum tt_midi_frame_reason *ret_reason)
{
    *ret_offset = log->at;
    if (log->at == log->bytes)
        return TT_MIDI_LOG_DONE;
    if (log->bytes - log->at < TT_MIDI_FRAME_BYTES) {
        log->at = log->bytes;
        return TT_MIDI_LOG_CUT;
    }
    *ret_reason = tt_midi_frame_read(log->data + log->at, ret_frame);
    log->at += TT_MIDI_FRAME_BYTES;
    return *ret_reason == TT_MIDI_FRAME_OK ? TT_MIDI_LOG_FRAME : TT_MIDI_LOG_BAD;
}

void tt_midi_log_rewind(struct tt_midi_log *log)
{
    log->at = tt_get_le16(log->data + AT_HEADER_BYTES);
}
